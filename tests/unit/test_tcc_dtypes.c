/*
 * Backend tcc on f64, f16 and bf16: every half both ways, roundings, casts between all
 * dtypes, words in ring, accumulators. Kernels are built by hand and fed raw storage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "ir/data.h"
#include "ir/half.h"
#include "ir/text.h"
#include "run/run.h"

struct fix {
    struct run_env env;
    struct arena a;
    struct trial *t;
    struct lprog l; /* input x, output y, one kernel */
    int x, y, k, i; /* i: the index expression of its loop */
    struct str text;
    struct prepared p;
    struct outcome o;
};

static const struct backend *tcc;

static int setup(void **state)
{
    static struct fix f;

    tcc = backend_find("tcc");
    arena_init(&f.a);
    *state = &f;
    return run_env_open(&f.env) ? 0 : 1;
}

static int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->a);
    str_release(&f->text);
    return 0;
}

static int buffer(struct lprog *l, int node, enum buffer_kind kind)
{
    const struct node *n = &l->prog->node[node];
    struct layout none = { 0 };

    return lprog_buffer(l, (struct buffer){ .name = n->name,
                                            .kind = kind,
                                            .dt = n->dt,
                                            .sh = n->sh,
                                            .layout = layout_of(&none, &n->sh),
                                            .elems = shape_count(&n->sh),
                                            .arena_at = -1,
                                            .node = node });
}

static void push(struct fix *f, struct stmt s)
{
    kernel_push(&f->l, &f->l.kernel[f->k], s);
}

/* x of n elements of `from`, y of as many of `to`, and a loop of n turns, open; n = 0: of 4,
 * in lanes. */
static void begin(struct fix *f, enum dtype from, enum dtype to, int n)
{
    char text[200];
    struct err e = { 0 };
    int v;

    snprintf(text, sizeof text,
             "tilefuzz 1\ninput x %s [%d]\ny = cast x %s\noutput y\nschedule\n"
             "data seed=1 recipe=normal\n",
             dtype_info(from)->name, n ? n : 4, dtype_info(to)->name);
    arena_reset(&f->a);
    run_begin(&f->env);
    if (trial_parse(text, strlen(text), &f->a, &f->t, &e) || trial_check(f->t, &e))
        fail_msg("%s\n%s", e.msg, e.excerpt);
    f->l = (struct lprog){ .arena = &f->a, .trial = f->t, .prog = &f->t->prog };
    ixs_init(&f->l.ix, &f->a);
    f->x = buffer(&f->l, 0, BUF_INPUT);
    f->y = buffer(&f->l, 1, BUF_OUTPUT);
    f->k = lprog_kernel(&f->l, "y", 1);
    v = lprog_var(&f->l, 1, "y.i0", n ? n : 4, false);
    push(f, (struct stmt){ .kind = ST_LOOP, .loop = n ? LOOP_SERIAL : LOOP_LANES, .var = v });
    f->i = ix_var(&f->l.ix, v);
}

static int place(struct fix *f, int buf, int index)
{
    return lprog_access(&f->l, (struct access){ .src = SRC_BUFFER,
                                                .dt = f->l.buffer[buf].dt,
                                                .buffer = buf,
                                                .composed = true,
                                                .index = index });
}

static int load(struct fix *f, int index)
{
    return lprog_value(&f->l, (struct value){ .kind = V_LOAD,
                                              .dt = f->l.buffer[f->x].dt,
                                              .arg = { place(f, f->x, index), -1, -1 } });
}

static int x_at_i(struct fix *f)
{
    return load(f, f->i);
}

static int lit(struct fix *f, enum dtype dt, double v)
{
    return lprog_lit(&f->l, dt, v);
}

static int op1(struct fix *f, enum op op, enum dtype dt, int a)
{
    return lprog_op1(&f->l, op, dt, a);
}

static int op2(struct fix *f, enum op op, enum dtype dt, int a, int b)
{
    return lprog_op2(&f->l, op, dt, a, b);
}

static void store(struct fix *f, int index, int val)
{
    push(f, (struct stmt){ .kind = ST_STORE, .val = val, .access = place(f, f->y, index) });
}

/* y[i] = val, the end of the loop, and the build. */
static void build(struct fix *f, int val)
{
    if (val >= 0) {
        store(f, f->i, val);
        push(f, (struct stmt){ .kind = ST_END });
    }
    str_clear(&f->text);
    emit_c(&f->l, &f->text);
    if (tcc->prepare(&f->env, &f->l, str_get(&f->text), &f->p, &f->o))
        fail_msg("%s\n%s", f->o.detail, str_get(&f->text));
}

/* Runs with `raw` as the storage of x; the storage of y. */
static const void *run(struct fix *f, enum algebra al, const void *raw)
{
    const struct node *x = &f->t->prog.node[0];
    size_t bytes = (size_t)shape_count(&x->sh) * (size_t)dtype_info(x->dt)->bytes;
    struct pristine *in = &f->env.pristine;

    in->trial = f->t;
    in->filled[al] = true;
    in->data[al] = realloc(in->data[al], bytes);
    in->cap[al] = bytes;
    memcpy(in->data[al], raw, bytes);
    tcc->run(&f->env, &f->p, al, &f->o);
    assert_int_equal(f->o.status, OUT_RAN);
    assert_false(f->o.input_changed);
    assert_false(f->o.margin_broken);
    return f->o.out[0];
}

static void done(struct fix *f)
{
    tcc->release(&f->p);
}

/* A number as the bits that lie in memory, and back. */
static uint64_t bits_of(enum dtype dt, double v)
{
    float s = (float)v;
    uint32_t u;
    uint64_t w;

    switch (dt) {
    case DT_F16:
    case DT_BF16:
        return half_of(dt, v);
    case DT_F32:
        memcpy(&u, &s, 4);
        return u;
    case DT_F64:
        memcpy(&w, &v, 8);
        return w;
    case DT_I32:
        return (uint32_t)(int32_t)v;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return v != 0;
}

static double number_of(enum dtype dt, uint64_t w)
{
    uint32_t u = (uint32_t)w;
    float s;
    double v;

    switch (dt) {
    case DT_F16:
    case DT_BF16:
        return half_value(dt, (uint16_t)w);
    case DT_F32:
        memcpy(&s, &u, 4);
        return (double)s;
    case DT_F64:
        memcpy(&v, &w, 8);
        return v;
    case DT_I32:
        return (int32_t)u;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return w != 0;
}

static uint64_t get(enum dtype dt, const void *from, int i)
{
    int bytes = dtype_info(dt)->bytes;
    uint64_t w = 0;

    memcpy(&w, (const char *)from + i * bytes, (size_t)bytes);
    return w;
}

static void put(enum dtype dt, void *to, int i, uint64_t w)
{
    int bytes = dtype_info(dt)->bytes;

    memcpy((char *)to + i * bytes, &w, (size_t)bytes);
}

static bool same(enum dtype dt, uint64_t got, uint64_t want)
{
    return got == want || (isnan(number_of(dt, got)) && isnan(number_of(dt, want)));
}

static const enum dtype halves[] = { DT_F16, DT_BF16 };

#ifdef __FLT16_MANT_DIG__
/* half_of and half_value are what the tests below compare with: they against the compiler's. */
static void the_yardstick_is_straight(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        _Float16 x;

        memcpy(&x, &bits, 2);
        if (!same(DT_F64, bits_of(DT_F64, (double)x),
                  bits_of(DT_F64, half_value(DT_F16, bits))))
            fail_msg("0x%04x is %a", h, (double)x);
    }
    for (uint32_t u = 1; u < 0xfff00000u; u += 12345) {
        double d = number_of(DT_F32, u) * (1 + 0x1p-40);
        _Float16 x = (_Float16)d;
        uint16_t bits;

        memcpy(&bits, &x, 2);
        if (!same(DT_F16, half_of(DT_F16, d), bits))
            fail_msg("%a is 0x%04x", d, bits);
    }
}
#endif

static void every_half_is_read_and_written(void **state)
{
    static uint16_t raw[0x10000];
    struct fix *f = *state;

    for (unsigned h = 0; h < 0x10000; h++)
        raw[h] = (uint16_t)h;
    for (int d = 0; d < 2; d++) {
        enum dtype dt = halves[d];
        const uint16_t *h;
        const float *s;
        const double *w;

        begin(f, dt, DT_F32, 0x10000);
        build(f, op1(f, OP_CAST, DT_F32, x_at_i(f)));
        s = run(f, AL_IEEE, raw);
        for (unsigned i = 0; i < 0x10000; i++)
            if (!same(DT_F32, bits_of(DT_F32, (double)s[i]),
                      bits_of(DT_F32, half_value(dt, (uint16_t)i))))
                fail_msg("%s 0x%04x: got %a", dtype_info(dt)->name, i, (double)s[i]);
        done(f);
        begin(f, dt, DT_F64, 0x10000);
        build(f, op1(f, OP_CAST, DT_F64, x_at_i(f)));
        w = run(f, AL_IEEE, raw);
        for (unsigned i = 0; i < 0x10000; i++)
            if (!same(DT_F64, bits_of(DT_F64, w[i]),
                      bits_of(DT_F64, half_value(dt, (uint16_t)i))))
                fail_msg("%s 0x%04x: got %a", dtype_info(dt)->name, i, w[i]);
        done(f);
        begin(f, dt, dt, 0x10000);
        build(f, x_at_i(f));
        for (int al = 0; al < AL_COUNT; al++) {
            h = run(f, (enum algebra)al, raw);
            for (unsigned i = 0; i < 0x10000; i++)
                if (h[i] != i && (al == AL_RING || !same(dt, h[i], i)))
                    fail_msg("%s 0x%04x: got 0x%04x", dtype_info(dt)->name, i, h[i]);
        }
        done(f);
    }
}

/* From every half towards the next: itself, the middle and what is just off it. Where f64 is
 * rounded to f32 first, what is just off the middle falls onto it. */
static void narrowing_rounds_once(void **state)
{
    enum { EACH = 6, N = 0x10000 * EACH };
    static const enum dtype wide[] = { DT_F32, DT_F64 };
    struct fix *f = *state;
    char *raw = malloc((size_t)N * 8);

    for (int c = 0; c < 4; c++) {
        enum dtype from = wide[c & 1], to = halves[c >> 1];
        const uint16_t *h;

        for (int i = 0; i < 0x10000; i++) {
            double v = half_value(to, (uint16_t)i), next = half_value(to, (uint16_t)(i + 1));
            double mid = v + (next - v) / 2, off = from == DT_F32 ? 0x1p-23 : 0x1p-52;

            if (isinf(next) && isfinite(v)) /* as if there were a next one */
                mid = v + (v - half_value(to, (uint16_t)(i - 1))) / 2;
            put(from, raw, i * EACH, bits_of(from, v));
            put(from, raw, i * EACH + 1, bits_of(from, mid));
            put(from, raw, i * EACH + 2, bits_of(from, mid * (1 + off)));
            put(from, raw, i * EACH + 3, bits_of(from, mid * (1 - off)));
            put(from, raw, i * EACH + 4, bits_of(from, mid * (1 + 0x1p-30)));
            put(from, raw, i * EACH + 5, (uint64_t)i * 0x9e3779b97f4a7c15u >> (i & 3));
        }
        begin(f, from, to, N);
        build(f, op1(f, OP_CAST, to, x_at_i(f)));
        h = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(from, get(from, raw, i));

            if (!same(to, h[i], half_of(to, v)))
                fail_msg("%a to %s: got 0x%04x", v, dtype_info(to)->name, h[i]);
        }
        done(f);
    }
    free(raw);
}

static double cast_want(enum dtype from, enum dtype to, double v)
{
    switch (dtype_info(to)->class) {
    case DTC_INT:
        return isnan(v)                 ? 0
               : v >= (double)INT32_MAX ? INT32_MAX
               : v <= (double)INT32_MIN ? INT32_MIN
                                        : trunc(v);
    case DTC_BOOL:
        return v != 0;
    case DTC_FLOAT:
        break;
    }
    (void)from;
    return float_round(to, v);
}

/* In ring: i32 and floats keep the word, a half its low 16 bits; bool is != 0. */
static uint64_t ring_want(enum dtype to, uint32_t word)
{
    return to == DT_BOOL ? word != 0 : to == DT_F16 || to == DT_BF16 ? word & 0xffff : word;
}

static void casts_between_all(void **state)
{
    static const double edge[] = {
        0.0,           -0.0,          1,          -1.5,         0.49,
        65504,         65519.99,      65520,      -65520,       65536,
        3.3e38,        -3.4028235e38, 1e300,      -1e300,       INFINITY,
        -INFINITY,     NAN,           2147483647, 2147483646.5, 2147483648.0,
        -2147483648.0, -2147483649.0, 16777217,   16842753,     -16842753,
        2049,          2051,          0x1p-24,    0x1.8p-25,    0x1p-25,
        0x1p-133,      0x1.8p-134,    0x1p-149,   0x1.8p-150,   5e-324,
        1.0009765625
    };
    static const uint64_t word[] = { 0,          1,          0x7fff,      0x8000,
                                     0xffff,     0x10000,    0xdeadbeef,  0xffffffff,
                                     0x80000000, 0x7fffffff, 0x123456789, 0xffffffff00000000 };
    enum { N = sizeof edge / sizeof *edge, M = sizeof word / sizeof *word };
    struct fix *f = *state;
    uint64_t raw[N];

    for (int c = 0; c < DT_COUNT * DT_COUNT; c++) {
        enum dtype from = (enum dtype)(c / DT_COUNT), to = (enum dtype)(c % DT_COUNT);
        const void *got;

        begin(f, from, to, N);
        build(f, op1(f, OP_CAST, to, x_at_i(f)));
        for (int i = 0; i < N; i++)
            put(from, raw, i, bits_of(from, cast_want(DT_F64, from, edge[i])));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(from, get(from, raw, i));

            if (!same(to, get(to, got, i), bits_of(to, cast_want(from, to, v))))
                fail_msg("%s %a to %s: got 0x%llx", dtype_info(from)->name, v,
                         dtype_info(to)->name, (unsigned long long)get(to, got, i));
        }
        for (int i = 0; i < N; i++)
            put(from, raw, i, from == DT_BOOL ? (uint64_t)i & 1 : word[i % M]);
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(from, raw, i);

            if (get(to, got, i) != ring_want(to, w))
                fail_msg("%s word 0x%x to %s: got 0x%llx", dtype_info(from)->name, w,
                         dtype_info(to)->name, (unsigned long long)get(to, got, i));
        }
        done(f);
    }
}

static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint32_t inverse(uint32_t x)
{
    return mix(x ^ 0x7feb352du) | 1;
}

static uint32_t power_of_5(uint32_t n)
{
    uint32_t y = 1, by = 5;

    for (; n; n >>= 1, by *= by)
        if (n & 1)
            y *= by;
    return y;
}

static double max_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double rsqrt(double a)
{
    return 1 / sqrt(a);
}

static float rsqrtf(float a)
{
    return 1 / sqrtf(a);
}

static uint32_t r_exp(uint32_t x)
{
    return power_of_5(x * ring_literal(1.4426950408889634));
}

static uint32_t r_log(uint32_t x)
{
    return mix(x ^ 0x2545f491u);
}

static uint32_t r_tanh(uint32_t x)
{
    return mix(x ^ 0x4f6cdd1du);
}

static uint32_t r_erf(uint32_t x)
{
    return mix(x ^ 0x6a09e667u);
}

static uint32_t r_sqrt(uint32_t x)
{
    return mix(x ^ 0x9e3779b9u);
}

static uint32_t r_rsqrt(uint32_t x)
{
    return inverse(r_sqrt(x));
}

static const enum dtype floats[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };

/* Functions are computed in f32 or f64, a half then rounded to its grid, also when the
 * result is no more than an operand of the next op. */
static void functions_of_all_floats(void **state)
{
    static const struct {
        enum op op;
        double (*f64)(double);
        float (*f32)(float);
        uint32_t (*ring)(uint32_t);
    } row[] = {
        { OP_EXP, exp, expf, r_exp },         { OP_EXP2, exp2, exp2f, power_of_5 },
        { OP_LOG, log, logf, r_log },         { OP_TANH, tanh, tanhf, r_tanh },
        { OP_ERF, erf, erff, r_erf },         { OP_SQRT, sqrt, sqrtf, r_sqrt },
        { OP_RSQRT, rsqrt, rsqrtf, r_rsqrt },
    };
    static const double in[] = { 0.3, 1.7, 0, -0.25, 5.5, -9, INFINITY, NAN, 0.0078125, 11.1 };
    enum { N = sizeof in / sizeof *in };
    struct fix *f = *state;
    uint64_t raw[N];

    for (size_t c = 0; c < 4 * sizeof row / sizeof *row; c++) {
        enum dtype dt = floats[c % 4];
        uint32_t mask = dtype_info(dt)->bytes == 2 ? 0xffff : 0xffffffff;
        const void *got;

        begin(f, dt, dt, N);
        build(f, op2(f, OP_ADD, dt, op1(f, row[c / 4].op, dt, x_at_i(f)), lit(f, dt, 3)));
        for (int i = 0; i < N; i++)
            put(dt, raw, i, bits_of(dt, in[i]));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(dt, get(dt, raw, i));
            double y = dt == DT_F64 ? row[c / 4].f64(v) : (double)row[c / 4].f32((float)v);

            if (!same(dt, get(dt, got, i), bits_of(dt, float_round(dt, y) + 3)))
                fail_msg("%s of %s %g", op_info(row[c / 4].op)->name, dtype_info(dt)->name, v);
        }
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(dt, raw, i);

            if (get(dt, got, i) != (((row[c / 4].ring(w) & mask) + 3) & mask))
                fail_msg("%s of %s word 0x%x", op_info(row[c / 4].op)->name,
                         dtype_info(dt)->name, w);
        }
        done(f);
    }
}

/* Two operands: x and -2.5, whose words are what ring_literal says. */
static void arithmetic_of_all_floats(void **state)
{
    static const enum op ops[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MAX2, OP_MIN2 };
    static const double in[] = { 0.1, -2.5, 7, INFINITY, NAN, -0.0, 60000, 1e-7 };
    enum { N = sizeof in / sizeof *in };
    struct fix *f = *state;
    uint64_t raw[N];

    for (int c = 0; c < 4 * 6; c++) {
        enum dtype dt = floats[c % 4];
        uint32_t mask = dtype_info(dt)->bytes == 2 ? 0xffff : 0xffffffff;
        uint32_t b = ring_literal(-2.5) & mask;
        const void *got;

        begin(f, dt, dt, N);
        build(f, op1(f, OP_NEG, dt, op2(f, ops[c / 4], dt, x_at_i(f), lit(f, dt, -2.5))));
        for (int i = 0; i < N; i++)
            put(dt, raw, i, bits_of(dt, in[i]));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(dt, get(dt, raw, i));
            double want[] = { v - 2.5,  v + 2.5,         v * -2.5,
                              v / -2.5, max_of(v, -2.5), -max_of(-v, 2.5) };
            double y = dt == DT_F64 ? want[c / 4] : (double)(float)want[c / 4];

            if (!same(dt, get(dt, got, i), bits_of(dt, -float_round(dt, y))))
                fail_msg("%s of %s %g", op_info(ops[c / 4])->name, dtype_info(dt)->name, v);
        }
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(dt, raw, i);
            uint32_t want[] = { w + b,
                                w - b,
                                w * b,
                                w * inverse(b),
                                (int32_t)w > (int32_t)b ? w : b,
                                (int32_t)w < (int32_t)b ? w : b };

            if (get(dt, got, i) != ((0 - (want[c / 4] & mask)) & mask))
                fail_msg("%s of %s word 0x%x", op_info(ops[c / 4])->name, dtype_info(dt)->name,
                         w);
        }
        done(f);
    }
}

/* y[0] = x[0] op x[1] op .. in an accumulator of dtype acc. */
static const void *reduced(struct fix *f, enum dtype dt, enum dtype acc, enum op op, int n,
                           enum algebra al, const void *raw)
{
    struct acc a = { .dt = acc, .op = op, .identity = op, .elems = 1, .name = "y" };
    int at, val;

    begin(f, dt, dt, n);
    f->l.kernel[f->k].n = 0;
    at = lprog_acc(&f->l, a);
    push(f, (struct stmt){ .kind = ST_DECL, .acc = at, .acc_at = -1 });
    push(f, (struct stmt){ .kind = ST_LOOP, .var = 0 });
    push(f, (struct stmt){ .kind = ST_UPDATE,
                           .acc = at,
                           .acc_at = -1,
                           .val = op1(f, OP_CAST, acc, x_at_i(f)) });
    push(f, (struct stmt){ .kind = ST_END });
    val = lprog_value(&f->l, (struct value){ .kind = V_ACC, .dt = acc, .arg = { at, -1, -1 } });
    store(f, ix_const(&f->l.ix, 0), op1(f, OP_CAST, dt, val));
    build(f, -1);
    done(f);
    build(f, -1);
    return run(f, al, raw);
}

static void accumulators_of_any_dtype(void **state)
{
    struct fix *f = *state;
    uint16_t h[2050];
    double d[3] = { 1, 0x1p-53, 0x1p-53 };
    float s[3] = { 0x1p24f, 1, 1 };
    uint16_t words[3] = { 0xffff, 0xffff, 3 };

    for (int i = 0; i < 2050; i++)
        h[i] = half_of(DT_F16, 1);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F16, OP_SUM, 2050, AL_IEEE, h),
                     half_of(DT_F16, 2048)); /* where adding 1 is lost */
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F32, OP_SUM, 2050, AL_IEEE, h),
                     half_of(DT_F16, 2050));
    done(f);
    assert_true(*(const double *)reduced(f, DT_F64, DT_F64, OP_SUM, 3, AL_IEEE, d) == 1);
    done(f);
    assert_true(*(const float *)reduced(f, DT_F32, DT_F64, OP_SUM, 3, AL_IEEE, s) ==
                0x1.000002p24f);
    done(f);
    assert_true(*(const float *)reduced(f, DT_F32, DT_F32, OP_SUM, 3, AL_IEEE, s) == 0x1p24f);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F32, OP_SUM, 3, AL_RING, words),
                     1);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F16, OP_PROD, 3, AL_RING, words),
                     3);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_BF16, DT_F32, OP_MAX, 3, AL_RING, words),
                     0xffff);
    done(f);
}

static void prod_starts_at_one(void **state)
{
    struct fix *f = *state;
    int32_t i[3] = { 65536, 65537, -3 };
    double d[2] = { 1e300, 1e10 };
    uint32_t w[2] = { 0x10001, 0x10003 };

    assert_int_equal(*(const int32_t *)reduced(f, DT_I32, DT_I32, OP_PROD, 3, AL_RING, i),
                     -3 * 65536);
    done(f);
    assert_true(isinf(*(const double *)reduced(f, DT_F64, DT_F64, OP_PROD, 2, AL_IEEE, d)));
    done(f);
    assert_int_equal(*(const uint32_t *)reduced(f, DT_F32, DT_F32, OP_PROD, 2, AL_RING, w),
                     0x10001u * 0x10003u);
    done(f);
}

static void literals_keep_their_digits(void **state)
{
    static const double v[] = { 0.1, 1e300, 5e-324, 1.0 / 3, -INFINITY, 2 };
    struct fix *f = *state;
    double x[1] = { 0 };

    for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
        begin(f, DT_F64, DT_F64, 1);
        build(f, lit(f, DT_F64, v[k]));
        assert_true(*(const double *)run(f, AL_IEEE, x) == v[k]);
        assert_int_equal(*(const uint64_t *)run(f, AL_RING, x), ring_literal(v[k]));
        done(f);
    }
}

static void lanes_and_locals_of_halves(void **state)
{
    static const uint16_t raw[4] = { 0x3c00, 0x3c01, 0x7bff, 0x0001 };
    struct fix *f = *state;
    const uint16_t *h;
    int v;

    begin(f, DT_F16, DT_F16, 0);
    v = op2(f, OP_ADD, DT_F16, x_at_i(f), x_at_i(f));
    for (int k = 0; k < 9; k++) /* shared and deep: bound to locals */
        v = op2(f, OP_SUB, DT_F16, op2(f, OP_ADD, DT_F16, v, v), v);
    build(f, v);
    assert_non_null(strstr(str_get(&f->text), "= TF_PUT_F16(v"));
    h = run(f, AL_IEEE, raw);
    assert_int_equal(h[0], 0x4000);
    assert_int_equal(h[1], 0x4001);
    assert_true(isnan(half_value(DT_F16, h[2])));
    assert_int_equal(h[3], 2);
    h = run(f, AL_RING, raw);
    assert_int_equal(h[2], 2 * 0x7bff);
    done(f);
}

static void counting_in_all_floats(void **state)
{
    struct fix *f = *state;
    const uint16_t *h;
    uint16_t raw[2052] = { 0 };

    begin(f, DT_F16, DT_F16, 2052);
    build(f, lprog_value(&f->l, (struct value){
                                    .kind = V_INDEX, .dt = DT_F16, .arg = { f->i, -1, -1 } }));
    h = run(f, AL_IEEE, raw);
    assert_int_equal(h[2049], half_of(DT_F16, 2048));
    assert_int_equal(h[2051], half_of(DT_F16, 2052));
    h = run(f, AL_RING, raw);
    assert_int_equal(h[2051], 2051);
    done(f);
    begin(f, DT_F16, DT_F64, 2052);
    build(f, lprog_value(&f->l, (struct value){
                                    .kind = V_INDEX, .dt = DT_F64, .arg = { f->i, -1, -1 } }));
    assert_true(((const double *)run(f, AL_IEEE, raw))[2051] == 2051);
    assert_int_equal(((const uint64_t *)run(f, AL_RING, raw))[2051], 2051);
    done(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __FLT16_MANT_DIG__
        cmocka_unit_test(the_yardstick_is_straight),
#endif
        cmocka_unit_test(every_half_is_read_and_written),
        cmocka_unit_test(narrowing_rounds_once),
        cmocka_unit_test(casts_between_all),
        cmocka_unit_test(functions_of_all_floats),
        cmocka_unit_test(arithmetic_of_all_floats),
        cmocka_unit_test(accumulators_of_any_dtype),
        cmocka_unit_test(prod_starts_at_one),
        cmocka_unit_test(literals_keep_their_digits),
        cmocka_unit_test(lanes_and_locals_of_halves),
        cmocka_unit_test(counting_in_all_floats),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
