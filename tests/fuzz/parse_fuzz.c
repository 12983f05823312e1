/*
 * Feeds the parser of .trial text: whatever comes in, it answers with a trial or an error, and
 * a trial that it accepts passes trial_check and prints to a text that parses to the same text.
 *
 * LLVMFuzzerTestOneInput is the entry that libFuzzer wants (build with clang
 * -fsanitize=fuzzer -DWITH_LIBFUZZER). Built with gcc it has a main of its own: N rounds of
 * noise and of mutated trials, the same ones every time.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/rng.h"
#include "ir/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that must hold of an accepted text. */
static void check_accepted(const struct trial *t, struct arena *a)
{
    struct str first = { 0 }, second = { 0 };
    struct err e = { 0 };
    struct trial *again;

    if (trial_check(t, &e))
        BUG("accepted by the parser, refused by trial_check: %s", e.msg);
    trial_print(t, &first);
    if (first.n <= TRIAL_TEXT_MAX) {
        if (trial_parse(first.s, first.n, a, &again, &e))
            BUG("a printed trial does not parse: %d:%d: %s", e.line, e.col, e.msg);
        trial_print(again, &second);
        if (strcmp(first.s, second.s) != 0)
            BUG("print, parse, print changed the text:\n%s\n%s", first.s, second.s);
    }
    str_release(&first);
    str_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = { 0 };
    struct arena a;
    struct trial *t = NULL;

    arena_init(&a);
    if (trial_parse((const char *)data, size, &a, &t, &e) == 0)
        check_accepted(t, &a);
    else if (e.code != ERR_INPUT || e.line < 1 || e.col < 1 || !strstr(e.msg, "; expected "))
        BUG("bad error: code %d at %d:%d: %s", (int)e.code, e.line, e.col, e.msg);
    arena_release(&a);
    return 0;
}

#ifndef WITH_LIBFUZZER

static const char *const seeds[] = {
    "tilefuzz 1\ninput q f32 [2,4,8]\ninput k f32 [2,4,8] strides=[50,10,1] offset=4\n"
    "kt = permute k [0,2,1]\ns = matmul q kt\nt = mul s 0.35355338\nmx = max t axes=[2] "
    "keep=1\n"
    "mb = expand mx [2,4,4]\nd = sub t mb\ne = exp d\nz = sum e axes=[2]\noutput e\n"
    "output z strides=[4,1]\nschedule\nfuse s t\nsplit t.i2 3\nreorder t t.i2.0 t.i0 t.i1 "
    "t.i2.1\nsplitk z 2\nunroll t.i2.1\nvectorize e.i2 4\nplan linear\ninplace off\n"
    "data seed=17 recipe=normal\n",
    "tilefuzz 1\ninput x i32 [2,3]\nconst c i32 -7\nj = iota i32 [2,3] axis=1\nb = lt x j\n"
    "w = where b x 5\nr = reshape w [3,2]\nl = slice r [2:-1:-1,0:2:2]\n"
    "p = pad l [1:0,0:2] value=-3\nf = cast p f32\no = copy f\noutput o\noutput c\n"
    "data seed=1 recipe=ints\nvalues x [1,2,3,4,5,6]\n",
    "tilefuzz 1\ninput q f16 [4,3,8]\ninput k f16 [2,5,8]\ninput m bool [3,5]\n"
    "z = attention q k k m scale=0.35355338 mask=bool empty=zero\n"
    "y = attention q k k scale=1 mask=causal_br\ns = softmax z axis=2\n"
    "t = sum s axes=[0,2] acc=f16\nu = cast t f64\noutput s\noutput y\noutput u\nschedule\n"
    "algo z online block=2\nalgo y split block=4\nalgo s decomposed\nfuse s.mx s.df\n"
    "split z.sc0.r0 4\nreorder s.sm s.sm.r0.0 s.sm.i0\nsplitk z.pr 2\ndata recipe=special\n",
    "tilefuzz 1\ninput x bf16 [2,3]\ninput g bf16 [3]\ninput i i32 [4]\n"
    "n = layernorm x g g eps=1e-05\nr = rmsnorm n g eps=0\nc = concat r x axis=0\n"
    "a = argmax c axis=1\ne = gather c i axis=0\np = prod e axes=[1] keep=1 acc=f64\n"
    "output a\noutput p\ndata recipe=exact\nvalues x [0.1,1,2,3,4,5]\nvalues g [1,nan,-0]\n"
    "values i [0,3,-1,9]\n",
    "tilefuzz 1\ninput x f16 [4,3]\ninput w f16 [3,4]\nr = roll x shift=[-1,7]\n"
    "p = repeat r times=[1,2]\nm = matmul r w\nn = matmul r w m alpha=0.5 beta=0 acc=f64\n"
    "h = assign x r [3:-1:-1,0:3]\no = assign h 2 [0:4:3,0:0]\nc = cumsum n axis=1 acc=f16\nl "
    "= logsoftmax c axis=0\noutput p\noutput l\n"
    "data seed=2 recipe=normal\n",
    "tilefuzz 1\ninput x f16 [17,20]\ninput q f32 [1,9,4]\nw = permute x [1,0]\n"
    "m = matmul x w\nz = attention q q q scale=0.5\noutput m\noutput z\nschedule\n"
    "algo z flash block=2 splits=3\nsplitk m 2 serial\ntile m 16x16x8 threads=32 mma\n"
    "tile z.sc 2x4 threads=8\nbind z.sc.i0.1.0 thread\nbind m.m.0 block\n"
    "stage m.a m.r0.0 depth=3 async vec=4\nstage m.b m.k.0 vec=16 depth=3 async\n"
    "epilogue m alias\nswizzle m.a\nplan best\ndata seed=2 recipe=normal\n",
};

/* Words that a mutation puts in: most of the grammar, and numbers at the edges. */
static const char *const words[] = {
    " ",
    "\n",
    "[",
    "]",
    "[]",
    ",",
    ":",
    "=",
    "#",
    "0",
    "1",
    "-1",
    "2",
    "8",
    "9",
    "16777216",
    "16777217",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "1e999",
    "inf",
    "-inf",
    "nan",
    "0.5",
    "input ",
    "const ",
    "output ",
    "schedule\n",
    "data ",
    "values ",
    "f32",
    "i32",
    "bool",
    "f64",
    "f16",
    "bf16",
    "acc=",
    "eps=",
    "scale=",
    "mask=",
    "empty=",
    "bool",
    "causal",
    "add",
    "nan",
    "zero",
    "block=",
    "algo ",
    "online",
    "split",
    "decomposed",
    "softmax",
    "shift=[",
    "times=[",
    "alpha=",
    "beta=",
    "roll",
    "repeat",
    "assign",
    "cumsum",
    "logsoftmax",
    "attention",
    "gather",
    "concat",
    "argmax",
    "prod",
    ".mx",
    ".sc0",
    "axes=",
    "keep=1",
    "value=",
    "strides=",
    "offset=",
    "seed=",
    "recipe=",
    "x",
    "y",
    "s",
    ".i0",
    ".r0",
    ".m",
    ".0",
    ".1",
    "add",
    "sum",
    "matmul",
    "permute",
    "reshape",
    "expand",
    "slice",
    "pad",
    "iota",
    "where",
    "cast",
    "fuse ",
    "split ",
    "reorder ",
    "splitk ",
    "unroll ",
    "vectorize ",
    "tile ",
    "bind ",
    "stage ",
    "epilogue ",
    "swizzle ",
    " threads=",
    " depth=",
    " async",
    " mma",
    ".a",
    "plan ",
    "inplace ",
    "tilefuzz 1\n",
    "\r",
    "\t",
    "\0",
    "\xff",
};

static size_t below(struct rng *r, size_t n)
{
    return n ? (size_t)(rng_u64(r) % n) : 0;
}

/* Replaces `cut` bytes at `at` by n others; the buffer has room. */
static size_t splice(char *s, size_t size, size_t at, size_t cut, const char *in, size_t n)
{
    memmove(s + at + n, s + at + cut, size - at - cut);
    memcpy(s + at, in, n);
    return size - cut + n;
}

/* From `at`, the next byte that is a digit, else size. */
static size_t next_digit(const char *s, size_t size, size_t at)
{
    while (at < size && (s[at] < '0' || s[at] > '9'))
        at++;
    return at;
}

/* The start of the line of `at`, and its length with the newline. */
static size_t line_of(const char *s, size_t size, size_t at, size_t *n)
{
    const char *nl;

    while (at > 0 && s[at - 1] != '\n')
        at--;
    nl = memchr(s + at, '\n', size - at);
    *n = nl ? (size_t)(nl - (s + at)) + 1 : size - at;
    return at;
}

/* One small change: a byte, a digit, a word put in or over something, a line or a piece
 * dropped or doubled. */
static size_t mutate(struct rng *r, char *s, size_t size)
{
    char piece[600], digit = (char)('0' + below(r, 10));
    size_t at = below(r, size + 1), most = size - at < 40 ? size - at : 40;
    size_t cut = below(r, most + 1), n;
    const char *word = words[below(r, ARRAY_LEN(words))];

    switch (below(r, 9)) {
    case 0:
        piece[0] = (char)rng_u64(r);
        return splice(s, size, at, most ? 1 : 0, piece, 1);
    case 1:
        return splice(s, size, at, 0, word, *word ? strlen(word) : 1);
    case 2:
        return splice(s, size, at, cut < 3 ? cut : 3, word, *word ? strlen(word) : 1);
    case 3:
        memcpy(piece, s + at, cut);
        return splice(s, size, below(r, size + 1), 0, piece, cut);
    case 4:
        return splice(s, size, at, cut, "", 0);
    case 5:
        at = line_of(s, size, at, &n);
        return splice(s, size, at, n, "", 0);
    case 6:
        at = line_of(s, size, at, &n);
        n = n < sizeof piece ? n : sizeof piece;
        memcpy(piece, s + at, n);
        return splice(s, size, line_of(s, size, below(r, size + 1), &at), 0, piece, n);
    default:
        at = next_digit(s, size, at);
        return splice(s, size, at, at < size, &digit, 1);
    }
}

static void one_round(struct rng *r)
{
    char s[4096];
    size_t size;

    if (below(r, 8) == 0) {
        size = below(r, 300);
        for (size_t i = 0; i < size; i++)
            s[i] = (char)rng_u64(r);
    } else {
        const char *seed = seeds[below(r, ARRAY_LEN(seeds))];

        size = strlen(seed);
        memcpy(s, seed, size);
        for (size_t n = 1 + below(r, 3); n > 0; n--)
            size = mutate(r, s, size);
    }
    LLVMFuzzerTestOneInput((const uint8_t *)s, size);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    struct rng r;

    rng_init(&r, argc > 2 ? strtoull(argv[2], NULL, 10) : 1, 0);
    for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
        struct err e = { 0 };
        struct arena a;
        struct trial *t;

        arena_init(&a);
        if (trial_parse(seeds[i], strlen(seeds[i]), &a, &t, &e))
            BUG("seed %zu: %d:%d: %s", i, e.line, e.col, e.msg);
        arena_release(&a);
    }
    for (long i = 0; i < rounds; i++)
        one_round(&r);
    printf("%ld rounds\n", rounds);
    return 0;
}

#endif
