#include "fuzz/camp/board.h"

#include <stdlib.h>

#include "base/bug.h"
#include "ir/verdict.h"

void board_init(struct board *b, uint64_t shard, uint64_t shards, uint64_t trials, int jobs)
{
    *b = (struct board){ .shard = shard, .shards = shards, .trials = trials };
    b->window = 4 + 4 * jobs;
    b->batch = must(calloc((size_t)b->window, sizeof *b->batch));
}

void board_release(struct board *b)
{
    struct piece *p;

    while ((p = board_take_piece(b)))
        free(p);
    while (b->found)
        board_drop(b, b->found);
    free(b->batch);
}

uint64_t board_number(const struct board *b, uint64_t batch, int at)
{
    return b->shard + (batch * BATCH_TRIALS + (uint64_t)at) * b->shards;
}

bool board_more(const struct board *b)
{
    return board_number(b, b->next, 0) < b->trials;
}

bool board_has_room(const struct board *b)
{
    return b->next - b->commit < (uint64_t)b->window;
}

bool board_empty(const struct board *b)
{
    return b->next == b->commit;
}

static struct piece *new_piece(struct batch *batch, int from, int to, bool isolate)
{
    struct piece *p = must(malloc(sizeof *p));

    *p = (struct piece){ batch, from, to, isolate, NULL };
    return p;
}

struct piece *board_open_batch(struct board *b)
{
    struct batch *t = &b->batch[b->next % (uint64_t)b->window];

    *t = (struct batch){ .open = true, .index = b->next };
    while (t->count < BATCH_TRIALS && board_number(b, b->next, t->count) < b->trials)
        t->count++;
    b->next++;
    return new_piece(t, 0, t->count, false);
}

void board_queue(struct board *b, struct batch *batch, int from, int to, bool isolate)
{
    struct piece **at = &b->pieces;

    if (from >= to)
        return;
    for (int i = from; i < to; i++)
        batch->known[i] = false;
    while (*at)
        at = &(*at)->next;
    *at = new_piece(batch, from, to, isolate);
}

struct piece *board_take_piece(struct board *b)
{
    struct piece *p = b->pieces;

    if (p)
        b->pieces = p->next;
    return p;
}

struct found *board_found(struct board *b, struct batch *batch, int at, bool isolated)
{
    struct found **p = &b->found, *f = must(calloc(1, sizeof *f));

    f->number = board_number(b, batch->index, at);
    f->batch = batch;
    f->at = at;
    f->isolated = isolated;
    arena_init(&f->a);
    while (*p && (*p)->number < f->number)
        p = &(*p)->next;
    f->next = *p;
    *p = f;
    batch->known[at] = true;
    return f;
}

void board_record(struct board *b, struct piece *p, int at, const struct trial_rec *r)
{
    p->batch->rec[at] = *r;
    p->batch->known[at] = true;
    if (verdict_is_finding((enum verdict_kind)r->kind))
        board_found(b, p->batch, at, p->isolate);
}

struct found *board_first(const struct board *b, enum found_state state)
{
    for (struct found *f = b->found; f; f = f->next)
        if (f->state == state)
            return f;
    return NULL;
}

struct found *board_at(const struct board *b, uint64_t number)
{
    for (struct found *f = b->found; f; f = f->next)
        if (f->number == number)
            return f;
    return NULL;
}

void board_drop(struct board *b, struct found *f)
{
    struct found **p = &b->found;

    while (*p != f)
        p = &(*p)->next;
    *p = f->next;
    arena_release(&f->a);
    free(f);
}

/*
 * Beside the trial itself, the next finding of its batch must be confirmed: if it isn't,
 * an earlier trial may have spoilt the worker, and is looked at once more.
 */
bool board_ready(const struct board *b, struct batch **batch, int *at, struct found **f)
{
    struct batch *t = &b->batch[b->commit % (uint64_t)b->window];
    uint64_t number = board_number(b, b->commit, b->commit_at);

    if (board_empty(b))
        return false;
    for (int i = b->commit_at; i < t->count; i++)
        if (!t->known[i])
            return false;
    for (*f = b->found; *f && (*f)->number < number;)
        *f = (*f)->next;
    if (*f && (*f)->batch == t && ((*f)->state == FOUND_NEW || (*f)->state == FOUND_CONFIRMING))
        return false;
    if (*f && (*f)->number != number)
        *f = NULL;
    *batch = t;
    *at = b->commit_at;
    return true;
}

void board_advance(struct board *b)
{
    struct batch *t = &b->batch[b->commit % (uint64_t)b->window];

    if (++b->commit_at < t->count)
        return;
    t->open = false;
    b->commit++;
    b->commit_at = 0;
}
