/*
 * A verdict: a fact about the code under test.
 */
#ifndef IR_VERDICT_H
#define IR_VERDICT_H

#include "ir/outcome.h"
#include "ir/prog.h"

enum verdict_kind {
#define VERDICT(id, finding, help) VK_##id,
#include "ir/verdict.def"
#undef VERDICT
    VK_COUNT
};

struct verdict {
    enum verdict_kind kind;
    enum algebra algebra;
    const char *backend;  /* a name of backends[], static */
    const char *tier;     /* "ring", "bound", "tolerance", "exact", "" */
    int exact;            /* 1 + the set of exact data that it is about; 0 = the trial's data */
    int out;              /* output number of the first wrong element, -1 = none */
    int64_t at[MAX_RANK]; /* its coordinates */
    double want, got, bound; /* as numbers; ring words as unsigned integers; bound 0 in ring */
    int64_t n_wrong, n_judged, n_unsure; /* elements; unsure = downstream of a jump */
    struct site site, other;             /* OUT_OF_BOUNDS and what the SIMT machine reports */
    uint64_t digest;                     /* of the outputs, where the check was asked for it */
    char rule[32];                       /* as in struct outcome */
    char ran[64];                        /* likewise */
    char detail[400];
};

const char *verdict_name(enum verdict_kind k); /* "MISMATCH" */
const char *verdict_help(enum verdict_kind k);
bool verdict_is_finding(enum verdict_kind k);
bool verdict_parse(const char *s, enum verdict_kind *k);

#endif
