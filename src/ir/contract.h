/*
 * The contract of a compiler that is not ours: what the judge may not hold against it. MAY_x
 * widens what is right by exactly that; elements that depend on OPEN_x are not judged, and
 * counted. Also the bits of tilefuzz/plugin.h.
 */
#ifndef IR_CONTRACT_H
#define IR_CONTRACT_H

enum {
#define CONTRACT(id, bit, name, help) CONTRACT_##id = bit,
#include "ir/contract.def"
#undef CONTRACT
};

#endif
