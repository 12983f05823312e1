/*
 * The parser's state, shared by the files that read the kinds of lines. Private to src/ir.
 */
#ifndef IR_PARSE_H
#define IR_PARSE_H

#include "ir/check.h"
#include "ir/lex.h"
#include "ir/names.h"

struct parse {
    struct lex lx;
    struct arena *a;
    struct trial *t;
    struct names names;
    struct lex recipe;      /* where the data line named one */
    int64_t work;           /* of the nodes and outputs so far */
    bool is_out[MAX_NODES]; /* only the first n_is_out entries are set up */
    int n_is_out;
    int col[PART_COUNT]; /* where the parts of the current line stand, 0 = not there */
};

/* Program lines; the current token is the first of the line. */
int parse_input(struct parse *p);
int parse_const(struct parse *p);
int parse_output(struct parse *p);
int parse_named(struct parse *p); /* NAME = op .. */

/* A line of the schedule. */
int parse_step(struct parse *p);

/* Where its words stand, as step_check counts them: word 0 is the step's name. */
enum { MOST_WORDS = MAX_STEP_AXES + 3 };
struct words {
    int col[MOST_WORDS], n;
};
void words_mark(const struct parse *p, struct words *w); /* the current token is the next one */

/* NODE or NODE.part */
int parse_node_part(struct parse *p, int *node, const char **part);
/* What follows in the forms ALGO, [MODE], TILE, N.X and STAGE; see steps.def. Numbers behind
 * a key count as words: block splits, threads, depth and vec (which always count). */
int parse_algo(struct parse *p, struct step *s, struct words *w);
int parse_knob(struct parse *p, struct step *s, struct words *w);
int parse_mode(struct parse *p, struct step *s);
int parse_tile(struct parse *p, struct step *s, struct words *w);
int parse_operand(struct parse *p, struct step *s);
int parse_stage(struct parse *p, struct step *s, struct words *w);

/* What stands behind key= on a line. */
#define PART_BIT(part) (1u << (part))
struct keyed {
    unsigned seen; /* bits of parts */
    int64_t axis, keep, offset;
    uint32_t axes;
    double value, eps, scale, alpha, beta;
    enum dtype acc;
    enum mask_kind mask;
    enum empty_row empty;
    int64_t stride[MAX_RANK];
    int n_stride;
    int64_t list[MAX_RANK]; /* shift= times= */
    int n_list;
};

/* The current token is where this part stands. */
void parse_mark(struct parse *p, int part);
/* Passes on what a check said, at the column of the part that it named. */
int parse_place(struct parse *p, enum part part);

/* [1,2,3]; the place of each number goes to PART_ITEM + its place. `form` ends a message:
 * "of a shape like [2,3]". */
int parse_ints(struct parse *p, const char *form, int part, int64_t v[MAX_RANK], int *n);
int parse_shape(struct parse *p, struct shape *s);
int parse_dtype(struct parse *p, enum dtype *dt);
/* The key=value words at the end of a line, up to the end. Bits say which keys. */
int parse_keys(struct parse *p, unsigned allowed, unsigned needed, struct keyed *kv);
/* strides= and offset= into a layout; each alone is enough. */
int parse_layout(struct parse *p, const struct keyed *kv, const struct shape *s,
                 struct layout *l);

/* One of n words; *at is its place. */
int parse_choice(struct parse *p, const char *const *word, int n, int *at);

/* An earlier node's name. */
int parse_node_ref(struct parse *p, const char *what, int *node);
/* "(did you mean x?)" with a blank before it, or "" */
void parse_suggest_node(const struct parse *p, const char *s, size_t n, char *buf, size_t size);

#endif
