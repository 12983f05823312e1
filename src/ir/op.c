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
    static const char letter[] = { [DTC_FLOAT] = 'F', [DTC_INT] = 'I', [DTC_BOOL] = 'B' };

    return strchr(op_info(op)->in, letter[dtype_info(dt)->class]) != NULL;
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
