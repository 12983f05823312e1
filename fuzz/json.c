#include "fuzz/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/cmd.h"

json_t *json_object_schema(void)
{
    json_t *o = json_object();

    json_put(o, "schema", json_integer(CMD_SCHEMA));
    return o;
}

/* Bytes beyond ASCII become '?' where the whole is no UTF-8: names and logs of others. */
static json_t *text_repaired(const char *s)
{
    char *copy = strdup(s);

    for (char *p = copy; p && *p; p++)
        if (*p & 0x80)
            *p = '?';
    json_t *v = json_string(copy ? copy : "");
    free(copy);
    return v;
}

json_t *json_text(const char *s)
{
    if (!s)
        return json_null();
    json_t *v = json_string(s);
    return v ? v : text_repaired(s);
}

json_t *json_number_of(double v)
{
    if (isnan(v))
        return json_string("nan");
    if (isinf(v))
        return json_string(v < 0 ? "-inf" : "inf");
    return json_real(v);
}

void json_put(json_t *object, const char *key, json_t *v)
{
    json_object_set_new(object, key, v);
}

json_t *json_finding(const struct finding *f)
{
    json_t *o = json_object();

    json_put(o, "id", f->id ? json_integer(f->id) : json_null());
    json_put(o, "signature", json_text(f->signature));
    json_put(o, "kind", json_text(f->kind));
    json_put(o, "class", json_text(f->class));
    json_put(o, "stage", json_text(f->stage));
    json_put(o, "pass", json_text(f->pass));
    json_put(o, "rewrite", json_text(f->rewrite));
    json_put(o, "step", json_text(f->step));
    json_put(o, "nodes", json_integer(f->nodes));
    json_put(o, "steps", json_integer(f->steps));
    json_put(o, "max_size", json_integer(f->max_size));
    json_put(o, "backend", json_text(f->backend));
    json_put(o, "state", json_text(f->state));
    json_put(o, "count", json_integer(f->count));
    json_put(o, "first_trial", f->first_trial < 0 ? json_null() : json_integer(f->first_trial));
    json_put(o, "repro", json_text(f->repro));
    json_put(o, "cause", json_text(f->cause));
    json_put(o, "algebra", json_text(f->algebra));
    json_put(o, "tier", json_text(f->tier));
    json_put(o, "fault", json_text(f->fault));
    json_put(o, "seed", f->first_trial < 0 ? json_null() : json_integer((json_int_t)f->seed));
    json_put(o, "detail", json_text(f->detail));
    json_put(o, "trial", json_text(f->text));
    return o;
}

char *json_to_text(json_t *v)
{
    char *s = json_dumps(v, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);

    json_decref(v);
    return s ? s : strdup("null");
}

void json_print_line(json_t *v)
{
    char *s = json_to_text(v);

    puts(s);
    free(s);
}
