/* Options of the generator; see args.h. */
#include "fuzz/gen/args.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/cmd.h"

enum {
    KEY_PRESET = 0x6000,
    KEY_OPS,
    KEY_NO_OPS,
    KEY_STEPS,
    KEY_SET,
#define KNOB(name, type, dflt, low, high, help) KEY_KNOB_##name,
#include "fuzz/gen/knobs.def"
#undef KNOB
};

static const struct argp_option options[] = {
    { "preset", KEY_PRESET, "P", 0, "kind of program: all, matmul, mha, fused, views", 0 },
    { "ops", KEY_OPS, "A,B..", 0, "draw these ops only (tilefuzz list ops)", 0 },
    { "no-ops", KEY_NO_OPS, "A,B..", 0, "leave these ops out", 0 },
    { "steps", KEY_STEPS, "A,B..", 0, "draw these schedule steps only, or none", 0 },
    { "set", KEY_SET, "K=A/B,..", 0,
      "draw settings of these knobs of others, NAME.KNOB=DEFAULT/OTHER.. (a hunt asks its "
      "adapters)",
      0 },
#define KNOB(name, type, dflt, low, high, help)                                                \
    { "gen." #name, KEY_KNOB_##name, "N", 0, help " (default " #dflt ")", 1 },
#include "fuzz/gen/knobs.def"
#undef KNOB
    { 0 },
};

/* Calls each name of a comma list; `add` reports a name it does not know. */
static void each_name(struct argp_state *state, const char *list, struct gen_opts *o,
                      void (*add)(struct argp_state *state, const char *s, size_t n,
                                  struct gen_opts *o))
{
    while (*list) {
        size_t n = strcspn(list, ",");

        add(state, list, n, o);
        list += n + (list[n] == ',');
    }
}

static enum op op_named(struct argp_state *state, const char *s, size_t n)
{
    enum op op;

    if (!op_parse(s, n, &op) || op == OP_INPUT)
        cmd_usage(state, "no op '%.*s' to draw; see tilefuzz list ops", (int)n, s);
    return op;
}

static void allow_op(struct argp_state *state, const char *s, size_t n, struct gen_opts *o)
{
    o->op[op_named(state, s, n)] = true;
}

static void forbid_op(struct argp_state *state, const char *s, size_t n, struct gen_opts *o)
{
    o->op[op_named(state, s, n)] = false;
}

static void allow_step(struct argp_state *state, const char *s, size_t n, struct gen_opts *o)
{
    enum step_kind kind;

    if (n == 4 && memcmp(s, "none", 4) == 0)
        return;
    if (!step_parse(s, n, &kind))
        cmd_usage(state, "--steps: no step '%.*s'; see tilefuzz list steps", (int)n, s);
    o->step[kind] = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gen_opts *o = state->input;

    switch (key) {
    case KEY_PRESET:
        if (!preset_parse(arg, &o->preset))
            cmd_usage(state, "--preset: no preset '%s'; see tilefuzz list presets", arg);
        return 0;
    case KEY_OPS:
        memset(o->op, 0, sizeof o->op);
        each_name(state, arg, o, allow_op);
        return 0;
    case KEY_NO_OPS:
        each_name(state, arg, o, forbid_op);
        return 0;
    case KEY_STEPS:
        memset(o->step, 0, sizeof o->step);
        each_name(state, arg, o, allow_step);
        return 0;
    case KEY_SET:
        if (strlen(arg) >= sizeof o->set || !gen_set_legal(arg))
            cmd_usage(state, "--set: NAME.KNOB=DEFAULT/OTHER,.. expected, not '%s'", arg);
        strcpy(o->set, arg);
        return 0;
#define KNOB(name, type, dflt, low, high, help)                                                \
    case KEY_KNOB_##name:                                                                      \
        o->name = (type)cmd_int(state, "--gen." #name, arg, low, high);                        \
        return 0;
#include "fuzz/gen/knobs.def"
#undef KNOB
    case ARGP_KEY_END:
        for (int i = 0; i < OP_COUNT; i++)
            if (i != OP_INPUT && o->op[i])
                return 0;
        cmd_usage(state, "--ops and --no-ops leave no op to draw; see tilefuzz list ops");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp gen_argp = {
    options,
    parse,
    NULL,
    NULL,
};

/* " --ops a,b" or " --no-ops c", whichever says it in fewer names */
static void print_ops(const struct gen_opts *o, struct str *s)
{
    int off = 0, n = 0;

    for (int i = 0; i < OP_COUNT; i++)
        off += i != OP_INPUT && !o->op[i];
    if (off == 0)
        return;
    str_puts(s, off > OP_COUNT / 2 ? " --ops " : " --no-ops ");
    for (int i = 0; i < OP_COUNT; i++)
        if (i != OP_INPUT && o->op[i] == (off > OP_COUNT / 2))
            str_add(s, "%s%s", n++ ? "," : "", op_info((enum op)i)->name);
}

static void print_steps(const struct gen_opts *o, struct str *s)
{
    int on = 0, n = 0;

    for (int i = 0; i < STEP_COUNT; i++)
        on += o->step[i];
    if (on == STEP_COUNT)
        return;
    str_puts(s, on ? " --steps " : " --steps none");
    for (int i = 0; i < STEP_COUNT; i++)
        if (o->step[i])
            str_add(s, "%s%s", n++ ? "," : "", step_info((enum step_kind)i)->name);
}

void gen_opts_print(const struct gen_opts *o, struct str *s)
{
    struct gen_opts def;

    gen_opts_default(&def);
    if (o->preset != def.preset)
        str_add(s, " --preset %s", preset_name(o->preset));
    print_ops(o, s);
    print_steps(o, s);
    if (*o->set)
        str_add(s, " --set %s", o->set);
#define KNOB(name, type, dflt, low, high, help)                                                \
    if (o->name != def.name)                                                                   \
        str_add(s, " --gen." #name " %" PRId64, (int64_t)o->name);
#include "fuzz/gen/knobs.def"
#undef KNOB
}
