/* The passes, one file each; the order is that of the table in lower.c. */
#ifndef LOWER_PASSES_H
#define LOWER_PASSES_H

#include "lower/loop.h"

int pass_expand(struct lprog *l, struct err *e);
int pass_build(struct lprog *l, struct err *e);
int pass_fuse(struct lprog *l, struct err *e);
int pass_compose(struct lprog *l, struct err *e);
int pass_split(struct lprog *l, struct err *e);
int pass_reorder(struct lprog *l, struct err *e);
int pass_splitk(struct lprog *l, struct err *e);
int pass_tile(struct lprog *l, struct err *e);
int pass_accum(struct lprog *l, struct err *e);
int pass_unroll(struct lprog *l, struct err *e);
int pass_vectorize(struct lprog *l, struct err *e);
int pass_bind(struct lprog *l, struct err *e);
int pass_stage(struct lprog *l, struct err *e);
int pass_ring(struct lprog *l, struct err *e);
int pass_mma(struct lprog *l, struct err *e);
int pass_reduce(struct lprog *l, struct err *e);
int pass_epilogue(struct lprog *l, struct err *e);
int pass_semaphore(struct lprog *l, struct err *e);
int pass_swizzle(struct lprog *l, struct err *e);
int pass_wide(struct lprog *l, struct err *e);
int pass_simplify(struct lprog *l, struct err *e);
int pass_smem(struct lprog *l, struct err *e);
int pass_sync(struct lprog *l, struct err *e);
int pass_plan(struct lprog *l, struct err *e);

#endif
