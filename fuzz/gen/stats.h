/*
 * What a set of trials looks like: how many nodes, steps, multiply-adds, which ops and
 * extents occur. For `bench speed` and `gen --stats`, and for the tests that hold the
 * generator to its aims.
 */
#ifndef FUZZ_GEN_STATS_H
#define FUZZ_GEN_STATS_H

#include <jansson.h>

#include "base/str.h"
#include "ir/trial.h"

enum stat { STAT_NODES, STAT_STEPS, STAT_MUL_ADDS, STAT_WORK, STAT_MAX_SIZE, STAT_COUNT };

struct gen_stats;

struct gen_stats *gen_stats_new(void);
void gen_stats_free(struct gen_stats *s);
void gen_stats_add(struct gen_stats *s, const struct trial *t);

/* The value below which num / den of the trials lie. */
int64_t gen_stats_quantile(struct gen_stats *s, enum stat what, int num, int den);
/* Trials in which it occurs. */
int64_t gen_stats_op(const struct gen_stats *s, enum op op);
int64_t gen_stats_step(const struct gen_stats *s, enum step_kind kind);
int64_t gen_stats_dtype(const struct gen_stats *s, enum dtype dt);
int64_t gen_stats_recipe(const struct gen_stats *s, enum recipe recipe);

void gen_stats_print(struct gen_stats *s, struct str *out);
/* {"trials", "nodes": {"p10", "median", "p90", "max", "mean"}, "steps", "mul_adds", "work",
 * "max_size", "op_trials": {..}, "step_trials": {..}, "dtype_trials": {..},
 * "recipe_trials": {..}, "extents": {..}}; the last counts axes, the others trials with it */
json_t *gen_stats_json(struct gen_stats *s);

#endif
