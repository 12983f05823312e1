/* An adapter started as a program: a child of ours. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/exec/child.h"
#include "run/fresh.h"

enum { NOT_STARTED = 127, LOOK_MS = 10 };

static _Noreturn void child_main(char *const *argv, pid_t parent, int in, int out, int log,
                                 int serves)
{
    char number[20];

    /* a server has to outlive us by a moment, to end its copies: it bears with SIGTERM */
    if (!process_fresh(parent, serves < 0 ? SIGKILL : SIGTERM))
        _exit(NOT_STARTED);
    unsetenv("TILEFUZZ_FORK");
    if (serves >= 0) {
        snprintf(number, sizeof number, "%d", serves);
        setenv("TILEFUZZ_FORK", number, 1);
        fcntl(serves, F_SETFD, 0);
    }
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        _exit(NOT_STARTED);
    /* one thread unless the user has said otherwise: libraries differ by their numbers */
    setenv("OMP_NUM_THREADS", "1", 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    setenv("MKL_NUM_THREADS", "1", 0);
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

/* A process that is forked under a limit of CPU time has a clock of CPU time that goes by
 * milliseconds, and a run takes less: so none is set while we fork. */
static pid_t fork_without_limit(void)
{
    struct rlimit old, cpu;
    bool limited = !getrlimit(RLIMIT_CPU, &old) && old.rlim_cur != RLIM_INFINITY;
    pid_t pid;

    cpu = (struct rlimit){ old.rlim_max, old.rlim_max };
    if (limited)
        setrlimit(RLIMIT_CPU, &cpu);
    pid = fork();
    if (limited && pid != 0)
        setrlimit(RLIMIT_CPU, &old);
    return pid;
}

bool exec_child_start(struct exec_child *c, char *const *argv, int serves, struct str *why)
{
    pid_t parent = getpid(), pid;
    int theirs[2];

    if (!exec_child_open(c, theirs, why))
        return false;
    fflush(NULL);
    pid = fork_without_limit();
    if (pid == 0)
        child_main(argv, parent, theirs[0], theirs[1], c->log, serves);
    if (pid < 0)
        str_puts(why, strerror(errno));
    close(theirs[0]);
    close(theirs[1]);
    if (pid < 0) {
        exec_child_close(c);
        return false;
    }
    c->pid = pid;
    setpgid(pid, pid); /* whoever of us comes first */
    return true;
}

int exec_own_end(const struct exec_child *c)
{
    int status = 0;

    for (int i = 0; i < EXEC_END_MS / LOOK_MS; i++) {
        pid_t got = waitpid(c->pid, &status, WNOHANG);

        if (got == c->pid || (got < 0 && errno != EINTR))
            goto ended;
        poll(NULL, 0, LOOK_MS);
    }
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
ended:
    kill(-c->pid, SIGKILL); /* what it left behind */
    return status;
}
