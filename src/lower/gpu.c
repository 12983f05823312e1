/* Bound kernels: what their BLOCK and THREAD loops come to. */
#include "lower/loop.h"

/* Is statement i one of the loops at the top that a bound kernel is run by? */
static bool is_bound_loop(const struct kernel *k, int i)
{
    return i < k->n && k->st[i].kind == ST_LOOP &&
           (k->st[i].loop == LOOP_BLOCK || k->st[i].loop == LOOP_THREAD);
}

bool kernel_bound(const struct kernel *k)
{
    return is_bound_loop(k, 0);
}

static int64_t product(const struct lprog *l, const struct kernel *k, enum loop_kind kind)
{
    int64_t n = 1;

    for (int i = 0; is_bound_loop(k, i); i++)
        if (k->st[i].loop == kind)
            n *= l->var[k->st[i].var].extent;
    return n;
}

int64_t kernel_blocks(const struct lprog *l, const struct kernel *k)
{
    return product(l, k, LOOP_BLOCK);
}

int64_t kernel_threads(const struct lprog *l, const struct kernel *k)
{
    return product(l, k, LOOP_THREAD);
}

/* Digits of a number, the first the slowest. */
static int linear(struct lprog *l, const struct kernel *k, enum loop_kind kind)
{
    int e = ix_const(&l->ix, 0);

    for (int i = 0; is_bound_loop(k, i); i++)
        if (k->st[i].loop == kind)
            e = ix_add(&l->ix, ix_scale(&l->ix, e, l->var[k->st[i].var].extent),
                       ix_var(&l->ix, k->st[i].var));
    return e;
}

int kernel_thread_index(struct lprog *l, const struct kernel *k)
{
    return linear(l, k, LOOP_THREAD);
}

int kernel_block_index(struct lprog *l, const struct kernel *k)
{
    return linear(l, k, LOOP_BLOCK);
}

int kernel_body(const struct kernel *k)
{
    int i = 0;

    while (is_bound_loop(k, i))
        i++;
    return i;
}

int64_t kernel_smem(const struct lprog *l, int kernel)
{
    int64_t bytes = 0;

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        int64_t end = b->smem_at + buffer_bytes(b);

        if (b->kind == BUF_SHARED && b->kernel == kernel && b->smem_at >= 0 && end > bytes)
            bytes = end;
    }
    return bytes;
}
