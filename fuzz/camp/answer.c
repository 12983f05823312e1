#include "fuzz/camp/answer.h"

enum { FINDING_TEXTS = 13 };

/* The strings of a finding that a worker knows, in the order in which they go over. */
static void finding_texts(struct finding *f, const char **text[FINDING_TEXTS])
{
    const char **all[FINDING_TEXTS] = { &f->signature, &f->kind,    &f->class, &f->stage,
                                        &f->pass,      &f->rewrite, &f->step,  &f->cause,
                                        &f->backend,   &f->algebra, &f->tier,  &f->text,
                                        &f->detail };

    for (int i = 0; i < FINDING_TEXTS; i++)
        text[i] = all[i];
}

static void put_finding(struct str *s, const struct finding *f)
{
    struct finding copy = *f;
    const char **text[FINDING_TEXTS];

    finding_texts(&copy, text);
    wire_put(s, &f->nodes, sizeof f->nodes);
    wire_put(s, &f->steps, sizeof f->steps);
    wire_put(s, &f->max_size, sizeof f->max_size);
    for (int i = 0; i < FINDING_TEXTS; i++)
        wire_put_text(s, *text[i]);
}

static void get_finding(struct wire_in *in, struct arena *a, struct finding *f)
{
    const char **text[FINDING_TEXTS];

    *f = (struct finding){ 0 };
    finding_texts(f, text);
    wire_get(in, &f->nodes, sizeof f->nodes);
    wire_get(in, &f->steps, sizeof f->steps);
    wire_get(in, &f->max_size, sizeof f->max_size);
    for (int i = 0; i < FINDING_TEXTS; i++)
        *text[i] = wire_get_text(in, a);
}

void wire_put_confirmation(struct str *s, const struct confirmation *c)
{
    wire_put(s, &c->failed, sizeof c->failed);
    wire_put(s, &c->rec, sizeof c->rec);
    put_finding(s, &c->f);
}

bool wire_get_confirmation(const struct msg *m, struct arena *a, struct confirmation *c)
{
    struct wire_in in = { m->p, m->p + m->bytes, false };

    wire_get(&in, &c->failed, sizeof c->failed);
    wire_get(&in, &c->rec, sizeof c->rec);
    get_finding(&in, a, &c->f);
    return !in.bad;
}

void wire_put_minimized(struct str *s, const struct minimized *m)
{
    wire_put(s, &m->ok, sizeof m->ok);
    wire_put(s, &m->evaluations, sizeof m->evaluations);
    put_finding(s, &m->f);
}

bool wire_get_minimized(const struct msg *m, struct arena *a, struct minimized *out)
{
    struct wire_in in = { m->p, m->p + m->bytes, false };

    wire_get(&in, &out->ok, sizeof out->ok);
    wire_get(&in, &out->evaluations, sizeof out->evaluations);
    get_finding(&in, a, &out->f);
    return !in.bad;
}
