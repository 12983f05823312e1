/*
 * repro.c: compiles without a warning, says right of right kernels in both algebras, names
 * the first wrong element of wrong ones, carries the kernels as emitted and its own trial.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/emit.h"
#include "ir/text.h"
#include "lower/lower.h"

struct fix {
    struct arena a;
    struct trial *t;
    struct lprog *l;
    struct str text;
    char dir[64], out[600]; /* what the last repro printed */
    bool bounds;
};

static int setup(void **state)
{
    static struct fix f;

    arena_init(&f.a);
    snprintf(f.dir, sizeof f.dir, "/tmp/tilefuzz-test-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : 1;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    arena_release(&f->a);
    str_release(&f->text);
    return system(command);
}

static void read_file(struct fix *f, const char *name)
{
    char path[100];
    FILE *in;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    in = fopen(path, "r");
    assert_non_null(in);
    n = fread(f->out, 1, sizeof f->out - 1, in);
    f->out[n] = '\0';
    fclose(in);
}

static int shell(struct fix *f, const char *command)
{
    char line[300];
    int status;

    snprintf(line, sizeof line, "cd %s && %s > out 2>&1", f->dir, command);
    status = system(line);
    read_file(f, "out");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void lowered(struct fix *f, const char *trial, enum fault fault)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    lo.fault = fault;
    arena_reset(&f->a);
    if (trial_parse(trial, strlen(trial), &f->a, &f->t, &e) || trial_check(f->t, &e) ||
        lower(f->t, &lo, &f->a, &f->l, &e))
        fail_msg("%s\n%s", e.msg, e.excerpt);
}

static void write_repro(struct fix *f, enum algebra al)
{
    struct repro r = { f->t, f->l,     al, "one line */ about it", "tilefuzz run x.trial",
                       NULL, f->bounds };
    char path[100];
    FILE *out;

    str_clear(&f->text);
    emit_repro_c(&r, &f->a, &f->text);
    snprintf(path, sizeof path, "%s/repro.c", f->dir);
    out = fopen(path, "w");
    assert_non_null(out);
    fwrite(f->text.s, 1, f->text.n, out);
    fclose(out);
}

/* The exit code of the repro; what it printed is in f->out. */
static int repro(struct fix *f, const char *trial, enum fault fault, enum algebra al)
{
    lowered(f, trial, fault);
    write_repro(f, al);
    if (shell(f, "command -v cc"))
        skip();
    if (shell(f, "cc -Wall -Wextra -Werror repro.c -o repro -lm"))
        fail_msg("%s", f->out);
    return shell(f, "./repro");
}

static const char softmax[] =
    "tilefuzz 1\ninput q f32 [3,4]\ninput k f32 [5,4]\nkt = permute k [1,0]\ns = matmul q kt\n"
    "t = mul s 0.5\nmx = max t axes=[1] keep=1\nmxe = expand mx [3,5]\nd = sub t mxe\n"
    "e = exp d\nsm = sum e axes=[1] keep=1\nsme = expand sm [3,5]\np = div e sme\noutput p\n"
    "schedule\nfuse s t\nfuse d e\ndata seed=17 recipe=normal\n";

/* every op, layouts, ranks from 0 to 3, empty and broadcast axes */
static const char everything[] =
    "tilefuzz 1\ninput x f32 [3,4] strides=[9,2] offset=3\ninput i i32 [3,4]\n"
    "input c bool [4]\ninput z f32 [0,4]\nconst half f32 0.5\n"
    "n = iota f32 [3,4] axis=1\nm = iota i32 [3,4] axis=0\n"
    "h = expand half [3,4]\nce = expand c [3,4]\na = add x n\nb = sub a h\nab = abs b\n"
    "sq = sqrt ab\nr = recip sq\nng = neg r\nmx = maximum ng x\nmn = minimum mx 2\n"
    "ex = exp mn\ndv = div ex sq\nw = where ce dv -1\nia = add i m\nim = mul ia 3\n"
    "is = sub im i\nid = div is m\nib = abs id\nin = neg ib\nix = maximum in -5\n"
    "iy = minimum ix i\ncf = cast iy f32\nci = cast w i32\ncb = cast cf bool\n"
    "lf = lt x n\nli = le i m\nei = eq iy ix\neb = eq lf li\nan = and eb ei\n"
    "oo = or an cb\nno = not oo\nbf = cast no f32\nbi = cast oo i32\nmb = cast m bool\n"
    "sl = slice w [2:-1:-1,0:4:3]\npd = pad sl [1:0,0:2] value=0.25\n"
    "rs = reshape pd [2,4,2]\ncp = copy rs\nme = mean cp axes=[0,2]\nsu = sum z axes=[0]\n"
    "mi = min i axes=[1]\nma = max z axes=[0,1]\nsi = sum i axes=[0,1]\nf = add bf cf\n"
    "fp = permute f [1,0]\nmf = matmul f fp\nip = permute ia [1,0]\nmm = matmul ia ip\n"
    "output mf\noutput mm\noutput me\noutput su\noutput mi\noutput ma\noutput si\n"
    "output bi strides=[1,4] offset=2\noutput mb\noutput ci\noutput no\n"
    "output ex strides=[5,1]\nschedule\ndata seed=3 recipe=normal\n";

/* Of all floats: @ is one, # the other half. */
static const char primitives[] =
    "tilefuzz 1\ninput x @ [3,4] strides=[9,2] offset=3\ninput y @ [3,4]\n"
    "input i i32 [3,4]\ninput c bool [3,4]\ninput w f64 [3,4]\ninput v f32 [3,4]\n"
    "const half @ 0.5\nh = expand half [3,4]\nn = iota @ [3,4] axis=1\na = add x n\n"
    "b = sub a h\nab = abs b\nng = neg b\ns = sqrt ab\nrs = rsqrt ab\ne = exp y\n"
    "e2 = exp2 y\nlo = log ab\nth = tanh b\ner = erf b\nd = div x ab\nm = mul x y\n"
    "mx = maximum m -0.25\nmn = minimum mx y\nwh = where c mn 0.1\nrc = recip ab\n"
    "l = lt x y\nca = cast x f32\ncb = cast x f64\ncc = cast x #\nci = cast x i32\n"
    "cd = cast x bool\nf1 = cast i @\nf2 = cast c @\nf3 = cast w @\nf4 = cast v @\n"
    "t1 = mul d th\nt2 = add t1 e\nt3 = tanh t2\npd = prod x axes=[1]\n"
    "p2 = prod i axes=[0]\nsu = sum x axes=[0]\nme = mean y axes=[1]\n"
    "ma = max x axes=[0]\nmi = min x axes=[1] keep=1\ntp = permute y [1,0]\n"
    "mm = matmul x tp\npp = pad t3 [1:0,0:1] value=-0.3\nmw = matmul x tp acc=f64\n"
    "sw = sum y axes=[1] acc=f64\nmh = matmul x tp acc=@\nsh = sum y axes=[1] acc=@\n"
    "mf = mean y axes=[0] acc=@\nph = prod y axes=[1] acc=@\noutput n\noutput a\n"
    "output b\noutput ab\noutput ng\noutput s\noutput rs\noutput e\noutput e2\n"
    "output lo\noutput th\noutput er\noutput d\noutput m\noutput mx\noutput mn\n"
    "output wh\noutput rc\noutput l\noutput ca\noutput cb\noutput cc\noutput ci\n"
    "output cd\noutput f1\noutput f2\noutput f3\noutput f4\noutput t1\noutput t2\n"
    "output t3\noutput pd\noutput p2\noutput su\noutput me\noutput ma\noutput mi\n"
    "output mm\noutput pp\noutput mw\noutput sw\noutput mh\noutput sh\noutput mf\n"
    "output ph\nschedule\ndata seed=5 recipe=normal\n";

static const char composites[] =
    "tilefuzz 1\ninput x @ [3,5]\ninput g @ [5]\ninput b @ [5]\ninput ix i32 [4]\n"
    "input xi i32 [3,5]\ninput q @ [2,4,3,4]\ninput k @ [2,2,5,4]\n"
    "input v @ [2,2,5,3]\ninput mb bool [3,5]\ninput ma @ [2,4,3,5]\n"
    "input q2 @ [1,6,2]\ninput k2 @ [1,3,2]\ninput v2 @ [1,3,2]\n"
    "sm0 = softmax x axis=0\nsm1 = softmax x axis=1\nln = layernorm x g b eps=0.001\n"
    "rn = rmsnorm x g eps=0.001\nam = argmax x axis=0\nan = argmax xi axis=1\n"
    "ga = gather x ix axis=1\ngb = gather xi ix axis=0\nca = concat x ga axis=1\n"
    "a1 = attention q k v scale=0.5 mask=none empty=nan\n"
    "a2 = attention q k v scale=0.5 mask=causal empty=nan\n"
    "a3 = attention q k v mb scale=0.3 mask=bool empty=zero\n"
    "a4 = attention q k v ma scale=0.7 mask=add empty=nan\n"
    "a5 = attention q2 k2 v2 scale=1 mask=causal_br empty=nan\n"
    "a6 = attention q2 k2 v2 scale=1 mask=causal_br empty=zero\noutput sm0\n"
    "output sm1\noutput ln\noutput rn\noutput am\noutput an\noutput ga\noutput gb\n"
    "output ca\noutput a1\noutput a2\noutput a3\noutput a4\noutput a5\noutput a6\n"
    "schedule\nalgo a1 online block=2\nalgo a2 split block=2\n"
    "algo a3 online block=3\nalgo a4 online block=2\nalgo a5 split block=2\n"
    "algo sm1 online block=2\ndata seed=5 recipe=normal\n";

/* What goes round, what is scaled, what is added up on the way. */
static const char scans[] =
    "tilefuzz 1\ninput x @ [3,5]\ninput y @ [5,3]\ninput c @ [3,3]\ninput xi i32 [3,5]\n"
    "input yi i32 [5,3]\ninput ci i32 [3,3]\nav = slice x [0:3,4:0:-2]\n"
    "aa = assign x av [2:-1:-1,0:3:2]\nab = assign aa 3 [1:2,0:5:3]\n"
    "aw = slice xi [1:2,0:5]\nac = assign xi aw [0:1,4:-1:-1]\n"
    "ad = assign ac 70000 [0:0,0:5]\nro = roll x shift=[-1,7]\n"
    "re = repeat ro times=[2,3]\nrr = copy re\nls = logsoftmax x axis=0\n"
    "l2 = logsoftmax x axis=1\ncs = cumsum x axis=1\nct = cumsum x axis=0 acc=f64\n"
    "cu = cumsum xi axis=0\nm1 = matmul x y alpha=0.3\nm2 = matmul x y c alpha=-2 beta=0.7\n"
    "m3 = matmul x y c alpha=0 beta=3\nm4 = matmul x y c alpha=1 beta=0\n"
    "m5 = matmul x y c acc=f64\nm6 = matmul x y c alpha=0 beta=0\n"
    "mi = matmul xi yi ci alpha=70000 beta=-1\noutput ab\noutput ad\noutput ro\noutput "
    "rr\noutput ls\noutput l2\n"
    "output cs\noutput ct\noutput cu\noutput m1\noutput m2\noutput m3\noutput m4\n"
    "output m5\noutput m6\noutput mi\nschedule\ndata seed=5 recipe=normal\n";

static void right_kernels_are_right(void **state)
{
    struct fix *f = *state;

    for (int al = 0; al < AL_COUNT; al++) {
        assert_int_equal(repro(f, softmax, FAULT_none, (enum algebra)al), 0);
        assert_string_equal(f->out, "right\n");
    }
}

static void every_op_has_a_reference(void **state)
{
    struct fix *f = *state;

    for (int al = 0; al < AL_COUNT; al++)
        if (repro(f, everything, FAULT_none, (enum algebra)al))
            fail_msg("%s", f->out);
}

static void every_dtype_has_a_reference(void **state)
{
    static const char *const dtype[] = { "f64", "f16", "bf16", "f32" };
    static const char *const source[] = { primitives, composites, scans };
    struct fix *f = *state;

    for (int k = 0; k < 3 * 4 * AL_COUNT; k++) {
        const char *dt = dtype[k / 3 % 4];
        struct str trial = { 0 };

        for (const char *c = source[k % 3]; *c; c++)
            if (*c == '@')
                str_puts(&trial, dt);
            else if (*c == '#')
                str_puts(&trial, dt == dtype[1] ? "bf16" : "f16");
            else
                str_write(&trial, c, 1);
        if (repro(f, str_get(&trial), FAULT_none, (enum algebra)(k / 12)))
            fail_msg("%s: %s", dt, f->out);
        str_release(&trial);
    }
}

/* The reference is tight enough: an emitted text without its roundings is wrong. */
static void a_missing_rounding_is_wrong(void **state)
{
    static const char trial[] =
        "tilefuzz 1\ninput x f16 [64]\ninput y f16 [64]\np = mul x y\nq = sub p x\noutput q\n"
        "schedule\nfuse p q\ndata seed=1 recipe=normal\n";
    struct fix *f = *state;

    assert_int_equal(repro(f, trial, FAULT_none, AL_IEEE), 0);
    assert_int_equal(shell(f, "sed 's/^#define TF_TO_F16(a).*/#define TF_TO_F16(a) (a)/' "
                              "repro.c > wrong.c && cc wrong.c -w -o wrong -lm && ./wrong"),
                     1);
    assert_non_null(strstr(f->out, "output q["));
}

static void wrong_kernels_name_the_first_wrong_element(void **state)
{
    static const char trial[] =
        "tilefuzz 1\ninput x f32 [2,3] strides=[5,1]\ny = add x 1\noutput y\nschedule\n"
        "data seed=1 recipe=normal\nvalues x [1,2,3,4,5,6]\n";
    struct fix *f = *state;

    assert_int_equal(repro(f, trial, FAULT_padded_stride_taken_dense, AL_RING), 1);
    assert_non_null(strstr(f->out, "output y[1,0]: want 0x00000005, got 0x"));
    assert_int_equal(repro(f, trial, FAULT_padded_stride_taken_dense, AL_IEEE), 1);
    assert_non_null(strstr(f->out, "output y[1,0]: want 5, got -4.2"));
    assert_int_equal(repro(f, trial, FAULT_none, AL_IEEE), 0);
}

/* A store past the end is wrong although every element is right: past an output it meets a
 * guard, past a temp it is noticed where every kernel is watched. */
static void stores_outside_are_noticed(void **state)
{
    static const char tail[] =
        "tilefuzz 1\ninput x f32 [5]\ny = neg x\noutput y\nschedule\nvectorize y.i0 4\n"
        "data seed=1 recipe=normal\n";
    static const char temp[] =
        "tilefuzz 1\ninput x f32 [5]\nt = neg x\ny = neg t\noutput y\nschedule\n"
        "vectorize t.i0 4\ndata seed=1 recipe=normal\n";
    struct fix *f = *state;

    assert_int_equal(repro(f, tail, FAULT_vector_tail_full_store, AL_RING), 1);
    assert_non_null(strstr(f->out, "left its memory"));
    assert_int_equal(repro(f, tail, FAULT_none, AL_RING), 0);
    f->bounds = true;
    assert_int_equal(repro(f, temp, FAULT_vector_tail_full_store, AL_RING), 1);
    assert_non_null(strstr(f->out, "kernel t writes byte 20 of the arena"));
    assert_int_equal(repro(f, temp, FAULT_none, AL_RING), 0);
    assert_int_equal(repro(f, softmax, FAULT_none, AL_RING), 0);
    f->bounds = false;
}

static void carries_its_kernels_and_its_trial(void **state)
{
    struct fix *f = *state;
    struct str kernels = { 0 }, want = { 0 }, got = { 0 };
    char path[100];
    struct trial *t;
    struct err e = { 0 };

    lowered(f, softmax, FAULT_none);
    write_repro(f, AL_IEEE);
    emit_c(f->l, &kernels);
    assert_non_null(strstr(str_get(&f->text), str_get(&kernels)));
    snprintf(path, sizeof path, "%s/repro.c", f->dir);
    assert_int_equal(trial_read(path, &f->a, &t, &e), 0);
    trial_print(f->t, &want);
    trial_print(t, &got);
    assert_string_equal(str_get(&want), str_get(&got));
    str_release(&kernels);
    str_release(&want);
    str_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_are_right),
        cmocka_unit_test(every_op_has_a_reference),
        cmocka_unit_test(every_dtype_has_a_reference),
        cmocka_unit_test(a_missing_rounding_is_wrong),
        cmocka_unit_test(wrong_kernels_name_the_first_wrong_element),
        cmocka_unit_test(stores_outside_are_noticed),
        cmocka_unit_test(carries_its_kernels_and_its_trial),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
