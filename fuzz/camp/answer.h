/* How the larger answers of a worker are written and read (see worker.h). */
#ifndef FUZZ_CAMP_ANSWER_H
#define FUZZ_CAMP_ANSWER_H

#include "fuzz/camp/wire.h"
#include "fuzz/finding.h"

/* To ANSWER_CONFIRM. */
struct confirmation {
    int failed; /* of CONFIRM_RUNS */
    struct trial_rec rec;
    struct finding f; /* the cause too, if it failed every time */
};

/* To ANSWER_MINIMIZE. */
struct minimized {
    bool ok; /* false = the finding could not be shown again, or not attributed */
    int evaluations;
    struct finding f;
};

void wire_put_confirmation(struct str *s, const struct confirmation *c);
bool wire_get_confirmation(const struct msg *m, struct arena *a, struct confirmation *c);
void wire_put_minimized(struct str *s, const struct minimized *m);
bool wire_get_minimized(const struct msg *m, struct arena *a, struct minimized *out);

#endif
