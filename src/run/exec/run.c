/* A program handed to an adapter, and its runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/exec/exec.h"

static void copy_ran(const json_t *answer, struct outcome *o)
{
    const json_t *ran = json_object_get(answer, "ran");

    if (!json_is_string(ran))
        return;
    snprintf(o->ran, sizeof o->ran, "%s", json_string_value(ran));
    for (char *c = o->ran; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
}

enum talk exec_prepare(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
                       struct outcome *o)
{
    struct str s = { 0 };
    struct iovec v;
    json_t *answer;
    char why[sizeof o->detail];
    enum talk result = exec_ready(r, t, why, sizeof why);

    if (result == TALK_FINE) {
        exec_say_program(&r->caps, l, &s);
        v = (struct iovec){ s.s, s.n };
        exec_child_forget_log(&r->child);
        r->child.cases++;
        result = exec_talk(r, t, &v, 1, &answer, why, sizeof why);
        str_release(&s);
    }
    if (result == TALK_FINE) {
        copy_ran(answer, o);
        json_decref(answer);
    } else {
        exec_outcome(result, why, o);
    }
    return result;
}

static const struct buffer *output(const struct lprog *l, int k)
{
    int i = 0;

    while (l->buffer[i].kind != BUF_OUTPUT || l->buffer[i].slot != k)
        i++;
    return &l->buffer[i];
}

static void print_shape(const json_t *shape, char *buf, size_t n)
{
    char *text = json_dumps(shape, JSON_COMPACT | JSON_ENCODE_ANY);

    snprintf(buf, n, "%.60s", text ? text : "none");
    free(text);
}

static bool same_shape(const json_t *shape, const struct shape *sh)
{
    if (!json_is_array(shape) || json_array_size(shape) != (size_t)sh->rank)
        return false;
    for (int a = 0; a < sh->rank; a++) {
        const json_t *d = json_array_get(shape, (size_t)a);

        if (!json_is_integer(d) || json_integer_value(d) != sh->dim[a])
            return false;
    }
    return true;
}

/* "" = as it should be */
static void check_output(const struct lprog *l, int k, const json_t *x, char *wrong, size_t n)
{
    const struct buffer *b = output(l, k);
    const json_t *dtype = json_object_get(x, "dtype"), *shape = json_object_get(x, "shape");
    int64_t bytes = shape_count(&b->sh) * dtype_info(b->dt)->bytes;
    char got[80], want[80];

    *wrong = '\0';
    if (!json_is_string(dtype) || strcmp(json_string_value(dtype), dtype_info(b->dt)->name)) {
        snprintf(wrong, n, "output %s came as dtype %.40s; want %s", b->name,
                 json_is_string(dtype) ? json_string_value(dtype) : "none",
                 dtype_info(b->dt)->name);
    } else if (!same_shape(shape, &b->sh)) {
        print_shape(shape, got, sizeof got);
        shape_print(&b->sh, want, sizeof want);
        snprintf(wrong, n, "output %s came with shape %s; want %s", b->name, got, want);
    } else if (json_integer_value(json_object_get(x, "bytes")) != bytes) {
        snprintf(wrong, n, "output %s came with %lld bytes; want %" PRId64, b->name,
                 json_integer_value(json_object_get(x, "bytes")), bytes);
    }
}

/* All that was announced, even if it is wrong; *buf is to be freed. */
static enum exec_io take_bytes(struct exec_row *r, const struct talk_env *t, const json_t *x,
                               int64_t until, unsigned char **buf)
{
    int64_t n = json_integer_value(json_object_get(x, "bytes"));
    size_t have;

    if (n < 0 || n > (1 << 28))
        return IO_ENDED; /* no sense in that */
    *buf = malloc((size_t)n + 1);
    if (!*buf)
        BUG("out of memory");
    return exec_child_bytes(&r->child, *buf, (size_t)n, &have, until, t->tick);
}

static void malformed(struct outcome *o, const char *what)
{
    if (o->status == OUT_MALFORMED)
        return; /* the first counts */
    o->status = OUT_MALFORMED;
    snprintf(o->detail, sizeof o->detail, "%s", what);
}

/* All that was announced is read, right or wrong, so that the next answer can be found. */
static bool read_outputs(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
                         const json_t *answer, exec_out_fn *out, void *ctx, struct outcome *o)
{
    const json_t *list = json_object_get(answer, "outputs");
    int64_t until = exec_until(t->deadline_s);
    size_t n = json_array_size(list);
    char wrong[200], why[sizeof o->detail];

    if (n != (size_t)l->prog->n_out) {
        snprintf(wrong, sizeof wrong, "%zu outputs came; want %d", n, l->prog->n_out);
        malformed(o, wrong);
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *x = json_array_get(list, k);
        unsigned char *bytes = NULL;
        enum exec_io io;

        *wrong = '\0';
        if (k < (size_t)l->prog->n_out)
            check_output(l, (int)k, x, wrong, sizeof wrong);
        if (*wrong)
            malformed(o, wrong);
        io = take_bytes(r, t, x, until, &bytes);
        if (io == IO_FINE && o->status == OUT_RAN)
            out(ctx, (int)k, bytes);
        free(bytes);
        if (io != IO_FINE) {
            bool late = io == IO_LATE;

            snprintf(wrong, sizeof wrong, "only a part of output %zu came%s", k,
                     late ? " before the deadline" : "");
            exec_lost(r, wrong, late, why, sizeof why);
            exec_outcome(late ? TALK_HUNG : TALK_DIED, why, o);
            return false;
        }
    }
    return o->status == OUT_RAN;
}

bool exec_run(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
              const void *const *in, exec_out_fn *out, void *ctx, struct outcome *o)
{
    struct str s = { 0 };
    struct iovec v[RUN_MAX_BUFFERS + 1];
    int n = 1;
    json_t *answer;
    char why[sizeof o->detail];
    enum talk result;
    bool fine;

    exec_say_run(l, &s);
    v[0] = (struct iovec){ s.s, s.n };
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_INPUT) {
            v[n] = (struct iovec){ (void *)in[n - 1], exec_storage(&l->buffer[i]) };
            n++;
        }
    result = exec_talk(r, t, v, n, &answer, why, sizeof why);
    str_release(&s);
    if (result != TALK_FINE) {
        exec_outcome(result, why, o);
        return false;
    }
    r->count->runs++;
    copy_ran(answer, o);
    o->status = OUT_RAN;
    fine = read_outputs(r, t, l, answer, out, ctx, o);
    json_decref(answer);
    return fine;
}
