/*
 * The generator: trial number i of a seed, 100 % legal by construction. The same
 * (seed, number, options) gives the same trial on every machine for one GEN_VERSION.
 */
#ifndef FUZZ_GEN_GEN_H
#define FUZZ_GEN_GEN_H

#include "ir/trial.h"

/* Stored with each campaign; bump it when any draw changes. */
enum { GEN_VERSION = 4 };

enum preset { PRESET_ALL, PRESET_MATMUL, PRESET_MHA, PRESET_FUSED, PRESET_VIEWS, PRESET_COUNT };
const char *preset_name(enum preset p);
const char *preset_help(enum preset p);
bool preset_parse(const char *s, enum preset *p);

/* Bytes of the text of --set. */
enum { GEN_SET_TEXT = 1024 };

struct gen_opts {
    enum preset preset;
    bool op[OP_COUNT];     /* --ops, --no-ops: which ops may be drawn */
    bool step[STEP_COUNT]; /* --steps */
    char
        set[GEN_SET_TEXT]; /* --set: knobs of others, "NAME.KNOB=A/B/C,..", the default first */
#define KNOB(name, type, dflt, low, high, help) type name;
#include "fuzz/gen/knobs.def"
#undef KNOB
};
void gen_opts_default(struct gen_opts *o);

/* Are there draws of this op, this step, at all, with no --set? */
bool gen_draws_op(enum op op);
bool gen_draws_step(enum step_kind kind);
/* The same for steps of the trials that gpu_percent gives, and of those only. */
bool gen_draws_gpu_step(enum step_kind kind);

/* Is that a list for --set? */
bool gen_set_legal(const char *list);

/* The trial lives in a. scratch is used for trying steps and is reset. */
struct trial *gen_trial(uint64_t seed, uint64_t number, const struct gen_opts *o,
                        struct arena *a, struct arena *scratch);
#endif
