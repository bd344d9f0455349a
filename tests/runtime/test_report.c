#include <stdlib.h>
#include <unistd.h>

#include "runtime/report.h"
#include "tests/check.h"

/* What ps_report_print writes on stdout. */
static const char *printed(ps_report **report)
{
    static char text[4096];
    FILE *file = tmpfile();
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    ps_report_print(report);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_null(*report);
    return text;
}

static ps_report *filled(bool json)
{
    const double numbers[] = {0.5, NAN, -1e300};
    const int64_t counts[] = {(int64_t)1 << 60, -3};
    ps_report *report = ps_report_new(json);
    ps_report_int(report, "chunks", 12, "1");
    ps_report_real(report, "rate", 0.1, "GB/s");
    ps_report_section(report, "march");
    ps_report_text(report, "file", "a \"b\"\\\n\x01 \xc3\xa9");
    ps_report_flag(report, "restarted", false);
    ps_report_section(report, "lists");
    ps_report_reals(report, "norms", numbers, 3);
    ps_report_ints(report, "counts", counts, 2);
    ps_report_ints(report, "none", NULL, 0);
    ps_report_real(report, "worst", -INFINITY, NULL);
    return report;
}

static void json(void **state)
{
    ps_report *report = filled(true);
    assert_string_equal(printed(&report),
                        "{\"chunks\": 12, \"rate\": 0.10000000000000001, \"march\": {\"file\": "
                        "\"a \\\"b\\\"\\\\\\n\\u0001 \xc3\xa9\", \"restarted\": false}, \"lists\": "
                        "{\"norms\": [0.5, null, -1.0000000000000001e+300], \"counts\": "
                        "[1152921504606846976, -3], \"none\": [], \"worst\": null}}\n");
}

static void text(void **state)
{
    ps_report *report = filled(false);
    const char *out = printed(&report);
    assert_non_null(strstr(out, "chunks                            12\n"));
    assert_non_null(strstr(out, "rate                              0.1 GB/s\n"));
    assert_non_null(strstr(out, "\nmarch\n  file "));
    assert_non_null(strstr(out, "  restarted                       no\n"));
    assert_non_null(strstr(out, "[0.5, nan, -1e+300]\n"));
    assert_non_null(strstr(out, "-inf\n"));
}

static void empty_ones(void **state)
{
    ps_report *report = ps_report_new(true);
    assert_string_equal(printed(&report), "{}\n");
    report = ps_report_new(false);
    assert_string_equal(printed(&report), "");
    report = ps_report_new(true);
    ps_report_section(report, "a");
    ps_report_section(report, "b");
    ps_report_int(report, "x", 1, NULL);
    assert_string_equal(printed(&report), "{\"a\": {}, \"b\": {\"x\": 1}}\n");
}

static void null_is_accepted(void **state)
{
    ps_report *none = NULL;
    ps_report_section(none, "a");
    ps_report_int(none, "a", 1, NULL);
    ps_report_real(none, "a", 1, NULL);
    ps_report_text(none, "a", "b");
    ps_report_flag(none, "a", true);
    ps_report_reals(none, "a", NULL, 0);
    ps_report_ints(none, "a", NULL, 0);
    ps_report_discard(&none);
    assert_string_equal(printed(&none), "");
    ps_report *dropped = filled(true);
    ps_report_discard(&dropped);
    assert_null(dropped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(text),
        cmocka_unit_test(empty_ones),
        cmocka_unit_test(null_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
