/*
 * The text of fast.def as part of the machine.
 */
#ifndef RUN_SIMT_FAST_H
#define RUN_SIMT_FAST_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#define TEXT(...) __VA_ARGS__
#include "run/simt/fast.def"
#undef TEXT
#pragma GCC diagnostic pop

#endif
