#include <string.h>

#include "base/bug.h"
#include "ir/prog.h"

static const struct op_info ops[OP_COUNT] = {
#define OP(id, name, class, args, in, out, help)                                               \
    [OP_##id] = { name, OPC_##class, args, in, out, help },
#include "ir/ops.def"
#undef OP
};

const struct op_info *op_info(enum op op)
{
    if ((unsigned)op >= OP_COUNT)
        BUG("op %d", (int)op);
    return &ops[op];
}

bool op_parse(const char *s, size_t n, enum op *op)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const char *name = ops[i].name;

        if (n && name[0] == s[0] && strlen(name) == n && memcmp(name, s, n) == 0) {
            *op = (enum op)i;
            return true;
        }
    }
    return false;
}

bool op_takes(enum op op, enum dtype dt)
{
    static const char letter[DT_COUNT] = { [DT_F32] = 'F', [DT_I32] = 'I', [DT_BOOL] = 'B',
                                           [DT_F64] = 'D', [DT_F16] = 'H', [DT_BF16] = 'T' };

    if ((unsigned)dt >= DT_COUNT)
        BUG("dtype %d", (int)dt);
    return strchr(op_info(op)->in, letter[dt]) != NULL;
}

bool op_is_view(enum op op)
{
    return op_info(op)->class == OPC_VIEW;
}

bool op_is_source(enum op op)
{
    return op_info(op)->class == OPC_SOURCE;
}

bool op_is_reduce(enum op op)
{
    return op_info(op)->class == OPC_REDUCE || op_info(op)->class == OPC_MATMUL;
}

bool op_is_composite(enum op op)
{
    return op_info(op)->class == OPC_COMPOSITE;
}

bool op_takes_acc(enum op op)
{
    return op == OP_SUM || op == OP_PROD || op == OP_MEAN || op == OP_MATMUL || op == OP_CUMSUM;
}

enum dtype dtype_acc(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16 ? DT_F32 : dt;
}

const char *mask_name(enum mask_kind m)
{
    static const char *const names[MASK_COUNT] = { [MASK_NONE] = "none",
                                                   [MASK_CAUSAL] = "causal",
                                                   [MASK_CAUSAL_BR] = "causal_br",
                                                   [MASK_BOOL] = "bool",
                                                   [MASK_ADD] = "add" };

    if ((unsigned)m >= MASK_COUNT)
        BUG("mask %d", (int)m);
    return names[m];
}

const char *empty_name(enum empty_row e)
{
    if ((unsigned)e >= EMPTY_COUNT)
        BUG("empty row %d", (int)e);
    return e == EMPTY_ZERO ? "zero" : "nan";
}
