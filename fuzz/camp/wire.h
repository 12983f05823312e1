/*
 * What parent and workers say to each other. Both are copies of one process image, so
 * numbers and plain structs go over as they lie in memory; strings are length and bytes.
 */
#ifndef FUZZ_CAMP_WIRE_H
#define FUZZ_CAMP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { BATCH_TRIALS = 32 };

enum job_kind {
    JOB_BATCH,    /* draw and check `count` trials */
    JOB_CONFIRM,  /* one trial, alone, several times; then its cause */
    JOB_MINIMIZE, /* one trial */
};

struct job {
    enum job_kind kind;
    uint64_t first, step; /* trial numbers: first, first + step, .. */
    int count;
    bool isolate; /* compiled code in a child of the worker */
};

enum answer_kind { ANSWER_BATCH, ANSWER_TEXT, ANSWER_CONFIRM, ANSWER_MINIMIZE };

/* One trial of a batch. */
struct trial_rec {
    uint64_t key;              /* trial_key; 0 where nobody will ask for it */
    uint32_t elements, unsure; /* judged, and not judged because downstream of a jump */
    uint8_t kind;              /* enum verdict_kind */
    uint8_t judged;            /* verdicts: backends x (algebras + sets of exact data) */
    uint8_t exact, exact_na;   /* sets of exact data: run; not applicable */
    uint8_t sampled, sample;   /* verdicts by a sampled backend, and which of struct sample */
};

struct msg {
    enum answer_kind kind;
    uint32_t bytes;
    const char *p;
};

/* Blocking; false = the other side is gone. */
bool wire_send(int fd, enum answer_kind kind, const struct str *payload);
/* Takes the first whole message off the front of what was read, from *at on. */
bool wire_next(const struct str *in, size_t *at, struct msg *m);

struct wire_in {
    const char *p, *end;
    bool bad; /* the text was shorter than it claimed */
};
void wire_put(struct str *s, const void *p, size_t n);
void wire_put_text(struct str *s, const char *text); /* NULL stays NULL */
bool wire_get(struct wire_in *in, void *p, size_t n);
const char *wire_get_text(struct wire_in *in, struct arena *a);

#endif
