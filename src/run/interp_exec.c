/* The interpreter's inner loop. */
#include "run/interp_code.h"

#define A      v[p->a]
#define B      v[p->b]
#define C      v[p->c]
#define RA     r[p->a]
#define RB     r[p->b]
#define K      p->k
#define STEP() goto *label[(++p)->op]
#define GO(to)                                                                                 \
    do {                                                                                       \
        p = code + (to);                                                                       \
        goto *label[p->op];                                                                    \
    } while (0)

/* May a loop of n steps by `by` from index `from` stay within 0 .. elems-1? */
static bool within(int64_t from, int64_t by, int64_t n, int64_t elems)
{
    int64_t way, last;

    if (__builtin_mul_overflow(n - 1, by, &way) || __builtin_add_overflow(from, way, &last))
        return false;
    return (uint64_t)from < (uint64_t)elems && (uint64_t)last < (uint64_t)elems;
}

struct dot { /* operands of a whole loop: what is read, and how many bytes apart */
    const unsigned char *a, *b;
    int64_t a_by, b_by, n;
    bool ok;
};

static struct dot dot_of(const struct code *c, const struct ins *p, const struct ins *body,
                         int bytes)
{
    struct dot d = { .n = body[3].k };

    d.a_by = c->inc[p->a].by;
    d.b_by = c->inc[p->a + 1].by;
    d.ok = within(c->r[body[0].a], d.a_by, d.n, body[0].k) &&
           within(c->r[body[1].a], d.b_by, d.n, body[1].k);
    if (d.ok) {
        d.a = c->buf[body[0].b] + c->r[body[0].a] * bytes;
        d.b = c->buf[body[1].b] + c->r[body[1].a] * bytes;
        d.a_by *= bytes;
        d.b_by *= bytes;
    }
    return d;
}

/* Adds all products of one loop to *acc, in its order. */
#define MEM(id, ring, bytes, member, read, written) enum { BYTES_##id = bytes };
#define DOT(id, ring, load, muladd, member)                                                    \
    static void run_##id(const struct dot *d, union word *acc)                                 \
    {                                                                                          \
        const unsigned char *pa = d->a, *pb = d->b;                                            \
        union word x, y, s = *acc;                                                             \
                                                                                               \
        for (int64_t i = 0; i < d->n; i++, pa += d->a_by, pb += d->b_by) {                     \
            mem_read_##load(pa, &x);                                                           \
            mem_read_##load(pb, &y);                                                           \
            s.member = s.member + x.member * y.member;                                         \
        }                                                                                      \
        acc->member = s.member;                                                                \
    }
#include "run/interp_ops.def"

static enum exec_end exec(struct code *c, const struct ins *code, int64_t steps, int *pc)
{
    static const void *const label[] = {
#define VAL(id, ring, member, expr) &&L_##id,
#define INT(id, expr)               &&L_##id,
#define MEM(id, ring, bytes, member, read, written)                                            \
    &&L_LOAD_##id, &&L_GLOAD_##id, &&L_STORE_##id,
#define DOT(id, ring, load, muladd, member) &&L_##id,
#define INS(id, ring)                       &&L_##id,
#include "run/interp_ops.def"
    };
    const struct ins *p = code;
    int64_t *const r = c->r;
    union word *const v = c->v;
    unsigned char *const *const buf = c->buf;
    const struct inc *const inc = c->inc;
    enum exec_end end = EXEC_DONE;

    goto *label[p->op];

#define VAL(id, ring, member, expr)                                                            \
    L_##id : v[p->d].member = (expr);                                                          \
    STEP();
#define INT(id, expr)                                                                          \
    L_##id : r[p->d] = (int64_t)(expr);                                                        \
    STEP();
#define MEM(id, ring, bytes, member, read, written)                                            \
    L_GLOAD_##id : if (!r[p->c])                                                               \
    {                                                                                          \
        v[p->d].member = v[p->e].member;                                                       \
        STEP();                                                                                \
    }                                                                                          \
    L_LOAD_##id : if ((uint64_t)RA >= (uint64_t)K) goto outside;                               \
    mem_read_##id(buf[p->b] + RA * (bytes), &v[p->d]);                                         \
    STEP();                                                                                    \
    L_STORE_##id : if ((uint64_t)RA >= (uint64_t)K) goto outside;                              \
    mem_write_##id(buf[p->b] + RA * (bytes), &v[p->d]);                                        \
    STEP();
#define DOT(id, ring, load, muladd, member)                                                    \
    L_##id:                                                                                    \
    {                                                                                          \
        struct dot d = dot_of(c, p, code + p->c, BYTES_##load);                                \
                                                                                               \
        if (!d.ok || steps < d.n)                                                              \
            GO(p->c);                                                                          \
        steps -= d.n;                                                                          \
        run_##id(&d, &v[code[p->c + 2].d]);                                                    \
        GO(p->e);                                                                              \
    }
#include "run/interp_ops.def"

L_LOOP:
    r[p->d] = 0;
    if (p->k <= 0)
        GO(p->e);
    if (--steps < 0)
        goto too_long;
    GO(p->a);
L_NEXT:
    if (++r[p->d] >= p->k)
        GO(p->e);
    if (--steps < 0)
        goto too_long;
    for (const struct inc *i = inc + p->a, *last = i + p->b; i < last; i++)
        r[i->reg] = wrap_add(r[i->reg], i->by);
    GO(p->c);
L_JUMP:
    GO(p->c);
L_UNLESS:
    if (!RA)
        GO(p->c);
    STEP();
L_PICK:
    v[p->d].u = r[p->c] ? A.u : B.u;
    STEP();
L_PICK_D:
    v[p->d].all = r[p->c] ? A.all : B.all;
    STEP();
L_NUM_F:
    v[p->d].f = (float)RA;
    STEP();
L_NUM_D:
    v[p->d].d = (double)RA;
    STEP();
L_NUM_H:
    v[p->d].f = f16_grid((double)RA);
    STEP();
L_NUM_T:
    v[p->d].f = bf16_grid((double)RA);
    STEP();
L_NUM_I:
    v[p->d].u = (uint32_t)(uint64_t)RA;
    STEP();
L_NUM_B:
    v[p->d].u = RA != 0;
    STEP();
L_NUM_2:
    v[p->d].u = (uint32_t)(uint64_t)RA & 0xffff;
    STEP();
L_FILL:
    for (int64_t i = 0; i < K; i++)
        v[p->d + i] = A;
    STEP();
L_AGET:
    if ((uint64_t)RA >= (uint64_t)K)
        goto outside;
    v[p->d].u = v[p->b + RA].u;
    STEP();
L_AGET_D:
    if ((uint64_t)RA >= (uint64_t)K)
        goto outside;
    v[p->d].all = v[p->b + RA].all;
    STEP();
L_APUT:
    if ((uint64_t)RA >= (uint64_t)K)
        goto outside;
    v[p->b + RA].u = v[p->d].u;
    STEP();
L_APUT_D:
    if ((uint64_t)RA >= (uint64_t)K)
        goto outside;
    v[p->b + RA].all = v[p->d].all;
    STEP();
L_LANE_PUT:
    c->lane[RA].u = v[p->d].u;
    STEP();
L_LANE_PUT_D:
    c->lane[RA].all = v[p->d].all;
    STEP();
L_LANE_GET:
    v[p->d].u = c->lane[RA].u;
    STEP();
L_LANE_GET_D:
    v[p->d].all = c->lane[RA].all;
    STEP();
outside:
    end = EXEC_BOUNDS;
    goto out;
too_long:
    end = EXEC_STEPS;
L_HALT:
out:
    *pc = (int)(p - code);
    return end;
}

static const struct ins *code_in(struct code *c, enum algebra al)
{
    if (al != AL_RING)
        return c->ins;
    if (!c->ring) {
        c->ring = arena_array(c->arena, struct ins, c->n);
        memcpy(c->ring, c->ins, (size_t)c->n * sizeof *c->ins);
        for (int i = 0; i < c->n; i++)
            c->ring[i].op = (int)ins_in((enum ins_op)c->ins[i].op, al);
    }
    return c->ring;
}

enum exec_end code_run(struct code *c, struct run_env *env, enum algebra al, int *pc)
{
    const struct lprog *l = c->l;

    for (int i = 0; i < l->n_buffer; i++)
        c->buf[i] = buffer_planned(&l->buffer[i]) ? env->temps.p + l->buffer[i].arena_at
                                                  : env->buf[i].p;
    for (int i = 0; i < c->n_lit; i++)
        c->v[c->lit[i].reg] = word_literal(c->lit[i].dt, al, c->lit[i].v);
    for (int i = 0; i < l->n_acc; i++)
        memset(&c->v[c->acc_at[i]], 0, (size_t)l->acc[i].elems * sizeof *c->v);
    return exec(c, code_in(c, al), env->step_limit, pc);
}
