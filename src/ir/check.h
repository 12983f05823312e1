/*
 * The checks behind node_infer, prog_check and trial_check, which also say which part of
 * the line is at fault, so that the parser can put the caret there. Private to src/ir.
 */
#ifndef IR_CHECK_H
#define IR_CHECK_H

#include "ir/trial.h"

/* The parts of a program line. */
enum part {
    PART_OP,
    PART_ARG, /* + operand number */
    PART_DTYPE = PART_ARG + MAX_ARGS,
    PART_LIST, /* the [..] after the operands, or a shape */
    PART_AXIS,
    PART_AXES,
    PART_KEEP,
    PART_VALUE,
    PART_ACC,
    PART_EPS,
    PART_SCALE,
    PART_MASK,
    PART_EMPTY,
    PART_STRIDES,
    PART_OFFSET,
    PART_SHIFT,
    PART_TIMES,
    PART_ALPHA,
    PART_BETA,
    PART_ITEM, /* + place in the list; reductions: + axis */
    PART_COUNT = PART_ITEM + MAX_RANK
};

/* node_infer, and the part at fault. */
int node_check(const struct prog *p, struct node *n, enum part *part, struct err *e);
/* PART_ARG is the output's name. */
int output_check(const struct prog *p, const struct output *o, enum part *part, struct err *e);

/* A shape's or a dtype list's text, for messages. */
struct shown {
    char s[MAX_RANK * 21 + 4];
};
struct shown dtypes_list(void); /* all that a program may use */

/* Rounds *v to what dt can hold. NULL if it could, else what was expected. */
const char *literal_fault(enum dtype dt, double *v);

/* Step i, given that the ones before it are legal. *word = the word of the line at fault,
 * 0 = the step's name. */
int step_check(const struct trial *t, int i, int *word, struct err *e);
/* Values line i. *word: 1 = the name, 2 + k = value k; 2 + n = one value too few. */
int values_check(const struct trial *t, int i, int64_t *word, struct err *e);

/* The first input without a values line where the recipe is `exact`, -1 = none. */
int values_missing(const struct trial *t);

/* What a line costs: its elements, the terms that it adds up, and what a composite computes
 * on the way. */
int64_t node_work(const struct prog *p, const struct node *n);
int64_t output_work(const struct prog *p, const struct output *o);

#endif
