#include "lower/lower.h"

#include <string.h>

#include "base/bug.h"
#include "lower/passes.h"
#include "lower/serial.h"

const struct pass passes[] = {
    { "expand", pass_expand, "composites to primitive nodes, by the algorithm asked for" },
    { "build", pass_build, "one naive kernel per node that is no view" },
    { "fuse", pass_fuse, "steps fuse: compute a producer inside its consumer" },
    { "compose", pass_compose, "view stacks to index expressions and guards" },
    { "split", pass_split, "steps split: one loop becomes two" },
    { "reorder", pass_reorder, "steps reorder: another order of loops" },
    { "splitk", pass_splitk, "steps splitk: a reduction in slices through a workspace" },
    { "tile", pass_tile, "steps tile: blocks, threads and registers of a reduction" },
    { "accum", pass_accum, "accumulator: scalar, small array or the output itself" },
    { "unroll", pass_unroll, "steps unroll: straight code for a loop" },
    { "vectorize", pass_vectorize, "steps vectorize: lanes and a scalar tail" },
    { "bind", pass_bind, "steps bind: loops to blocks and threads; on a GPU every kernel" },
    { "stage", pass_stage, "steps stage: operands through shared memory" },
    { "ring", pass_ring, "steps stage: several stages, copies ahead, asynchronous ones" },
    { "mma", pass_mma, "steps tile: products of 16x8x16 on tensor cores" },
    { "reduce", pass_reduce,
      "reductions over threads: shuffles, then shared memory between warps" },
    { "epilogue", pass_epilogue, "steps epilogue: results through shared memory, or global" },
    { "semaphore", pass_semaphore,
      "steps splitk: slices one after the other, or by atomic addition" },
    { "swizzle", pass_swizzle, "steps swizzle: permuted columns of a stage" },
    { "wide", pass_wide, "steps stage: copies of several elements at once" },
    { "simplify", pass_simplify, "index algebra and guard elision" },
    { "smem", pass_smem, "shared memory: liveness, offsets, reuse" },
    { "sync", pass_sync, "barriers of the block where shared memory needs them" },
    { "plan", pass_plan, "steps plan, inplace: liveness, one arena, reuse" },
};
const int n_passes = (int)ARRAY_LEN(passes);

int pass_find(const char *name)
{
    for (int i = 0; i < n_passes; i++)
        if (strcmp(passes[i].name, name) == 0)
            return i;
    return -1;
}

/* Passes and the interpreter keep open loops in arrays of 64; after this check a pass adds
 * three at most (a slice, its guard, lanes). */
enum { MAX_DEPTH = 60 };

static int check_depth(const struct lprog *l, struct err *e)
{
    for (int k = 0; k < l->n_kernel; k++) {
        const struct kernel *kn = &l->kernel[k];
        int depth = 0;

        for (int i = 0; i < kn->n && !kn->dead; i++) {
            depth += kn->st[i].kind == ST_LOOP || kn->st[i].kind == ST_IF;
            depth -= kn->st[i].kind == ST_END;
            if (depth > MAX_DEPTH && l->pass <= pass_find("split"))
                return err_set(e, ERR_ILLEGAL,
                               "kernel %s: loops and guards are nested deeper than %d",
                               kn->name, MAX_DEPTH);
        }
    }
    return 0;
}

int lower(const struct trial *t, const struct lower_opts *o, struct arena *a,
          struct lprog **out, struct err *e)
{
    struct lprog *l = arena_new(a, struct lprog);

    *l = (struct lprog){ .arena = a,
                         .target = o->target,
                         .trial = t,
                         .prog = &t->prog,
                         .fault = o->fault,
                         .stop_after = o->stop_after };
    ixs_init(&l->ix, a);
    for (int i = 0; i < n_passes && i <= o->last_pass && !l->stopped; i++) {
        int err;

        l->pass = i;
        err = passes[i].run(l, e);
        if (err)
            return err;
        if (loop_check(l, e))
            BUG("after pass %s: %s", passes[i].name, e->msg);
        if (check_depth(l, e))
            return e->code;
    }
    if (o->target == TARGET_GPU_SERIAL || (o->target == TARGET_CPU && !o->bound)) {
        lower_serial(l);
        if (loop_check(l, e))
            BUG("written out as serial loops: %s", e->msg);
    }
    *out = l;
    return 0;
}
