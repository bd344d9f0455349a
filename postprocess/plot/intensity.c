/*
 * Flop per word of M2L over the columns that are processed together (RR-8513, 2013, figure 5), from
 * reports of penstock-fmm (--json), which tell the order l and the mean rank r of the operators: a
 * curve for each order. Counted as there (section 3.1.2), a word being 8 bytes:
 *
 *     flop   4 l^3 r a           two thin matrices times a columns
 *     words  2 l^3 r             these matrices, once for all columns
 *          + a l^3 (1 + 2)       a multipole read, a local read and written
 *          + a 2 l^3 / 2         the integers by which both are permuted
 */
#include <math.h>
#include <stdlib.h>

#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { CURVES_MAX = 24, COLUMNS_MAX = 24 /* the most that share a matrix */ };

typedef struct curve {
    int order;
    double rank;
} curve;

static double flop_per_word(double rank, double columns)
{
    return 4 * rank * columns / (2 * rank + 4 * columns); /* l^3 is in all of them */
}

static ps_status read_curve(const char *path, curve *out)
{
    PS_SCOPED_MEMORY json_number *numbers = NULL;
    int count = 0;
    PS_TRY(json_numbers_of(path, &numbers, &count));
    *out = (curve){json_small(numbers, count, "order"), json_value(numbers, count, "rank")};
    if (out->order > 0 && out->rank > 0 && isfinite(out->rank)) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s tells no order and rank: it is to be what penstock-fmm --tree uniform --json "
        "says of a tree with a far field",
        path);
}

static int compare_curves(const void *left, const void *right)
{
    const curve *a = left, *b = right;
    if (a->order != b->order) return a->order - b->order;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void draw(const plot_request *request, const curve *curves, int count, canvas *c)
{
    canvas_put(c, "$D << END\n");
    for (int a = 1; a <= COLUMNS_MAX; ++a) {
        canvas_put(c, "%d", a);
        for (int i = 0; i < count; ++i) canvas_put(c, " %.6g", flop_per_word(curves[i].rank, a));
        canvas_put(c, "\n");
    }
    canvas_put_text(c, "END\nset title ", request->title ? request->title : "", " noenhanced\n");
    canvas_put(c,
               "set xlabel 'columns processed together'\n"
               "set ylabel 'flop per word of 8 bytes, M2L'\nset xrange [0:%d]\nset yrange [0:*]\n"
               "set key top left\nplot ",
               COLUMNS_MAX + 1);
    for (int i = 0; i < count; ++i)
        canvas_put(c,
                   "%s$D using 1:%d with linespoints pt 7 ps 0.7 lw 2 lc rgb '%s' title 'l = %d, "
                   "rank %.3g'",
                   i ? ", \\\n  " : "", 2 + i, canvas_colour(i), curves[i].order, curves[i].rank);
    canvas_put(c, "\n");
}

ps_status plot_intensity(const plot_request *request, canvas *c)
{
    curve curves[CURVES_MAX];
    PS_TRY(plot_need_files(request, 1, CURVES_MAX, "reports of penstock-fmm made with --json"));
    for (int i = 0; i < request->file_count; ++i) PS_TRY(read_curve(request->files[i], &curves[i]));
    qsort(curves, (size_t)request->file_count, sizeof *curves, compare_curves);
    draw(request, curves, request->file_count, c);
    return PS_OK;
}
