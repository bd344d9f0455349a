#include <stdlib.h>

#include "formats/matrix_market.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "m.mtx";

static void put(const char *text) { check_write(path, text); }

/* 5 x 5, diagonally dominant, symmetric or not, numbers that need 17 digits. */
static void fill(ps_csr *m, bool symmetric)
{
    check_ok(ps_csr_init(m, 5, 13));
    int64_t at = 0;
    for (int i = 0; i < 5; ++i) {
        m->row_start[i] = at;
        for (int j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j > 4) continue;
            m->columns[at] = j;
            m->values[at++] = i == j ? 2 + 1. / 3 : (symmetric ? -1. / (i + j) : -1. / (2 * i + j));
        }
    }
    m->row_start[5] = at;
    assert_int_equal(at, 13);
}

static void round_trip(void **state)
{
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        PS_SCOPED(ps_csr_release) ps_csr out = {0}, in = {0};
        int64_t columns;
        fill(&out, symmetric);
        check_ok(ps_matrix_market_save(path, &out, symmetric, "a comment"));
        check_ok(ps_matrix_market_load(path, &in, &columns));
        assert_int_equal(in.rows, 5);
        assert_int_equal(columns, 5);
        assert_int_equal(in.nnz, out.nnz);
        assert_memory_equal(in.row_start, out.row_start, 6 * sizeof(int64_t));
        assert_memory_equal(in.columns, out.columns, 13 * sizeof(int32_t));
        assert_memory_equal(in.values, out.values, 13 * sizeof(double));
        check_ok(ps_csr_check(&in, columns));
    }
}

/* Any order, equal places, pattern, skew-symmetric, rectangular. */
static void reads_what_others_write(void **state)
{
    ps_csr m;
    int64_t columns;
    put("%%MatrixMarket matrix coordinate real general\n% c\n2 4 4\n2 4 1.5\n1 2 3\n2 1 -1\n2 4 "
        ".25\n");
    check_ok(ps_matrix_market_load(path, &m, &columns));
    assert_int_equal(columns, 4);
    assert_int_equal(m.nnz, 3);
    assert_int_equal(m.columns[1], 0);
    check_near(m.values[2], 1.75, 0, 0);
    ps_csr_release(&m);
    put("%%MatrixMarket MATRIX Coordinate Pattern Symmetric\n3 3 2\n3 1\n2 2\n");
    check_ok(ps_matrix_market_load(path, &m, NULL));
    assert_int_equal(m.nnz, 3);
    check_near(m.values[0], 1, 0, 0);
    assert_int_equal(m.columns[0], 2);
    ps_csr_release(&m);
    put("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n");
    check_ok(ps_matrix_market_load(path, &m, NULL));
    check_near(m.values[0], -7, 0, 0);
    check_near(m.values[1], 7, 0, 0);
    ps_csr_release(&m);
}

static void refuses(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1 1 1\n", "%%MatrixMarket"},
        {"%%MatrixMarket matrix array real general\n2 2\n", "array"},
        {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "complex"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "ends after 1 of 2"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "line 3"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 1\n", "more than the 1"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", "line 3"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "2 x 3"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n", "\"x\" is no number"}};
    ps_csr m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        put(cases[i].text);
        check_fails(ps_matrix_market_load(path, &m, NULL), PS_INVALID, cases[i].message);
    }
    check_fails(ps_matrix_market_load("/nowhere/a.mtx", &m, NULL), PS_INVALID, "/nowhere/a.mtx");
}
