/*
 * What the compilers of CUDA are given: the kernels of a trial twice, under the prelude of each
 * algebra, and kernels of ours that disturb the timing of others.
 */
#ifndef RUN_CUDA_UNIT_H
#define RUN_CUDA_UNIT_H

#include "lower/loop.h"

void cuda_unit(const struct lprog *l, const char *text, struct str *s);

/* What kernel k is called in it: "tf_ring_NAME". */
enum { CUDA_NAME = 128 };
void cuda_kernel_name(const struct lprog *l, int k, enum algebra al, char buf[CUDA_NAME]);

/* tf_noise_spin(long long cycles): keeps its multiprocessors busy for so long.
 * tf_noise_load(unsigned *words, unsigned n, unsigned rounds): reads and writes n words. */
extern const char cuda_noise_text[];

#endif
