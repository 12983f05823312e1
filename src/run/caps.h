/*
 * What a compiler that is not ours takes, and by which contract: as a plug-in's struct or an
 * adapter's hello says, and for adapters as trying it has shown. Flat, so that the process
 * that asks can send it to the one that needs to know.
 */
#ifndef RUN_CAPS_H
#define RUN_CAPS_H

#include "ir/trial.h"

enum cap_state {
    CAP_NO,     /* not named */
    CAP_YES,    /* named, or tried */
    CAP_UNSURE, /* not named, to be tried */
    CAP_NAMED,  /* named, to be tried */
    CAP_TRIED,  /* tried, and refused: see why */
    CAP_LIE     /* named, tried, and refused */
};
enum { CAP_INPUT_STRIDES = 1, CAP_OUTPUT_STRIDES = 2 };

struct caps {
    unsigned char op[OP_COUNT][DT_COUNT]; /* by the dtype of the (first value) operand */
    bool dtype[DT_COUNT];
    int max_rank, max_nodes; /* 0 = any */
    unsigned layouts, contract;
    char name[64], version[128];
    char knobs[512]; /* of `set name.KNOB VALUE`: "KNOB=A/B/C,..", the default first; "" = none
                      */
    char *why[OP_COUNT][DT_COUNT]; /* CAP_TRIED, CAP_LIE: what was answered */
};

/* Every dtype, every op in that state. */
void caps_all(struct caps *c, enum cap_state state);
/* "matmul", or with its dtypes "matmul f32 f64": sets these to state; false = no such name. */
bool caps_add_op(struct caps *c, const char *text, enum cap_state state);
bool caps_contract(const char *name, unsigned *bit);

/* Does a knob, its name up to n characters, take that value? */
bool caps_knob(const struct caps *c, const char *knob, size_t n, const char *value);
/* The knob behind "name." if step s sets one of this compiler, else NULL. */
const char *caps_set(const struct caps *c, const struct step *s);

/* The dtype that a node counts by. */
enum dtype caps_dtype(const struct prog *p, const struct node *n);
/* NULL = t is taken, as far as the caps can tell; else why not, in buf;
 * *lie = the refusal breaks the adapter's own word. */
const char *caps_refuse(const struct caps *c, const struct trial *t, char *buf, size_t n,
                        bool *lie);

#endif
