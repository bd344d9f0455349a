/*
 * Histogram of the lengths of the row-vectors, for one or several slice matrices.
 */
#include "formats/slice_matrix.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { MATRICES_MAX = 4 };

typedef struct histogram {
    int64_t counts[PS_LENGTH_BINS], total, last;
    double d_mean;
} histogram;

static ps_status read_histogram(const char *path, histogram *out)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *matrix = NULL;
    *out = (histogram){.total = 0};
    PS_TRY(ps_slice_matrix_open(path, &matrix));
    PS_TRY(ps_slice_matrix_lengths(matrix, out->counts));
    out->d_mean = ps_slice_matrix_header(matrix)->d_mean;
    for (int d = 0; d < PS_LENGTH_BINS; ++d) {
        out->total += out->counts[d];
        if (out->counts[d]) out->last = d;
    }
    return PS_OK;
}

static void put_data(const histogram *h, int index, canvas *c)
{
    canvas_put(c, "$H%d << END\n", index);
    for (int64_t d = 0; d <= h->last; ++d)
        canvas_put(c, "%lld %.6g\n", (long long)d,
                   100 * (double)h->counts[d] / (double)(h->total ? h->total : 1));
    canvas_put(c, "END\n");
}

ps_status plot_lengths(const plot_request *request, canvas *c)
{
    histogram h[MATRICES_MAX];
    char name[96], label[160];
    int64_t last = 1;
    PS_TRY(plot_need_files(request, 1, MATRICES_MAX, "slice matrices"));
    for (int i = 0; i < request->file_count; ++i) {
        PS_TRY(read_histogram(request->files[i], &h[i]));
        put_data(&h[i], i, c);
        if (h[i].last > last) last = h[i].last;
    }
    double width = 0.84 / request->file_count;
    canvas_title(c, request->title ? request->title : "lengths of row-vectors");
    canvas_put(
        c,
        "set xlabel 'length of a row-vector'\nset ylabel 'share of row-vectors (%%)'\n"
        "set style fill solid 0.9 noborder\nset boxwidth %.4f absolute\nset grid noxtics ytics\n"
        "set xrange [-0.6:%lld.6]\n%s\n%splot ",
        width, (long long)last, request->log ? "" : "set yrange [0:*]",
        request->log ? "set logscale y\n" : "");
    for (int i = 0; i < request->file_count; ++i) {
        plot_label(request, i, name, sizeof name);
        snprintf(label, sizeof label, "%s: mean %.2f, longest %lld", name, h[i].d_mean,
                 (long long)h[i].last);
        canvas_put(c, "%s$H%d using ($1 + %.4f):2 with boxes lc rgb '%s' title ", i ? ", " : "", i,
                   (i - 0.5 * (request->file_count - 1)) * width, canvas_colour(i));
        canvas_put_quoted(c, label);
    }
    canvas_put(c, "\n");
    return PS_OK;
}
