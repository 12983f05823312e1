#include "fuzz/check/check.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/str.h"
#include "emit/emit.h"
#include "fuzz/check/backend.h"
#include "fuzz/check/twin.h"
#include "judge/rules.h"

const char *const check_phase_name[PH_COUNT] = { "generate", "lower", "emit", "want",
                                                 "interp",   "build", "run",  "compare" };

void check_opts_default(struct check_opts *o)
{
    *o = (struct check_opts){ .isolate = true,
                              .deadline_s = CHECK_DEADLINE,
                              .exact_sets = CHECK_EXACT_SETS };
    o->backend[o->n_backend++] = backend_find("interp");
    o->backend[o->n_backend++] = backend_find("tcc");
    o->algebra[AL_RING] = o->algebra[AL_IEEE] = true;
}

int64_t checker_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void checker_phase(struct checker *c, enum check_phase ph, int64_t *since)
{
    int64_t now = checker_now();

    c->phase_ns[ph] += now - *since;
    *since = now;
}

bool checker_open(struct checker *c)
{
    *c = (struct checker){ 0 };
    c->stage =
        mmap(NULL, sizeof *c->stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->stage == MAP_FAILED)
        return false;
    if (!run_env_open(&c->env)) {
        munmap(c->stage, sizeof *c->stage);
        return false;
    }
    arena_init(&c->arena);
    return true;
}

void checker_close(struct checker *c)
{
    run_env_close(&c->env);
    arena_release(&c->arena);
    munmap(c->stage, sizeof *c->stage);
}

static bool is_interp(const struct backend *b)
{
    return !strcmp(b->group, "interp");
}

static void add_verdict(void *ctx, const struct verdict *v)
{
    struct check *out = ctx;

    out->verdict[out->n++] = *v;
    out->n_judged += v->n_judged;
    out->n_unsure += v->n_unsure;
}

/* A finding outweighs a refusal, a refusal outweighs lack of trust. */
static void decide(struct check *out)
{
    out->kind = out->untrusted_by ? VK_UNTRUSTED : VK_PASS;
    for (int i = out->n - 1; i >= 0; i--) {
        enum verdict_kind k = out->verdict[i].kind;

        if (k == VK_UNSUPPORTED && !verdict_is_finding(out->kind)) {
            out->kind = k;
            out->first = i;
        }
        if (k == VK_SUSPECT && out->kind == VK_PASS) {
            out->kind = k;
            out->first = i;
        }
    }
    for (int i = 0; i < out->n; i++) {
        if (verdict_is_finding(out->verdict[i].kind)) {
            out->kind = out->verdict[i].kind;
            out->first = i;
            return;
        }
    }
}

static const char *emit_text(struct checker *c, const struct check_opts *o,
                             const struct lprog *l)
{
    bool wanted = false;
    struct str s = { 0 };
    const char *text;

    for (int i = 0; i < o->n_backend; i++)
        wanted |= !is_interp(o->backend[i]);
    if (!wanted)
        return NULL;
    emit_c(l, &s);
    text = arena_strndup(&c->arena, str_get(&s), s.n);
    str_release(&s);
    return text;
}

/* What backend b is judged by in ieee. */
static const struct want *ieee_want(const struct check_run *r, const struct backend *b,
                                    const struct want **apart)
{
    if (!r->want[AL_IEEE] || !b->contracts)
        return r->want[AL_IEEE];
    if (!*apart)
        *apart = judge_want_apart(r->t, &r->c->arena);
    return *apart;
}

static void run_backends(const struct check_run *all, struct check *out)
{
    const struct check_opts *o = all->o;
    struct check_run one = *all, *r = &one;
    const struct want *apart = NULL;
    bool interp_failed = false;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < o->n_backend; i++) {
            bool interp = is_interp(o->backend[i]);

            if (interp != (pass == 0) || interp_failed)
                continue;
            r->b = o->backend[i];
            r->want[AL_IEEE] = ieee_want(all, r->b, &apart);
            if (o->isolate && !interp)
                check_backend_isolated(r, add_verdict, out);
            else
                check_backend(r, add_verdict, out);
        }
        for (int i = 0; i < out->n; i++)
            interp_failed |= verdict_is_finding(out->verdict[i].kind);
    }
}

static void make_exact(struct check_run *r, struct check *out)
{
    const struct check_opts *o = r->o;
    const char *why;

    out->n_exact = out->n_exact_na = 0;
    out->exact_na = NULL;
    if (!o->algebra[AL_IEEE] || !judge_is_proven(&o->judge))
        return;
    for (int set = 0; set < o->exact_sets; set++) {
        r->exact[set] = exact_make(r->t, set, &r->c->arena, &why);
        if (r->exact[set])
            out->n_exact++;
        else
            out->exact_na = why;
        out->n_exact_na += !r->exact[set];
    }
}

int check_trial(struct checker *c, const struct trial *t, const struct check_opts *o,
                struct check *out, struct err *e)
{
    const struct lower_opts lo = { o->fault, INT32_MAX, INT32_MAX };
    struct check_run r = { .c = c, .t = t, .o = o };
    const struct want *wants[AL_COUNT];
    int64_t clock = checker_now();
    int n_want = 0;

    if (c->tick)
        ++*c->tick;
    out->n = 0;
    out->first = -1;
    out->untrusted_by = NULL;
    out->n_judged = out->n_unsure = 0;
    arena_reset(&c->arena);
    if (lower(t, &lo, &c->arena, &out->l, e))
        return e->code;
    checker_phase(c, PH_LOWER, &clock);
    out->text = emit_text(c, o, out->l);
    checker_phase(c, PH_EMIT, &clock);
    for (int al = 0; al < AL_COUNT; al++)
        if (o->algebra[al])
            wants[n_want++] = r.want[al] = judge_want(t, (enum algebra)al, &c->arena);
    make_exact(&r, out);
    r.judge = twin_judge(c, t, o, &c->arena);
    checker_phase(c, PH_WANT, &clock);
    if (judge_untrusted(wants, n_want, &out->untrusted_by) && !out->untrusted_by)
        out->untrusted_by = "a null kernel";
    checker_phase(c, PH_COMPARE, &clock);
    r.l = out->l;
    r.text = out->text;
    run_begin(&c->env);
    run_backends(&r, out);
    decide(out);
    return 0;
}
