/*
 * What a step may name. Private to src/ir.
 */
#ifndef IR_SCHEDULE_H
#define IR_SCHEDULE_H

#include "ir/check.h"

/* Node k of a step exists, and only a composite has parts. */
int schedule_node(const struct trial *t, const struct step *s, int k, struct err *e);
/* Axis ax exists for step i, after the splits and tiles before it. */
int schedule_axis(const struct trial *t, int i, const struct axis *ax, struct err *e);
/* Which parts a composite has, and what its last one reduces, only lowering can tell. */
bool schedule_hides(const struct trial *t, const struct axis *ax);

#endif
