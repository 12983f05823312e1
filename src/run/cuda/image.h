/*
 * The memory of a run as one piece: every buffer with poison before and behind it, as it is
 * copied to a device and back. An access that leaves a buffer meets poison there as it does
 * here.
 */
#ifndef RUN_CUDA_IMAGE_H
#define RUN_CUDA_IMAGE_H

#include "run/run.h"

/* at[i] = where buffer i starts, at[n_buffer] = the planned temps; gives all bytes. */
size_t image_layout(const struct run_env *env, const struct lprog *l, size_t *at);
/* From the buffers of env, and back. */
void image_fill(const struct run_env *env, const struct lprog *l, const size_t *at,
                size_t bytes, unsigned char *image);
void image_take(struct run_env *env, const struct lprog *l, const size_t *at,
                const unsigned char *image);
/* Sets margin_broken and where if poison was written. */
void image_check(const struct run_env *env, const struct lprog *l, const size_t *at,
                 size_t bytes, const unsigned char *image, struct outcome *o);

#endif
