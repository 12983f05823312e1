#include "run/fresh.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

bool process_fresh(pid_t parent, int death_signal)
{
    struct rlimit none = { 0, 0 };
    sigset_t nothing;

    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent)
        return false;
    setpgid(0, 0);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    setrlimit(RLIMIT_CORE, &none);
    return true;
}
