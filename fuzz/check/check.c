#include "fuzz/check/check.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/str.h"
#include "emit/emit.h"
#include "fuzz/check/backend.h"
#include "fuzz/check/twin.h"
#include "judge/rules.h"
#include "run/foreign.h"

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

int checker_open(struct checker *c, struct err *e)
{
    *c = (struct checker){ 0 };
    c->stage =
        mmap(NULL, sizeof *c->stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->stage == MAP_FAILED)
        return err_set(e, ERR_MISSING, "no memory to run in");
    if (!run_env_open(&c->env)) {
        munmap(c->stage, sizeof *c->stage);
        return err_set(e, ERR_MISSING, "no memory to run in");
    }
    arena_init(&c->arena);
    return 0;
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

bool check_has_ours(const struct check_opts *o)
{
    for (int i = 0; i < o->n_backend; i++)
        if (!o->backend[i]->caps)
            return true;
    return o->n_backend == 0;
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

/* With sites, which are filled in, for a GPU. */
static const char *emit_text(struct checker *c, const struct lprog *l, struct emit_sites *sites)
{
    struct str s = { 0 };
    const char *text;

    if (sites)
        emit_cuda(l, &s, sites);
    else
        emit_c(l, &s);
    text = arena_strndup(&c->arena, str_get(&s), s.n);
    str_release(&s);
    return text;
}

/* Lowers and prints what the backends take: for a CPU always, that is what is explained. */
static int make_code(struct checker *c, const struct trial *t, const struct check_opts *o,
                     struct check *out, int64_t *clock, struct err *e)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    bool c_text = false, gpu = false;

    for (int i = 0; i < o->n_backend; i++) {
        gpu |= o->backend[i]->gpu;
        c_text |= !o->backend[i]->gpu && !is_interp(o->backend[i]) && !o->backend[i]->caps;
    }
    out->text = out->gpu_text = NULL;
    out->gpu_l = NULL;
    out->gpu_sites = NULL;
    if (!check_has_ours(o)) {
        out->l = foreign_lprog(t, &c->arena);
        return 0;
    }
    lo.fault = o->fault;
    if (lower(t, &lo, &c->arena, &out->l, e))
        return e->code;
    lo.target = TARGET_GPU;
    if (gpu && lower(t, &lo, &c->arena, &out->gpu_l, e))
        return e->code;
    checker_phase(c, PH_LOWER, clock);
    if (c_text)
        out->text = emit_text(c, out->l, NULL);
    if (gpu) {
        struct emit_sites *sites = arena_new(&c->arena, struct emit_sites);

        out->gpu_text = emit_text(c, out->gpu_l, sites);
        out->gpu_sites = sites;
    }
    checker_phase(c, PH_EMIT, clock);
    return 0;
}

/* One verdict of a backend that can't be asked in the algebras that are wanted. */
static void no_ring(const struct check_run *r, struct check *out)
{
    struct verdict v = { .kind = VK_UNSUPPORTED,
                         .algebra = AL_RING,
                         .backend = r->b->name,
                         .tier = "",
                         .out = -1,
                         .detail = "algebra ring is for our own code" };

    add_verdict(out, &v);
}

/* Exact data say nothing where they meet what the contract leaves open. */
static void exact_by(struct check_run *r, unsigned contract)
{
    for (int set = 0; set < EXACT_SETS; set++) {
        if (r->exact[set] && !exact_holds(r->exact[set], contract, &r->c->arena))
            r->exact[set] = NULL;
    }
}

/* A compiler that is not ours is handed the trial itself, and judged by its contract. */
static void run_foreign(const struct check_run *all, const struct backend *b, struct check *out)
{
    struct check_run one = *all, *r = &one;
    unsigned contract = b->caps->contract;

    r->b = b;
    r->text = NULL;
    r->want[AL_RING] = NULL;
    if (!r->want[AL_IEEE]) {
        no_ring(r, out);
        return;
    }
    r->l = check_has_ours(r->o) ? foreign_lprog(r->t, &r->c->arena) : out->l;
    if (r->t->n_step || contract)
        r->want[AL_IEEE] = judge_want_by(r->t, contract, &r->c->arena);
    exact_by(r, contract);
    if (b->own_process)
        check_backend_afresh(r, add_verdict, out);
    else if (r->o->isolate)
        check_backend_isolated(r, add_verdict, out);
    else
        check_backend(r, add_verdict, out);
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
            if (o->backend[i]->caps) {
                run_foreign(all, o->backend[i], out);
                continue;
            }
            r->b = o->backend[i];
            r->l = r->b->gpu ? out->gpu_l : out->l;
            r->text = r->b->gpu ? out->gpu_text : out->text;
            r->sites = r->b->gpu ? out->gpu_sites : NULL;
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

/* Null kernels are tried by all that will be judged: without ring, exact data count too. */
static void find_untrusted(const struct check_run *r, struct check *out)
{
    const struct check_opts *o = r->o;
    const struct want *wants[AL_COUNT + EXACT_SETS];
    bool ours = check_has_ours(o);
    int n = 0;

    for (int al = 0; al < AL_COUNT; al++)
        if (r->want[al])
            wants[n++] = r->want[al];
    if (!ours && n)
        wants[0] = judge_want_by(r->t, o->backend[0]->caps->contract, &r->c->arena);
    for (int set = 0; !ours && n && set < EXACT_SETS; set++)
        if (r->exact[set])
            wants[n++] = r->exact[set]->want;
    if (n && judge_untrusted(wants, n, &out->untrusted_by) && !out->untrusted_by)
        out->untrusted_by = "a null kernel";
}

int check_trial(struct checker *c, const struct trial *t, const struct check_opts *o,
                struct check *out, struct err *e)
{
    struct check_run r = { .c = c, .t = t, .o = o };
    int64_t clock = checker_now();
    bool ours = check_has_ours(o);

    if (c->tick)
        ++*c->tick;
    out->n = 0;
    out->first = -1;
    out->untrusted_by = NULL;
    out->n_judged = out->n_unsure = 0;
    arena_reset(&c->arena);
    if (make_code(c, t, o, out, &clock, e))
        return e->code;
    for (int al = 0; al < AL_COUNT; al++)
        if (o->algebra[al] && (al == AL_IEEE || ours))
            r.want[al] = judge_want(t, (enum algebra)al, &c->arena);
    make_exact(&r, out);
    r.judge = twin_judge(c, t, o, &c->arena);
    checker_phase(c, PH_WANT, &clock);
    find_untrusted(&r, out);
    checker_phase(c, PH_COMPARE, &clock);
    run_begin(&c->env);
    c->env.deadline_s = o->deadline_s;
    run_backends(&r, out);
    decide(out);
    return 0;
}
