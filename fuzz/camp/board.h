/*
 * The campaign's board: which trials are out with workers, which records are back, and how
 * far each finding has come. Batches are fixed ranges of trial numbers; a batch that lost
 * its worker goes on in pieces.
 */
#ifndef FUZZ_CAMP_BOARD_H
#define FUZZ_CAMP_BOARD_H

#include "fuzz/camp/answer.h"

enum found_state {
    FOUND_NEW,        /* to be confirmed */
    FOUND_CONFIRMING, /* a worker is at it */
    FOUND_CONFIRMED,  /* f is there */
    FOUND_WANTED,     /* and is to be minimized */
    FOUND_MINIMIZING,
    FOUND_READY, /* to be written down */
};

/* A trial that failed, or whose worker died. */
struct found {
    enum found_state state;
    uint64_t number;
    struct batch *batch;
    int at;         /* in the batch */
    bool isolated;  /* seen with compiled code in a child already */
    int deaths;     /* of workers that tried to confirm or minimize it */
    bool ours;      /* a finding against ourselves */
    bool flaky;     /* fails now and then: nothing to minimize */
    bool minimized; /* f is of the smaller trial */
    struct arena a; /* text and strings of f */
    uint64_t key;
    const char *text; /* as drawn, NULL = not known */
    struct finding f;
    struct found *next; /* by number */
};

struct batch {
    bool open;
    uint64_t index;
    struct trial_rec rec[BATCH_TRIALS];
    bool known[BATCH_TRIALS];
    int count;
};

struct piece {
    struct batch *batch;
    int from, to;
    bool isolate;
    struct piece *next;
};

struct board {
    uint64_t shard, shards, trials;
    int window;            /* batches that may be open at once */
    struct batch *batch;   /* index modulo window */
    uint64_t next, commit; /* the next batch to open, the first that is not written down */
    int commit_at;         /* trials of that one that are */
    struct piece *pieces;  /* waiting for a worker */
    struct found *found;   /* sorted by number */
};

void board_init(struct board *b, uint64_t shard, uint64_t shards, uint64_t trials, int jobs);
void board_release(struct board *b);

uint64_t board_number(const struct board *b, uint64_t batch, int at);
bool board_more(const struct board *b); /* trials that no batch holds yet */
bool board_has_room(const struct board *b);
struct piece *board_open_batch(struct board *b);
/* Nothing is out and nothing is left to write down. */
bool board_empty(const struct board *b);

void board_queue(struct board *b, struct batch *batch, int from, int to, bool isolate);
struct piece *board_take_piece(struct board *b); /* NULL = none waits */

/* A record came back; a finding is put on the list to be confirmed. */
void board_record(struct board *b, struct piece *p, int at, const struct trial_rec *r);
struct found *board_found(struct board *b, struct batch *batch, int at, bool isolated);
struct found *board_first(const struct board *b, enum found_state state);
struct found *board_at(const struct board *b, uint64_t number);
void board_drop(struct board *b, struct found *f);

/* The next trial to be written down, if it and its finding (or NULL) are ready for that. */
bool board_ready(const struct board *b, struct batch **batch, int *at, struct found **f);
void board_advance(struct board *b);

#endif
