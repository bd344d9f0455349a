/*
 * The tridiagonal system of a mode in pieces that are solved side by side: each piece but the last
 * ends in a separator, what pieces say about those is a tridiagonal system again, and with its
 * solution each piece goes on alone. A piece's rows stay in registers, so that every plane is read
 * and written once. Run by slab_cuda.cu, and on the host by the tests: the includer defines LEAF,
 * UNROLL and RECIPROCAL(x).
 *
 * With T of a piece's rows, b their right-hand sides and e the entry beside the diagonals, rows are
 * T y = b - e (s_left at the first row) - e (s_right at the last); a separator's row takes from y
 * of both sides the ends of T^-1 b and the corners of T^-1, which one elimination gives.
 */
enum { PIECE_ROWS = 32 /* at most of a piece, beside its separator */ };

typedef struct piece_rows {
    int count;
    double off, inside, first, last; /* diagonals; of a single row: `last` */
} piece_rows;

/* Items of a piece, `step` apart: ends of T^-1 b, corners of T^-1, the separator's right-hand side,
 * which becomes its value. */
enum { END_FIRST, END_LAST, CORNER_FIRST, CORNER_ACROSS, CORNER_LAST, SEPARATOR, PIECE_ITEMS };

/* value[PIECE_ROWS]: b, which becomes the eliminated right-hand sides; factor[count], `step` apart,
 * is written, and all items but the separator. */
LEAF void eliminate_piece(const piece_rows *p, double *value, double *factor, double *item,
                          int step)
{
    double w = 0, c = 0, r = 0, spike = 1, across = 1, end = 0, corner = 0;
UNROLL
    for (int i = 0; i < PIECE_ROWS; ++i)
        if (i < p->count) {
            const double d = i == p->count - 1 ? p->last : i == 0 ? p->first : p->inside;
            r = RECIPROCAL(d - p->off * c);
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

/* The separators of a mode, item[PIECE_ITEMS][pieces], values `step` apart. */
LEAF void solve_separators(int pieces, double off, double inside, double *item, int step)
{
    const int row = pieces * step;
    double s = 0, c = 0;
    for (int k = 0; k < pieces - 1; ++k) {
        double *here = item + k * step, *next = here + step;
        const double before = -off * off * here[CORNER_ACROSS * row];
        const double after = -off * off * next[CORNER_ACROSS * row];
        const double d = inside - off * off * (here[CORNER_LAST * row] + next[CORNER_FIRST * row]);
        const double f =
            here[SEPARATOR * row] - off * (here[END_LAST * row] + next[END_FIRST * row]);
        const double r = RECIPROCAL(d - (k > 0 ? before * c : 0));
        s = (f - (k > 0 ? before * s : 0)) * r;
        c = after * r;
        here[SEPARATOR * row] = s;
        here[END_FIRST * row] = c;
    }
    for (int k = pieces - 3; k >= 0; --k) {
        double *here = item + k * step;
        s = here[SEPARATOR * row] -= here[END_FIRST * row] * s;
    }
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
