#include "run/exec/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "run/exec/server.h"

enum { SLICE_MS = 100, CHUNK = 1 << 16, LOG_TAIL = 600 };

int64_t exec_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void exec_child_close(struct exec_child *c)
{
    if (c->in >= 0)
        close(c->in);
    if (c->out >= 0)
        close(c->out);
    if (c->log >= 0)
        close(c->log);
    str_release(&c->got);
    *c = (struct exec_child){ 0 };
}

bool exec_child_open(struct exec_child *c, int theirs[2], struct str *why)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    int log = memfd_create("stderr", MFD_CLOEXEC);
    bool fine = log >= 0 && !pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC);

    if (!fine)
        str_puts(why, strerror(errno));
    str_release(&c->got);
    *c = (struct exec_child){ .in = to[1], .out = from[0], .log = log, .owner = getpid() };
    if (!fine) {
        if (to[0] >= 0)
            close(to[0]);
        exec_child_close(c);
        return false;
    }
    theirs[0] = to[0];
    theirs[1] = from[1];
    fcntl(log, F_SETFL, O_APPEND);
    fcntl(c->in, F_SETFL, O_NONBLOCK);
    fcntl(c->out, F_SETFL, O_NONBLOCK);
    return true;
}

bool exec_child_runs(const struct exec_child *c)
{
    return c->pid > 0 && c->owner == getpid();
}

/* Of those that it has started and waited for: a compiler, say. Goes by hundredths of a second,
 * all told, so that nothing is lost from one call to the next. */
static int64_t ended_children_ns(pid_t pid)
{
    char path[40], text[1024], *p;
    long long user, system;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    p = strrchr(text, ')'); /* behind the name: fields 3 and on; 16 and 17 are these */
    if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lld %lld",
                     &user, &system) != 2)
        return 0;
    return (user + system) * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

int64_t exec_child_cpu(struct exec_child *c, bool children)
{
    struct timespec ts;
    clockid_t clock;
    int64_t now, more;

    if (!exec_child_runs(c) || clock_getcpuclockid(c->pid, &clock) || clock_gettime(clock, &ts))
        return 0;
    if (children)
        c->children_ns = ended_children_ns(c->pid);
    now = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec + c->children_ns;
    more = now - c->cpu_ns;
    c->cpu_ns = now;
    return more;
}

int exec_child_end(struct exec_child *c)
{
    int status;

    if (!exec_child_runs(c))
        return 0;
    close(c->in);
    c->in = -1;
    status = c->copy ? exec_copy_end(c) : exec_own_end(c);
    exec_child_close(c);
    return status;
}

/* In slices of time, for the tick's sake. */
enum exec_io exec_child_wait(int fd, short what, int64_t until, volatile uint64_t *tick)
{
    for (;;) {
        int64_t left = (until - exec_now()) / 1000000;
        struct pollfd p = { .fd = fd, .events = what };
        int ready;

        if (left <= 0)
            return IO_LATE;
        ready = poll(&p, 1, left < SLICE_MS ? (int)left : SLICE_MS);
        if (ready > 0)
            return IO_FINE;
        if (ready < 0 && errno != EINTR)
            return IO_ENDED;
        if (tick)
            ++*tick;
    }
}

/* All of it in one call where the pipe takes it, so that the child wakes up once. */
enum exec_io exec_child_write(struct exec_child *c, struct iovec *v, int n, int64_t until,
                              volatile uint64_t *tick)
{
    while (n > 0) {
        ssize_t k = writev(c->in, v, n);

        if (k < 0 && errno == EAGAIN) {
            enum exec_io io = exec_child_wait(c->in, POLLOUT, until, tick);

            if (io != IO_FINE)
                return io;
        }
        if (k < 0 && errno != EAGAIN && errno != EINTR)
            return IO_ENDED;
        for (; n > 0 && k >= (ssize_t)v->iov_len; v++, n--)
            k -= (ssize_t)v->iov_len;
        if (n > 0 && k > 0) {
            v->iov_base = (char *)v->iov_base + k;
            v->iov_len -= (size_t)k;
        }
    }
    return IO_FINE;
}

/* At least one byte more. */
static enum exec_io read_more(struct exec_child *c, int64_t until, volatile uint64_t *tick)
{
    static char chunk[CHUNK];

    if (c->taken == c->got.n) {
        str_clear(&c->got);
        c->taken = 0;
    }
    for (;;) {
        ssize_t k = read(c->out, chunk, sizeof chunk);

        if (k > 0) {
            str_write(&c->got, chunk, (size_t)k);
            return IO_FINE;
        }
        if (k == 0)
            return IO_ENDED;
        if (errno == EAGAIN) {
            enum exec_io io = exec_child_wait(c->out, POLLIN, until, tick);

            if (io != IO_FINE)
                return io;
        } else if (errno != EINTR) {
            return IO_ENDED;
        }
    }
}

enum exec_io exec_child_line(struct exec_child *c, const char **line, int64_t until,
                             volatile uint64_t *tick)
{
    size_t seen = 0;

    for (;;) {
        char *from = c->got.s + c->taken;
        size_t n = c->got.n - c->taken;
        char *end = n > seen ? memchr(from + seen, '\n', n - seen) : NULL;
        enum exec_io io;

        if (end) {
            *end = '\0';
            *line = from;
            c->taken += (size_t)(end - from) + 1;
            return IO_FINE;
        }
        if (n > EXEC_LINE_MAX)
            return IO_LONG;
        seen = n;
        io = read_more(c, until, tick);
        if (io != IO_FINE)
            return io;
    }
}

enum exec_io exec_child_bytes(struct exec_child *c, void *to, size_t n, size_t *have,
                              int64_t until, volatile uint64_t *tick)
{
    for (*have = 0; *have < n;) {
        size_t k = c->got.n - c->taken;
        enum exec_io io;

        if (k > n - *have)
            k = n - *have;
        if (k) {
            memcpy((char *)to + *have, c->got.s + c->taken, k);
            c->taken += k;
            *have += k;
            continue;
        }
        io = read_more(c, until, tick);
        if (io != IO_FINE)
            return io;
    }
    return IO_FINE;
}

bool exec_child_left_over(struct exec_child *c)
{
    return c->taken < c->got.n || read_more(c, 0, NULL) == IO_FINE;
}

void exec_child_forget_log(struct exec_child *c)
{
    if (ftruncate(c->log, 0))
        return; /* then there is more to read than is needed */
}

void exec_child_log(const struct exec_child *c, char *buf, size_t n)
{
    char tail[LOG_TAIL];
    off_t size = lseek(c->log, 0, SEEK_END);
    off_t at = size > LOG_TAIL ? size - LOG_TAIL : 0;
    ssize_t k = pread(c->log, tail, sizeof tail, at);
    size_t from, to = 0;

    while (k > 0 && (tail[k - 1] == '\n' || tail[k - 1] == ' '))
        k--;
    from = k > (ssize_t)n - 1 ? (size_t)k - n + 1 : 0;
    for (size_t i = from; k > 0 && i < (size_t)k && to + 1 < n; i++)
        buf[to++] = (unsigned char)tail[i] < ' ' ? ' ' : tail[i];
    buf[to] = '\0';
}
