#include "fuzz/camp/zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { HAVE_MEMORY_LIMIT = 0 }; /* its shadow alone is terabytes */
#else
enum { HAVE_MEMORY_LIMIT = 1 };
#endif

enum {
    CPU_LIMIT_S = 1800, /* a backstop: workers are replaced long before */
    MEMORY_LIMIT_GB = 16,
    MAX_CHILDREN = 4 * ZYGOTE_MAX_SLOTS /* retired ones included */
};

enum order_kind { ORDER_SPAWN, ORDER_KILL };

struct order {
    enum order_kind kind;
    int slot;
    uint32_t life;
};

struct child {
    pid_t pid;
    int slot;
    uint32_t life;
};

/* The zygote's own side. */
struct nursery {
    pid_t pid;
    int ctl, signals;
    struct progress *progress;
    worker_fn *worker;
    void *ctx;
    struct child child[MAX_CHILDREN];
    int n;
};

static void set_limits(void)
{
    struct rlimit core = { 0, 0 }, old;
    struct rlimit cpu = { CPU_LIMIT_S, RLIM_INFINITY };
    struct rlimit memory = { (rlim_t)MEMORY_LIMIT_GB << 30, (rlim_t)MEMORY_LIMIT_GB << 30 };

    setrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_CPU, &old);
    cpu.rlim_max = old.rlim_max; /* who it starts may go without (run/exec/child.c) */
    setrlimit(RLIMIT_CPU, &cpu);
    if (HAVE_MEMORY_LIMIT)
        setrlimit(RLIMIT_AS, &memory);
}

/* Dies with the process that made it. The parent may have died before prctl: look again. */
static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

static _Noreturn void be_worker(struct nursery *z, const struct order *o, int sock, int log)
{
    sigset_t none;

    die_with(z->pid);
    close(z->ctl);
    close(z->signals);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_limits();
    if (log >= 0) {
        dup2(log, STDERR_FILENO);
        dup2(log, STDOUT_FILENO); /* libraries talk */
        close(log);
    }
    z->worker(z->ctx, &z->progress[o->slot], sock);
    _exit(0);
}

static void tell_death(struct nursery *z, int slot, uint32_t life, int status)
{
    struct zygote_death d = { slot, life, status };

    /* nobody may be there to hear it: the next look at ctl will tell */
    (void)!send(z->ctl, &d, sizeof d, MSG_NOSIGNAL);
}

static void spawn(struct nursery *z, const struct order *o, int sock, int log)
{
    pid_t pid = z->n < MAX_CHILDREN ? fork() : -1;

    if (pid == 0)
        be_worker(z, o, sock, log);
    if (pid > 0)
        z->child[z->n++] = (struct child){ pid, o->slot, o->life };
    else
        tell_death(z, o->slot, o->life, WORKER_CANNOT << 8);
}

static void reap(struct nursery *z)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int i = 0; i < z->n; i++) {
            if (z->child[i].pid != pid)
                continue;
            tell_death(z, z->child[i].slot, z->child[i].life, status);
            z->child[i] = z->child[--z->n];
            break;
        }
    }
}

/* False = the parent has hung up. */
static bool take_order(struct nursery *z)
{
    union {
        struct cmsghdr h;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct order o;
    struct iovec iov = { &o, sizeof o };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof control };
    int fd[2] = { -1, -1 };
    ssize_t n = recvmsg(z->ctl, &m, MSG_CMSG_CLOEXEC);

    if (n < 0 && errno == EINTR)
        return true;
    if (n != (ssize_t)sizeof o)
        return false;
    if (CMSG_FIRSTHDR(&m))
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    if (o.kind == ORDER_SPAWN)
        spawn(z, &o, fd[0], fd[1]);
    for (int i = 0; o.kind == ORDER_KILL && i < z->n; i++)
        if (z->child[i].slot == o.slot && z->child[i].life == o.life)
            kill(z->child[i].pid, SIGKILL);
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return true;
}

static _Noreturn void be_zygote(struct nursery *z, pid_t parent)
{
    struct signalfd_siginfo si;
    sigset_t chld;

    die_with(parent);
    prctl(PR_SET_NAME, "tilefuzz-zygote");
    signal(SIGINT, SIG_IGN); /* the terminal tells the whole group; only the parent minds */
    signal(SIGTERM, SIG_DFL);
    z->pid = getpid();
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    z->signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        struct pollfd p[2] = { { .fd = z->ctl, .events = POLLIN },
                               { .fd = z->signals, .events = POLLIN } };

        if (poll(p, 2, -1) < 0 && errno != EINTR)
            break;
        if (p[1].revents) {
            while (read(z->signals, &si, sizeof si) > 0)
                ;
            reap(z);
        }
        if (p[0].revents && !take_order(z))
            break;
    }
    for (int i = 0; i < z->n; i++)
        kill(z->child[i].pid, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    _exit(0);
}

int zygote_open(struct zygote *z, worker_fn *worker, void *ctx, struct err *e)
{
    static struct nursery nursery; /* large, and needed by one process only */
    size_t bytes = ZYGOTE_MAX_SLOTS * sizeof(struct progress);
    pid_t parent = getpid();
    int fd[2];

    z->progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (z->progress == MAP_FAILED)
        return err_set(e, ERR_IO, "no shared memory: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)) {
        munmap(z->progress, bytes);
        return err_set(e, ERR_IO, "socketpair: %s", strerror(errno));
    }
    fflush(NULL);
    z->pid = fork();
    if (z->pid == 0) {
        close(fd[0]);
        nursery = (struct nursery){
            .ctl = fd[1], .progress = z->progress, .worker = worker, .ctx = ctx
        };
        be_zygote(&nursery, parent);
    }
    close(fd[1]);
    z->ctl = fd[0];
    if (z->pid < 0) {
        close(z->ctl);
        munmap(z->progress, bytes);
        return err_set(e, ERR_IO, "fork: %s", strerror(errno));
    }
    return 0;
}

void zygote_close(struct zygote *z)
{
    close(z->ctl);
    while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    munmap(z->progress, ZYGOTE_MAX_SLOTS * sizeof(struct progress));
}

bool zygote_spawn(struct zygote *z, int slot, uint32_t life, int sock, int log)
{
    struct order o = { ORDER_SPAWN, slot, life };
    union {
        struct cmsghdr h;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { &o, sizeof o };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof control };
    int fd[2] = { sock, log };

    control.h.cmsg_level = SOL_SOCKET;
    control.h.cmsg_type = SCM_RIGHTS;
    control.h.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.h), fd, sizeof fd);
    return sendmsg(z->ctl, &m, MSG_NOSIGNAL) == (ssize_t)sizeof o;
}

bool zygote_kill(struct zygote *z, int slot, uint32_t life)
{
    struct order o = { ORDER_KILL, slot, life };

    return send(z->ctl, &o, sizeof o, MSG_NOSIGNAL) == (ssize_t)sizeof o;
}

int zygote_poll(struct zygote *z, struct zygote_death *d)
{
    ssize_t n = recv(z->ctl, d, sizeof *d, MSG_DONTWAIT);

    if (n == (ssize_t)sizeof *d)
        return 1;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return -1;
}
