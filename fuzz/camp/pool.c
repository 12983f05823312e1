#include "fuzz/camp/pool.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/check/check.h"

/* A worker is replaced after so many trials: libtcc and the C library may leak. */
enum { TRIALS_PER_WORKER = 4096, LOG_TAIL = 2000 };

int pool_open(struct pool *p, int jobs, int deadline_s, worker_fn *worker, void *ctx,
              struct err *e)
{
    memset(p, 0, sizeof *p);
    p->n = jobs < ZYGOTE_MAX_SLOTS ? jobs : ZYGOTE_MAX_SLOTS;
    p->deadline_s = deadline_s;
    return zygote_open(&p->z, worker, ctx, e);
}

void pool_close(struct pool *p)
{
    for (int i = 0; i < p->n; i++) {
        pool_retire(&p->slot[i]);
        str_release(&p->slot[i].in);
    }
    zygote_close(&p->z);
}

struct slot *pool_idle(struct pool *p)
{
    for (int i = 0; i < p->n; i++)
        if (!p->slot[i].busy)
            return &p->slot[i];
    return NULL;
}

void pool_retire(struct slot *s)
{
    if (!s->up)
        return;
    close(s->sock); /* the worker reads its end as the end */
    close(s->log);
    s->up = s->busy = false;
}

static bool spawn(struct pool *p, struct slot *s)
{
    int fd[2], log = memfd_create("stderr", MFD_CLOEXEC);

    if (log < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
        close(log);
        return false;
    }
    s->life++;
    if (!zygote_spawn(&p->z, (int)(s - p->slot), s->life, fd[1], log)) {
        close(fd[0]);
        close(fd[1]);
        close(log);
        return false;
    }
    close(fd[1]);
    s->sock = fd[0];
    s->log = log;
    s->up = true;
    s->used = s->hung = false;
    s->trials = 0;
    str_clear(&s->in);
    return true;
}

bool pool_start(struct pool *p, struct slot *s, const struct job *j, bool fresh)
{
    struct progress *pr = &p->z.progress[s - p->slot];

    if (s->up && ((fresh && s->used) || s->trials + j->count > TRIALS_PER_WORKER))
        pool_retire(s);
    if (!s->up && !spawn(p, s))
        return false;
    pr->trial = j->first;
    s->tick = ++pr->tick;
    s->since = checker_now();
    s->job = *j;
    s->busy = s->used = true;
    s->trials += j->count;
    /* a worker that died meanwhile is told of by its zygote */
    return send(s->sock, j, sizeof *j, MSG_NOSIGNAL) == (ssize_t)sizeof *j || errno == EPIPE;
}

void pool_done(struct slot *s)
{
    s->busy = false;
}

/* Reads what is there, without waiting for more. */
static void read_slot(struct slot *s)
{
    char buf[16384];
    ssize_t n;

    while ((n = recv(s->sock, buf, sizeof buf, MSG_DONTWAIT)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            str_write(&s->in, buf, (size_t)n);
}

static void deliver(struct slot *s, pool_event_fn *fn, void *ctx)
{
    struct pool_event ev = { .kind = POOL_MSG, .slot = s };
    uint32_t life = s->life;
    struct str in = s->in;
    size_t at = 0;

    /* the handler may give the slot a new worker, whose input is another */
    s->in = (struct str){ 0 };
    while (s->life == life && wire_next(&in, &at, &ev.msg))
        fn(ctx, &ev);
    if (s->life == life && s->up)
        str_write(&s->in, in.s + at, in.n - at);
    str_release(&in);
}

static void bury(struct pool *p, const struct zygote_death *d, pool_event_fn *fn, void *ctx)
{
    struct slot *s = &p->slot[d->slot];
    char log[LOG_TAIL + 1];
    bool busy;
    off_t size;
    ssize_t n;

    if (!s->up || s->life != d->life)
        return; /* one that was retired */
    read_slot(s);
    deliver(s, fn, ctx);
    if (!s->up || s->life != d->life)
        return;
    size = lseek(s->log, 0, SEEK_END);
    n = pread(s->log, log, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);
    log[n > 0 ? n : 0] = '\0';
    busy = s->busy;
    pool_retire(s);
    if (busy)
        fn(ctx, &(struct pool_event){ .kind = POOL_DIED,
                                      .slot = s,
                                      .status = d->status,
                                      .hung = s->hung,
                                      .trial = p->z.progress[d->slot].trial,
                                      .log = log });
}

/* A single trial checked in a child may take that child's whole patience. */
static int64_t patience_ns(const struct pool *p, const struct slot *s)
{
    bool longer = s->job.kind != JOB_BATCH || s->job.isolate;

    return (longer ? 4 : 1) * p->deadline_s * INT64_C(1000000000);
}

static void look_for_hung(struct pool *p)
{
    int64_t now = checker_now();

    for (int i = 0; i < p->n; i++) {
        struct slot *s = &p->slot[i];
        uint64_t tick = p->z.progress[i].tick;

        if (!s->up || !s->busy || s->hung)
            continue;
        if (tick != s->tick) {
            s->tick = tick;
            s->since = now;
        } else if (now - s->since > patience_ns(p, s)) {
            s->hung = true;
            zygote_kill(&p->z, i, s->life);
        }
    }
}

bool pool_wait(struct pool *p, int timeout_ms, pool_event_fn *fn, void *ctx)
{
    struct pollfd fd[ZYGOTE_MAX_SLOTS + 1];
    uint32_t life[ZYGOTE_MAX_SLOTS];
    struct zygote_death d;
    int told;

    fd[0] = (struct pollfd){ .fd = p->z.ctl, .events = POLLIN };
    for (int i = 0; i < p->n; i++) {
        fd[i + 1] =
            (struct pollfd){ .fd = p->slot[i].up ? p->slot[i].sock : -1, .events = POLLIN };
        life[i] = p->slot[i].life;
    }
    if (poll(fd, (nfds_t)p->n + 1, timeout_ms) < 0 && errno != EINTR)
        return false;
    for (int i = 0; i < p->n; i++) {
        struct slot *s = &p->slot[i];

        if (!(fd[i + 1].revents & POLLIN) || !s->up || s->life != life[i])
            continue;
        read_slot(s);
        deliver(s, fn, ctx);
    }
    while ((told = zygote_poll(&p->z, &d)) > 0)
        bury(p, &d, fn, ctx);
    look_for_hung(p);
    return told == 0;
}
