#include "lower/stage.h"

#include <stdlib.h>
#include <string.h>

bool tile_add(const struct lprog *l, struct tile *t, int var)
{
    for (int i = 0; i < t->n; i++)
        if (t->var[i] == var)
            return true;
    if (t->n == MAX_TILE)
        return false;
    t->var[t->n] = var;
    t->extent[t->n++] = l->var[var].extent;
    return true;
}

static void swap(struct tile *t, int i)
{
    int var = t->var[i];
    int64_t extent = t->extent[i], coef = t->coef[i];

    t->var[i] = t->var[i - 1];
    t->extent[i] = t->extent[i - 1];
    t->coef[i] = t->coef[i - 1];
    t->var[i - 1] = var;
    t->extent[i - 1] = extent;
    t->coef[i - 1] = coef;
}

/* 0 is a variable that only guards look at, or none: it must not come last. */
static int64_t weight(const struct tile *t, int i)
{
    return t->coef[i] == 0 ? INT64_MAX : llabs(t->coef[i]);
}

static int64_t row_of(const struct tile *t)
{
    int64_t row = 1, step = 0;

    for (int i = t->n - 1; i >= 0; i--) {
        if (t->extent[i] == 1)
            continue;
        if (row > 1 && t->coef[i] != step)
            break;
        row *= t->extent[i];
        step = t->coef[i] * t->extent[i];
    }
    return row;
}

void tile_order(struct lprog *l, struct tile *t, int index)
{
    int64_t *at = arena_array(l->arena, int64_t, l->n_var + 1);
    int64_t zero = ix_eval(&l->ix, index, at);

    t->elems = 1;
    for (int i = 0; i < t->n; i++) {
        at[t->var[i]] = 1;
        t->coef[i] = ix_eval(&l->ix, index, at) - zero;
        at[t->var[i]] = 0;
        t->elems *= t->extent[i];
    }
    for (int i = 1; i < t->n; i++)
        for (int j = i; j > 0 && weight(t, j - 1) < weight(t, j); j--)
            swap(t, j);
    t->row = row_of(t);
}

int tile_linear(struct lprog *l, const struct tile *t)
{
    int e = ix_const(&l->ix, 0);

    for (int i = 0; i < t->n; i++)
        e = ix_add(&l->ix, ix_scale(&l->ix, e, t->extent[i]),
                   t->extent[i] == 1 ? ix_const(&l->ix, 0) : ix_var(&l->ix, t->var[i]));
    return e;
}

void tile_digits(struct lprog *l, const struct tile *t, int e, int *to)
{
    int64_t below = 1;

    for (int i = t->n - 1; i >= 0; i--) {
        to[t->var[i]] = ix_mod(&l->ix, ix_div(&l->ix, e, below), t->extent[i]);
        below *= t->extent[i];
    }
}

int walk_element(struct lprog *l, const struct kernel *k, int var)
{
    return ix_add(&l->ix, ix_scale(&l->ix, ix_var(&l->ix, var), kernel_threads(l, k)),
                  kernel_thread_index(l, k));
}

int walk_over(struct lprog *l, struct kernel *list, const struct kernel *k, int var, int64_t n,
              struct walk *w)
{
    int64_t threads = kernel_threads(l, k);
    int e = walk_element(l, k, var);

    *w = (struct walk){ var, 1 };
    l->var[var].extent = (n + threads - 1) / threads;
    push_loop(l, list, var, LOOP_SERIAL);
    if (n % threads) {
        push_if(l, list, ix_lt(&l->ix, e, ix_const(&l->ix, n)));
        w->ends++;
    }
    return e;
}

int walk_begin(struct lprog *l, struct kernel *list, const struct kernel *k, const char *name,
               int64_t n, struct walk *w)
{
    return walk_over(l, list, k, lprog_var(l, -1, name, 1, false), n, w);
}

void walk_end(struct lprog *l, struct kernel *list, const struct walk *w)
{
    push_end(l, list, w->ends);
}

bool is_staged(const struct lprog *l, int buffer)
{
    const struct buffer *b = &l->buffer[buffer];

    return b->kind == BUF_SHARED && b->by > 0 &&
           strcmp(l->log[b->by - 1].rule, "stage.copy") == 0;
}

bool staged_find(const struct lprog *l, int step, struct staged *s)
{
    char name[MAX_LABEL];
    struct err e;

    *s = (struct staged){ &l->trial->step[step], step, -1, -1, -1 };
    if (s->st->kind != STEP_STAGE)
        return false;
    for (int i = 0; i < l->n_buffer; i++)
        if (is_staged(l, i) && l->log[l->buffer[i].by - 1].step == step)
            s->buffer = i;
    if (s->buffer < 0 || !axis_name(l, s->st, &s->st->axis[0], name, &e))
        return false;
    s->kernel = l->buffer[s->buffer].kernel;
    s->var = kernel_axis(l, s->kernel, name);
    return s->var >= 0;
}

int64_t staged_lanes(const struct lprog *l, const struct staged *s)
{
    int64_t bytes = dtype_info(l->buffer[s->buffer].dt)->bytes;

    return s->st->vec > bytes ? s->st->vec / bytes : 1;
}

int copy_loop(const struct lprog *l, const struct kernel *k, int at)
{
    int end, buffer = -1;

    if (k->st[at].kind != ST_LOOP || k->st[at].loop != LOOP_SERIAL)
        return -1;
    end = stmt_end(k, at);
    for (int i = at + 1; i < end; i++) {
        const struct stmt *s = &k->st[i];

        if (s->kind == ST_IF || s->kind == ST_END ||
            (s->kind == ST_LOOP && s->loop == LOOP_WIDE))
            continue;
        if ((s->kind != ST_STORE && s->kind != ST_ASYNC) || buffer >= 0 ||
            l->value[s->val].kind != V_LOAD || !is_staged(l, l->access[s->access].buffer))
            return -1;
        buffer = l->access[s->access].buffer;
    }
    return buffer;
}

int body_loop(const struct kernel *k, int var)
{
    int round[64];

    for (int i = kernel_body(k); i < k->n; i++) {
        if (k->st[i].kind != ST_LOOP || k->st[i].var != var)
            continue;
        for (int n = enclosing(k, i, round, 64) - 1; n >= 0; n--)
            if (k->st[round[n]].kind == ST_IF)
                return -1;
        return i;
    }
    return -1;
}

int64_t smem_wanted(const struct lprog *l, int kernel)
{
    int64_t bytes = 0;

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        int64_t size = buffer_bytes(b);

        if (b->kind != BUF_SHARED || b->kernel != kernel || b->overlay)
            continue;
        if (is_staged(l, i) && b->sh.rank == 2) /* its ring is not made yet */
            size *= l->trial->step[l->log[b->by - 1].step].depth;
        bytes += (size + 15) / 16 * 16;
    }
    return bytes;
}

int shared_buffer(struct lprog *l, int kernel, const char *suffix, enum dtype dt, int64_t elems,
                  int64_t row)
{
    struct buffer b = { .kind = BUF_SHARED,
                        .dt = dt,
                        .sh = { 2, { elems / row, row } },
                        .elems = elems,
                        .arena_at = -1,
                        .smem_at = -1,
                        .node = -1,
                        .kernel = kernel,
                        .by = l->n_log };

    b.name = arena_printf(l->arena, "%s.%s", l->kernel[kernel].name, suffix);
    for (int n = 2, i = 0; i < l->n_buffer; i++)
        if (strcmp(l->buffer[i].name, b.name) == 0) {
            b.name = arena_printf(l->arena, "%s.%s%d", l->kernel[kernel].name, suffix, n++);
            i = -1;
        }
    b.layout = layout_of(&b.layout, &b.sh);
    return lprog_buffer(l, b);
}
