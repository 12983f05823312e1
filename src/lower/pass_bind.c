/*
 * bind: "bind AX block|thread" makes loops the blocks of a grid or the threads of a block; on
 * a GPU every kernel that no step has bound gets a default.
 * needs: output loops in the perfect nest at the top, whose iterations are independent of each
 * other: so the bound loop may move up, below those that are bound already.
 * keeps: all else. gives: bound kernels (loop.h), one rewrite each:
 *   bind.slices   the loop over slices of split-K becomes the first BLOCK loop
 *   bind.block, bind.thread   by a step; a reduction over threads is made in reduce.h
 *   bind.default  the innermost output loop of fit extent becomes threads, those round it
 * blocks
 */
#include "lower/bind.h"

#include "lower/nest.h"
#include "lower/passes.h"
#include "lower/reduce.h"

/* Extents that the default takes for threads. */
enum { FEWEST = 2, MOST = 256 };

static bool is_bound(const struct stmt *s)
{
    return s->kind == ST_LOOP && (s->loop == LOOP_BLOCK || s->loop == LOOP_THREAD);
}

int bind_prefix(const struct lprog *l, const struct kernel *k)
{
    int n = 0;

    while (
        n < k->n && k->st[n].kind == ST_LOOP && stmt_end(k, n) == k->n - 1 - n &&
        (is_bound(&k->st[n]) || (k->st[n].loop == LOOP_SERIAL && !l->var[k->st[n].var].reduce)))
        n++;
    return n;
}

bool bind_has(const struct kernel *k, int var)
{
    for (int i = 0; i < k->n; i++)
        if (is_bound(&k->st[i]) && k->st[i].var == var)
            return true;
    return false;
}

int bind_slices(const struct lprog *l, const struct kernel *k)
{
    for (int i = 0; i < k->n && k->splitk != SPLITK_NONE; i++)
        if (k->st[i].kind == ST_LOOP && l->var[k->st[i].var].node < 0 &&
            !l->var[k->st[i].var].reduce)
            return k->st[i].var;
    return -1;
}

static void set_kind(struct lprog *l, struct stmt *s, enum loop_kind kind)
{
    s->loop = kind;
    s->by = l->n_log;
}

/* Loop `at` of the prefix goes up to place `to`. */
static void move_up(struct lprog *l, struct kernel *k, int at, int to, enum loop_kind kind)
{
    struct stmt s = k->st[at];

    for (int i = at; i > to; i--)
        k->st[i] = k->st[i - 1];
    k->st[to] = s;
    set_kind(l, &k->st[to], kind);
}

/* The bug: an accumulator is set up once for all that a thread computes. */
static void reset_once(struct lprog *l, struct kernel *k)
{
    int body = kernel_body(k), round[64];

    if (!FAULT(l, accumulator_not_reset))
        return;
    for (int i = body; i < k->n; i++)
        if (k->st[i].kind == ST_DECL && enclosing(k, i, round, 64) > body) {
            move_up(l, k, i, body, LOOP_SERIAL);
            return;
        }
}

/* One block of one thread. */
static void wrap(struct lprog *l, struct kernel *k)
{
    struct kernel list = list_new(k);
    const char *name = arena_printf(l->arena, "%s.block", k->name);

    push_loop(l, &list, lprog_var(l, -1, name, 1, false), LOOP_BLOCK);
    for (int i = 0; i < k->n; i++)
        kernel_push(l, &list, k->st[i]);
    push_end(l, &list, 1);
    list_take(k, &list);
}

void bind_default(struct lprog *l, struct kernel *k)
{
    int n = bind_prefix(l, k), thread = n - 1, slices = bind_slices(l, k);

    if (n == 0) {
        wrap(l, k);
        return;
    }
    for (; thread >= 0; thread--) {
        int64_t extent = l->var[k->st[thread].var].extent;

        if (extent >= FEWEST && extent <= MOST && k->st[thread].var != slices)
            break;
    }
    for (int i = 0; i < n; i++)
        if (thread < 0 || i <= thread)
            set_kind(l, &k->st[i], i == thread ? LOOP_THREAD : LOOP_BLOCK);
}

/* Threads that reduce are the last digit of the thread number. */
static bool threads_reduce(const struct lprog *l, const struct kernel *k)
{
    for (int i = 0; i < kernel_body(k); i++)
        if (k->st[i].loop == LOOP_THREAD && l->var[k->st[i].var].reduce)
            return true;
    return false;
}

/* Slices run side by side as soon as anything of their kernel does. */
static void bind_slice_loop(struct lprog *l, int kernel, int step)
{
    struct kernel *k = &l->kernel[kernel];
    int slices = bind_slices(l, k);

    if (slices >= 0 && k->st[0].var == slices && k->st[0].loop == LOOP_SERIAL &&
        lprog_rewrite(l, "bind.slices", step, kernel))
        set_kind(l, &k->st[0], LOOP_BLOCK);
}

/* No step after this one binds anything: the bug leaves what is legal as it is. */
static bool is_last(const struct lprog *l, int step)
{
    for (int i = step + 1; i < l->trial->n_step; i++)
        if (l->trial->step[i].kind == STEP_BIND)
            return false;
    return true;
}

static int bind_output(struct lprog *l, int kernel, int at, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct kernel *k = &l->kernel[kernel];
    const char *name = l->var[k->st[at].var].name;

    if (at >= bind_prefix(l, k))
        return step_error(st, e, "%s is no loop of the perfect nest that kernel %s begins with",
                          name, k->name);
    if (!st->to_thread && kernel_bound(k) && k->st[kernel_body(k) - 1].loop == LOOP_THREAD)
        return step_error(st, e, "%s would be blocks inside of the threads of kernel %s", name,
                          k->name);
    bind_slice_loop(l, kernel, step);
    if (!lprog_rewrite(l, st->to_thread ? "bind.thread" : "bind.block", step, kernel))
        return 0;
    move_up(l, k, at, kernel_body(k), st->to_thread ? LOOP_THREAD : LOOP_BLOCK);
    if (is_last(l, step))
        reset_once(l, k);
    return 0;
}

static int bind_kernel(struct lprog *l, int kernel, int var, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct kernel *k = &l->kernel[kernel];
    int at = kernel_loop(k, var);
    int64_t threads = kernel_threads(l, k);

    if (k->st[at].loop != LOOP_SERIAL)
        return step_error(st, e, "%s runs in lanes", l->var[var].name);
    if (st->to_thread && l->var[var].extent == 0)
        return step_error(st, e, "%s runs over nothing: a block has a thread at least",
                          l->var[var].name);
    if (st->to_thread && l->var[var].extent * threads > MAX_THREADS)
        return step_error(st, e, "%lld times %lld threads; at most %d make a block",
                          (long long)threads, (long long)l->var[var].extent, MAX_THREADS);
    if (threads_reduce(l, k))
        return step_error(st, e, "the threads of kernel %s reduce already: those come last",
                          k->name);
    if (!l->var[var].reduce)
        return bind_output(l, kernel, at, step, e);
    if (!st->to_thread)
        return step_error(st, e, "%s is a reduction: threads can run it, blocks can't",
                          l->var[var].name);
    bind_slice_loop(l, kernel, step);
    return l->stopped ? 0 : reduce_threads(l, kernel, var, step, e);
}

/* In every kernel that has the axis and has not bound it: both of split-K's, say. */
static int bind_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    bool any = false, bound = false;
    char name[MAX_LABEL];

    if (!axis_name(l, st, &st->axis[0], name, e))
        return e->code;
    for (int k = 0; k < l->n_kernel && !l->stopped; k++) {
        int var = kernel_axis(l, k, name);

        if (var < 0)
            continue;
        if (bind_has(&l->kernel[k], var)) {
            bound = true;
            continue;
        }
        any = true;
        if (bind_kernel(l, k, var, step, e))
            return e->code;
    }
    if (bound && !any)
        return step_error(st, e, "%s is bound already", name);
    return any || l->stopped ? 0 : step_error(st, e, "no kernel has a loop %s", name);
}

int pass_bind(struct lprog *l, struct err *e)
{
    if (steps_each(l, STEP_BIND, bind_step, e))
        return e->code;
    for (int i = 0; i < l->n_kernel && !l->stopped && l->target != TARGET_CPU; i++)
        if (!l->kernel[i].dead && !kernel_bound(&l->kernel[i]) &&
            lprog_rewrite(l, "bind.default", -1, i)) {
            bind_default(l, &l->kernel[i]);
            reset_once(l, &l->kernel[i]);
        }
    return 0;
}
