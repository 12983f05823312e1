/*
 * The judge. Evaluates the program node by node from the definition of each op, in double
 * with a proven error bound per element (ieee) or in ring words (ring), materialising every
 * view. Shares no arithmetic, view algebra or loop IR with the compiler under test: this
 * room includes base and ir only.
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "ir/outcome.h"
#include "ir/trial.h"
#include "ir/verdict.h"

/* ieee: |got - v| <= e is right. e < 0 marks an element that the bound can't judge: it is
 * downstream of a jump (ORACLE.md 4, HOUSE.md 11 "Jumps") or may be non-finite. */
struct val {
    double v, e;
};

struct want_node { /* all elements of one node, row-major; empty if no output needs it */
    int64_t n;
    struct val *ieee;      /* algebra ieee, f32 nodes */
    uint32_t *word;        /* ring words; i32 and bool nodes in both algebras (as uint32_t) */
    unsigned char *unsure; /* i32 and bool nodes in ieee: element is downstream of a jump;
                              NULL = none */
};

struct want {
    const struct trial *trial;
    enum algebra algebra;
    struct want_node *node; /* one per program node */
};

struct judge_opts {
    bool
        tolerance; /* use |got - v| <= atol + rtol * |v| instead of the bound (--rtol/--atol) */
    double rtol, atol;
};

/* Lives in a; costs 16 bytes an element of every node (ieee). */
struct want *judge_want(const struct trial *t, enum algebra al, struct arena *a);

/* Compares the outputs of one run (status OUT_RAN), storage gaps of laid-out outputs
 * included (they must still hold POISON_BYTE), inputs unchanged and margins whole.
 * Fills everything but v->backend. Also turns the other statuses into their kinds. */
void judge_compare(const struct want *w, const struct outcome *o, const struct judge_opts *jo,
                   struct verdict *v);

/* Two runs of the same backend: NONDETERMINISTIC if a bit of an output differs, unless the
 * verdict is a finding already. a and b are copies of output storage, bytes each. */
bool judge_same(const void *a, const void *b, size_t bytes);

/* UNTRUSTED: would a null kernel pass in every one of the given wants (ring and ieee)?
 * Null kernels: zeros, ones, untouched (poison) memory, and each input's bytes copied.
 * *which names the null kernel that would pass. */
bool judge_untrusted(const struct want *const *w, int n_want, const char **which);

#endif
