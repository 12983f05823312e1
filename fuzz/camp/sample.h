/*
 * Which trials of a campaign go to a backend that is too slow for all of them, and to which:
 * one trial in `every`, by seed and trial number alone. They are drawn in blocks of
 * neighbours, which a worker builds in one run of a compiler, and the backends take turns,
 * so that a campaign of any length meets all of them about equally often.
 */
#ifndef FUZZ_CAMP_SAMPLE_H
#define FUZZ_CAMP_SAMPLE_H

#include "fuzz/check/check.h"

/* More neighbours share the start of a compiler; fewer let short campaigns meet more
 * configurations. */
enum { SAMPLE_BLOCK = 4, SAMPLE_EVERY = 600, SAMPLE_EVERY_MAX = 1000000 };

struct sample {
    int every; /* 0 = nothing is drawn */
    const struct backend *backend[CHECK_MAX_BACKENDS];
    int n;
};

/*
 * Moves the slow backends of o into s. Where the user named none of any kind, all that are
 * there are taken; where he named nothing else, every trial is drawn.
 */
void sample_take(struct sample *s, struct check_opts *o);

/* NULL = this trial goes to none. step: trial numbers of a shard are so far apart. */
const struct backend *sample_draw(const struct sample *s, uint64_t seed, uint64_t number,
                                  uint64_t step);
/* How it is called among the sampled: "gcc-O3", "nvrtc". */
const char *sample_label(const struct backend *b);
int sample_index(const struct sample *s, const char *name); /* -1 = it is not sampled */

#endif
