/* Clocks: of the wall, that never goes back, and of this process's CPU time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t which)
{
    struct timespec ts;

    clock_gettime(which, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static inline int64_t clock_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static inline double clock_cpu_s(void)
{
    return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
}

#endif
