/*
 * A backend in a child process: whatever the code under test does to memory or to itself,
 * we keep our own, and its death is a fact about the trial. The child is a copy of us, so
 * nothing is rebuilt, and pointers to static strings in a verdict mean the same to both.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "fuzz/check/backend.h"

/* How a child ends that has said all: code under test that calls exit(0) has not. */
enum { CHILD_DONE = 93 };

struct child {
    pid_t pid;
    int out; /* verdicts come from here */
    int log; /* its stderr, a memory file */
    bool timed_out;
};

static void send_verdict(void *ctx, const struct verdict *v)
{
    const int *fd = ctx;
    const char *p = (const char *)v;
    size_t left = sizeof *v;

    while (left) {
        ssize_t n = write(*fd, p, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(1);
        p += n;
        left -= (size_t)n;
    }
}

/* A fault of the code under test must end the process, whoever (a sanitizer, a test) has
 * asked to be told of it. */
void check_default_signals(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU };

    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        signal(fatal[i], SIG_DFL);
}

static _Noreturn void child_main(const struct check_run *r, pid_t parent, int out, int log)
{
    struct rlimit cpu = { (rlim_t)r->o->deadline_s, (rlim_t)r->o->deadline_s + 1 };
    struct rlimit none = { 0, 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    check_default_signals();
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &cpu);
    if (log >= 0) {
        dup2(log, STDERR_FILENO);
        dup2(log, STDOUT_FILENO); /* libraries talk */
    }
    check_backend(r, send_verdict, &out);
    _exit(CHILD_DONE);
}

static void child_start(const struct check_run *r, struct child *ch)
{
    pid_t parent = getpid();
    int fd[2];

    fflush(NULL);
    if (pipe(fd))
        BUG("pipe: %s", strerror(errno));
    ch->log = memfd_create("stderr", MFD_CLOEXEC);
    ch->timed_out = false;
    ch->pid = fork();
    if (ch->pid < 0)
        BUG("fork: %s", strerror(errno));
    if (ch->pid == 0) {
        close(fd[0]);
        child_main(r, parent, fd[1], ch->log);
    }
    close(fd[1]);
    ch->out = fd[0];
}

/* One verdict, or false: the child has no more to say, or took too long. */
static bool child_read(struct child *ch, int64_t until, struct verdict *v)
{
    size_t have = 0;

    while (have < sizeof *v) {
        int64_t left = (until - checker_now()) / 1000000;
        struct pollfd p = { .fd = ch->out, .events = POLLIN };
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        ssize_t n;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            ch->timed_out = true;
            kill(ch->pid, SIGKILL);
            return false;
        }
        n = read(ch->out, (char *)v + have, sizeof *v - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

/* Our own assertion in the child is our own assertion, not the backend's crash. */
static void reraise_bug(const struct child *ch)
{
    char text[1024];
    ssize_t n = pread(ch->log, text, sizeof text - 1, 0);
    char *at;

    if (n <= 0)
        return;
    text[n] = '\0';
    at = strstr(text, "tilefuzz: BUG at ");
    if (!at)
        return;
    at[strcspn(at, "\n")] = '\0';
    fprintf(stderr, "%s\n", at);
    abort();
}

static void died(const struct check_run *r, const struct child *ch, int status,
                 struct verdict *v)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool hung = ch->timed_out || sig == SIGXCPU;

    if (sig == SIGABRT)
        reraise_bug(ch);
    *v = (struct verdict){ .kind = hung ? VK_HANG : VK_CRASH,
                           .algebra = (enum algebra)r->c->stage->algebra,
                           .backend = r->b->name,
                           .tier = "",
                           .out = -1 };
    if (hung)
        snprintf(v->detail, sizeof v->detail, "no end within %d s, in %s", r->o->deadline_s,
                 check_phase_name[r->c->stage->phase]);
    else if (sig)
        snprintf(v->detail, sizeof v->detail, "signal %d (%s) in %s", sig, strsignal(sig),
                 check_phase_name[r->c->stage->phase]);
    else
        snprintf(v->detail, sizeof v->detail, "exit %d in %s", WEXITSTATUS(status),
                 check_phase_name[r->c->stage->phase]);
}

void check_backend_isolated(const struct check_run *r, check_emit_fn *emit, void *ctx)
{
    int64_t until = checker_now() + 3 * r->o->deadline_s * INT64_C(1000000000);
    int status = 0;
    struct child ch;
    struct verdict v;

    child_start(r, &ch);
    while (child_read(&ch, until, &v))
        emit(ctx, &v);
    while (waitpid(ch.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (ch.timed_out || !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_DONE) {
        died(r, &ch, status, &v);
        emit(ctx, &v);
    }
    close(ch.out);
    close(ch.log);
}
