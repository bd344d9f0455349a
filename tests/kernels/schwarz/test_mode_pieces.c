/* Tridiagonal systems in pieces (kernels/schwarz/mode_pieces_body.h) against elimination of the
 * whole. */
#include <math.h>

#include "tests/check.h"

#define LEAF static inline
#define UNROLL
#define ROUGHLY(x) ((float)(1 / (x)) /* 24 bits, as of a device */)
#include "kernels/schwarz/mode_pieces_body.h"

enum { MOST = 500, PIECES = 16 };

typedef struct chain {
    int rows;
    double off, inside, ends[2]; /* diagonals of the first and the last row */
    double b[MOST], x[MOST];
} chain;

static chain chain_of(int rows, double off, double inside, double first, double last)
{
    chain c = {.rows = rows, .off = off, .inside = inside, .ends = {first, last}};
    for (int i = 0; i < rows; ++i) c.b[i] = sin(1 + 3.7 * i) + .1;
    return c;
}

static double diagonal(const chain *c, int i)
{
    return i == c->rows - 1 ? c->ends[1] : i == 0 ? c->ends[0] : c->inside;
}

/* The values of the separators, `all` of them, side by side. */
static void solve_separators(int all, separator *s)
{
    static const separator none = {0};
    separator next[PIECES];
    for (int apart = 1; apart < all; apart *= 2) {
        for (int k = 0; k < all; ++k)
            next[k] = reduce(k >= apart ? &s[k - apart] : &none, &s[k],
                             k + apart < all ? &s[k + apart] : &none);
        for (int k = 0; k < all; ++k) s[k] = next[k];
    }
}

/* As sweep_pieces of slab_cuda.cu does it. */
static void solve(chain *c, int pieces)
{
    static double value[PIECES][PIECE_ROWS], factor[PIECE_ROWS * PIECES];
    static double item[PIECE_ITEMS * PIECES];
    piece_rows p[PIECES];
    separator s[PIECES];
    int begin[PIECES + 1], last = pieces - 1;
    for (int k = 0; k <= pieces; ++k) begin[k] = (c->rows + 1) * k / pieces;
    for (int k = 0; k < pieces; ++k) {
        int end = begin[k + 1] - 1;
        p[k] = (piece_rows){end - begin[k], c->off, c->inside, diagonal(c, begin[k]),
                            diagonal(c, end - 1)};
        for (int i = 0; i < p[k].count; ++i) value[k][i] = c->b[begin[k] + i];
        eliminate_piece(&p[k], value[k], factor + k, item + k, pieces);
    }
    for (int k = 0; k < last; ++k)
        s[k] = separator_between(&p[k], c->b[begin[k + 1] - 1], item + k, item + k + 1,
                                 k == last - 1, pieces);
    solve_separators(last, s);
    for (int k = 0; k < pieces; ++k) {
        double left = k > 0 ? s[k - 1].value * s[k - 1].inverse : 0;
        double right = k < last ? s[k].value * s[k].inverse : 0;
        double end = finish_piece(&p[k], value[k], factor + k, pieces, left, right);
        check_near(end, value[k][p[k].count - 1], 0, 0);
        for (int i = 0; i < p[k].count; ++i) c->x[begin[k] + i] = value[k][i];
        if (k < last) c->x[begin[k + 1] - 1] = right;
    }
}

/* |b - A x| over |A| |x|, largest row. */
static double backward_error(const chain *c)
{
    double worst = 0;
    for (int i = 0; i < c->rows; ++i) {
        double left = i > 0 ? c->off * c->x[i - 1] : 0;
        double right = i < c->rows - 1 ? c->off * c->x[i + 1] : 0, here = diagonal(c, i) * c->x[i];
        double size = fabs(left) + fabs(right) + fabs(here) + fabs(c->b[i]);
        worst = worse_of(worst, fabs(c->b[i] - left - here - right) / size);
    }
    return worst;
}

static void test_rows_of_all_lengths(void **state)
{
    for (int rows = 1; rows <= 493; rows = rows < 70 ? rows + 1 : rows + 47) {
        int pieces = rows / (PIECE_ROWS + 1) + 1;
        chain smooth = chain_of(rows, -1, 2, 2, 2);      /* the smallest wave number */
        chain stiff = chain_of(rows, -1, 2e3, 1e3, 3e3); /* a large one, free ends   */
        chain mixed = chain_of(rows, .4, 1.7, .9, 1.1);  /* masses beside win        */
        chain *all[] = {&smooth, &stiff, &mixed};
        for (int k = 0; k < 3; ++k) {
            solve(all[k], pieces);
            check_at_most(backward_error(all[k]), 1e-13);
        }
    }
}

/* More pieces than are needed change nothing but rounding. */
static void test_pieces(void **state)
{
    chain one = chain_of(32, -1, 2.01, 1.2, 1.1), many = one;
    solve(&one, 1);
    for (int pieces = 2; pieces <= 16; ++pieces) {
        solve(&many, pieces);
        for (int i = 0; i < one.rows; ++i) check_near(many.x[i], one.x[i], 1e-12, 0);
    }
}
