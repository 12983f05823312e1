/*
 * dtypes: one row each in dtype.def. The algebra says what numbers a kernel computes with:
 * ieee, or ring (unsigned integers mod 2^32 in place of floats, shared/ORACLE.md section 7).
 * i32 and bool mean the same in both.
 */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
#define DTYPE(id, name, bytes, class, bits, ready, help) DT_##id,
#include "ir/dtype.def"
#undef DTYPE
    DT_COUNT
};

enum dtype_class { DTC_FLOAT, DTC_INT, DTC_BOOL };

enum algebra { AL_IEEE, AL_RING, AL_COUNT };

struct dtype_info {
    const char *name;
    int bytes; /* of one stored element, in both algebras */
    enum dtype_class class;
    int bits;   /* of the significand, the hidden one included */
    bool ready; /* false: known by name, refused at the door */
    const char *help;
};

const struct dtype_info *dtype_info(enum dtype dt);
bool dtype_is_float(enum dtype dt);
bool dtype_is_half(enum dtype dt); /* f16, bf16 */
bool dtype_parse(const char *s, size_t n, enum dtype *dt);
const char *algebra_name(enum algebra al); /* "ieee", "ring" */

#endif
