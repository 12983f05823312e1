/* What an adapter says of itself. */
#include <stdio.h>
#include <string.h>

#include "run/exec/exec.h"

static bool read_names(const json_t *list, bool (*each)(struct caps *c, const char *name),
                       struct caps *c, char *why, size_t n)
{
    size_t i;
    json_t *x;

    json_array_foreach(list, i, x)
    {
        if (json_is_string(x) && each(c, json_string_value(x)))
            continue;
        snprintf(why, n, "hello names '%s', which is none",
                 json_is_string(x) ? json_string_value(x) : "?");
        return false;
    }
    return true;
}

static bool name_op(struct caps *c, const char *name)
{
    return caps_add_op(c, name, CAP_NAMED);
}

static bool name_dtype(struct caps *c, const char *name)
{
    enum dtype dt;

    if (!dtype_parse(name, strlen(name), &dt))
        return false;
    c->dtype[dt] = true;
    return true;
}

static bool name_contract(struct caps *c, const char *name)
{
    unsigned bit;

    if (!caps_contract(name, &bit))
        return false;
    c->contract |= bit;
    return true;
}

/* {"NOOPT": ["0", "1"], ..}, the default first, as caps keep it. */
static bool read_knobs(const json_t *knobs, struct caps *c, char *why, size_t n)
{
    const char *knob;
    json_t *values, *v;
    size_t i, at = 0;

    if (knobs && !json_is_object(knobs)) {
        snprintf(why, n, "hello has knobs that are no object");
        return false;
    }
    json_object_foreach((json_t *)knobs, knob, values)
    {
        char full[MAX_KNOB + 2];

        snprintf(full, sizeof full, "%s.%s", c->name, knob);
        json_array_foreach(values, i, v)
        {
            const char *text = json_is_string(v) ? json_string_value(v) : "";
            int wrote = snprintf(c->knobs + at, sizeof c->knobs - at, "%s%s%s",
                                 i    ? "/"
                                 : at ? ","
                                      : "",
                                 i ? "" : knob, i ? "" : "=");

            if (!knob_spelt(full, strlen(full)) || !knob_value_spelt(text, strlen(text)) ||
                at + (size_t)wrote + strlen(text) >= sizeof c->knobs) {
                snprintf(why, n,
                         "hello's knob %.40s: letters, digits and _ in it and in %.20s and in "
                         "values, and not too many, are taken",
                         knob, c->name);
                return false;
            }
            at += (size_t)wrote;
            at += (size_t)sprintf(c->knobs + at, "%s", text);
        }
        if (json_array_size(values) < 2) {
            snprintf(why, n, "hello's knob %.40s: a list of two and more values is expected",
                     knob);
            return false;
        }
    }
    return true;
}

static void copy_text(const json_t *x, char *to, size_t n)
{
    snprintf(to, n, "%s", json_is_string(x) ? json_string_value(x) : "");
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

bool exec_hello(struct exec_row *r, const json_t *answer, char *why, size_t n)
{
    const json_t *ops = json_object_get(answer, "ops");
    const json_t *dtypes = json_object_get(answer, "dtypes");
    char library[64];
    struct caps c = { 0 };

    copy_text(json_object_get(answer, "name"), c.name, sizeof c.name);
    copy_text(json_object_get(answer, "library"), library, sizeof library);
    if (json_integer_value(json_object_get(answer, "version")) != 1 || !*c.name || !*library) {
        snprintf(why, n, "hello lacks version 1, name or library");
        return false;
    }
    snprintf(c.version, sizeof c.version, "%s %s", c.name, library);
    caps_all(&c, json_is_array(ops) ? CAP_NO : CAP_UNSURE);
    if (json_is_array(dtypes))
        memset(c.dtype, 0, sizeof c.dtype);
    c.layouts = CAP_INPUT_STRIDES | CAP_OUTPUT_STRIDES; /* of these we take care */
    c.max_rank = (int)json_integer_value(json_object_get(answer, "max_rank"));
    c.max_nodes = (int)json_integer_value(json_object_get(answer, "max_nodes"));
    if (!read_names(ops, name_op, &c, why, n) || !read_names(dtypes, name_dtype, &c, why, n) ||
        !read_names(json_object_get(answer, "contract"), name_contract, &c, why, n) ||
        !read_knobs(json_object_get(answer, "knobs"), &c, why, n))
        return false;
    if (!*r->caps.name) { /* later ones say the same, and what was tried stays known */
        r->caps = c;
    } else if (strcmp(r->caps.version, c.version) != 0) {
        snprintf(why, n, "said hello as '%s', and then as '%s'", r->caps.version, c.version);
        return false;
    }
    return true;
}
