/* Campaigns and the trials of them that are kept. */
#include "fuzz/store/inner.h"

int store_campaign_begin(struct store *s, struct store_campaign *c, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_CAMPAIGN_BEGIN, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, (int64_t)c->seed);
    bind_text(q, 2, c->preset);
    bind_text(q, 3, c->knobs);
    sqlite3_bind_int(q, 4, c->gen_version);
    bind_text(q, 5, c->backends);
    bind_text(q, 6, c->fault);
    bind_text(q, 7, c->subject_version);
    bind_text(q, 8, c->shard);
    bind_text(q, 9, TILEFUZZ_VERSION);
    if (store_done(s, q, e))
        return e->code;
    c->id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_campaign_end(struct store *s, int64_t campaign, const char *counters, bool finished,
                       struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_CAMPAIGN_END, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, campaign);
    bind_text(q, 2, counters);
    sqlite3_bind_int(q, 3, finished);
    return store_done(s, q, e);
}

int store_trial(struct store *s, const struct store_trial *t, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_TRIAL, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, t->campaign);
    sqlite3_bind_int64(q, 2, t->number);
    bind_key(q, 3, t->key);
    bind_text(q, 4, t->kind);
    bind_text(q, 5, t->text);
    return store_done(s, q, e);
}
