/* FILE|ID arguments: a trial from a file, or a bug from the database. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/cmd.h"
#include "fuzz/store/store.h"
#include "ir/text.h"
#include "judge/rules.h"

bool cmd_is_id(const char *arg, int64_t *id)
{
    size_t n = strspn(arg, "0123456789");

    if (n == 0 || n > 18 || arg[n])
        return false;
    *id = strtoll(arg, NULL, 10);
    return true;
}

static int open_bug(const struct cmd_common *c, struct arena *a, struct subject *out,
                    struct err *e)
{
    struct store *s;

    if (store_open(c->db, STORE_READ, &s, e))
        return e->code;
    if (!store_bug_get(s, out->id, a, &out->finding, e)) {
        const char *text = out->finding.text;

        if (!fault_parse(out->finding.fault, &out->fault))
            err_set(e, ERR_DB, "%s: bug %" PRId64 " was found under fault %s, unknown here",
                    c->db, out->id, out->finding.fault);
        else if (trial_parse(text, strlen(text), a, &out->trial, e))
            snprintf(e->file, sizeof e->file, "%s: bug %" PRId64, c->db, out->id);
    }
    store_close(s);
    return e->code;
}

int cmd_open(const char *arg, const struct cmd_common *c, struct arena *a, struct subject *out,
             struct err *e)
{
    *out = (struct subject){ .name = arg };
    *e = (struct err){ .code = ERR_NONE };
    if (cmd_is_id(arg, &out->id))
        open_bug(c, a, out, e);
    else
        trial_read(arg, a, &out->trial, e);
    if (c->fault_given)
        out->fault = c->fault;
    if (!e->code)
        e->file[0] = '\0'; /* what goes wrong from now on is not the file's fault */
    return e->code;
}

const char *judge_hint(const char *tier, const struct judge_opts *judge)
{
    const struct judge_rule *r = tier ? judge_rule_find(tier) : NULL;
    static char texts[16][80];
    char *text;

    if (!r || r->kind == JUDGE_PROVEN || r == judge_rule_of(judge))
        return NULL;
    if (r->kind == JUDGE_GIVEN)
        return "it was found by tolerance: give --rtol and --atol";
    text = texts[(r - judge_rules) % 16];
    snprintf(text, sizeof texts[0], "it was found by judge %s: give --judge %s", r->name,
             r->name);
    return text;
}

const char *subject_hint(const struct subject *sub, const struct judge_opts *judge)
{
    const char *hint = sub->id ? judge_hint(sub->finding.tier, judge) : NULL;
    static char text[84];

    snprintf(text, sizeof text, "%s%s", hint ? "; " : "", hint ? hint : "");
    return text;
}
