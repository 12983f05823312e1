/*
 * How the hunt is going: one line that is drawn over on a terminal, a plain line now and
 * then elsewhere. Written to stderr in one piece.
 */
#ifndef FUZZ_CAMP_STATUS_H
#define FUZZ_CAMP_STATUS_H

#include "fuzz/camp/camp.h"

struct status {
    bool terminal, quiet, drawn;
    int64_t start, last, due; /* ns */
    int64_t last_trials;
};

void status_init(struct status *s, bool quiet);
/* Draws if it is time. left_s < 0 = no end is set. */
void status_show(struct status *s, const struct camp_totals *n, int bugs, double left_s);
/* The line itself; narrow = without what a terminal of 80 columns has no room for. */
void status_line(const struct camp_totals *n, double rate, int bugs, double left_s, bool narrow,
                 struct str *line);
/* Before anything else is printed. */
void status_wipe(struct status *s);

#endif
