#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/option_values.h"
#include "runtime/options.h"
#include "tests/check.h"

/* One option of every kind, with defaults. */
typedef struct values {
    bool fast, orient;
    int64_t group, memory;
    double dt, time;
    const char *device;
    int order;
    ps_text_list plane;
} values;

static values v;

static const ps_option table[] = {
    {"orient", PS_OPTION_FLAG, &v.orient, NULL, "turn the faces", 0, 0, PS_IDENTITY},
    {"group", PS_OPTION_INT, &v.group, "N", "summation vectors", 1, 64, 0},
    {"dt", PS_OPTION_REAL, &v.dt, "SECONDS", "time step", 1e-9, 1, PS_IDENTITY},
    {"order", PS_OPTION_CHOICE, &v.order, "none|morton|hilbert", "the curve", 0, 0, PS_IDENTITY},
    {"plane", PS_OPTION_LIST, &v.plane, "X,Y,Z", "a plane, again and again", 0, 0, PS_IDENTITY},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};
static const ps_option common[] = {
    {"fast", PS_OPTION_FLAG, &v.fast, NULL, "be fast", 0, 0, 0},
    {"host-memory", PS_OPTION_BYTES, &v.memory, "SIZE", "memory", 4096, 1e15, 0},
    {"stop-after", PS_OPTION_SECONDS, &v.time, "TIME", "time limit", 0, 0, 0},
    {"device", PS_OPTION_TEXT, &v.device, "NAME", "where", 0, 0, 0},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};
static const ps_option *const tables[] = {table, common, NULL};

static const char *operands[3];
static int operand_count;

static int set_defaults(void **state)
{
    v = (values){.orient = true, .group = 8, .memory = 1 << 20, .dt = 0.25, .order = 1};
    return 0;
}

/* Parses the words of one line. */
static ps_status parse(const char *line)
{
    static char copy[512];
    char *words[40] = {"program"};
    int count = 1;
    set_defaults(NULL);
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    return ps_options_parse(tables, count, words, operands, 3, &operand_count);
}

static void every_kind_both_ways(void **state)
{
    const char *lines[] = {
        "in --fast --no-orient --group 16 --dt 1e-3 --order hilbert --host-memory 2.5M "
        "--stop-after 15m --device cuda:1 --plane 1,0,0 --plane 0,1,0 out",
        "--fast in --no-orient --group=16 --dt=1e-3 --order=hilbert --host-memory=2.5m out "
        "--stop-after=900s --device=cuda:1 --plane=1,0,0 --plane=0,1,0"};
    for (int i = 0; i < 2; ++i) {
        check_ok(parse(lines[i]));
        assert_true(v.fast && !v.orient);
        assert_int_equal(v.group, 16);
        check_near(v.dt, 1e-3, 0, 0);
        assert_int_equal(v.order, 2);
        assert_int_equal(v.memory, 2621440);
        check_near(v.time, 900, 0, 0);
        assert_string_equal(v.device, "cuda:1");
        assert_int_equal(v.plane.count, 2);
        assert_string_equal(v.plane.items[1], "0,1,0");
        assert_int_equal(operand_count, 2);
        assert_string_equal(operands[0], "in");
        assert_string_equal(operands[1], "out");
    }
}

static void operands_and_their_end(void **state)
{
    check_ok(parse("-1.5 - -- --group"));
    assert_int_equal(operand_count, 3);
    assert_string_equal(operands[0], "-1.5");
    assert_string_equal(operands[2], "--group");
    assert_int_equal(v.group, 8);
    check_fails(parse("a b c d"), PS_USAGE, "\"d\" is one too many");
}

static void refusals(void **state)
{
    const struct {
        const char *line, *text;
    } wrong[] = {
        {"--grop 3", "no option --grop; did you mean --group?"},
        {"--zzzzzz", "no option --zzzzzz; --help lists them"},
        {"--no-group", "no option --no-group"},
        {"--group", "--group needs a value (N)"},
        {"--group 0", "--group: 0 is outside 1 .. 64"},
        {"--group 65", "outside 1 .. 64"},
        {"--group 3.5", "--group: \"3.5\" is not a whole number"},
        {"--group 99999999999999999999", "is not a whole number"},
        {"--group 1e20", "is not a whole number"},
        {"--group 1.5e0", "is not a whole number"},
        {"--group 0x10", "is not a whole number"},
        {"--group 2K", "is not a whole number"},
        {"--dt 3parsec", "--dt: \"3parsec\" is not a time such as 0.2, 200ms or 3ns"},
        {"--group=", "--group: \"\" is not a whole number"},
        {"--dt nan", "--dt: \"nan\" is not a time such as"},
        {"--dt 1e999", "is not a time"},
        {"--dt 0.1x", "is not a time"},
        {"--dt 2", "--dt: 2 is outside 1e-09 .. 1"},
        {"--order Morton", "--order: \"Morton\" is not one of none|morton|hilbert"},
        {"--order mor", "is not one of"},
        {"--fast=yes", "--fast takes no value"},
        {"--host-memory 4Q", "--host-memory: \"4Q\" is not a size such as"},
        {"--host-memory -4K", "is not a size"},
        {"--host-memory 4KK", "is not a size"},
        {"--host-memory 1K", "--host-memory: 1K is outside"},
        {"--host-memory 9e9T", "larger than any memory"},
        {"--stop-after soon", "--stop-after: \"soon\" is not a time such as"},
        {"--stop-after -3", "is not a time"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        check_fails(parse(wrong[i].line), PS_USAGE, wrong[i].text);
}

/* Whole numbers with an exponent; units of what an option's argument measures. */
static void numbers_with_units(void **state)
{
    check_ok(parse("--group 1.6e1 --dt 200ms --stop-after 500ms"));
    assert_int_equal(v.group, 16);
    check_near(v.dt, 0.2, 1e-15, 0);
    check_near(v.time, 0.5, 1e-15, 0);
    check_ok(parse("--dt 3ns --stop-after 2min"));
    check_near(v.dt, 3e-9, 1e-15, 0);
    check_near(v.time, 120, 0, 0);
    int64_t large = 0;
    check_ok(ps_parse_int("4503599627370497", &large));
    assert_true(large == 4503599627370497);
    check_ok(ps_parse_int("-2E6", &large));
    assert_true(large == -2000000);
}

/* A default that stands for something else is not shown as a number. */
static void defaults_in_the_help(void **state)
{
    int64_t none = 0, middle = -1, some = 3;
    const ps_option shown[] = {PS_INT("a", &none, "N", 0, 9, 0, "sides; 0: as many as fit"),
                               PS_INT("b", &none, "N", 0, 9, 0, "sides of 10: and more"),
                               PS_INT("c", &middle, "N", -1, 9, 0, "which; -1: the middle one"),
                               PS_INT("d", &some, "N", 0, 9, 0, "how many"), PS_OPTION_END};
    PS_SCOPED_MEMORY char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ps_options_help(shown, stream);
    fclose(stream);
    assert_non_null(strstr(text, "0: as many as fit (default)\n"));
    assert_non_null(strstr(text, "of 10: and more\n"));
    assert_non_null(strstr(text, "-1: the middle one (default)\n"));
    assert_non_null(strstr(text, "how many (default 3)\n"));
}

static void too_long_a_list(void **state)
{
    static char option[] = "--plane=x";
    char *words[PS_TEXT_LIST_MAX + 2];
    set_defaults(NULL);
    for (int i = 0; i < PS_TEXT_LIST_MAX + 2; ++i) words[i] = option;
    check_ok(ps_options_parse(tables, PS_TEXT_LIST_MAX + 1, words, operands, 3, &operand_count));
    assert_int_equal(v.plane.count, PS_TEXT_LIST_MAX);
    set_defaults(NULL);
    check_fails(ps_options_parse(tables, PS_TEXT_LIST_MAX + 2, words, operands, 3, &operand_count),
                PS_USAGE, "--plane is given more than 256 times");
}

static void sizes(void **state)
{
    const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"64K", 65536},
                {"64k", 65536},
                {"2.5M", 2621440},
                {"16G", (int64_t)16 << 30},
                {"1T", (int64_t)1 << 40},
                {"1e3", 1000}};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        int64_t bytes = -1;
        check_ok(ps_parse_bytes(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
}

static void lists_of_numbers(void **state)
{
    double numbers[3];
    int count;
    check_ok(ps_parse_reals("1,-2.5,3e2", ',', numbers, 3, &count));
    assert_int_equal(count, 3);
    check_near(numbers[1], -2.5, 0, 0);
    check_near(numbers[2], 300, 0, 0);
    check_ok(ps_parse_reals("7", ':', numbers, 3, &count));
    assert_int_equal(count, 1);
    const char *wrong[] = {"", "1,", ",1", "1,,2", "1;2", "1,x", "1,inf"};
    for (int i = 0; i < 7; ++i)
        check_fails(ps_parse_reals(wrong[i], ',', numbers, 3, &count), PS_USAGE, "not a list of");
    check_fails(ps_parse_reals("1,2,3,4", ',', numbers, 3, &count), PS_USAGE, "more than 3");
}

static void lists_with_units(void **state)
{
    double numbers[3];
    int count;
    check_ok(ps_parse_measures("12kHz,2.4GHz,9e2", "HZ", numbers, 3, &count));
    assert_int_equal(count, 3);
    check_near(numbers[0], 12e3, 0, 0);
    check_near(numbers[1], 2.4e9, 1e-15, 0);
    check_near(numbers[2], 900, 0, 0);
    check_ok(ps_parse_measures("200ms", "SECONDS", numbers, 3, &count));
    check_near(numbers[0], 0.2, 1e-15, 0);
    const char *wrong[] = {"", "1kHz,", ",1", "1,,2", "1kHz;2", "1ms", "inf", "1 kHz,x"};
    for (int i = 0; i < 8; ++i)
        check_fails(ps_parse_measures(wrong[i], "HZ", numbers, 3, &count), PS_USAGE, "list");
    check_fails(ps_parse_measures("1,2,3,4", "HZ", numbers, 3, &count), PS_USAGE, "more than 3");
}

/* Only what changes results, in the order of the tables; floating-point numbers in full. */
static void record(void **state)
{
    char text[256], small[20];
    const char *expected = "orient=yes\ndt=0.10000000000000001\norder=morton\n"
                           "plane=1,0,0\nplane=0,1,0\n";
    check_ok(parse("--fast --dt 0.1 --plane 1,0,0 --plane 0,1,0 --group 9"));
    assert_int_equal(ps_options_record(tables, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(ps_options_record(tables, small, sizeof small), strlen(expected));
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_memory_equal(small, expected, sizeof small - 1);
    assert_int_equal(ps_options_record(tables, NULL, 0), strlen(expected));
}

/* However long a text is, it is recorded whole. */
static void long_text(void **state)
{
    static char path[5000], expected[5010], text[6000];
    const char *value = path;
    const ps_option own[] = {
        {"points", PS_OPTION_TEXT, &value, "FILE", "a file", 0, 0, PS_IDENTITY},
        {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};
    const ps_option *const alone[] = {own, NULL};
    memset(path, 'p', sizeof path - 1);
    snprintf(expected, sizeof expected, "points=%s\n", path);
    assert_int_equal(ps_options_record(alone, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

static void help(void **state)
{
    char text[2048];
    set_defaults(NULL);
    FILE *file = tmpfile();
    ps_options_help(table, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "--group N "));
    assert_non_null(strstr(text, "summation vectors (default 8)\n"));
    assert_non_null(strstr(text, "time step (default 0.25)\n"));
    assert_non_null(strstr(text, "the curve (default morton)\n"));
    assert_non_null(strstr(text, "turn the faces\n"));
}

/* The words that mean the same in every program. */
static void common_words(void **state)
{
    int precision = 0;
    ps_interval every = {0};
    char text[256];
    const ps_option own[] = {
        {"precision", PS_OPTION_CHOICE, &precision, PS_FP64 "|" PS_FP32 "|mixed", "of it", 0, 0,
         PS_IDENTITY},
        {"checkpoint-every", PS_OPTION_EVERY, &every, PS_EVERY, "so often", 0, 0, 0},
        {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};
    const ps_option *const alone[] = {own, NULL};
    const struct {
        const char *word;
        int index;
    } words[] = {{"fp64", 0},   {"double", 0}, {"f64", 0},  {"fp32", 1},
                 {"single", 1}, {"f32", 1},    {"mixed", 2}};
    const struct {
        const char *word;
        double seconds;
        int64_t steps;
    } times[] = {{"0", 0, 0},     {"90", 90, 0},   {"60s", 60, 0},         {"5min", 300, 0},
                 {"1.5m", 90, 0}, {"2h", 7200, 0}, {"1000steps", 0, 1000}, {"1step", 0, 1}};
    const char *const wrong[] = {"steps",    "0steps", "-1steps",
                                 "1.5steps", "5mins",  "min",
                                 "",         "3x",     "99999999999999999999steps"};
    const char *const records[] = {"precision=fp64\n", "precision=fp32\n", "precision=mixed\n"};
    char option[] = "--precision", often[] = "--checkpoint-every", value[40];
    char *line[] = {option, option, value};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        snprintf(value, sizeof value, "%s", words[i].word);
        check_ok(ps_options_parse(alone, 3, line, operands, 3, &operand_count));
        assert_int_equal(precision, words[i].index);
        ps_options_record(alone, text, sizeof text);
        assert_string_equal(text, records[precision]);
    }
    snprintf(value, sizeof value, "half");
    check_fails(ps_options_parse(alone, 3, line, operands, 3, &operand_count), PS_USAGE,
                "\"half\" is not one of fp64|fp32|mixed");
    line[1] = often;
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
        snprintf(value, sizeof value, "%s", times[i].word);
        check_ok(ps_options_parse(alone, 3, line, operands, 3, &operand_count));
        check_near(every.seconds, times[i].seconds, 0, 0);
        assert_int_equal(every.steps, times[i].steps);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        snprintf(value, sizeof value, "%s", wrong[i]);
        assert_int_equal(ps_options_parse(alone, 3, line, operands, 3, &operand_count), PS_USAGE);
    }
    char former[] = "--checkpoint-steps";
    line[1] = former;
    check_fails(ps_options_parse(alone, 3, line, operands, 3, &operand_count), PS_USAGE,
                "did you mean --checkpoint-every?");
}

static void word_distances(void **state)
{
    assert_int_equal(ps_word_distance("", "abc"), 3);
    assert_int_equal(ps_word_distance("kitten", "sitting"), 3);
    assert_int_equal(ps_word_distance("group", "group"), 0);
    assert_int_equal(ps_word_distance("a", "a letter too many, more than forty of them here"), 40);
}
