/* 64-bit content keys (xxHash, XXH3): stable across runs and machines of one byte order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *data, size_t bytes, uint64_t seed);

#endif
