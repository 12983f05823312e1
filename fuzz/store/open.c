/*
 * Opening a database: every way in which that can go wrong is told in one line, a reader
 * never makes or changes a file, and a new file is either empty or complete.
 */
#include "fuzz/store/inner.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* A database is checked as it is opened; beyond this size that takes too long. */
enum { CHECK_MAX_BYTES = 256 * 1024 * 1024 };

static int check_directory(const char *path, bool make, struct err *e)
{
    char *copy = strdup(path);
    const char *dir = copy ? dirname(copy) : ".";
    struct stat st;

    e->code = ERR_NONE;
    /* the folder of the default path is ours to make, others are the user's */
    if (make && strcmp(dir, "reports") == 0 && mkdir(dir, 0777) && errno != EEXIST)
        err_set(e, ERR_DB, "%s: cannot make folder %s: %s", path, dir, strerror(errno));
    else if (stat(dir, &st))
        err_set(e, ERR_DB, "%s: folder %s: %s", path, dir, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        err_set(e, ERR_DB, "%s: %s is not a folder", path, dir);
    else if (access(dir, W_OK | X_OK))
        err_set(e, ERR_DB, "%s: folder %s is read-only; the database's journal lies there",
                path, dir);
    free(copy);
    return e->code;
}

/* What the file system can tell before SQLite is asked. *bytes: -1 = the file is missing. */
static int check_file(const char *path, enum store_mode mode, int64_t *bytes, struct err *e)
{
    struct stat st;

    *bytes = -1;
    if (stat(path, &st)) {
        if (errno != ENOENT)
            return err_set(e, ERR_DB, "%s: %s", path, strerror(errno));
        if (mode != STORE_CREATE)
            return err_set(e, ERR_DB, "%s: no such database; tilefuzz fuzz --db %s makes one",
                           path, path);
        return check_directory(path, true, e);
    }
    *bytes = st.st_size;
    if (S_ISDIR(st.st_mode))
        return err_set(e, ERR_DB, "%s: a folder; a database file was expected", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_DB, "%s: not a regular file", path);
    if (access(path, R_OK))
        return err_set(e, ERR_DB, "%s: %s", path, strerror(errno));
    if (mode == STORE_READ)
        return st.st_size ? 0 : err_set(e, ERR_DB, "%s: empty; not a tilefuzz database", path);
    if (access(path, W_OK))
        return err_set(e, ERR_DB, "%s: read-only", path);
    return check_directory(path, false, e);
}

static int connect_file(struct store *s, const char *name, int flags, struct err *e)
{
    int rc = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    int off;

    if (rc != SQLITE_OK)
        return store_fail(s, rc, e);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, 3000);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &off);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &off);
    return 0;
}

/* Where nobody may write beside it, a database that nobody holds open can still be read. */
static int connect_immutable(struct store *s, struct err *e)
{
    struct str uri = { 0 }, wal = { 0 };
    struct stat st;

    str_add(&wal, "%s-wal", s->path);
    bool idle = stat(wal.s, &st) || st.st_size == 0;
    str_release(&wal);
    if (!idle)
        return e->code;
    sqlite3_close(s->db);
    s->db = NULL;
    str_puts(&uri, "file:");
    for (const char *p = s->path; *p; p++)
        str_add(&uri, strchr("%?#", *p) ? "%%%02x" : "%c", (unsigned char)*p);
    str_puts(&uri, "?immutable=1");
    connect_file(s, uri.s, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
    str_release(&uri);
    return e->code;
}

static int connect_reader(struct store *s, struct err *e)
{
    int64_t n;

    if (connect_file(s, s->path, SQLITE_OPEN_READONLY, e))
        return e->code;
    if (store_number(s, "SELECT count(*) FROM sqlite_master", &n, e)) {
        int rc = sqlite3_errcode(s->db) & 0xff; /* extended codes are on */

        if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
            return e->code;
        struct err again = *e;
        again.code = ERR_NONE;
        if (connect_immutable(s, &again))
            return e->code;
        e->code = ERR_NONE;
    }
    return store_exec(s, "PRAGMA query_only = ON", e);
}

/* Is it ours, whole, and of a version that we know? */
static int check_content(struct store *s, int64_t bytes, int64_t *version, struct err *e)
{
    int64_t application, tables, whole = 1;

    if (store_number(s, "SELECT count(*) FROM sqlite_master", &tables, e) ||
        store_number(s, "PRAGMA application_id", &application, e) ||
        store_number(s, "PRAGMA user_version", version, e))
        return e->code;
    if (application != STORE_APPLICATION && (tables > 0 || s->mode != STORE_CREATE))
        return err_set(e, ERR_DB, "%s: %s", s->path,
                       tables ? "an SQLite database, but not one of tilefuzz"
                              : "empty; not a tilefuzz database");
    if (*version > STORE_VERSION)
        return err_set(e, ERR_DB,
                       "%s: schema version %" PRId64 " is newer than this tilefuzz, which "
                       "knows %d",
                       s->path, *version, STORE_VERSION);
    if (bytes < CHECK_MAX_BYTES &&
        store_number(s, "SELECT quick_check = 'ok' FROM pragma_quick_check(1)", &whole, e))
        return e->code;
    if (!whole)
        return err_set(e, ERR_DB, "%s: corrupt database", s->path);
    return 0;
}

static int open_reader(struct store *s, int64_t bytes, struct err *e)
{
    int64_t version;

    if (connect_reader(s, e) || check_content(s, bytes, &version, e))
        return e->code;
    if (version < STORE_VERSION)
        return err_set(e, ERR_DB,
                       "%s: schema version %" PRId64 " is old; a writing command such as "
                       "tilefuzz replay --db %s migrates it",
                       s->path, version, s->path);
    return 0;
}

static int open_writer(struct store *s, int64_t bytes, struct err *e)
{
    int64_t version;
    int flags = SQLITE_OPEN_READWRITE | (s->mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0);

    if (connect_file(s, s->path, flags, e) || check_content(s, bytes, &version, e) ||
        store_exec(s,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                   "PRAGMA foreign_keys = ON",
                   e))
        return e->code;
    return version < STORE_VERSION ? store_migrate(s, e) : 0;
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *e)
{
    int64_t bytes;

    *out = NULL;
    *e = (struct err){ .code = ERR_NONE };
    if (check_file(path, mode, &bytes, e))
        return e->code;
    struct store *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return err_set(e, ERR_DB, "%s: no memory", path);
    }
    s->mode = mode;
    if (mode == STORE_READ)
        open_reader(s, bytes, e);
    else
        open_writer(s, bytes, e);
    if (e->code) {
        store_close(s);
        return e->code;
    }
    *out = s;
    return 0;
}
