/* Backend cuda, beyond what every backend has. */
#ifndef RUN_CUDA_CUDA_H
#define RUN_CUDA_CUDA_H

#include "run/run.h"

extern const struct backend be_cuda, be_nvrtc;

float cuda_ms(const struct prepared *p); /* what the last run took, by the device's clock */
void cuda_close(void);                   /* ends the device process; the next run starts one */

#endif
