/* touchstone: forms, units, orders of two ports and both versions read to one trace; noise left
 * out; what is refused. */
#include "formats/touchstone.h"

#include <stdio.h>

#include "runtime/scope.h"
#include "tests/check.h"

/* S11 = .5 i, S21 = .25, S12 = -1, S22 = .1 - .2 i at 1.5 GHz; e^{-iwt} in the trace. */
static void is_that_matrix(const char *path, const char *text)
{
    static const double real[] = {0, -1, .25, .1}, imaginary[] = {-.5, 0, 0, .2};
    PS_SCOPED(ps_trace_release) ps_trace x = {0};
    check_write(path, text);
    check_ok(ps_touchstone_load(path, &x));
    assert_int_equal(x.channels, 4);
    assert_true(x.in_frequency);
    assert_string_equal(x.quantity, "S-parameters");
    check_near(x.axis[0], 1.5e9, 1e-3, 0);
    for (int i = 0; i < 4; ++i) {
        check_near(x.real[i], real[i], 1e-6, 0);
        check_near(x.imaginary[i], imaginary[i], 1e-6, 0);
    }
}

static void forms_and_units(void **state)
{
    is_that_matrix("a.s2p", "! text\n# MHz S RI R 50\n1500 0 .5 .25 0 -1 0 .1 -.2 ! more\n");
    is_that_matrix("a.S2P", "# GHz S RI\n1.5\t0 .5\r\n.25 0 -1 0 .1 -.2");
    is_that_matrix("a.s2p", "#\n1.5 .5 90 .25 0 1 180 .2236068 -63.4349488\n");
    is_that_matrix(
        "a.s2p",
        "# kHz S DB R 75\n1500000 -6.0205999 90 -12.0411998 0 0 180 -13.0102999 -63.4349488\n");
}

static void version_2(void **state)
{
    is_that_matrix("b.s2p", "[Version] 2.0\n# Hz S RI\n[Number of Ports] 2\n[Two-Port Data Order] "
                            "12_21\n[Number of Frequencies] 1\n"
                            "[Reference]\n50\n75\n[Matrix Format] Full\n[Network Data]\n1.5e9 0 .5 "
                            "-1 0 .25 0 .1 -.2\n[End]\nanything\n");
}

static void noise_is_left_out(void **state)
{
    is_that_matrix("a.s2p",
                   "# GHz S RI\n1.5 0 .5 .25 0 -1 0 .1 -.2\n1.0 2 .3 40 .2\n1.2 2 .3 40 .2\n");
}

static void three_ports(void **state)
{
    PS_SCOPED(ps_trace_release) ps_trace x = {0};
    check_write("c.s3p", "# Hz S RI\n1 11 0 12 0 13 0\n21 0 22 0 23 0\n31 0 32 0 33 0\n2 11 1 12 1 "
                         "13 1\n21 1 22 1 23 1\n31 1 32 1 33 1\n");
    check_ok(ps_touchstone_load("c.s3p", &x));
    assert_int_equal(x.samples, 2);
    for (int i = 0; i < 9; ++i) {
        check_near(x.real[i], 11 + i / 3 * 10 + i % 3, 1e-12, 0);
        check_near(x.imaginary[9 + i], -1, 1e-12, 0);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"# GHz Y RI\n1 0 0 0 0 0 0 0 0\n", "S-parameters are read"},
        {"# GHz S RI\n1 0 0 0 0 0 0 0\n", "are no table of frequencies"},
        {"# GHz S RI\n", "are no table of frequencies"},
        {"# GHz S RI\n1 0 0 0 0 0 0 0 x\n", "line 2: not a finite number: x"},
        {"# GHz S RI\n1 0 0 0 0 0 0 0 1e999\n", "not a finite number"},
        {"[Version] 2.0\n[Number of Ports] 4\n", "other ports than the suffix"},
        {"[Version] 2.0\n[Matrix Format] Lower\n", "a matrix is read whole"},
        {"[Mixed-Mode Order] D2,3\n", "not known here"},
        {"[Version 2.0\n", "a keyword without an end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        PS_SCOPED(ps_trace_release) ps_trace x = {0};
        check_write("d.s2p", cases[i].text);
        check_fails(ps_touchstone_load("d.s2p", &x), PS_INVALID, cases[i].why);
    }
    ps_trace x;
    check_fails(ps_touchstone_load("d.txt", &x), PS_USAGE, "is a file .s1p");
    assert_int_equal(ps_touchstone_ports("a.b/x.s12P"), 12);
    assert_int_equal(ps_touchstone_ports("x.s0p"), 0);
    assert_int_equal(ps_touchstone_ports("x.s65p"), 0);
    assert_int_equal(ps_touchstone_ports("x.s2px"), 0);
    assert_int_equal(ps_touchstone_ports("x.s-2p"), 0);
    assert_int_equal(ps_touchstone_ports("s2p"), 0);
}

/* One to four bytes of whole files changed: read or refused, and nothing of memory for the
 * sanitizers to tell. */
static void mutants_are_read_or_refused(void **state)
{
    static const char *const seeds[] = {
        "! text\n# MHz S DB R 50\n1500 0 .5 .25 0 -1 0 .1 -.2\n1600 0 .5 .25 0 -1 0 .1 -.2\n1000 2 "
        ".3 40 .2\n",
        "[Version] 2.0\n# Hz S RI\n[Number of Ports] 2\n[Two-Port Data Order] "
        "12_21\n[Reference]\n50\n75\n[Network Data]\n1 0 .5 -1 0 .25 0 .1 -.2\n[End]\n"};
    static const char odd[] = "0123456789.-+eE#![]SRIx \t\n\r\377";
    uint64_t random = 7;
    int read = 0;
    for (int i = 0; i < 4000; ++i) {
        PS_SCOPED(ps_trace_release) ps_trace x = {0};
        char text[256];
        snprintf(text, sizeof text, "%s", seeds[i % 2]);
        for (int k = 0; k <= i / 2 % 4; ++k)
            text[(size_t)(check_random(&random) * (double)strlen(text))] =
                odd[(size_t)(check_random(&random) * (double)(sizeof odd - 1))];
        check_write("m.s2p", text);
        ps_status status = ps_touchstone_load("m.s2p", &x);
        assert_true(status == PS_OK || status == PS_INVALID);
        read += status == PS_OK;
    }
    assert_in_range(read, 400, 3600);
}
