/* The slab: where buffers lie, what surrounds them, and that its guards bite. */
#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/data.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "run/run.h"

enum { SLOTS = 3, BYTES = 4096 };

/* Which signal a child dies of that writes one byte at p. */
static int signal_of_write(volatile unsigned char *p)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *p = 1;
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) ? -1 : 0;
}

static void both_sides_meet_a_guard(void **state)
{
    struct slab s;
    struct slab_buf left, right;

    (void)state;
    assert_true(slab_open(&s, SLOTS, BYTES));
    assert_true(slab_take(&s, 100, 4, false, &left));
    assert_true(slab_take(&s, 100, 4, true, &right));
    assert_int_equal(signal_of_write(left.p - 1), SIGSEGV);
    assert_int_equal(signal_of_write(left.p), 0);
    assert_int_equal(signal_of_write(right.p + 99), 0);
    assert_int_equal(signal_of_write(right.p + 100), SIGSEGV);
    slab_close(&s);
}

static void a_written_margin_is_noticed(void **state)
{
    static const size_t bytes[] = { 0, 1, 2, 3, 4, 5, 100, BYTES - SLAB_MARGIN };
    struct slab s;

    (void)state;
    assert_true(slab_open(&s, SLOTS, BYTES));
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int right = 0; right < 2; right++) {
            struct slab_buf b;
            unsigned char *edge;

            slab_reset(&s);
            assert_true(slab_take(&s, bytes[i], 4, right, &b));
            assert_int_equal((uintptr_t)b.p % 4, 0);
            assert_true(slab_margins_ok(&b));
            memset(b.p, 0, b.bytes); /* all of the buffer may be written */
            assert_true(slab_margins_ok(&b));
            edge = right ? b.p - 1 : b.p + b.bytes;
            *edge ^= 1;
            assert_false(slab_margins_ok(&b));
            *edge ^= 1;
            edge = right ? b.p - SLAB_MARGIN : b.p + b.bytes + SLAB_MARGIN - 1;
            *edge ^= 1;
            assert_false(slab_margins_ok(&b));
        }
    slab_close(&s);
}

static void elements_are_aligned(void **state)
{
    struct slab s;
    struct slab_buf b;

    (void)state;
    assert_true(slab_open(&s, SLOTS, BYTES));
    for (size_t align = 1; align <= 16; align *= 2) {
        slab_reset(&s);
        assert_true(slab_take(&s, 3 * align + 1, align, true, &b));
        assert_int_equal((uintptr_t)b.p % align, 0);
        assert_int_equal(b.base + b.slot_bytes - b.p, 4 * align);
    }
    slab_close(&s);
}

/* Five bytes at a multiple of 4 on the right have 3 bytes before the guard. */
static void slack_before_the_guard_is_margin(void **state)
{
    struct slab s;
    struct slab_buf b;

    (void)state;
    assert_true(slab_open(&s, SLOTS, BYTES));
    assert_true(slab_take(&s, 5, 4, true, &b));
    b.p[7] ^= 1;
    assert_false(slab_margins_ok(&b));
    slab_close(&s);
}

static void refuses_what_does_not_fit(void **state)
{
    struct slab s;
    struct slab_buf b;

    (void)state;
    assert_true(slab_open(&s, SLOTS, BYTES));
    assert_false(slab_take(&s, BYTES, 4, false, &b));
    for (int i = 0; i < SLOTS; i++)
        assert_true(slab_take(&s, 8, 4, i & 1, &b));
    assert_int_equal(b.p[0], POISON_BYTE);
    assert_false(slab_take(&s, 8, 4, false, &b));
    slab_reset(&s);
    assert_true(slab_take(&s, 8, 4, false, &b));
    slab_close(&s);
}

static struct lprog *lowered(const char *text, struct arena *a)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct trial *t;
    struct lprog *l;

    if (trial_parse(text, strlen(text), a, &t, &e) || trial_check(t, &e) ||
        lower(t, &lo, a, &l, &e))
        fail_msg("%s", e.msg);
    return l;
}

/* Sides alternate between the buffers of a run and between its runs, from the same start
 * for every trial. */
static void sides_alternate(void **state)
{
    struct arena a;
    struct run_env env;
    struct err e;
    struct lprog *l;
    bool left[2][3];

    (void)state;
    arena_init(&a);
    assert_true(run_env_open(&env));
    l = lowered("tilefuzz 1\ninput x f32 [3]\ninput y f32 [3]\nz = add x y\noutput z\n"
                "schedule\ndata seed=1 recipe=normal\n",
                &a);
    assert_int_equal(l->n_buffer, 3);
    for (int again = 0; again < 2; again++) {
        run_begin(&env);
        for (int r = 0; r < 2; r++) {
            assert_int_equal(run_place(&env, l, AL_IEEE, &e), 0);
            for (int i = 0; i < 3; i++) {
                bool is_left = env.buf[i].p == env.buf[i].base;

                if (again)
                    assert_int_equal(left[r][i], is_left);
                left[r][i] = is_left;
            }
        }
        for (int i = 0; i < 3; i++)
            assert_int_not_equal(left[0][i], left[1][i]);
        assert_int_not_equal(left[0][0], left[0][1]);
    }
    run_env_close(&env);
    arena_release(&a);
}

static void large_tensors_get_a_larger_slab(void **state)
{
    struct arena a;
    struct run_env env;
    struct err e;
    struct lprog *l;

    (void)state;
    arena_init(&a);
    assert_true(run_env_open(&env));
    l = lowered("tilefuzz 1\ninput x bool [2048,1024]\nz = not x\noutput z\n"
                "schedule\ndata seed=1 recipe=normal\n",
                &a);
    run_begin(&env);
    assert_int_equal(run_place(&env, l, AL_RING, &e), 0);
    assert_int_equal(env.buf[0].bytes, 2048 * 1024);
    assert_true(slab_margins_ok(&env.buf[1]));
    run_begin(&env);
    assert_int_equal(env.slab.slot_bytes, 1 << 20);
    run_env_close(&env);
    arena_release(&a);
}

static void a_run_is_collected(void **state)
{
    struct arena a;
    struct run_env env;
    struct err e;
    struct lprog *l;
    struct outcome o = { 0 };
    int x = -1, z = -1;

    (void)state;
    arena_init(&a);
    assert_true(run_env_open(&env));
    l = lowered("tilefuzz 1\ninput x i32 [3]\nz = neg x\noutput z\nschedule\n"
                "data seed=1 recipe=normal\nvalues x [7,8,9]\n",
                &a);
    for (int i = 0; i < l->n_buffer; i++)
        *(l->buffer[i].kind == BUF_INPUT ? &x : &z) = i;
    run_begin(&env);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(run_place(&env, l, AL_IEEE, &e), 0);
        assert_int_equal(((int32_t *)env.buf[x].p)[2], 9);
        assert_int_equal(env.buf[z].p[0], POISON_BYTE);
        run_collect(&env, l, AL_IEEE, &o);
        assert_int_equal(o.status, OUT_RAN);
        assert_ptr_equal(o.out[0], env.buf[z].p);
        assert_false(o.input_changed || o.margin_broken);
        env.buf[x].p[0] ^= 1; /* the next run's inputs are fresh again */
        run_collect(&env, l, AL_IEEE, &o);
        assert_true(o.input_changed);
        assert_string_equal(o.where, "x");
    }
    run_env_close(&env);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_meet_a_guard),
        cmocka_unit_test(a_written_margin_is_noticed),
        cmocka_unit_test(elements_are_aligned),
        cmocka_unit_test(slack_before_the_guard_is_margin),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(sides_alternate),
        cmocka_unit_test(large_tensors_get_a_larger_slab),
        cmocka_unit_test(a_run_is_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
