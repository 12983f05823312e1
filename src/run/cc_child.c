/*
 * A compiler as a child process: no shell, no files, a deadline. It leads a process group of
 * its own, so that its helpers end with it and Ctrl-C on our terminal is none of its
 * business, and is told to end when we die.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/cc.h"
#include "run/fresh.h"

enum { NOT_STARTED = 127, LOG_BYTES = 16384, SLICE_MS = 200 };

static void use_as(int fd, int as)
{
    int from = fd >= 0 ? fd : open("/dev/null", O_RDWR);

    if (from < 0 || dup2(from, as) < 0)
        _exit(NOT_STARTED);
}

static _Noreturn void child_main(const struct cc_child *c, pid_t parent, int log)
{
    struct rlimit cpu = { (rlim_t)c->seconds, (rlim_t)c->seconds + 1 };

    if (!process_fresh(parent, SIGTERM))
        _exit(NOT_STARTED);
    setrlimit(RLIMIT_CPU, &cpu);
    use_as(log, STDERR_FILENO);
    use_as(c->in, STDIN_FILENO);
    use_as(c->out, STDOUT_FILENO);
    setenv("LC_ALL", "C", 1);
    execvp(c->argv[0], (char *const *)c->argv);
    dprintf(STDERR_FILENO, "%s", strerror(errno));
    _exit(NOT_STARTED);
}

/* Nobody writes to `end`: it is shut when the last process that holds its other side is
 * gone. False = that took too long. */
static bool wait_end(const struct cc_child *c, int end)
{
    int64_t until = clock_ms() + INT64_C(3000) * c->seconds, left;

    while ((left = until - clock_ms()) > 0) {
        struct pollfd p = { .fd = end, .events = POLLIN };
        int ready = poll(&p, 1, left < SLICE_MS ? (int)left : SLICE_MS);

        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        if (c->tick)
            ++*c->tick;
    }
    return false;
}

static void read_log(int log, struct str *s)
{
    char *text = malloc(LOG_BYTES);
    ssize_t n = text ? pread(log, text, LOG_BYTES, 0) : -1;

    if (n > 0)
        str_write(s, text, (size_t)n);
    free(text);
}

static enum cc_result judge_end(const struct cc_child *c, bool ended, int status,
                                struct str *log)
{
    const char *name = c->argv[0];

    if (!ended) {
        str_add(log, "%s%s did not end within %d s", log->n ? "\n" : "", name, 3 * c->seconds);
        return CC_REJECTED;
    }
    if (WIFSIGNALED(status)) {
        str_add(log, "%s%s died by signal %d (%s)", log->n ? "\n" : "", name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        return CC_REJECTED;
    }
    if (WEXITSTATUS(status) == NOT_STARTED)
        return CC_CANNOT;
    if (WEXITSTATUS(status) && !log->n)
        str_add(log, "%s ended with exit %d", name, WEXITSTATUS(status));
    return WEXITSTATUS(status) ? CC_REJECTED : CC_BUILT;
}

/* `life` is a pipe whose writing end only the child and what it starts hold. */
static enum cc_result run_with(const struct cc_child *c, int log, const int *life,
                               struct str *said)
{
    pid_t parent = getpid(), pid;
    int status = 0;
    bool ended;

    pid = fork();
    if (pid == 0) {
        close(life[0]);
        child_main(c, parent, log);
    }
    close(life[1]);
    if (pid < 0) {
        str_puts(said, strerror(errno));
        return CC_CANNOT;
    }
    setpgid(pid, pid); /* whoever of us comes first */
    ended = wait_end(c, life[0]);
    if (!ended)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    read_log(log, said);
    return judge_end(c, ended, status, said);
}

enum cc_result cc_child_run(const struct cc_child *c, struct str *log)
{
    int said = memfd_create("stderr", MFD_CLOEXEC), life[2];
    enum cc_result r;

    if (said < 0 || pipe(life)) {
        str_puts(log, strerror(errno));
        if (said >= 0)
            close(said);
        return CC_CANNOT;
    }
    r = run_with(c, said, life, log);
    close(life[0]);
    close(said);
    return r;
}
