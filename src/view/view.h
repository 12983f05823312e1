/*
 * The view algebra of the compiler under test. A view says where element (i0,i1,..) of a
 * tensor lies; a stack of views is read from the reader's side down to memory: v[n-1] maps
 * the reader's indices to a row-major position in the space of v[n-2], and so on; v[0]
 * addresses the buffer. Composing keeps one view where strides can say it exactly, and
 * pushes another where they can't (a reshape that cuts across permuted or padded axes,
 * a pad over a pad with another fill).
 *
 * The judge must never include this room.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "ir/prog.h"
#include "view/index.h"

struct view {
    int rank;
    int64_t size[MAX_RANK];   /* >= 0; a zero makes the view empty */
    int64_t stride[MAX_RANK]; /* in elements; 0 = broadcast, < 0 = flipped */
    int64_t offset;           /* of element (0,0,..), in elements */
    bool masked;              /* only lo <= i < hi holds data, the rest reads as fill */
    int64_t lo[MAX_RANK], hi[MAX_RANK];
    double fill;
    /* wrap[d] > 0: index i of axis d stands for (i + turn[d]) mod wrap[d], both >= 0; the mask
     * speaks of i itself */
    int64_t wrap[MAX_RANK], turn[MAX_RANK];
};

enum { MAX_VIEWS = 24 };

struct vstack {
    struct view v[MAX_VIEWS];
    int n;
};

/* Compiler bugs that live in this room; see lower/faults.def. */
enum view_fault {
    VIEW_FAULT_NONE,
    VIEW_FAULT_FORCED_SINGLE,     /* merges a reshape without checking contiguity */
    VIEW_FAULT_MASK_NONDIVISIBLE, /* splits a valid range over new axes without the test */
    VIEW_FAULT_NEGATIVE_SLICE,    /* a negative step over stacked views starts at a multiple */
};

void vstack_init(struct vstack *s, const struct shape *sh, const struct layout *l);
/* Applies one view node on the reader's side. False if the stack is full. */
bool vstack_apply(struct vstack *s, const struct node *view, enum view_fault fault);

struct guard {
    int cond;    /* index expression, 0 or 1 */
    double fill; /* the value read when cond is 0 */
};

/*
 * The address of element idx[..] (expressions, one per axis of the reader's view) and the
 * guards to be tested in order: the first that is 0 gives its fill and nothing is loaded.
 * guard has room for MAX_VIEWS.
 */
void vstack_index(const struct vstack *s, struct ixs *x, const int *idx, int *index,
                  struct guard *guard, int *n_guard);

#endif
