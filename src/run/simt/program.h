/*
 * A lowered program for the SIMT machine: its text with both algebras, its buffers as arrays,
 * its sites; and what a report of the machine means in it.
 */
#ifndef RUN_SIMT_PROGRAM_H
#define RUN_SIMT_PROGRAM_H

#include "emit/emit.h"
#include "run/run.h"
#include "run/simt/simt.h"

struct simt_work {
    const struct lprog *l;
    struct emit_sites sites; /* live in l's arena */
    int *kernel;             /* live kernels, by the machine's numbers */
    int n_kernel;
    struct simt_kernel *shape;
    struct simt_site *site;
    struct simt_array *array;
    struct str text; /* preludes, kernels and entries of both algebras */
};

/* text is of emit_cuda, and sites are its; what is NULL of them is emitted. */
void simt_work_make(struct simt_work *w, const struct lprog *l, const char *text,
                    const struct emit_sites *sites);
void simt_work_free(struct simt_work *w);
/* "tf_ieee_call": what the text's entry of one algebra is called */
const char *simt_work_entry(enum algebra al);
/* The program with the buffers where run_place has put them. */
struct simt_program simt_work_program(struct simt_work *w, const struct run_env *env,
                                      void (*call)(int kernel));
/* A report as the judge takes it. trace may be NULL. */
void simt_work_outcome(const struct simt_work *w, const struct simt_result *r,
                       const struct simt_trace *trace, struct outcome *o);

#endif
