/* How a finding looks in JSON: the contract's keys in order, null for what is not known. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/json.h"

static void finding_has_the_keys_of_the_contract(void **state)
{
    static const char *const keys[] = { "id",    "signature", "kind",        "class",
                                        "stage", "pass",      "rewrite",     "step",
                                        "nodes", "steps",     "max_size",    "backend",
                                        "state", "count",     "first_trial", "repro" };
    const struct finding f = { .kind = "MISMATCH", .nodes = 2, .first_trial = -1, .text = "" };
    json_t *o = json_finding(&f);
    void *it = json_object_iter(o);

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_string_equal(json_object_iter_key(it), keys[i]);
        it = json_object_iter_next(o, it);
    }
    assert_true(json_is_null(json_object_get(o, "id")));
    assert_true(json_is_null(json_object_get(o, "signature")));
    assert_true(json_is_null(json_object_get(o, "first_trial")));
    assert_int_equal(json_integer_value(json_object_get(o, "nodes")), 2);
    json_decref(o);
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    json_t *v = json_text("log \xff\xfe end");

    (void)state;
    assert_string_equal(json_string_value(v), "log ?? end");
    json_decref(v);
}

static void infinities_are_strings(void **state)
{
    json_t *o = json_object_schema();

    (void)state;
    json_put(o, "a", json_number_of(-INFINITY));
    json_put(o, "b", json_number_of(0.5));
    json_put(o, "c", json_text(NULL));
    char *s = json_to_text(o);
    assert_string_equal(s, "{\"schema\":1,\"a\":\"-inf\",\"b\":0.5,\"c\":null}");
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding_has_the_keys_of_the_contract),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(infinities_are_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
