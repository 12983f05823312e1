#include "run/exec/server.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000, KILL_MS = 2000 };

void exec_server_open(struct exec_server *s, _Atomic bool *lost)
{
    int fd[2];

    *s = (struct exec_server){ .ctl = -1, .theirs = -1, .lost = lost };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd))
        return;
    s->ctl = fd[0];
    s->theirs = fd[1];
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void exec_server_close(struct exec_server *s)
{
    shut(&s->ctl);
    shut(&s->theirs);
}

void exec_server_begun(struct exec_server *s, pid_t pid)
{
    shut(&s->theirs);
    s->pid = pid;
}

void exec_server_end(struct exec_server *s)
{
    int64_t until = exec_now() + (int64_t)KILL_MS * MS;
    pid_t got;

    exec_server_close(s);
    if (s->pid <= 0)
        return;
    while ((got = waitpid(s->pid, NULL, WNOHANG)) == 0 && exec_now() < until)
        poll(NULL, 0, 1);
    if (got == 0 && !kill(s->pid, SIGKILL))
        waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

/* One message with descriptors; the server reads them one by one, whoever sent them. */
static bool ask(int ctl, const int *fd, size_t bytes, int64_t until, volatile uint64_t *tick)
{
    union {
        struct cmsghdr h;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control = { 0 };
    struct rlimit memory = { RLIM_INFINITY, RLIM_INFINITY };
    char text[100];
    struct iovec iov = { text, 0 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof control };

    /* the only limit of ours that the process that opened the server had not */
    getrlimit(RLIMIT_AS, &memory);
    iov.iov_len =
        (size_t)snprintf(text, sizeof text, "{\"do\":\"copy\",\"memory\":[%lld,%lld]}",
                         (long long)memory.rlim_cur, (long long)memory.rlim_max);
    control.h.cmsg_level = SOL_SOCKET;
    control.h.cmsg_type = SCM_RIGHTS;
    control.h.cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(&control.h), fd, bytes);
    while (sendmsg(ctl, &m, MSG_NOSIGNAL) < 0)
        if (errno != EINTR &&
            (errno != EAGAIN || exec_child_wait(ctl, POLLOUT, until, tick) != IO_FINE))
            return false;
    return true;
}

/* One message of the server: NULL at its end and when there is none in time. */
static json_t *hear(int lease, int *pidfd, int64_t until, volatile uint64_t *tick)
{
    union {
        struct cmsghdr h;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char text[200];
    struct iovec iov = { text, sizeof text };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof control };
    struct cmsghdr *h;
    ssize_t n;

    if (exec_child_wait(lease, POLLIN, until, tick) != IO_FINE)
        return NULL;
    n = recvmsg(lease, &m, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return NULL;
    h = CMSG_FIRSTHDR(&m);
    if (h && h->cmsg_type == SCM_RIGHTS)
        memcpy(pidfd, CMSG_DATA(h), sizeof *pidfd);
    return json_loadb(text, (size_t)n, 0, NULL);
}

bool exec_server_copy(struct exec_server *s, struct exec_child *c, int64_t until,
                      volatile uint64_t *tick, int64_t *spent_ns)
{
    struct str why = { 0 };
    int theirs[4], lease[2] = { -1, -1 }, pid = 0, pidfd = -1;
    json_int_t ns = 0;
    json_t *told = NULL;

    if (s->ctl < 0 || s->theirs >= 0 || *s->lost)
        return false;
    if (!exec_child_open(c, theirs, &why)) {
        str_release(&why);
        return false;
    }
    if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lease)) {
        theirs[2] = c->log;
        theirs[3] = lease[1];
        if (ask(s->ctl, theirs, sizeof theirs, until, tick)) {
            shut(&lease[1]);
            told = hear(lease[0], &pidfd, until, tick);
        }
    }
    close(theirs[0]);
    close(theirs[1]);
    shut(&lease[1]);
    if (told && !json_unpack(told, "{s:i,s:I}", "pid", &pid, "ns", &ns) && pid > 0 &&
        pidfd >= 0) {
        c->pid = pid;
        c->copy = true;
        c->lease = lease[0];
        c->pidfd = pidfd;
        *spent_ns = ns;
    } else {
        *s->lost = true; /* for all: a server that hangs would cost each of them its time */
        shut(&lease[0]);
        shut(&pidfd);
        exec_child_close(c);
    }
    json_decref(told);
    return c->pid > 0;
}

/* False: nothing was told within the time. */
static bool hear_status(struct exec_child *c, int ms, int *status)
{
    int none = -1;
    json_t *told = hear(c->lease, &none, exec_now() + (int64_t)ms * MS, NULL);
    bool fine = told && !json_unpack(told, "{s:i}", "status", status);

    json_decref(told);
    shut(&none);
    return fine;
}

int exec_copy_end(struct exec_child *c)
{
    int status = EXEC_STATUS_LOST;

    if (!hear_status(c, EXEC_END_MS, &status)) {
        shutdown(c->lease, SHUT_WR); /* the server kills it, and all that it started */
        if (!hear_status(c, KILL_MS, &status)) {
            /* nobody's, but still the one that it was, if it is there */
            if (!syscall(SYS_pidfd_send_signal, c->pidfd, 0, NULL, 0))
                kill(-c->pid, SIGKILL);
            syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
        }
    }
    close(c->lease);
    close(c->pidfd);
    return status;
}
