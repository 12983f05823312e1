/*
 * Inside of emit: what the printers of one kernel share. Names are chosen once per kernel
 * (names.c), then index expressions (emit_index.c), values (emit_value.c) and statements
 * (emit_stmt.c, for GPUs emit_cuda.c too) are printed into one string.
 */
#ifndef EMIT_CGEN_H
#define EMIT_CGEN_H

#include "emit/emit.h"

struct cgen {
    const struct lprog *l;
    const struct kernel *k;
    int kernel;
    struct str *out; /* the text */
    struct str *s;   /* the line in work, until cgen_flush wraps it and moves it to out */
    int indent;      /* of that line, in steps of 4 */
    int64_t *extent; /* of every variable, for ranges */
    int lane_var;    /* >= 0: printed as the number lane_at */
    int64_t lane_at;
    struct emit_sites *sites; /* for a GPU: every access has a number; NULL = C for a CPU */
    int at;                   /* the statement in work, for sites */

    /* names in this kernel; NULL = does not occur in it */
    const char **buf, **var, **acc;
    bool *stored;   /* per buffer: the kernel writes it */
    bool *acc_read; /* per accumulator: a value reads it */
    int *acc_depth; /* per accumulator: depth at which it is declared, -1 = it is not */
    const char **used;
    int n_used, cap_used;

    /* values of the statement in work (emit_value.c) */
    struct cvalue {
        int stamp;       /* the statement that the rest speaks of */
        int uses;        /* readers within it */
        int size, depth; /* of the text, with bound values as one name */
        int local;       /* > 0: bound to the local with this number */
    } * value;
    int stamp, n_local;
    const char *local; /* locals are called this and a number: "v" */
};

/* names.c */
void cgen_names(struct cgen *g, int kernel); /* starts a kernel */
const char *cgen_unique(struct cgen *g, const char *want);
/* "TF_KERNEL(name)": what kernel k is called, unique among all kernels. */
const char *cgen_kernel_name(const struct lprog *l, int k);

/* emit_index.c */
void cgen_index(struct cgen *g, int e);   /* as an operand of + and of [] */
void cgen_operand(struct cgen *g, int e); /* as an argument: no lower than a comparison */
void cgen_cond(struct cgen *g, int e);    /* as the condition of ? : and if */
void cgen_int(struct str *s, int64_t v);

/* emit_words.c; what only emit_value.c asks for is in words.h */
void cgen_literal(struct cgen *g, enum dtype dt, double v);
/* "0.1f", "0.1" if it is f64: a short text that reads back as the same number, or what inf and
 * nan are called */
void cgen_real(struct str *s, enum dtype dt, double v, const char *inf, const char *nan);
const char *cgen_type(enum dtype dt);   /* of a value */
const char *cgen_stored(enum dtype dt); /* of an element of a buffer */
/* what stands before and after the operands when an accumulator takes in a value */
void cgen_update(struct cgen *g, const struct acc *a);
void cgen_update_end(struct cgen *g, const struct acc *a);

/* emit_value.c */
/* Binds what is shared and big, or deep, to locals, then the value's text can be printed
 * by cgen_value. Both only within one statement, opened by cgen_statement. */
void cgen_statement(struct cgen *g);
void cgen_bind(struct cgen *g, int val);
void cgen_value(struct cgen *g, int val);
void cgen_place(struct cgen *g, int access); /* "x[8*i0 + r0]" */
/* "const tf_f32 v3 = " of a new local, whose number it gives */
int cgen_new_local(struct cgen *g, const char *type);
void cgen_local(struct cgen *g, int local); /* "v3" */
/* what is stored to an element of dt, rounded once; local > 0: the value has this local */
void cgen_stored_value(struct cgen *g, enum dtype dt, int val, int local);

/* emit_stmt.c */
void cgen_stmt(struct cgen *g, const struct stmt *st);
void cgen_acc(struct cgen *g, int acc, int at); /* "acc[4*i0_1]" */
/* A new site of the statement in work; buffer -1 = none. */
int cgen_site(struct cgen *g, enum site_kind kind, int buffer);
/* "WORDtype, 12, x, 8*i0 + r0" of a new site; type may be "" */
void cgen_access(struct cgen *g, const char *word, enum site_kind kind, const char *type,
                 int access);
bool cgen_shared(const struct cgen *g, int access); /* is it of the block's memory? */

/* emit_c.c: the line in work, with text behind it, goes to the text, indented and wrapped */
void cgen_flush(struct cgen *g);
void cgen_line(struct cgen *g, const char *text);
/* Every kernel that is alive, a blank line between two. */
void cgen_kernels(const struct lprog *l, struct emit_sites *sites,
                  void (*kernel)(struct cgen *g, int kernel), struct str *s);

#endif
