/*
 * Checks of values lines: of inputs, one each, as many numbers as elements.
 */
#include "ir/check.h"

int values_check(const struct trial *t, int i, int64_t *word, struct err *e)
{
    const struct values *v = &t->values[i];
    const struct node *n;
    int64_t count;

    *word = 1;
    if (v->node < 0 || v->node >= t->prog.n || t->prog.node[v->node].op != OP_INPUT)
        return err_at(e, ERR_INPUT, v->line, 0,
                      "values of %s, which is no input; expected an "
                      "input",
                      v->node >= 0 && v->node < t->prog.n ? t->prog.node[v->node].name : "?");
    n = &t->prog.node[v->node];
    for (int k = 0; k < i; k++)
        if (t->values[k].node == v->node)
            return err_at(e, ERR_INPUT, v->line, 0,
                          "second values line of %s; expected at most one", n->name);
    count = shape_count(&n->sh);
    *word = 2 + (v->n < count ? v->n : count);
    if (v->n != count)
        return err_at(e, ERR_INPUT, v->line, 0, "%lld values of %s; expected %lld",
                      (long long)v->n, n->name, (long long)count);
    for (int64_t k = 0; k < v->n; k++) {
        double x = v->v[k];
        const char *want = literal_fault(n->dt, &x);

        *word = 2 + k;
        if (want)
            return err_at(e, ERR_INPUT, v->line, 0, "value out of range; expected %s", want);
    }
    return 0;
}

int values_missing(const struct trial *t)
{
    if (t->recipe != RECIPE_EXACT)
        return -1;
    for (int i = 0; i < t->prog.n; i++) {
        bool given = t->prog.node[i].op != OP_INPUT;

        for (int k = 0; k < t->n_values; k++)
            given = given || t->values[k].node == i;
        if (!given)
            return i;
    }
    return -1;
}
