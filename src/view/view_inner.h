/* What the files of the view algebra share. Private to src/view. */
#ifndef VIEW_VIEW_INNER_H
#define VIEW_VIEW_INNER_H

#include "view/view.h"

/* A view of these sizes over the row-major space below. */
struct view view_dense(const int64_t *size, int rank);
/* The same elements as shape sh; false = not as one view, and v is as it was. */
bool reshape_merge(struct view *v, const struct shape *sh, enum view_fault fault);

#endif
