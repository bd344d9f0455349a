#include <stdlib.h>
#include <unistd.h>

#include "runtime/program.h"
#include "tests/check.h"

static const ps_figure table[] = {{"chunks", "1", "chunks"},
                                  {"rate", "B/s", "bytes a second"},
                                  {"march.file", "text", "a file"},
                                  {"march.restarted", "flag", "whether it was"},
                                  {"lists.norms", "1", "norms"},
                                  {"lists.counts", "1", "counts"},
                                  {"lists.none", "1", "nothing"},
                                  {"lists.worst", "1", "worst"},
                                  {"b.x", "1", "x"},
                                  {"gpu_*.*_seconds", "s", "a stage of a GPU"},
                                  {"of_data", "data", "as data tell"},
                                  {NULL, NULL, NULL}};

static ps_report *opened(bool json)
{
    static ps_run run;
    run.json = json;
    run.figures = table;
    return ps_report_new(&run);
}

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
    ps_report *report = opened(json);
    ps_report_section(report, "march");
    ps_report_text(report, "file", "a \"b\"\\\n\x01 \xc3\xa9");
    ps_report_flag(report, "restarted", false);
    ps_report_section(report, "lists");
    ps_report_reals(report, "norms", numbers, 3);
    ps_report_ints(report, "counts", counts, 2);
    ps_report_ints(report, "none", NULL, 0);
    ps_report_real(report, "worst", -INFINITY);
    ps_report_section(report, NULL); /* what stands outside of sections comes first all the same */
    ps_report_int(report, "chunks", 12);
    ps_report_real(report, "rate", 0.1);
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
    assert_non_null(strstr(out, "rate                              0.1 B/s\n"));
    assert_non_null(strstr(out, "\nmarch\n  file "));
    assert_non_null(strstr(out, "  restarted                       no\n"));
    assert_non_null(strstr(out, "[0.5, nan, -1e+300]\n"));
    assert_non_null(strstr(out, "-inf\n"));
}

static void empty_ones(void **state)
{
    ps_report *report = opened(true);
    assert_string_equal(printed(&report), "{}\n");
    report = opened(false);
    assert_string_equal(printed(&report), "");
    report = opened(true);
    ps_report_section(report, "a");
    ps_report_section(report, "b");
    ps_report_int(report, "x", 1);
    assert_string_equal(printed(&report), "{\"a\": {}, \"b\": {\"x\": 1}}\n");
}

static void null_is_accepted(void **state)
{
    ps_report *none = NULL;
    ps_report_section(none, "a");
    ps_report_int(none, "a", 1);
    ps_report_real(none, "a", 1);
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

/* Units come from the table, those of the data from the caller; patterns stand for what data name.
 */
static void units(void **state)
{
    ps_report *report = opened(false);
    ps_report_quantity(report, "of_data", 2, "furlong");
    ps_report_section(report, "gpu_3");
    ps_report_real(report, "far_seconds", 1.5);
    ps_report_run(report, 4096);
    const char *out = printed(&report);
    assert_non_null(strstr(out, " 2 furlong\n"));
    assert_non_null(strstr(out, " 1.5 s\n"));
    assert_non_null(strstr(out, "\ntime "));
    assert_non_null(strstr(out, " 4096 B\n"));
    assert_true(strstr(out, "gpu_3") > strstr(out, "peak_memory"));
    assert_null(ps_figure_find(table, NULL, "far_seconds"));
    assert_null(ps_figure_find(table, "gpu_3", "seconds"));
    assert_string_equal(ps_figure_find(table, "gpu_3", "far_seconds")->unit, "s");
    assert_string_equal(ps_figure_find(NULL, NULL, "time")->unit, "s");
}

/* A figure that the table lacks, or has as another kind of value, is printed and told. */
static void not_in_the_table(void **state)
{
    for (int which = 0; which < 4; ++which) {
        FILE *file = tmpfile();
        char said[1024] = "";
        int before = dup(STDERR_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        ps_report *report = opened(true);
        if (which == 0) ps_report_int(report, "unheard_of", 1);
        if (which == 1) ps_report_text(report, "chunks", "many");
        if (which == 2) ps_report_flag(report, "rate", true);
        if (which == 3) ps_report_int(report, "chunks", 1);
        unsetenv("PENSTOCK_STRICT");
        printed(&report);
        fflush(stderr);
        dup2(before, STDERR_FILENO);
        close(before);
        rewind(file);
        said[fread(said, 1, sizeof said - 1, file)] = '\0';
        fclose(file);
        assert_int_equal(strstr(said, "a defect of the program") != NULL, which < 3);
    }
}
