/* Requests and answers; what is no answer ends the child. */
#include "run/exec/exec.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"

enum { DEADLINE_DEFAULT = 20, HELLO_SECONDS = 120, COPY_SECONDS = 5, MOST_LONGER = 10 };
enum { CHILD_NS = 5000000 };

/* How much more wants to run than there are cores; both are files, and a run takes less than to
 * read them. */
static double overload(int64_t now)
{
    static int64_t again;
    static double share;
    double load, cores;

    if (now < again)
        return share;
    again = now + 1000000000;
    cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    share = 1;
    if (getloadavg(&load, 1) == 1 && cores > 0 && load > cores)
        share = load / cores < MOST_LONGER ? load / cores : MOST_LONGER;
    return share;
}

int64_t exec_until(int seconds)
{
    int64_t now = exec_now();

    return now + (int64_t)((seconds ? seconds : DEADLINE_DEFAULT) * 1e9 * overload(now));
}

enum talk exec_lost(struct exec_row *r, const char *said, bool late, char *why, size_t n)
{
    char log[260];
    int status;

    exec_child_log(&r->child, log, sizeof log);
    r->count->lost_ns += exec_child_cpu(&r->child, true);
    status = exec_child_end(&r->child);
    if (!*said && status == EXEC_STATUS_LOST)
        said = "ended as did the process that it was forked from";
    if (*said)
        snprintf(why, n, "%s%s%s", said, *log ? "; stderr: " : "", log);
    else if (WIFSIGNALED(status))
        snprintf(why, n, "died by signal %d (%s)%s%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), *log ? "; stderr: " : "", log);
    else
        snprintf(why, n, "ended with exit %d%s%s", WEXITSTATUS(status),
                 *log ? "; stderr: " : "", log);
    return late ? TALK_HUNG : TALK_DIED;
}

static enum talk no_io(struct exec_row *r, enum exec_io io, int seconds, char *why, size_t n)
{
    char said[100] = "";

    if (io == IO_LATE)
        snprintf(said, sizeof said, "no answer within %d s",
                 seconds ? seconds : DEADLINE_DEFAULT);
    if (io == IO_LONG)
        snprintf(said, sizeof said, "answered more than %d bytes without an end of line",
                 EXEC_LINE_MAX);
    return exec_lost(r, said, io == IO_LATE, why, n);
}

/* {"ok":true}, {"unsupported":"why"} or {"error":"text"} */
static enum talk sort_answer(struct exec_row *r, const char *line, json_t **answer, char *why,
                             size_t n)
{
    json_error_t bad;
    json_t *j = json_loads(line, 0, &bad), *text;
    char said[160];

    if (!json_is_object(j)) {
        snprintf(said, sizeof said, "answered what is no JSON object: '%.80s'", line);
        for (char *c = said; *c; c++)
            if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
                *c = '?';
        json_decref(j);
        return exec_lost(r, said, false, why, n);
    }
    r->count->framework_ns += json_integer_value(json_object_get(j, "ns"));
    if ((text = json_object_get(j, "unsupported")) || (text = json_object_get(j, "error"))) {
        bool refused = json_object_get(j, "unsupported") != NULL;

        snprintf(why, n, "%s", json_is_string(text) ? json_string_value(text) : "no reason");
        for (char *c = why; *c; c++)
            if ((unsigned char)*c < ' ')
                *c = ' ';
        json_decref(j);
        return refused ? TALK_REFUSED : TALK_FAILED;
    }
    if (!json_is_true(json_object_get(j, "ok"))) {
        snprintf(said, sizeof said, "answered neither ok, unsupported nor error: '%.80s'",
                 line);
        json_decref(j);
        return exec_lost(r, said, false, why, n);
    }
    *answer = j;
    return TALK_FINE;
}

static enum talk talk(struct exec_row *r, const struct talk_env *t, int seconds,
                      struct iovec *v, int n_v, json_t **answer, char *why, size_t n)
{
    int64_t end = exec_until(seconds);
    const char *line;
    enum exec_io io;

    if (exec_child_left_over(&r->child))
        return exec_lost(r, "sent more than was asked for", false, why, n);
    io = exec_child_write(&r->child, v, n_v, end, t->tick);
    if (io == IO_FINE)
        io = exec_child_line(&r->child, &line, end, t->tick);
    if (io != IO_FINE)
        return no_io(r, io, seconds, why, n);
    return sort_answer(r, line, answer, why, n);
}

enum talk exec_talk(struct exec_row *r, const struct talk_env *t, struct iovec *v, int n_v,
                    json_t **answer, char *why, size_t n)
{
    enum talk result = talk(r, t, t->deadline_s, v, n_v, answer, why, n);
    json_int_t ns =
        result == TALK_FINE ? json_integer_value(json_object_get(*answer, "ns")) : 0;

    /* who says that it took less than a child goes by had none */
    r->count->process_ns += exec_child_cpu(&r->child, ns <= 0 || ns >= CHILD_NS);
    return result;
}

static bool start(struct exec_row *r, const struct talk_env *t, char *why, size_t n)
{
    struct str s = { 0 };
    int seconds = t->deadline_s && t->deadline_s < COPY_SECONDS ? t->deadline_s : COPY_SECONDS;
    int64_t ns = 0;
    bool fine = exec_server_copy(&r->server, &r->child, exec_until(seconds), t->tick, &ns) ||
                exec_child_start(&r->child, r->argv, r->server.theirs, &s);

    r->count->start_ns += ns;
    if (!fine)
        snprintf(why, n, "%s", str_get(&s));
    str_release(&s);
    return fine;
}

enum talk exec_ready(struct exec_row *r, const struct talk_env *t, char *why, size_t n)
{
    static char hello[] = "{\"do\":\"hello\",\"version\":1}\n";
    struct iovec v = { hello, sizeof hello - 1 };
    char said[200];
    json_t *answer;
    enum talk result;

    if (exec_child_runs(&r->child))
        return TALK_FINE;
    r->program = 0;
    signal(SIGPIPE, SIG_IGN); /* a child that is gone is told by write */
    if (!start(r, t, why, n))
        return TALK_DIED;
    r->count->starts++;
    result = talk(r, t, t->deadline_s > HELLO_SECONDS ? t->deadline_s : HELLO_SECONDS, &v, 1,
                  &answer, why, n);
    r->count->start_ns += exec_child_cpu(&r->child, true);
    if (result != TALK_FINE)
        return result;
    if (!exec_hello(r, answer, said, sizeof said))
        result = exec_lost(r, said, false, why, n);
    r->forks = json_is_true(json_object_get(answer, "fork"));
    json_decref(answer);
    return result;
}

void exec_serve(struct exec_row *r, const struct talk_env *t)
{
    static char fork[] = "{\"do\":\"fork\"}\n";
    struct iovec v = { fork, sizeof fork - 1 };
    json_t *answer;
    char why[400];

    if (r->server.theirs >= 0 && r->forks &&
        exec_talk(r, t, &v, 1, &answer, why, sizeof why) == TALK_FINE) {
        json_decref(answer);
        exec_server_begun(&r->server, r->child.pid);
        exec_child_close(&r->child);
        return;
    }
    exec_server_close(&r->server);
    exec_child_end(&r->child);
}

void exec_outcome(enum talk t, const char *why, struct outcome *o)
{
    static const enum outcome_status status[] = {
        [TALK_FINE] = OUT_RAN,
        [TALK_REFUSED] = OUT_UNSUPPORTED,
        [TALK_FAILED] = OUT_BUILD_FAILED,
        [TALK_DIED] = OUT_CRASH,
        [TALK_HUNG] = OUT_HANG,
    };

    o->status = status[t];
    o->algebra = AL_IEEE;
    snprintf(o->detail, sizeof o->detail, "%s", why);
}
