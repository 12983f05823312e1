#include "run/cuda/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { LEAST_ROOM = 64 << 20, SLICE_MS = 200, PEACE_MS = 2000 };

static void reap(struct client *c)
{
    int status = 0;

    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    close(c->questions);
    close(c->answers);
    c->pid = 0;
}

static void kill_it(struct client *c)
{
    kill(c->pid, SIGKILL);
    reap(c);
}

/* Did it shut its end of the pipe, which it does by ending? */
static bool ended(const struct client *c, int ms)
{
    struct pollfd p = { .fd = c->answers, .events = POLLIN };
    char byte;

    return poll(&p, 1, ms) > 0 && read(c->answers, &byte, 1) <= 0;
}

static void drop_box(struct client *c)
{
    if (c->box)
        munmap(c->box, sizeof *c->box + c->box->room);
    c->box = NULL;
}

/* Of a parent that we are a copy of: not ours to end, and its box not ours to write. */
static void disown(struct client *c)
{
    if (!c->pid || c->owner == getpid())
        return;
    close(c->questions);
    close(c->answers);
    c->pid = 0;
    drop_box(c);
}

void client_close(struct client *c)
{
    disown(c);
    if (c->pid) {
        close(c->questions);
        c->questions = -1;
        if (ended(c, PEACE_MS))
            reap(c);
        else
            kill_it(c);
    }
    drop_box(c);
}

static bool take_box(struct client *c, size_t bytes)
{
    size_t room = LEAST_ROOM;
    void *p;

    if (c->box && c->box->room >= bytes)
        return true;
    client_close(c);
    while (room < bytes)
        room *= 2;
    p = mmap(NULL, sizeof *c->box + room, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    c->box = p;
    c->box->room = room;
    return true;
}

static _Noreturn void child_main(struct box *b, pid_t parent, const int *question,
                                 const int *answer)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
    struct rlimit none = { 0, 0 }, most;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0); /* Ctrl-C on our terminal is none of its business */
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &none);
    /* the caller's limit is on its own work; a driver waits by spinning */
    if (getrlimit(RLIMIT_CPU, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_CPU, &most);
    }
    close(question[1]);
    close(answer[0]);
    device_main(b, question[0], answer[1]);
}

static bool start(struct client *c)
{
    int question[2], answer[2];
    pid_t parent = getpid(), pid;

    if (pipe(question))
        return false;
    if (pipe(answer)) {
        close(question[0]);
        close(question[1]);
        return false;
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        child_main(c->box, parent, question, answer);
    close(question[0]);
    close(answer[1]);
    if (pid < 0) {
        close(question[1]);
        close(answer[0]);
        return false;
    }
    c->pid = pid;
    c->owner = parent;
    c->questions = question[1];
    c->answers = answer[0];
    return true;
}

bool client_ready(struct client *c, size_t bytes, bool *fresh)
{
    disown(c);
    if (!take_box(c, bytes))
        return false;
    *fresh = !c->pid;
    return c->pid || start(c);
}

/* Writes to a process that is gone must not end us. */
static bool send_byte(const struct client *c, char byte)
{
    sigset_t pipe_only, was, now;
    const struct timespec none = { 0, 0 };
    bool ok;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, &was);
    ok = write(c->questions, &byte, 1) == 1;
    if (!ok && sigpending(&now) == 0 && sigismember(&now, SIGPIPE) == 1)
        sigtimedwait(&pipe_only, NULL, &none);
    sigprocmask(SIG_SETMASK, &was, NULL);
    return ok;
}

static enum client_result wait_answer(struct client *c, int seconds)
{
    int64_t until = clock_ms() + INT64_C(1000) * seconds, left;
    char byte;

    while ((left = until - clock_ms()) > 0) {
        struct pollfd p = { .fd = c->answers, .events = POLLIN };
        int ready = poll(&p, 1, left < SLICE_MS ? (int)left : SLICE_MS);

        if (c->tick)
            ++*c->tick;
        if (ready < 0 && errno != EINTR)
            break;
        if (ready > 0) {
            if (read(c->answers, &byte, 1) == 1)
                return CLIENT_ANSWERED;
            reap(c);
            return CLIENT_DIED;
        }
    }
    kill_it(c);
    return CLIENT_HUNG;
}

enum client_result client_ask(struct client *c, enum box_question q, int seconds)
{
    enum client_result r;

    c->box->question = q;
    c->box->answer.text[0] = '\0';
    if (!send_byte(c, 'q')) {
        kill_it(c);
        return CLIENT_DIED;
    }
    r = wait_answer(c, seconds);
    if (r == CLIENT_ANSWERED && c->box->answer.status == BOX_CRASHED)
        kill_it(c); /* its context is spoilt, and so is the process */
    return r;
}
