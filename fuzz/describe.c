#include "fuzz/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/text.h"

/* What is left of a path: its last part, and before it the bin of an environment. */
static const char *short_path(const char *path, size_t n)
{
    const char *end = path + n, *last = end, *dir;

    while (last > path && last[-1] != '/')
        last--;
    if (last - path < 5 || strncmp(last - 5, "/bin/", 5) != 0)
        return last;
    for (dir = last - 5; dir > path && dir[-1] != '/'; dir--)
        ;
    return dir == path || !strncmp(dir, "usr/", 4) || !strncmp(dir, "local/", 6) ? last : dir;
}

struct label backend_label(const char *name)
{
    struct label l = { "-" };
    const char *word = name ? strchr(name, ':') : NULL;
    size_t n = 0, k;

    if (!name || (strncmp(name, "exec:", 5) != 0 && strncmp(name, "plugin:", 7) != 0)) {
        snprintf(l.s, sizeof l.s, "%s", name && *name ? name : "-");
        return l;
    }
    word++;
    n = (size_t)snprintf(l.s, sizeof l.s, "%.*s", (int)(word - name), name);
    for (; *word && n < sizeof l.s; word += k) {
        const char *from;

        k = strcspn(word, " ");
        from = *word == '/' ? short_path(word, k) : word;
        n += (size_t)snprintf(l.s + n, sizeof l.s - n, "%.*s%s", (int)(word + k - from), from,
                              word[k] ? " " : "");
        k += word[k] == ' ';
    }
    return l;
}

/* Integers and truth values are the same in both algebras; a float is a word in ring. */
static void print_number(const struct verdict *v, const struct prog *p, double x, struct str *s)
{
    static const int digits[DT_COUNT] = {
        [DT_F32] = 9, [DT_F64] = 17, [DT_F16] = 5, [DT_BF16] = 4
    };
    enum dtype dt = p->node[p->out[v->out].node].dt;

    if (!digits[dt])
        str_add(s, "%.0f", x);
    else if (v->algebra == AL_RING)
        str_add(s, "0x%0*" PRIx32, dtype_info(dt)->bytes == 2 ? 4 : 8, (uint32_t)x);
    else
        str_add(s, "%.*g", digits[dt], x);
}

bool verdict_element(const struct verdict *v, const struct prog *p, struct str *s)
{
    const struct node *n;

    if (v->kind != VK_MISMATCH || v->out < 0 || v->out >= p->n_out)
        return false;
    n = &p->node[p->out[v->out].node];
    str_add(s, "%s[", n->name);
    for (int i = 0; i < n->sh.rank; i++)
        str_add(s, "%s%" PRId64, i ? "," : "", v->at[i]);
    str_puts(s, "]");
    return true;
}

void verdict_where(const struct verdict *v, const struct prog *p, struct str *s)
{
    if (!verdict_element(v, p, s) && v->site.kernel[0]) {
        str_add(s, "%s[%" PRId64 "] of %" PRId64 " in kernel %s", v->site.buffer, v->site.index,
                v->site.size, v->site.kernel);
        if (v->site.loops[0])
            str_add(s, " at %s", v->site.loops);
    }
}

static void print_element(const struct verdict *v, const struct prog *p, struct str *s)
{
    verdict_where(v, p, s);
    str_puts(s, ": want ");
    print_number(v, p, v->want, s);
    str_puts(s, ", got ");
    print_number(v, p, v->got, s);
    if (v->bound > 0)
        str_add(s, ", bound %.3g", v->bound);
    str_add(s, "; %" PRId64 " of %" PRId64 " wrong", v->n_wrong, v->n_judged);
}

void verdict_print(const struct verdict *v, const struct prog *p, struct str *s)
{
    if (v->rule[0] && v->detail[0]) {
        str_puts(s, v->detail); /* the SIMT machine's: it names both sites */
    } else if (v->site.kernel[0]) {
        str_puts(s, v->site.store ? "store to " : "load of ");
        verdict_where(v, p, s);
    } else if (v->detail[0]) {
        str_puts(s, v->detail);
    } else if (v->kind == VK_MISMATCH && v->out >= 0 && v->out < p->n_out) {
        print_element(v, p, s);
    } else {
        str_puts(s, verdict_help(v->kind));
    }
}

static const char *or_null(const char *s, struct arena *a)
{
    return s && *s ? arena_strdup(a, s) : NULL;
}

static void describe_verdict(struct finding *f, const struct trial *t, const struct verdict *v,
                             struct arena *a)
{
    struct str s = { 0 };

    f->kind = verdict_name(v->kind);
    f->backend = v->backend;
    f->algebra = algebra_name(v->algebra);
    f->tier = or_null(v->tier, a);
    verdict_print(v, &t->prog, &s);
    f->detail = str_keep(&s, a);
    trial_print(t, &s);
    f->text = str_keep(&s, a);
    f->nodes = prog_count_nodes(&t->prog);
    f->steps = t->n_step;
    f->max_size = prog_max_size(&t->prog);
}

void finding_describe(struct finding *f, const struct trial *t, const struct verdict *v,
                      const struct cause *k, struct arena *a)
{
    char buf[256];
    struct str s = { 0 };

    describe_verdict(f, t, v, a);
    f->class = or_null(k->class, a);
    f->stage = f->pass = or_null(k->pass, a);
    f->rewrite = or_null(k->rule, a);
    if (k->step >= 0 && k->step < t->n_step) {
        step_print(&t->prog, &t->step[k->step], &s);
        f->step = str_keep(&s, a);
    }
    cause_print(k, buf, sizeof buf);
    f->cause = arena_strdup(a, buf);
    cause_signature(k, t, buf, sizeof buf);
    f->signature = arena_strdup(a, buf);
}

void finding_unattributed(struct finding *f, const struct trial *t, const struct verdict *v,
                          struct arena *a)
{
    describe_verdict(f, t, v, a);
    f->cause = f->signature = arena_printf(a, "unattributed %s %s", f->kind, f->backend);
}
