/*
 * One m16n8k16 product of a warp. Thread 4g + t of the warp has, of the accumulators, rows g
 * and g + 8, columns 2t and 2t + 1; of operand A rows g and g + 8, of operand B column g, and
 * of both 2t, 2t + 1, 2t + 8, 2t + 9 along the reduction. The loop IR writes row 8h + g,
 * column 2t + p and k = kk; what a thread loads is said in those variables too, so its place
 * is the operand's index with others put in for them.
 */
#include "base/bug.h"
#include "emit/cuda.h"

struct mma {
    struct lprog *l;       /* only index expressions are added to it */
    int h, p, kk, g, t;    /* variables */
    const struct stmt *st; /* the update */
    const struct access *a, *b;
    int *to; /* what is put in for a variable, -1 = itself */
};

static const struct access *operand(const struct cgen *g, int val)
{
    const struct value *v = &g->l->value[val];

    while (v->kind == V_OP && v->op == OP_CAST)
        v = &g->l->value[v->arg[0]];
    if (v->kind != V_LOAD || g->l->access[v->arg[0]].src != SRC_BUFFER)
        BUG("kernel %s: an mma of other than loads", g->k->name);
    return &g->l->access[v->arg[0]];
}

static void find_parts(struct cgen *g, int at, struct mma *m)
{
    const struct stmt *st = &g->k->st[at];
    const struct value *v;
    int threads = 0;

    m->h = st[0].var;
    m->p = st[1].var;
    m->kk = st[2].var;
    m->st = &st[3];
    for (int i = 0; i < kernel_body(g->k); i++) {
        if (g->k->st[i].loop != LOOP_THREAD)
            continue;
        threads++;
        m->g = m->t;
        m->t = g->k->st[i].var;
    }
    v = &g->l->value[st[3].val];
    if (st[1].kind != ST_LOOP || st[2].kind != ST_LOOP || st[3].kind != ST_UPDATE ||
        threads < 2 || v->kind != V_OP || v->op != OP_MUL || g->extent[m->h] != 2 ||
        g->extent[m->p] != 2 || g->extent[m->kk] != 16 || g->extent[m->g] != 8 ||
        g->extent[m->t] != 4)
        BUG("kernel %s: an mma of another shape", g->k->name);
    m->a = operand(g, v->arg[0]);
    m->b = operand(g, v->arg[1]);
    if (ix_uses(&m->l->ix, m->a->index, m->p) || ix_uses(&m->l->ix, m->b->index, m->h)) {
        const struct access *x = m->a;

        m->a = m->b;
        m->b = x;
    }
}

/* "const tf_m16 v3 = TF_SLD(..);", 0 where a guard fails */
static int put_half(struct cgen *g, struct mma *m, const struct access *x)
{
    bool shared = g->l->buffer[x->buffer].kind == BUF_SHARED;
    int local = cgen_new_local(g, "tf_m16");

    for (int i = 0; i < x->n_guard; i++) {
        str_puts(g->s, "(");
        cgen_cond(g, ix_subst(&m->l->ix, x->guard[i].cond, m->to, g->l->n_var));
        str_puts(g->s, ") ? ");
    }
    str_add(g->s, "%s(tf_m16, %d, %s, ", shared ? "TF_SLD" : "TF_LD",
            cgen_site(g, SITE_LOAD, x->buffer), g->buf[x->buffer]);
    cgen_operand(g, ix_subst(&m->l->ix, x->index, m->to, g->l->n_var));
    str_puts(g->s, ")");
    for (int i = 0; i < x->n_guard; i++)
        str_puts(g->s, " : 0");
    cgen_line(g, ";");
    return local;
}

/* The reduction's index of half j of register r, where 8 further ones begin at register `up` */
static int along(struct mma *m, int j, int up)
{
    struct ixs *x = &m->l->ix;

    return ix_add(x, ix_scale(x, ix_var(x, m->t), 2), ix_const(x, j + 8 * up));
}

static int load_a(struct cgen *g, struct mma *m)
{
    struct ixs *x = &m->l->ix;
    int first = 0;

    for (int r = 0; r < 4; r++) {
        for (int j = 0; j < 2; j++) {
            int local;

            m->to[m->h] = ix_const(x, r % 2);
            m->to[m->kk] = along(m, j, r / 2);
            local = put_half(g, m, m->a);
            first = r + j ? first : local;
        }
    }
    m->to[m->h] = -1;
    return first;
}

static int load_b(struct cgen *g, struct mma *m)
{
    struct ixs *x = &m->l->ix;
    int first = 0;

    m->to[m->t] = ix_div(x, ix_var(x, m->g), 2);
    m->to[m->p] = ix_mod(x, ix_var(x, m->g), 2);
    for (int r = 0; r < 2; r++) {
        for (int j = 0; j < 2; j++) {
            int local;

            m->to[m->kk] = along(m, j, r);
            local = put_half(g, m, m->b);
            first = r + j ? first : local;
        }
    }
    m->to[m->t] = m->to[m->p] = m->to[m->kk] = -1;
    return first;
}

static void put_pairs(struct cgen *g, int first, int n)
{
    for (int r = 0; r < n; r++) {
        str_puts(g->s, ", TF_PAIR(");
        cgen_local(g, first + 2 * r);
        str_puts(g->s, ", ");
        cgen_local(g, first + 2 * r + 1);
        str_puts(g->s, ")");
    }
}

/* TF_MMA_F16(12, acc[..] * 4, a * 4, b * 2); the accumulators change in place */
static void put_product(struct cgen *g, struct mma *m, int a, int b)
{
    struct ixs *x = &m->l->ix;

    str_puts(g->s, m->a->dt == DT_BF16 ? "TF_MMA_BF16(" : "TF_MMA_F16(");
    cgen_int(g->s, cgen_site(g, SITE_MMA, -1));
    for (int c = 0; c < 4; c++) {
        m->to[m->h] = ix_const(x, c / 2);
        m->to[m->p] = ix_const(x, c % 2);
        str_puts(g->s, ", ");
        cgen_acc(g, m->st->acc,
                 m->st->acc_at < 0 ? -1 : ix_subst(x, m->st->acc_at, m->to, g->l->n_var));
    }
    put_pairs(g, a, 4);
    put_pairs(g, b, 2);
    cgen_line(g, ");");
}

int cuda_mma(struct cgen *g, int at)
{
    /* expressions that stand in its table already keep their numbers */
    struct mma m = { .l = (struct lprog *)g->l };
    int a, b;

    find_parts(g, at, &m);
    m.to = arena_array(g->l->arena, int, g->l->n_var + 1);
    for (int i = 0; i < g->l->n_var; i++)
        m.to[i] = -1;
    g->at = at + 3;
    cgen_line(g, "{");
    g->indent++;
    a = load_a(g, &m);
    b = load_b(g, &m);
    put_product(g, &m, a, b);
    g->indent--;
    cgen_line(g, "}");
    return stmt_end(g->k, at);
}
