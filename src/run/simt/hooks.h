/*
 * The hooks of hooks.def as functions of the machine. A kernel is `void ieee_NAME(void)`, in
 * the ring `ring_NAME`: TF_ARGS is void and TF_GLOBAL, TF_SHARED are empty, as the sites name
 * the buffers. A text stands behind these declarations, then the prelude.
 */
#ifndef RUN_SIMT_HOOKS_H
#define RUN_SIMT_HOOKS_H

#define HOOK(type, name, args) type name args;
#include "run/simt/hooks.def"
#undef HOOK

#endif
