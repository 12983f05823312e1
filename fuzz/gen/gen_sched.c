#include "fuzz/gen/build.h"
void sched_draw(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a,
                struct arena *scratch)
{
    (void)r;(void)o;(void)t;(void)a;(void)scratch;
}
