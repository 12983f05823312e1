/* Campaigns and the trials of them that are kept. */
#include "fuzz/store/inner.h"

int store_campaign_begin(struct store *s, struct store_campaign *c, struct err *e)
{
    if (RUN(s, CAMPAIGN_BEGIN, e, INT(c->seed), TEXT(c->preset), TEXT(c->knobs),
            INT(c->gen_version), TEXT(c->backends), TEXT(c->fault), TEXT(c->subject_version),
            TEXT(c->shard), TEXT(TILEFUZZ_VERSION)))
        return e->code;
    c->id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_campaign_end(struct store *s, int64_t campaign, const char *counters, bool finished,
                       struct err *e)
{
    return RUN(s, CAMPAIGN_END, e, INT(campaign), TEXT(counters), INT(finished));
}

int store_trial(struct store *s, const struct store_trial *t, struct err *e)
{
    return RUN(s, TRIAL, e, INT(t->campaign), INT(t->number), KEY(t->key), TEXT(t->kind),
               TEXT(t->text));
}
