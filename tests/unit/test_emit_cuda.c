/*
 * CUDA text: what bound kernels look like, that every access has a site of its own, and that
 * each compiler takes the text under its prelude, in both algebras.
 */
#include "testing.h"

#include <libtcc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda_fix.h"

/* Does the text hold `part`? A line break and its indentation count as one blank. */
static void has(const struct fix *f, const char *part)
{
    struct str one_line = { 0 };

    for (const char *c = str_get(&f->text); *c; c++)
        if (*c != '\n' && !(c[0] == ' ' && (c[1] == ' ' || c[1] == '\n')))
            str_write(&one_line, c, 1);
        else if (*c == '\n')
            str_puts(&one_line, " ");
    for (size_t i = 0, n = 0; i <= one_line.n; i++)
        if (i == one_line.n || one_line.s[i] != ' ' || !n || one_line.s[n - 1] != ' ')
            one_line.s[n++] = i < one_line.n ? one_line.s[i] : '\0';
    if (!strstr(str_get(&one_line), part))
        fail_msg("no \"%s\" in\n%s", part, str_get(&f->text));
    str_release(&one_line);
}

static void bad_text(void *opaque, const char *msg)
{
    (void)opaque;
    print_error("%s\n", msg);
}

static void tcc_takes(const struct fix *f, const char *program)
{
    TCCState *s = tcc_new();

    tcc_set_error_func(s, NULL, bad_text);
    tcc_set_options(s, "-nostdlib -nostdinc -Wall");
    tcc_set_output_type(s, TCC_OUTPUT_OBJ);
    if (tcc_compile_string(s, program))
        fail_msg("tcc does not take\n%s", str_get(&f->text));
    tcc_delete(s);
}

/* A compiler that reads standard input; one that is not there takes everything. */
static void compiler_takes(const struct fix *f, const char *name, const char *options,
                           const char *program)
{
    char line[300];
    FILE *to;

    snprintf(line, sizeof line, "command -v %s >/dev/null", name);
    if (system(line))
        return;
    snprintf(line, sizeof line, "%s %s -", name, options);
    to = popen(line, "w");
    assert_non_null(to);
    fputs(program, to);
    if (pclose(to))
        fail_msg("%s does not take\n%s", line, str_get(&f->text));
}

static void hosts_take(const struct fix *f)
{
    struct str s = { 0 };

    fix_program(f, CUDA_SIMT, &s);
    tcc_takes(f, str_get(&s));
    compiler_takes(f, "gcc", "-x c -std=gnu11 -Wall -Wextra -Werror -fsyntax-only",
                   str_get(&s));
    compiler_takes(f, "clang", "-x c -std=gnu11 -Wall -Werror -fsyntax-only", str_get(&s));
    str_release(&s);
}

/* What needs a newer device than any has to compile for the oldest that has it, too. */
static void device_takes(const struct fix *f, bool oldest)
{
    struct str s = { 0 };

    fix_program(f, CUDA_DEVICE, &s);
    if (oldest)
        compiler_takes(f, "nvcc", "-x cu -arch=sm_80 -Werror all-warnings -cubin -o /dev/null",
                       str_get(&s));
    compiler_takes(f, "nvcc", "-x cu -arch=sm_90 -Werror all-warnings -cubin -o /dev/null",
                   str_get(&s));
    str_release(&s);
}

static void loads_are_alone(void **state)
{
    struct fix *f = *state;

    fix_lower(f, "tilefuzz 1\ninput x f32 [7,20]\ninput y f32 [20,9]\nz = matmul x y\n"
                 "output z\n");
    has(f, "TF_KERNEL(z)(TF_ARGS) { TF_GLOBAL(tf_f32, z, 0); TF_GLOBAL(const tf_f32, x, 1); "
           "TF_GLOBAL(const tf_f32, y, 2); TF_DIGIT(bid, TF_BID); TF_DIGIT(tid, TF_TID); "
           "TF_DIGIT(i0, bid); TF_DIGIT(i1, tid);");
    has(f, "TF_FOR(0, r0, 20) { const tf_f32 v1 = TF_LD(tf_f32, 1, x, 20*i0 + r0); "
           "const tf_f32 v2 = TF_LD(tf_f32, 2, y, 9*r0 + i1); "
           "acc = TF_ADD(acc, TF_MUL(v1, v2)); }");
    has(f, "TF_ST(tf_f32, 3, z, 9*i0 + i1, acc); }");
}

/* Everything there is, once: what the rows of the sites say of it. */
static void stages(struct fix *f)
{
    int a, b, i, c, w, acc, val;

    fix_by_hand(f, "tilefuzz 1\ninput x f32 [64]\ninput q i32 [4]\nd = cast q f32\n"
                   "y = mul x 2.0\noutput y\n");
    a = fix_shared(f, "y.a", DT_F32, 64, 0);
    b = fix_shared(f, "y.b", DT_F32, 64, 256);
    i = fix_loop(f, "y.i0", 2, LOOP_BLOCK);
    c = fix_loop(f, "y.i1", 8, LOOP_THREAD);
    acc = lprog_acc(f->l, (struct acc){ DT_F32, OP_SUM, OP_SUM, 1, "y" });
    w = fix_loop(f, "y.w", 4, LOOP_WIDE);
    fix_write(f, ST_ASYNC, a, fix_sum(f, 4, c, 1, w, 0),
              fix_guarded(f, 0, fix_sum(f, 32, i, 1, fix_sum(f, 4, c, 1, w, 0), 0), 60, 0));
    fix_end(f, 1);
    fix_sync(f, ST_COMMIT, 0);
    fix_sync(f, ST_WAIT, 0);
    fix_sync(f, ST_SYNC, 0);
    w = fix_loop(f, "y.v", 2, LOOP_WIDE);
    fix_write(f, ST_STORE, b, fix_sum(f, 2, c, 1, w, 0),
              fix_load(f, a, fix_sum(f, 2, c, 1, w, 0)));
    fix_end(f, 1);
    fix_push(f, (struct stmt){ .kind = ST_DECL, .acc = acc });
    fix_push(
        f, (struct stmt){ .kind = ST_SET, .acc = acc, .acc_at = -1, .val = fix_load(f, b, c) });
    val = lprog_value(f->l,
                      (struct value){ .kind = V_SHFL, .dt = DT_F32, .arg = { acc, -1, 4 } });
    fix_push(f, (struct stmt){ .kind = ST_UPDATE, .acc = acc, .acc_at = -1, .val = val });
    val = lprog_index(f->l, DT_I32, i);
    fix_write(f, ST_ACQUIRE, 1, ix_const(&f->l->ix, 3), val);
    fix_write(f, ST_ATOMIC, 3, c, lprog_acc_load(f->l, acc, -1));
    fix_write(f, ST_RELEASE, 1, ix_const(&f->l->ix, 3), val);
    fix_end(f, 2);
    fix_emit(f);
}

static void words_of_bound_kernels(void **state)
{
    struct fix *f = *state;

    stages(f);
    has(f, "TF_SHARED(tf_f32, y_b, 256);");
    has(f, "TF_CPA(0, 16, y_a, 4*i1, x, 32*i0 + 4*i1, 32*i0 + 4*i1 < 60); "
           "TF_COMMIT(2); TF_WAIT(3, 0); TF_SYNC(4); tf_w8 v1; "
           "v1 = TF_SLDW(tf_w8, 2, 5, y_a, 2*i1); TF_SSTW(tf_w8, 2, 6, y_b, 2*i1, v1);");
    has(f, "TF_SHFL(tf_f32, 8, v3, acc, 4); acc = TF_ADD(acc, v3); "
           "TF_ACQUIRE(9, q, 3, TF_IX2I(i0)); TF_ATOMIC_F32(10, y, i1, acc); "
           "TF_RELEASE(11, q, 3, TF_IX2I(i0)); }");
    hosts_take(f);
    device_takes(f, true);
    f->l->fault = FAULT_semaphore_relaxed;
    fix_emit(f);
    has(f, "TF_ACQUIRE_RELAXED(9, q, 3");
    has(f, "TF_RELEASE_RELAXED(11, q, 3");
    hosts_take(f);
    device_takes(f, true);
}

static void rows_of_sites(void **state)
{
    static const struct emit_site want[] = {
        { SITE_ASYNC, 0, 3, 4, -1, true },    { SITE_LOAD, 0, 3, 0, -1, true },
        { SITE_COMMIT, 0, 5, -1, -1, false }, { SITE_WAIT, 0, 6, -1, -1, false },
        { SITE_SYNC, 0, 7, -1, -1, false },   { SITE_LOAD, 0, 9, 4, -1, true },
        { SITE_STORE, 0, 9, 5, -1, true },    { SITE_LOAD, 0, 12, 5, -1, false },
        { SITE_SHFL, 0, 13, -1, -1, false },  { SITE_ACQUIRE, 0, 14, 1, -1, false },
        { SITE_ATOMIC, 0, 15, 3, -1, false }, { SITE_RELEASE, 0, 16, 1, -1, false },
    };
    struct fix *f = *state;

    stages(f);
    assert_int_equal(f->sites.n, sizeof want / sizeof *want);
    for (int i = 0; i < f->sites.n; i++) {
        assert_int_equal(f->sites.row[i].kind, want[i].kind);
        assert_int_equal(f->sites.row[i].stmt, want[i].stmt);
        assert_int_equal(f->sites.row[i].buffer, want[i].buffer);
        assert_int_equal(f->sites.row[i].wide, want[i].wide);
    }
}

static void products_of_warps(void **state)
{
    struct fix *f = *state;

    for (int bf16 = 0; bf16 < 2; bf16++) {
        fix_mma(f, bf16 ? "bf16" : "f16");
        fix_emit(f);
        has(f, "const tf_m16 v4 = TF_LD(tf_m16, 3, x, 16*(g + 8) + 2*t + 1);");
        has(f, "const tf_m16 v5 = TF_LD(tf_m16, 4, x, 16*g + 2*t + 8);");
        has(f, "const tf_m16 v12 = TF_LD(tf_m16, 11, y, 8*(2*t + 9) + 2*(g/2) + g%2);");
        has(f, bf16 ? "TF_MMA_BF16(12, acc[0], acc[1], acc[2], acc[3], TF_PAIR(v1, v2), "
                    : "TF_MMA_F16(12, acc[0], acc[1], acc[2], acc[3], TF_PAIR(v1, v2), ");
        hosts_take(f);
        device_takes(f, true);
    }
}

/* Every word of arithmetic, every dtype. */
static void compilers_take_arithmetic(void **state)
{
    static const char *const trials[] = {
        "tilefuzz 1\ninput x f32 [6]\na = exp x\nb = exp2 x\nc = log x\nd = tanh x\ne = erf x\n"
        "f = sqrt x\ng = rsqrt x\nh = recip x\nnew = add a b\nclass = div c d\nk = maximum e "
        "f\n"
        "m = minimum g h\nn = mul new class\no = sub k m\nq = neg n\nINT_MAX = abs o\ns = lt q "
        "INT_MAX\n"
        "t = where s q INT_MAX\nu = max t axes=[0]\noutput u\n",
        "tilefuzz 1\ninput x f64 [6]\na = exp x\nb = exp2 x\nc = log x\nd = tanh x\ne = erf x\n"
        "f = sqrt x\ng = rsqrt x\nh = recip x\ni = add a b\nj = div c d\nk = maximum e f\n"
        "m = minimum g h\nn = mul i j\no = sub k m\nq = cast n f16\nr = cast o f32\ns = cast r "
        "i32\n"
        "v = pad n [1:2] value=-inf\nu = max v axes=[0]\noutput u\noutput q\noutput "
        "s\n",
        "tilefuzz 1\ninput x f16 [6]\ninput y bf16 [6]\ninput z i32 [6]\na = cast x bf16\n"
        "b = add a y\nc = exp b\nd = cast c i32\ne = div d z\nf = maximum e z\ng = cast f f16\n"
        "h = mean g axes=[0]\ni = le e z\nj = not i\nk = and i j\nl = cast k f64\noutput h\n"
        "output l\n",
    };
    struct fix *f = *state;

    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        fix_lower(f, trials[i]);
        hosts_take(f);
        device_takes(f, false);
    }
}

static void repro_compiles(void **state)
{
    struct fix *f = *state;
    struct str s = { 0 };

    for (int al = 0; al < AL_COUNT; al++) {
        struct repro r;

        fix_lower(f, "tilefuzz 1\ninput x f16 [20,40]\ninput y f16 [40,12]\nz = matmul x y\n"
                     "p = softmax z axis=1\noutput p\nschedule\n"
                     "tile z 16x8x16 threads=32 mma\nstage z.a z.r0.0 depth=2 async vec=4\n"
                     "stage z.b z.r0.0 depth=2 async vec=4\n");
        str_clear(&s);
        r = (struct repro){ .trial = f->t,
                            .l = f->l,
                            .algebra = (enum algebra)al,
                            .title = "one line */ of it",
                            .command = "tilefuzz run x.trial" };
        emit_repro_cu(&r, &f->a, &s);
        compiler_takes(f, "nvcc", "-x cu -arch=sm_80 -Werror all-warnings -o /dev/null",
                       str_get(&s));
    }
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_alone),
        cmocka_unit_test(words_of_bound_kernels),
        cmocka_unit_test(rows_of_sites),
        cmocka_unit_test(products_of_warps),
        cmocka_unit_test(compilers_take_arithmetic),
        cmocka_unit_test(repro_compiles),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
