/*
 * bench speed: verified trials per CPU-second, where the time goes, and how long libtcc
 * alone takes over the same texts: what no tuning of ours can beat. Then the SIMT machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "fuzz/bench/simt.h"
#include "fuzz/gen/stats.h"
#include "fuzz/json.h"
#include "run/tcc.h"

struct bench {
    const struct bench_opts *o;
    struct checker ck;
    struct check c;
    struct arena a, scratch;
    struct gen_stats *stats;
    struct str *text; /* what libtcc was given, per trial */
    int64_t verified, unsupported, untrusted, findings;
    double cpu_s, floor_s;
    int64_t floor_n;
    struct simt_speed simt;
};

static void count(struct bench *b)
{
    enum verdict_kind k = b->c.kind;

    if (k == VK_UNSUPPORTED)
        b->unsupported++;
    else if (k == VK_UNTRUSTED)
        b->untrusted++;
    else
        b->verified++;
    b->findings += verdict_is_finding(k);
}

/* The hunt's own loop, and beside the clock what is needed afterwards. */
static int hunt(struct bench *b, struct err *e)
{
    for (uint64_t i = 0; i < b->o->trials; i++) {
        double start = clock_cpu_s();
        int64_t clock = checker_now();
        const struct trial *t;

        snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64, i,
                 b->o->seed);
        arena_reset(&b->a);
        t = gen_trial(b->o->seed, i, &b->o->gen, &b->a, &b->scratch);
        checker_phase(&b->ck, PH_GENERATE, &clock);
        if (check_trial(&b->ck, t, &b->o->check, &b->c, e))
            return e->code;
        b->cpu_s += clock_cpu_s() - start;
        count(b);
        gen_stats_add(b->stats, t);
        if (b->c.text)
            tcc_text(b->c.l, b->c.text, &b->text[i]);
    }
    return 0;
}

static void compile_only(struct bench *b)
{
    double start = clock_cpu_s();

    for (uint64_t i = 0; i < b->o->trials; i++)
        if (b->text[i].n)
            b->floor_n += tcc_compile_only(str_get(&b->text[i]));
    b->floor_s = clock_cpu_s() - start;
}

static double rate(double n, double s)
{
    return s > 0 ? n / s : 0;
}

static double share(const struct bench *b, int phase)
{
    int64_t all = 0;

    for (int i = 0; i < PH_COUNT; i++)
        all += b->ck.phase_ns[i];
    return all ? (double)b->ck.phase_ns[phase] / (double)all : 0;
}

static double phase_us(const struct bench *b, int phase)
{
    return (double)b->ck.phase_ns[phase] * 1e-3 / (double)b->o->trials;
}

/* The build that a kernel gets which is run often. */
static const struct simt_rate *simt_best(const struct bench *b)
{
    return b->simt.gcc.ms > 0 ? &b->simt.gcc : &b->simt.tcc;
}

static json_t *simt_json(const struct bench *b)
{
    json_t *j = json_object();

    json_put(j, "build", json_text(simt_best(b) == &b->simt.gcc ? "gcc" : "tcc"));
    json_put(j, "matmul_ms", json_real(simt_best(b)->ms));
    json_put(j, "tcc_ops_per_cpu_s", json_real(b->simt.tcc.ops_per_cpu_s));
    json_put(j, "tcc_matmul_ms", json_real(b->simt.tcc.ms));
    json_put(j, "trials_per_cpu_s", json_real(b->simt.trials_per_cpu_s));
    json_put(j, "findings", json_integer(b->simt.findings));
    return j;
}

static void print_simt(const struct bench *b, struct str *s)
{
    str_puts(s, "\nsimt, all checks on, a 64x64x64 matmul in tiles:\n");
    if (b->simt.gcc.ms > 0)
        str_add(s, "  gcc  %6.0f M thread-operations per CPU-second, %.2f ms a run\n",
                b->simt.gcc.ops_per_cpu_s * 1e-6, b->simt.gcc.ms);
    str_add(s, "  tcc  %6.0f M thread-operations per CPU-second, %.2f ms a run\n",
            b->simt.tcc.ops_per_cpu_s * 1e-6, b->simt.tcc.ms);
    str_add(s, "  %.0f trials with steps for GPUs per CPU-second on simt alone\n",
            b->simt.trials_per_cpu_s);
}

static void print_json(struct bench *b)
{
    json_t *j = json_object_schema(), *phases = json_array();

    json_put(j, "preset", json_text(preset_name(b->o->gen.preset)));
    json_put(j, "trials", json_integer((json_int_t)b->o->trials));
    json_put(j, "verified_per_cpu_s", json_real(rate((double)b->verified, b->cpu_s)));
    json_put(j, "tcc_floor_per_cpu_s", json_real(rate((double)b->floor_n, b->floor_s)));
    for (int i = 0; i < PH_COUNT; i++) {
        json_t *p = json_object();

        json_put(p, "id", json_text(check_phase_name[i]));
        json_put(p, "share", json_real(share(b, i)));
        json_put(p, "us_per_trial", json_real(phase_us(b, i)));
        json_array_append_new(phases, p);
    }
    json_put(j, "phases", phases);
    json_put(j, "simt_ops_per_cpu_s", json_real(simt_best(b)->ops_per_cpu_s));
    json_put(j, "simt", simt_json(b));
    json_put(j, "verified", json_integer(b->verified));
    json_put(j, "unsupported", json_integer(b->unsupported));
    json_put(j, "untrusted", json_integer(b->untrusted));
    json_put(j, "findings", json_integer(b->findings));
    json_put(j, "cpu_s", json_real(b->cpu_s));
    json_put(j, "drawn", gen_stats_json(b->stats));
    json_print_line(j);
}

static void print_text(struct bench *b)
{
    struct str s = { 0 };

    str_add(&s, "preset %s, %" PRIu64 " trials in %.2f s of CPU\n",
            preset_name(b->o->gen.preset), b->o->trials, b->cpu_s);
    str_add(&s,
            "%.0f verified trials per CPU-second (%" PRId64 " verified, UNTRUSTED %" PRId64
            ", UNSUPPORTED %" PRId64 ", %" PRId64 " findings)\n",
            rate((double)b->verified, b->cpu_s), b->verified, b->untrusted, b->unsupported,
            b->findings);
    str_add(&s,
            "%.0f per CPU-second: bare libtcc over the same texts\n\nphase      share   us\n",
            rate((double)b->floor_n, b->floor_s));
    for (int i = 0; i < PH_COUNT; i++)
        str_add(&s, "%-9s %5.1f%% %6.1f\n", check_phase_name[i], 100 * share(b, i),
                phase_us(b, i));
    print_simt(b, &s);
    str_puts(&s, "\n");
    gen_stats_print(b->stats, &s);
    fputs(str_get(&s), stdout);
    str_release(&s);
}

int bench_speed(const struct bench_opts *o, struct err *e)
{
    static struct bench b;

    b = (struct bench){ .o = o };
    if (checker_open(&b.ck, e))
        return 0;
    b.text = must(calloc(o->trials, sizeof *b.text));
    arena_init(&b.a);
    arena_init(&b.scratch);
    b.stats = gen_stats_new();
    if (!hunt(&b, e)) {
        compile_only(&b);
        if (!bench_simt(o, &b.ck, &b.simt, e))
            (o->json ? print_json : print_text)(&b);
    }
    for (uint64_t i = 0; i < o->trials; i++)
        str_release(&b.text[i]);
    free(b.text);
    gen_stats_free(b.stats);
    arena_release(&b.a);
    arena_release(&b.scratch);
    checker_close(&b.ck);
    return (int)b.findings + b.simt.findings;
}
