#include "emit/refgen.h"
void ref_composite(struct refgen *g, int node)
{
    (void)g;
    (void)node;
}
