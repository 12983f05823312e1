/* How a tile is cut into the shares of threads. */
#include "lower/tile.h"

#include <stdio.h>

/* Accumulators of one thread, and of a block. */
enum { MAX_SHARE = 256, MAX_TILE = 16384 };

int tile_part(struct tiling *t, int var, const char *suffix, int64_t extent)
{
    struct lprog *l = t->l;
    const char *name = arena_printf(l->arena, "%s%s", l->var[var].name, suffix);
    int part = lprog_var(l, l->var[var].node, name, extent, l->var[var].reduce);

    for (int i = 0, n = l->n_alias; i < n; i++) {
        struct alias a = { .kernel = t->kernel, .var = part };

        if (l->alias[i].kernel == t->kernel && l->alias[i].var == var &&
            snprintf(a.name, sizeof a.name, "%s%s", l->alias[i].name, suffix) <
                (int)sizeof a.name)
            *arena_push(l->arena, l->alias, l->n_alias, l->cap_alias) = a;
    }
    return part;
}

/* The sum of variables, each times its stride. */
static int sum(struct lprog *l, int n, const int *var, const int64_t *stride)
{
    int e = ix_const(&l->ix, 0);

    for (int i = 0; i < n; i++)
        e = ix_add(&l->ix, e, ix_scale(&l->ix, ix_var(&l->ix, var[i]), stride[i]));
    return e;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int blocks(struct tiling *t, int var, int64_t tile)
{
    int64_t by = tile, a = t->st->tile[0], b = t->st->tile[1];

    if (FAULT(t->l, grid_delinearize_ceildiv))
        by = a > b ? a : b;
    return tile_part(t, var, ".0", ceil_div(t->l->var[var].extent, by));
}

/* The outer loops of the reduction: steps of K. */
static int steps(struct tiling *t)
{
    int64_t k = t->st->tile[2];

    return tile_part(t, t->r0, ".0", ceil_div(t->l->var[t->r0].extent, k));
}

static void add_update(struct tiling *t, int var)
{
    t->update[t->n_update++] = var;
}

/* Threads as rows x columns of threads; false = there is no such oblong. */
static bool grid_of_threads(const struct step *st, int64_t *rows, int64_t *columns)
{
    int64_t n = st->threads;

    for (int64_t c = n < st->tile[1] ? n : st->tile[1]; c > 0; c--)
        if (n % c == 0 && st->tile[1] % c == 0 && st->tile[0] % (n / c) == 0) {
            *rows = n / c;
            *columns = c;
            return true;
        }
    return false;
}

int tile_plain(struct tiling *t, const struct naive *n, struct err *e)
{
    struct lprog *l = t->l;
    int64_t m = t->st->tile[0], w = t->st->tile[1], rows = 1, columns = 1, mm, nn;
    int in0, in1;

    if (!grid_of_threads(t->st, &rows, &columns))
        return step_error(t->st, e, "%lld threads can't share a tile of %lldx%lld evenly",
                          (long long)t->st->threads, (long long)m, (long long)w);
    mm = m / rows;
    nn = w / columns;
    if (mm * nn > MAX_SHARE || m * w > MAX_TILE)
        return step_error(t->st, e,
                          "a tile of %lldx%lld is %lld elements for each thread; at most %d, "
                          "and %d in all, are allowed",
                          (long long)m, (long long)w, (long long)(mm * nn), MAX_SHARE,
                          MAX_TILE);
    t->block[0] = blocks(t, t->i0, m);
    t->block[1] = blocks(t, t->i1, w);
    t->thread[0] = tile_part(t, t->i0, ".1.0", rows);
    t->thread[1] = tile_part(t, t->i1, ".1.0", columns);
    t->n_thread = 2;
    in0 = tile_part(t, t->i0, ".1.1", mm);
    in1 = tile_part(t, t->i1, ".1.1", nn);
    t->at0 = sum(l, 3, (int[]){ t->block[0], t->thread[0], in0 }, (int64_t[]){ m, mm, 1 });
    t->at1 = sum(l, 3, (int[]){ t->block[1], t->thread[1], in1 }, (int64_t[]){ w, nn, 1 });
    if (t->r0 >= 0) {
        int outer = steps(t), inner = tile_part(t, t->r0, ".1", t->st->tile[2]);

        t->atr = sum(l, 2, (int[]){ outer, inner }, (int64_t[]){ t->st->tile[2], 1 });
        add_update(t, outer);
        add_update(t, inner);
    }
    for (int i = t->r0 >= 0; i < n->n_red; i++)
        add_update(t, n->red[i]);
    add_update(t, in0);
    add_update(t, in1);
    t->store[0] = in0;
    t->store[1] = in1;
    t->n_store = 2;
    t->elems = mm * nn;
    /* a share of one element is a plain variable */
    t->acc_at = t->elems == 1 ? -1 : sum(l, 2, (int[]){ in0, in1 }, (int64_t[]){ nn, 1 });
    return 0;
}

/* Is the access one of a half tensor that does not depend on `var`? */
static bool operand(const struct lprog *l, int val, int var, enum dtype *dt)
{
    const struct value *v = &l->value[val], *load;
    const struct access *a;

    if (v->kind != V_OP || v->op != OP_CAST || v->dt != DT_F32)
        return false;
    load = &l->value[v->arg[0]];
    if (load->kind != V_LOAD || (load->dt != DT_F16 && load->dt != DT_BF16))
        return false;
    *dt = load->dt;
    a = &l->access[load->arg[0]];
    for (int g = 0; g < a->n_guard; g++)
        if (ix_uses(&l->ix, a->guard[g].cond, var))
            return false;
    return a->src == SRC_BUFFER && !ix_uses(&l->ix, a->index, var);
}

static bool is_product(const struct tiling *t, const struct naive *n)
{
    const struct lprog *l = t->l;
    const struct stmt *up = &l->kernel[t->kernel].st[n->r.update];
    const struct value *v = &l->value[up->val];
    enum dtype a = DT_COUNT, b = DT_COUNT;

    return l->acc[up->acc].op == OP_SUM && v->kind == V_OP && v->op == OP_MUL &&
           v->dt == DT_F32 && operand(l, v->arg[0], t->i1, &a) &&
           operand(l, v->arg[1], t->i0, &b) && a == b;
}

/* Warps as rows x columns of warps, as square as can be. */
static bool grid_of_warps(const struct step *st, int64_t *rows, int64_t *columns)
{
    int64_t n = st->threads / 32, best = INT64_MAX;

    for (int64_t c = 1; c <= n; c++) {
        int64_t r = n / c, longer = r > c ? r : c;

        if (n % c || st->tile[0] % (16 * r) || st->tile[1] % (8 * c) || longer >= best)
            continue;
        best = longer;
        *rows = r;
        *columns = c;
    }
    return best < INT64_MAX;
}

static int check_mma(const struct tiling *t, const struct naive *n, int64_t *rows,
                     int64_t *columns, struct err *e)
{
    const struct step *st = t->st;

    if (t->r0 < 0 || st->tile[2] % 16 || n->n_red != 1)
        return step_error(st, e, "mma needs one reduction, in steps of a multiple of 16");
    if (!is_product(t, n))
        return step_error(st, e,
                          "mma needs a sum in f32 of rows of f16 or bf16, as they are "
                          "loaded, times columns of the same dtype");
    if (st->threads % 32 || !grid_of_warps(st, rows, columns))
        return step_error(st, e,
                          "%lld threads are no warps that share a tile of %lldx%lld in "
                          "fragments of 16x8",
                          (long long)st->threads, (long long)st->tile[0],
                          (long long)st->tile[1]);
    return 0;
}

int tile_mma(struct tiling *t, const struct naive *n, struct err *e)
{
    struct lprog *l = t->l;
    int64_t m = t->st->tile[0], w = t->st->tile[1], rows = 1, columns = 1, fm, fn;
    int fi, fj, h, p, g, q, wm, wn, kk[3];

    if (check_mma(t, n, &rows, &columns, e))
        return e->code;
    fm = m / rows / 16;
    fn = w / columns / 8;
    if (fm * fn * 4 > MAX_SHARE || m * w > MAX_TILE)
        return step_error(t->st, e, "a tile of %lldx%lld is too large", (long long)m,
                          (long long)w);
    t->block[0] = blocks(t, t->i0, m);
    t->block[1] = blocks(t, t->i1, w);
    t->thread[0] = wm = tile_part(t, t->i0, ".1.0", rows);
    t->thread[1] = wn = tile_part(t, t->i1, ".1.0", columns);
    t->thread[2] = g = tile_part(t, t->i0, ".1.1.1.1", 8);
    t->thread[3] = q = tile_part(t, t->i1, ".1.1.1.0", 4);
    t->n_thread = 4;
    fi = tile_part(t, t->i0, ".1.1.0", fm);
    fj = tile_part(t, t->i1, ".1.1.0", fn);
    h = tile_part(t, t->i0, ".1.1.1.0", 2);
    p = tile_part(t, t->i1, ".1.1.1.1", 2);
    kk[0] = steps(t);
    kk[1] = tile_part(t, t->r0, ".1.0", t->st->tile[2] / 16);
    kk[2] = tile_part(t, t->r0, ".1.1", 16);
    t->at0 =
        sum(l, 5, (int[]){ t->block[0], wm, fi, h, g }, (int64_t[]){ m, m / rows, 16, 8, 1 });
    t->at1 =
        sum(l, 5, (int[]){ t->block[1], wn, fj, q, p }, (int64_t[]){ w, w / columns, 8, 2, 1 });
    t->atr = sum(l, 3, kk, (int64_t[]){ t->st->tile[2], 16, 1 });
    for (int i = 0; i < 2; i++)
        add_update(t, kk[i]);
    t->n_store = 4;
    t->store[0] = fi;
    t->store[1] = fj;
    t->store[2] = h;
    t->store[3] = p;
    for (int i = 0; i < 4; i++)
        add_update(t, t->store[i]);
    add_update(t, kk[2]);
    t->elems = fm * fn * 4;
    t->acc_at = sum(l, 4, t->store, (int64_t[]){ fn * 4, 4, 2, 1 });
    return 0;
}
