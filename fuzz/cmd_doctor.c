/*
 * tilefuzz doctor: can this machine hunt? Libraries, backends, limits, and whether results
 * can be written, one check a line; exit 3 if something that a hunt needs is not there.
 */
#include "fuzz/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fuzz/gen/gen.h"
#include "fuzz/json.h"
#include "fuzz/store/store.h"
#include "run/run.h"

struct doctor_opts {
    struct cmd_common common;
    int n_missing; /* of what a hunt needs */
};

enum health { FINE, ABSENT, MISSING }; /* absent: a hunt goes without */

static void tell(struct doctor_opts *o, const char *id, enum health health, const char *help)
{
    static const char *const word[] = { "ok", "absent", "MISSING" };

    o->n_missing += health == MISSING;
    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "id", json_text(id));
        json_put(v, "status", json_text(word[health]));
        json_put(v, "help", json_text(help));
        json_print_line(v);
        return;
    }
    printf("%-16s %-8s %s\n", id, word[health], help);
}

static void tell_versions(struct doctor_opts *o)
{
    char text[300];
    struct utsname u;

    snprintf(text, sizeof text, "tilefuzz %s, generator version %d, built by gcc %s",
             TILEFUZZ_VERSION, GEN_VERSION, __VERSION__);
    tell(o, "tilefuzz", FINE, text);
    if (uname(&u) == 0) {
        snprintf(text, sizeof text, "%s %s %s, %ld processors", u.sysname, u.release, u.machine,
                 sysconf(_SC_NPROCESSORS_ONLN));
        tell(o, "machine", FINE, text);
    }
    tell(o, "sqlite", FINE, store_library_version());
    tell(o, "jansson", FINE, jansson_version_str());
}

static void tell_backends(struct doctor_opts *o)
{
    for (int i = 0; i < n_backends; i++) {
        const struct backend *b = backends[i];
        struct err why = { .code = ERR_NONE };
        char id[40], text[600];
        bool there = backend_available(b, &why);

        snprintf(id, sizeof id, "backend %s", b->name);
        snprintf(text, sizeof text, "%s: %s", there ? b->version() : "not available",
                 there ? b->help : why.msg);
        tell(o, id, there ? FINE : strcmp(b->group, "interp") == 0 ? MISSING : ABSENT, text);
    }
}

static void tell_limit(struct doctor_opts *o, const char *id, int what, rlim_t least)
{
    struct rlimit r;
    char text[120];

    if (getrlimit(what, &r))
        return;
    if (r.rlim_cur == RLIM_INFINITY)
        snprintf(text, sizeof text, "unlimited");
    else
        snprintf(text, sizeof text, "%" PRIu64 "; at least %" PRIu64 " is needed",
                 (uint64_t)r.rlim_cur, (uint64_t)least);
    tell(o, id, r.rlim_cur < least ? MISSING : FINE, text);
}

/* JIT code needs pages that are written first and executed afterwards. */
static void tell_executable_memory(struct doctor_opts *o)
{
    size_t bytes = 1 << 16;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool fine = p != MAP_FAILED && mprotect(p, bytes, PROT_READ | PROT_EXEC) == 0;

    tell(o, "executable pages", fine ? FINE : MISSING,
         fine ? "memory can be made executable" : strerror(errno));
    if (p != MAP_FAILED)
        munmap(p, bytes);
}

static void tell_database(struct doctor_opts *o)
{
    char *copy = strdup(o->common.db), text[700];
    const char *dir = copy ? dirname(copy) : ".";
    struct store *s;
    struct err e;

    if (access(o->common.db, F_OK) == 0) {
        if (store_open(o->common.db, STORE_READ, &s, &e) == 0) {
            snprintf(text, sizeof text, "%s: readable, whole", o->common.db);
            store_close(s);
        }
        tell(o, "database", e.code ? MISSING : FINE, e.code ? e.msg : text);
    } else {
        snprintf(text, sizeof text, "%s: not there yet", o->common.db);
        tell(o, "database", FINE, text);
    }
    /* the folder of the default path is made when it is needed */
    bool there = access(dir, F_OK) == 0;
    const char *tried = there ? dir : ".";
    bool fine = access(tried, W_OK) == 0 && (there || strcmp(dir, "reports") == 0);
    snprintf(text, sizeof text, "%s: %s", dir,
             fine    ? there ? "writable" : "will be made"
             : there ? "read-only"
                     : "no such folder");
    tell(o, "results", fine ? FINE : MISSING, text);
    free(copy);
}

static const struct argp argp = {
    NULL,
    NULL,
    NULL,
    "Say what this machine can do: libraries, backends, limits, the results folder.\v"
    "Exit code 3 if something that a hunt needs is missing.\n"
    "\n"
    "Examples:\n"
    "  tilefuzz doctor\n"
    "  tilefuzz doctor --db /var/tmp/night.db --json",
};

int cmd_doctor(int argc, char **argv)
{
    struct doctor_opts o = { .common = CMD_COMMON_DEFAULT };

    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON, &o.common, &o);
    tell_versions(&o);
    tell_backends(&o);
    tell_executable_memory(&o);
    tell_limit(&o, "address space", RLIMIT_AS, (rlim_t)1 << 30);
    tell_limit(&o, "open files", RLIMIT_NOFILE, 64);
    tell_limit(&o, "processes", RLIMIT_NPROC, 64);
    tell_database(&o);
    return o.n_missing ? CMD_CANNOT : CMD_CLEAN;
}
