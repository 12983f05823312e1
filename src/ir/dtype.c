#include "ir/dtype.h"

#include <string.h>

#include "base/bug.h"

static const struct dtype_info dtypes[DT_COUNT] = {
#define DTYPE(id, name, bytes, class, bits, ready, help)                                       \
    [DT_##id] = { name, bytes, DTC_##class, bits, ready, help },
#include "ir/dtype.def"
#undef DTYPE
};

static const char *const algebras[AL_COUNT] = { [AL_IEEE] = "ieee", [AL_RING] = "ring" };

const struct dtype_info *dtype_info(enum dtype dt)
{
    if ((unsigned)dt >= DT_COUNT)
        BUG("dtype %d", (int)dt);
    return &dtypes[dt];
}

bool dtype_is_float(enum dtype dt)
{
    return dtype_info(dt)->class == DTC_FLOAT;
}

bool dtype_is_half(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16;
}

bool dtype_parse(const char *s, size_t n, enum dtype *dt)
{
    for (int i = 0; i < DT_COUNT; i++) {
        if (strlen(dtypes[i].name) == n && memcmp(dtypes[i].name, s, n) == 0) {
            *dt = (enum dtype)i;
            return true;
        }
    }
    return false;
}

const char *algebra_name(enum algebra al)
{
    if ((unsigned)al >= AL_COUNT)
        BUG("algebra %d", (int)al);
    return algebras[al];
}
