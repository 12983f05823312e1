#include "fuzz/copies_print.h"
#include "fuzz/describe.h"

#include <stdio.h>

#include "fuzz/json.h"
#include "ir/data.h"
#include "judge/exact.h"

static const char *data_name(const struct copied *x)
{
    return x->exact ? exact_name(x->exact - 1) : "";
}

static void print_effect(const struct copied *x)
{
    switch (x->effect) {
    case COPY_REPAIRS:
        printf(" repairs it: fused there");
        break;
    case COPY_BREAKS:
        printf(" breaks it: %s becomes %s", verdict_name(x->before), verdict_name(x->after));
        break;
    case COPY_BITS:
        printf(" changes the bits, and there is one right result");
        break;
    case COPY_DIFFERS:
        printf(" gives other bits, within what is right");
        break;
    case COPY_NOT_RUN:
        printf(" was not run: %s, with it %s", verdict_name(x->before), verdict_name(x->after));
        break;
    case COPY_NONE:
    case COPY_EFFECTS:
        break;
    }
}

static void print_row(const struct copied *x, const char *file, const struct prog *p)
{
    const struct edge *e = &x->edge;

    printf("%s: %s %s%s%s: copy on operand %d of %s (%s)", file, backend_label(x->backend).s,
           algebra_name(x->algebra), x->exact ? " " : "", data_name(x), e->operand,
           p->node[e->to].name, p->node[e->from].name);
    print_effect(x);
    if (x->left_out)
        printf(" (without %d step%s of the schedule, illegal with it)", x->left_out,
               x->left_out == 1 ? "" : "s");
    printf("\n");
}

void copies_print(const struct copies *c, const char *file, const struct prog *p)
{
    for (int i = 0, first = 0; i < c->n; i++) {
        int count[COPY_EFFECTS] = { 0 };

        if (c->row[i].effect != COPY_NONE)
            print_row(&c->row[i], file, p);
        if (i + 1 < c->n && c->row[i + 1].backend == c->row[first].backend)
            continue;
        for (int k = first; k <= i; k++)
            count[c->row[k].effect]++;
        printf("%s: %s: copies on %d edges: %d repair, %d break, %d change bits, %d differ, "
               "%d not run\n",
               file, c->row[first].backend, i + 1 - first, count[COPY_REPAIRS],
               count[COPY_BREAKS], count[COPY_BITS], count[COPY_DIFFERS], count[COPY_NOT_RUN]);
        first = i + 1;
    }
}

json_t *copies_json(const struct copies *c, const struct prog *p)
{
    json_t *list = json_array();

    for (int i = 0; i < c->n; i++) {
        const struct copied *x = &c->row[i];
        bool none = x->effect == COPY_NONE;
        json_t *j = json_object();

        json_put(j, "backend", json_text(x->backend));
        json_put(j, "node", json_text(p->node[x->edge.to].name));
        json_put(j, "operand", json_integer(x->edge.operand));
        json_put(j, "from", json_text(p->node[x->edge.from].name));
        json_put(j, "effect", json_text(copy_effect_name(x->effect)));
        json_put(j, "algebra", none ? json_null() : json_text(algebra_name(x->algebra)));
        json_put(j, "exact", json_text(x->exact ? data_name(x) : NULL));
        json_put(j, "before", none ? json_null() : json_text(verdict_name(x->before)));
        json_put(j, "after", none ? json_null() : json_text(verdict_name(x->after)));
        json_put(j, "left_out", json_integer(x->left_out));
        json_array_append_new(list, j);
    }
    return list;
}
