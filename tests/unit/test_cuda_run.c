/*
 * CUDA text run on a machine that is as small as can be: the threads of a block one after the
 * other, no checks. What it can't show without synchronisation, fragments of a warp's product
 * and copies of several elements, is compared with their definitions.
 */
#include "testing.h"

#include <libtcc.h>
#include <stdlib.h>

#include "cuda_fix.h"

#include "ir/half.h"

static struct {
    const struct fix *f;
    int tid;
    unsigned char mem[8][4096]; /* of each buffer */
    /* what each thread of a warp handed to a product, and what it is given back */
    unsigned a[32][4], b[32][2];
    float c[32][4];
    int products;
} m;

static void *element(int site, long long index)
{
    int buffer = m.f->sites.row[site].buffer;

    assert_in_range(buffer, 0, 7);
    return m.mem[buffer] + index * dtype_info(m.f->l->buffer[buffer].dt)->bytes;
}

static void *wide(int site, long long index, int n)
{
    unsigned char *at = element(site, index);
    int bytes = dtype_info(m.f->l->buffer[m.f->sites.row[site].buffer].dt)->bytes;

    assert_true(m.f->sites.row[site].wide);
    assert_int_equal((at - m.mem[m.f->sites.row[site].buffer]) % (n * bytes), 0);
    return at;
}

static void product(int site, int kind, void *c, const unsigned *a, const unsigned *b)
{
    assert_int_equal(m.f->sites.row[site].kind, SITE_MMA);
    assert_int_equal(kind, 0);
    memcpy(m.a[m.tid], a, sizeof m.a[0]);
    memcpy(m.b[m.tid], b, sizeof m.b[0]);
    memcpy(c, m.c[m.tid], sizeof m.c[0]);
    m.products++;
}

static int tid(void)
{
    return m.tid;
}

static int bid(void)
{
    return 0;
}

/* Runs ieee_w of block 0, `threads` of them. */
static void run(struct fix *f, int threads)
{
    static const struct {
        const char *name;
        const void *at;
    } hook[] = {
        { "tf_hook_tid", (const void *)tid },
        { "tf_hook_bid", (const void *)bid },
        { "tf_hook_gload", (const void *)element },
        { "tf_hook_gstore", (const void *)element },
        { "tf_hook_sload", (const void *)element },
        { "tf_hook_sstore", (const void *)element },
        { "tf_hook_gload_wide", (const void *)wide },
        { "tf_hook_gstore_wide", (const void *)wide },
        { "tf_hook_sload_wide", (const void *)wide },
        { "tf_hook_sstore_wide", (const void *)wide },
        { "tf_hook_mma", (const void *)product },
        { "memmove", (const void *)memmove }, /* how tcc copies a struct, */
        { "memset", (const void *)memset },   /* and clears one */
    };
    struct str s = { 0 };
    TCCState *tcc = tcc_new();
    void (*kernel)(void);

    fix_emit(f);
    fix_program(f, CUDA_SIMT, &s);
    tcc_set_options(tcc, "-nostdlib -nostdinc");
    tcc_set_output_type(tcc, TCC_OUTPUT_MEMORY);
    for (size_t i = 0; i < sizeof hook / sizeof *hook; i++)
        tcc_add_symbol(tcc, hook[i].name, hook[i].at);
    assert_int_equal(tcc_compile_string(tcc, str_get(&s)), 0);
    assert_int_equal(tcc_relocate(tcc, TCC_RELOCATE_AUTO), 0);
    kernel = (void (*)(void))tcc_get_symbol(tcc, "ieee_w");
    assert_non_null(kernel);
    m.f = f;
    for (m.tid = 0; m.tid < threads; m.tid++)
        kernel();
    tcc_delete(tcc);
    str_release(&s);
}

static float half(unsigned pair, int which)
{
    return (float)half_value(DT_F16, (uint16_t)(pair >> 16 * which));
}

/* Element [row][k] of A as the fragments have it, by the table in the PTX manual; B is
 * [k][col]. */
static float of_a(int row, int k)
{
    return half(m.a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2], k % 2);
}

static float of_b(int k, int col)
{
    return half(m.b[col * 4 + k % 8 / 2][k / 8], k % 2);
}

static void fragments_of_a_product(void **state)
{
    struct fix *f = *state;
    uint16_t x[16][16], y[16][8];
    float z[16][8];

    memset(&m, 0, sizeof m);
    for (int i = 0; i < 256; i++)
        x[i / 16][i % 16] = half_of(DT_F16, (double)(i - 100));
    for (int i = 0; i < 128; i++)
        y[i / 8][i % 8] = half_of(DT_F16, (double)(3 * i - 200));
    fix_mma(f, "f16");
    memcpy(m.mem[0], x, sizeof x);
    memcpy(m.mem[1], y, sizeof y);
    run(f, 32); /* collects what they hand over */
    assert_int_equal(m.products, 32);
    for (int k = 0; k < 16; k++) {
        for (int i = 0; i < 16; i++)
            assert_true(of_a(i, k) == (float)(16 * i + k - 100));
        for (int j = 0; j < 8; j++)
            assert_true(of_b(k, j) == (float)(3 * (8 * k + j) - 200));
    }
    for (int lane = 0; lane < 32; lane++)
        for (int c = 0; c < 4; c++)
            m.c[lane][c] = (float)(100 * (lane / 4 + c / 2 * 8) + lane % 4 * 2 +
                                   c % 2); /* 100 row + col */
    run(f, 32);
    memcpy(z, m.mem[3], sizeof z);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            assert_true(z[i][j] == (float)(100 * i + j));
}

/* y[4 tid ..] = x there, or fill from element `bound` on */
static void copy_wide(struct fix *f, int64_t bound, double fill)
{
    int c, w, index;

    fix_by_hand(f, "tilefuzz 1\ninput x f32 [32]\nw = mul x 2.0\noutput w\n");
    c = fix_loop(f, "w.i0", 8, LOOP_THREAD);
    w = fix_loop(f, "w.v", 4, LOOP_WIDE);
    index = fix_sum(f, 4, c, 1, w, 0);
    fix_write(f, ST_STORE, 1, index,
              bound < 0 ? fix_load(f, 0, index) : fix_guarded(f, 0, index, bound, fill));
    fix_end(f, 2);
}

static void wide_copies(void **state)
{
    static const struct {
        int64_t bound;
        double fill;
    } cases[] = { { -1, 0 }, { 12, 0 }, { 12, 7.5 }, { 12, -0.0 } };
    struct fix *f = *state;
    float x[32], y[32];

    for (int i = 0; i < 32; i++)
        x[i] = (float)i;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memset(&m, 0xff, sizeof m);
        memcpy(m.mem[0], x, sizeof x);
        copy_wide(f, cases[k].bound, cases[k].fill);
        run(f, 8);
        memcpy(y, m.mem[1], sizeof y);
        for (int i = 0; i < 32; i++) {
            float want = cases[k].bound < 0 || i < cases[k].bound ? x[i] : (float)cases[k].fill;

            assert_memory_equal(&y[i], &want, sizeof want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_of_a_product),
        cmocka_unit_test(wide_copies),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
