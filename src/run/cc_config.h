/*
 * How the compilers behind cc are called: one line of text per configuration, which the
 * argument vector, the help and a repro's opening comment all come from.
 */
#ifndef RUN_CC_CONFIG_H
#define RUN_CC_CONFIG_H

#include "run/cc.h"

/*
 * What decides about the code. gnu11, because gcc contracts nothing in a strict mode.
 * -fno-strict-aliasing, because planned temps share the bytes of one arena whatever their
 * types are: a kernel stores i32 where a dead f32 was, and a compiler that goes by types may
 * move that store before the last load: a false alarm, since tensor compilers build what
 * they generate with this option for the same reason. `restrict` is never written.
 * -fno-ipa-icf, because one text holds every kernel twice, and those of other trials too;
 * gcc folds two that are alike into one, which happens in no real program and makes a trial
 * depend on its neighbours (and gcc 12 then drops calls of the one that is left).
 */
#if defined(__x86_64__) || defined(__i386__)
#define CC_FLAGS_fma "-mfma -ffp-contract=fast"
#else
#define CC_FLAGS_fma "-ffp-contract=fast"
#endif
#define CC_FLAGS_off "-ffp-contract=off"
enum { CC_CONTRACTS_off = false, CC_CONTRACTS_fma = true };
#define CC_FLAGS_gcc   " -fno-ipa-icf"
#define CC_FLAGS_clang ""
#define CC_FLAGS(compiler, level, contraction)                                                 \
    "-std=gnu11 " level " " CC_FLAGS_##contraction " -fno-strict-aliasing" CC_FLAGS_##compiler

/* "gcc -std=gnu11 -O3 ...": all that decides, for people */
const char *cc_command(enum cc_config c);
/* Ends with NULL: reads C from standard input, writes an object to standard output. */
const char *const *cc_argv(enum cc_config c);

/* Did the compiler die of a bug of its own that is known? One in thousands of texts meets it,
 * and each would be a finding that tells nobody anything: such a trial is UNSUPPORTED. */
bool cc_known_crash(const char *log);

/* False = this machine can't: no such compiler, no such instruction. */
bool cc_available(enum cc_config c, struct err *why);
const char *cc_version(enum cc_config c); /* of the compiler: "gcc (Debian 12.2.0-14) 12.2.0" */

#endif
