#include "fuzz/camp/status.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int64_t second = 1000000000;

void status_init(struct status *s, bool quiet)
{
    *s = (struct status){ .quiet = quiet, .terminal = isatty(STDERR_FILENO) };
    s->start = s->last = checker_now();
    s->due = s->start + (s->terminal ? second / 2 : 10 * second);
}

static void add_left(struct str *line, double left_s)
{
    int64_t left = (int64_t)left_s;

    if (left_s < 0)
        return;
    if (left >= 3600)
        str_add(line, ", %" PRId64 "h%02" PRId64 "m left", left / 3600, left / 60 % 60);
    else if (left >= 60)
        str_add(line, ", %" PRId64 "m%02" PRId64 "s left", left / 60, left % 60);
    else
        str_add(line, ", %" PRId64 "s left", left);
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void status_line(const struct camp_totals *n, double rate, int bugs, double left_s, bool narrow,
                 struct str *line)
{
    double untrusted = percent(n->untrusted, n->trials);
    double unsupported = percent(n->unsupported, n->trials);

    str_add(line, "%" PRId64 " trials, %.0f/s, ", n->trials, rate);
    if (narrow)
        str_add(line, "UNTRUSTED %.1f%%, UNSUPPORTED %.1f%%", untrusted, unsupported);
    else
        str_add(line,
                "%" PRId64 " judged, UNTRUSTED %" PRId64 " (%.1f%%), UNSUPPORTED %" PRId64
                " (%.1f%%)",
                n->judged, n->untrusted, untrusted, n->unsupported, unsupported);
    str_add(line, ", %d bug%s", bugs, bugs == 1 ? "" : "s");
    add_left(line, left_s);
}

/* A line that wraps can't be drawn over: it is made to fit, and cut where even that fails. */
static void fitted_line(const struct camp_totals *n, double rate, int bugs, double left_s,
                        struct str *out)
{
    struct winsize w;
    size_t room = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col - 1 : 79;
    struct str line = { 0 };

    status_line(n, rate, bugs, left_s, false, &line);
    if (line.n > room) {
        str_clear(&line);
        status_line(n, rate, bugs, left_s, true, &line);
    }
    str_add(out, "\r\033[K%.*s", (int)(line.n < room ? line.n : room), str_get(&line));
    str_release(&line);
}

void status_show(struct status *s, const struct camp_totals *n, int bugs, double left_s)
{
    struct str line = { 0 };
    int64_t now = checker_now();
    double rate;

    if (s->quiet || now < s->due)
        return;
    rate = (double)(n->trials - s->last_trials) * 1e9 / (double)(now - s->last + 1);
    if (s->terminal) {
        fitted_line(n, rate, bugs, left_s, &line);
    } else {
        str_puts(&line, "tilefuzz: ");
        status_line(n, rate, bugs, left_s, false, &line);
        str_puts(&line, "\n");
    }
    if (write(STDERR_FILENO, str_get(&line), line.n) < 0)
        s->quiet = true;
    str_release(&line);
    s->drawn = true;
    s->due = now + (s->terminal ? second / 10 : 10 * second);
    if (now - s->last > (s->terminal ? 2 : 9) * second) {
        s->last = now;
        s->last_trials = n->trials;
    }
}

void status_wipe(struct status *s)
{
    static const char wipe[] = "\r\033[K";

    if (s->terminal && s->drawn && !s->quiet)
        if (write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0)
            s->quiet = true;
    s->drawn = false;
}
