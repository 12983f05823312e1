/* The database: what goes in comes out, what is known is counted, bad files are told. */
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/store/store.h"

struct place {
    char dir[64], db[96], other[96];
    struct arena arena;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    snprintf(p->dir, sizeof p->dir, "/tmp/tilefuzz-test-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->db, sizeof p->db, "%s/a b%%20?.db", p->dir);
    snprintf(p->other, sizeof p->other, "%s/other.db", p->dir);
    arena_init(&p->arena);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s", p->dir);
    int rc = system(command);
    arena_release(&p->arena);
    free(p);
    return rc;
}

static struct store *open_ok(const char *path, enum store_mode mode)
{
    struct err e;
    struct store *s;

    if (store_open(path, mode, &s, &e))
        fail_msg("%s", e.msg);
    return s;
}

/* Opening must fail with a message that holds `word`. */
static void open_fails(const char *path, enum store_mode mode, const char *word)
{
    struct err e;
    struct store *s;

    assert_int_equal(store_open(path, mode, &s, &e), ERR_DB);
    assert_null(s);
    if (!strstr(e.msg, word) || strchr(e.msg, '\n'))
        fail_msg("message '%s' lacks '%s'", e.msg, word);
}

static struct finding sample(const char *signature, const char *cause)
{
    return (struct finding){ .signature = signature,
                             .cause = cause,
                             .kind = "MISMATCH",
                             .pass = "fuse",
                             .backend = "interp",
                             .fault = "none",
                             .nodes = 3,
                             .steps = 1,
                             .max_size = 8,
                             .text = "tilefuzz 1\n",
                             .original = "tilefuzz 1\nlong\n" };
}

static int64_t campaign(struct store *s, uint64_t seed)
{
    struct store_campaign c = { .seed = seed, .preset = "all", .gen_version = 1 };
    struct err e;

    assert_int_equal(store_campaign_begin(s, &c, &e), 0);
    return c.id;
}

static void a_finding_is_stored_then_counted(void **state)
{
    struct place *p = *state;
    struct store *s = open_ok(p->db, STORE_CREATE);
    struct store_seen seen = { .campaign = campaign(s, 7), .number = 41, .key = 0xabc };
    struct finding f = sample("sig", "cause"), again = sample(NULL, "cause"), got;
    struct err e;
    bool known;

    assert_int_equal(store_finding(s, &f, &seen, &known, &e), 0);
    assert_false(known);
    assert_int_equal(f.id, 1);
    seen.number = 90;
    assert_int_equal(store_finding(s, &again, &seen, &known, &e), 0);
    assert_true(known);
    assert_int_equal(again.id, 1);
    assert_int_equal(again.count, 2);
    assert_int_equal(again.first_trial, 41);
    assert_int_equal(again.seed, 7);
    again.fault = "liveness_ignores_loops"; /* under a fault it is another bug */
    assert_int_equal(store_finding(s, &again, &seen, &known, &e), 0);
    assert_false(known);
    store_close(s);

    s = open_ok(p->db, STORE_READ);
    assert_int_equal(store_bug_get(s, 1, &p->arena, &got, &e), 0);
    assert_string_equal(got.signature, "sig");
    assert_string_equal(got.text, f.text);
    assert_string_equal(got.original, f.original);
    assert_string_equal(got.state, "open");
    assert_null(got.class);
    assert_int_equal(got.count, 2);
    assert_int_equal(store_bug_get(s, 99, &p->arena, &got, &e), ERR_DB);
    store_close(s);
}

static void a_fixed_bug_comes_back(void **state)
{
    struct place *p = *state;
    struct store *s = open_ok(p->db, STORE_CREATE);
    struct store_seen seen = { .number = -1 };
    struct finding f = sample("sig", "cause");
    struct err e;
    bool known;

    assert_int_equal(store_finding(s, &f, &seen, &known, &e), 0);
    assert_int_equal(store_tag(s, f.id, "fixed", "by hand", &e), 0);
    assert_int_equal(store_tag(s, 5, "fixed", NULL, &e), ERR_DB);
    assert_int_equal(store_finding(s, &f, &seen, &known, &e), 0);
    assert_string_equal(f.state, "back");
    assert_int_equal(f.first_trial, -1);
    assert_int_equal(store_replay(s, f.id, "PASS", NULL, "v2", &e), 0);
    store_close(s);
}

static void known_causes_are_per_fault(void **state)
{
    struct place *p = *state;
    struct store *s = open_ok(p->db, STORE_CREATE);
    struct store_seen seen = { .number = -1 };
    struct finding a = sample("s1", "c1"), b = sample("s2", "c1"), c = sample("s3", "c2");
    struct store_cause *causes;
    struct err e;
    bool known;
    int n;

    c.fault = "liveness_ignores_loops";
    assert_int_equal(store_finding(s, &a, &seen, &known, &e), 0);
    assert_int_equal(store_finding(s, &b, &seen, &known, &e), 0);
    assert_false(known);
    assert_int_equal(store_finding(s, &c, &seen, &known, &e), 0);
    assert_int_equal(store_known_causes(s, "none", &p->arena, &causes, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_string_equal(causes[0].cause, "c1");
    assert_int_equal(causes[0].bug, a.id);
    store_close(s);
}

static void an_update_may_not_make_two_bugs_one(void **state)
{
    struct place *p = *state;
    struct store *s = open_ok(p->db, STORE_CREATE);
    struct store_seen seen = { .number = -1 };
    struct finding a = sample("s1", "c1"), b = sample("s2", "c2");
    struct err e;
    bool known;

    assert_int_equal(store_finding(s, &a, &seen, &known, &e), 0);
    assert_int_equal(store_finding(s, &b, &seen, &known, &e), 0);
    b.signature = "s3", b.nodes = 2;
    assert_int_equal(store_bug_update(s, &b, &e), 0);
    b.signature = "s1";
    assert_int_equal(store_bug_update(s, &b, &e), ERR_DB);
    store_close(s);
}

static void merging_twice_changes_nothing(void **state)
{
    struct place *p = *state;
    struct store *a = open_ok(p->db, STORE_CREATE), *b = open_ok(p->other, STORE_CREATE);
    struct finding f = sample("sig", "cause"), g = sample("only here", "x"), got;
    struct store_seen here = { .campaign = campaign(a, 1), .number = 3 };
    struct store_seen there = { .campaign = campaign(b, 2), .number = 5 };
    struct store_merged m;
    struct err e;
    bool known;

    assert_int_equal(store_finding(b, &g, &there, &known, &e), 0);
    assert_int_equal(store_finding(a, &f, &here, &known, &e), 0);
    assert_int_equal(store_finding(b, &f, &there, &known, &e), 0);
    const struct store_trial t = { there.campaign, 5, 1, "MISMATCH", "text" };
    assert_int_equal(store_trial(b, &t, &e), 0);
    assert_int_equal(store_replay(b, f.id, "PASS", NULL, NULL, &e), 0);
    assert_int_equal(store_tag(b, f.id, "fixed", NULL, &e), 0);
    store_close(b);
    assert_int_equal(store_merge(a, p->other, &m, &e), 0);
    assert_int_equal(m.campaigns, 1);
    assert_int_equal(m.bugs, 1);
    assert_int_equal(m.observations, 2);
    assert_int_equal(store_merge(a, p->other, &m, &e), 0);
    assert_int_equal(m.campaigns + m.bugs + m.observations, 0);
    assert_int_equal(store_bug_get(a, 1, &p->arena, &got, &e), 0);
    assert_int_equal(got.count, 2);
    assert_int_equal(store_merge(a, "/nowhere.db", &m, &e), ERR_DB);
    store_close(a);
}

static void joined_bugs_count_as_one(void **state)
{
    struct place *p = *state;
    struct store *s = open_ok(p->db, STORE_CREATE);
    struct store_seen seen = { .number = -1 };
    struct finding a = sample("s1", "c1"), b = sample("s2", "c2"), *all;
    struct err e;
    bool known;
    int n;

    assert_int_equal(store_finding(s, &a, &seen, &known, &e), 0);
    assert_int_equal(store_finding(s, &b, &seen, &known, &e), 0);
    assert_int_equal(store_join(s, 1, 1, &e), ERR_DB);
    assert_int_equal(store_join(s, 1, 7, &e), ERR_DB);
    assert_int_equal(store_join(s, 1, 2, &e), 0);
    b.signature = NULL;
    assert_int_equal(store_finding(s, &b, &seen, &known, &e), 0);
    assert_int_equal(b.id, 1);
    assert_int_equal(b.count, 3);
    assert_int_equal(store_bug_list(s, &p->arena, &all, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_int_equal(store_split(s, 1, &e), 0);
    assert_int_equal(store_bug_list(s, &p->arena, &all, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_int_equal(all[0].count, 1);
    assert_int_equal(all[1].count, 2);
    store_close(s);
}

static int count_rows(void *ctx, const struct store_cell *cell, int n)
{
    (void)cell, (void)n;
    ++*(int *)ctx;
    return 0;
}

static void sql_only_reads(void **state)
{
    static const char *const refused[] = {
        "DELETE FROM bugs",
        "INSERT INTO readme (text) VALUES ('x')",
        "ATTACH '/tmp/x.db' AS x",
        "SELECT load_extension('x')",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA writable_schema = 1",
        "CREATE TEMP TABLE t (a)",
        "VACUUM INTO '/tmp/tilefuzz-vacuum.db'",
        "BEGIN",
        "SELECT 1; SELECT 2",
        "SELECT nonsense",
        "",
    };
    struct place *p = *state;
    struct err e;
    int n = 0;

    store_close(open_ok(p->db, STORE_CREATE));
    struct store *s = open_ok(p->db, STORE_READ);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (store_sql(s, refused[i], count_rows, &n, &e) != ERR_USAGE)
            fail_msg("not refused: %s", refused[i]);
    assert_int_equal(n, 0);
    assert_int_equal(store_sql(s, "SELECT text FROM readme;", count_rows, &n, &e), 0);
    assert_true(n > 3);
    assert_int_equal(store_sql(s, "PRAGMA integrity_check", count_rows, &n, &e), 0);
    store_close(s);
}

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fwrite(text, 1, bytes, f);
    fclose(f);
}

static void bad_files_are_told(void **state)
{
    struct place *p = *state;
    char noise[8192];

    open_fails(p->db, STORE_READ, "no such database");
    open_fails(p->db, STORE_WRITE, "no such database");
    assert_int_equal(access(p->db, F_OK), -1);
    open_fails("/nowhere/x.db", STORE_CREATE, "/nowhere");
    open_fails(p->dir, STORE_READ, "folder");
    open_fails("/dev/null", STORE_CREATE, "regular");
    memset(noise, 'x', sizeof noise);
    write_file(p->db, noise, sizeof noise);
    for (enum store_mode mode = STORE_READ; mode <= STORE_CREATE; mode++)
        open_fails(p->db, mode, "not a tilefuzz database");
    write_file(p->db, "", 0);
    open_fails(p->db, STORE_READ, "empty");
    open_fails(p->db, STORE_WRITE, "empty");
    store_close(open_ok(p->db, STORE_CREATE)); /* an empty file is a new one */
}

/* The number at a byte of the file header: user_version at 60, application_id at 68. */
static void poke(const char *path, long at, int value)
{
    const unsigned char b[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                 (unsigned char)(value >> 8), (unsigned char)value };
    FILE *f = fopen(path, "r+");

    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fwrite(b, 1, 4, f);
    fclose(f);
}

static void newer_and_foreign_files_are_told(void **state)
{
    struct place *p = *state;

    store_close(open_ok(p->db, STORE_CREATE));
    poke(p->db, 60, 99);
    for (enum store_mode mode = STORE_READ; mode <= STORE_CREATE; mode++)
        open_fails(p->db, mode, "version 99 is newer");
    poke(p->db, 60, 1);
    store_close(open_ok(p->db, STORE_READ));
    poke(p->db, 68, 12345);
    for (enum store_mode mode = STORE_READ; mode <= STORE_CREATE; mode++)
        open_fails(p->db, mode, "not one of tilefuzz");
}

static void corrupt_files_are_told(void **state)
{
    struct place *p = *state;

    store_close(open_ok(p->db, STORE_CREATE));
    for (int at = 4096 * 2; at < 4096 * 6; at += 4)
        poke(p->db, at, 0x5a5a5a5a);
    for (enum store_mode mode = STORE_READ; mode <= STORE_CREATE; mode++)
        open_fails(p->db, mode, "corrupt");
}

/* A child stores findings as fast as it can, telling each committed one through a pipe. */
_Noreturn static void hammer(const char *db, int pipe_end)
{
    struct store *s = open_ok(db, STORE_CREATE);
    const struct store_seen seen = { .campaign = campaign(s, 1), .number = 1 };

    for (int i = 0;; i++) {
        char signature[32];
        struct err e;
        bool known;

        snprintf(signature, sizeof signature, "%d-%d", getpid(), i);
        struct finding f = sample(signature, signature);
        if (store_begin(s, &e) || store_finding(s, &f, &seen, &known, &e) ||
            store_commit(s, &e) || write(pipe_end, &f.id, sizeof f.id) < 0)
            _exit(1);
    }
}

static void killing_the_writer_loses_nothing(void **state)
{
    struct place *p = *state;
    int64_t last = 0, id;

    for (int round = 0; round < 20; round++) {
        int ends[2], n = 0;

        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0)
            hammer(p->db, ends[1]);
        close(ends[1]);
        while (n++ < 5 * round && read(ends[0], &id, sizeof id) == sizeof id)
            last = id;
        kill(pid, SIGKILL);
        while (read(ends[0], &id, sizeof id) == sizeof id)
            last = id;
        close(ends[0]);
        waitpid(pid, NULL, 0);
    }
    struct store *s = open_ok(p->db, STORE_READ);
    struct finding got;
    struct err e;
    assert_true(last > 100);
    for (id = 1; id <= last; id++)
        assert_int_equal(store_bug_get(s, id, &p->arena, &got, &e), 0);
    int64_t rows = 0;
    assert_int_equal(store_sql(s, "PRAGMA integrity_check", count_rows, &rows, &e), 0);
    store_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_finding_is_stored_then_counted),
        TEST(a_fixed_bug_comes_back),
        TEST(known_causes_are_per_fault),
        TEST(an_update_may_not_make_two_bugs_one),
        TEST(merging_twice_changes_nothing),
        TEST(joined_bugs_count_as_one),
        TEST(sql_only_reads),
        TEST(bad_files_are_told),
        TEST(newer_and_foreign_files_are_told),
        TEST(corrupt_files_are_told),
        TEST(killing_the_writer_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
