/*
 * The tridiagonal system of a mode in pieces that are solved side by side: each piece but the last
 * ends in a separator, what pieces say about those is a tridiagonal system again, and with its
 * solution each piece goes on alone. A piece's rows stay in registers, so that every plane is read
 * and written once. Run by slab_cuda.cu, and on the host by the tests: the includer defines LEAF,
 * UNROLL and ROUGHLY(x), 1 / x to 18 bits or more.
 *
 * With T of a piece's rows, b their right-hand sides and e the entry beside the diagonals, rows are
 * T y = b - e (s_left at the first row) - e (s_right at the last); a separator's row takes from y
 * of both sides the ends of T^-1 b and the corners of T^-1, which one elimination gives.
 */
#include <stdbool.h>

enum { PIECE_ROWS = 32 /* at most of a piece, beside its separator */ };

typedef struct piece_rows {
    int count;
    double off, inside, first, last; /* diagonals; of a single row: `last` */
} piece_rows;

/* Items of a piece, `step` apart: ends of T^-1 b, corners of T^-1. */
enum { END_FIRST, END_LAST, CORNER_FIRST, CORNER_ACROSS, CORNER_LAST, PIECE_ITEMS };

/* 1 / x is near (1 + more): to 54 bits, without the branches of a division. */
typedef struct quotient {
    double near, more;
} quotient;

LEAF quotient one_over(double x)
{
    const double near = ROUGHLY(x), e = fma(-x, near, 1.);
    return (quotient){near, fma(e, e, e)};
}

/* value[PIECE_ROWS]: b, which becomes the eliminated right-hand sides; factor[count], `step` apart,
 * is written, and all items. From pivot to pivot, d - off^2 / pivot, are as few dependent
 * operations as there can be: they are what a piece takes. */
LEAF void eliminate_piece(const piece_rows *p, double *value, double *factor, double *item,
                          int step)
{
    const double square = p->off * p->off;
    double w = 0, c = 0, r = 0, spike = 1, across = 1, end = 0, corner = 0;
    double pivot = p->count == 1 ? p->last : p->first;
    UNROLL
    for (int i = 0; i < PIECE_ROWS; ++i)
        if (i < p->count) {
            const double d = i + 2 == p->count ? p->last : p->inside;
            const quotient q = one_over(pivot);
            pivot = fma(-square * q.near, q.more, fma(-square, q.near, d));
            r = fma(q.near, q.more, q.near);
            w = (value[i] - p->off * w) * r;
            across *= i == 0 ? 1 : -c;
            c = p->off * r;
            spike *= i == 0 ? r : -c;
            end += across * w;
            corner += across * spike;
            value[i] = w;
            factor[i * step] = c;
        }
    item[END_FIRST * step] = end;
    item[END_LAST * step] = w;
    item[CORNER_FIRST * step] = corner;
    item[CORNER_ACROSS * step] = spike;
    item[CORNER_LAST * step] = r;
}

/* A separator's row, whose entries beside the diagonal are `next` and the `next` of the one
 * before: separators are reduced side by side, with those 1, 2, 4, .. before and after, until they
 * are alone. One that is not there is all 0. */
typedef struct separator {
    double value, next, diagonal, inverse; /* inverse: 1 / diagonal */
} separator;

LEAF separator separator_of(double value, double next, double diagonal)
{
    const quotient q = one_over(diagonal);
    return (separator){value, next, diagonal, fma(q.near, q.more, q.near)};
}

/* The separator between two pieces, of which `after` is the `last` or not; beside: b of its row. */
LEAF separator separator_between(const piece_rows *p, double beside, const double *before,
                                 const double *after, bool last, int step)
{
    const double square = p->off * p->off;
    return separator_of(beside - p->off * (before[END_LAST * step] + after[END_FIRST * step]),
                        last ? 0 : -square * after[CORNER_ACROSS * step],
                        p->inside -
                            square * (before[CORNER_LAST * step] + after[CORNER_FIRST * step]));
}

LEAF separator reduce(const separator *before, const separator *here, const separator *after)
{
    const double up = before->next * before->inverse, down = here->next * after->inverse;
    return separator_of(here->value - up * before->value - down * after->value, -down * after->next,
                        here->diagonal - up * before->next - down * here->next);
}

/* value becomes the solution between these separators; returns its last one. */
LEAF double finish_piece(const piece_rows *p, double *value, const double *factor, int step,
                         double left, double right)
{
    double spike = left, y = right, last = 0;
    UNROLL
    for (int i = 0; i < PIECE_ROWS; ++i)
        if (i < p->count) {
            spike *= -factor[i * step];
            value[i] += spike;
        }
    UNROLL
    for (int i = PIECE_ROWS - 1; i >= 0; --i)
        if (i < p->count) {
            y = value[i] - factor[i * step] * y;
            value[i] = y;
            if (i == p->count - 1) last = y;
        }
    return last;
}
