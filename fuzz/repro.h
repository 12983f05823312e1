/*
 * repro.c and repro.cu of a trial, and files written whole or not at all. Shared by show and
 * min.
 */
#ifndef FUZZ_REPRO_H
#define FUZZ_REPRO_H

#include "base/str.h"
#include "fuzz/check/check.h"

/*
 * The standalone C program for a trial that check_trial judged with these options: in the
 * algebra that failed, or ring when nothing did. command is the line to paste. With cuda the
 * repro.cu: c was checked by a backend that takes GPU kernels.
 */
void repro_text(const struct trial *t, const struct check *c, bool cuda, const char *command,
                struct str *s);

/* Writes to a temporary file beside path and renames it. */
int file_write(const char *path, const char *text, struct err *e);

#endif
