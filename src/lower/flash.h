/* What the kernels of an attention by flash share (flash.c): build_flash.c writes the loop over
 * the keys, build_flash_split.c what slices of them leave behind and how that comes together.
 */
#ifndef LOWER_FLASH_H
#define LOWER_FLASH_H

#include "lower/build.h"

struct flash {
    struct lprog *l;
    int node, step; /* node, step of its algo */
    const struct node *n;
    enum dtype dt; /* that it computes in */
    int64_t block, blocks, keys;
    int rank, head, row;    /* axes of the result: head, query; its last is the value's */
    int idx[MAX_RANK];      /* of the result: i0, i1 .. */
    int e, j, d;            /* loops: value, key in block, depth */
    int key;                /* number of the key */
    int seen;               /* ragged: is there such a key; -1 = always */
    int m, sum, out;        /* accumulators */
    int64_t slices;         /* 1 = no workspaces */
    int slice, ws[3], flat; /* loop, buffers of m, sum, out; number of the query among all */
};

/* Values: an accumulator's element (at is no matter where it has one only), op a, a op b */
int flash_acc(struct flash *f, int acc, int at);
int flash_op1(struct flash *f, enum op op, int a);
int flash_op2(struct flash *f, enum op op, int a, int b);
int flash_lit(struct flash *f, double v);
int flash_pick(struct flash *f, int cond, int a, int b); /* where cond a b */
/* What is subtracted from scores whose maximum is val. */
int flash_shift_of(struct flash *f, int val);

/* Statements; flash_loop opens one and gives its variable as an index. */
int flash_decl(struct flash *f, struct kernel *k, const char *part, enum op op, int64_t elems);
void flash_set(struct flash *f, struct kernel *k, int acc, int at, int val);
void flash_update(struct flash *f, struct kernel *k, int acc, int at, int val);
/* an accumulator that is only set */
int flash_holder(struct flash *f, struct kernel *k, const char *part, int val);
int flash_loop(struct flash *f, struct kernel *k, int var);
void flash_declare(struct flash *f, struct kernel *k); /* m, sum, out */
/* The result of m, sum and out. */
void flash_finish(struct flash *f, struct kernel *k);

void flash_workspaces(struct flash *f);
void flash_leave(struct flash *f, struct kernel *k);   /* m, sum and out of a slice */
void flash_combine(struct flash *f, struct kernel *k); /* all slices', finished */

#endif
