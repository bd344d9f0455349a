/*
 * The blocks of an H-matrix, or of a cluster tree before it is assembled: ranks in colours, dense
 * blocks in one of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hmatrix.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PIXELS = 720, OUTLINES = 20000, STOPS = 12 };

typedef struct block_raster {
    int64_t rows, columns, height, width; /* of the matrix, of the picture        */
    float *pixel; /* [height][width] rank; 0 where dense; NaN where nothing is */
    int64_t leaves, rank_max;
    bool ranks; /* known; otherwise far blocks are 1                          */
    canvas *c;
} block_raster;

static ps_status raster_init(block_raster *r, int64_t rows, int64_t columns, canvas *c)
{
    *r = (block_raster){.rows = rows, .columns = columns, .c = c};
    r->height = rows < PIXELS ? rows : PIXELS;
    r->width = columns < PIXELS ? columns : PIXELS;
    PS_TRY(PS_ALLOC(&r->pixel, r->height * r->width, "a picture of blocks"));
    for (int64_t p = 0; p < r->height * r->width; ++p) r->pixel[p] = NAN;
    canvas_put(c, "$R << END\n");
    return PS_OK;
}

/* Pixels whose middles lie in [begin, end) of `all`, and at least one. */
static void span(int64_t begin, int64_t end, int64_t all, int64_t pixels, int64_t out[2])
{
    out[0] = begin * pixels / all;
    out[1] = (end * pixels + all - 1) / all;
    if (out[1] > pixels) out[1] = pixels;
}

static void add_block(block_raster *r, const ps_hmatrix_leaf *at, int64_t rank)
{
    int64_t y[2], x[2];
    float value = rank == PS_RANK_DENSE ? 0 : rank == 0 ? NAN : (float)rank;
    span(at->row_begin, at->row_end, r->rows, r->height, y);
    span(at->column_begin, at->column_end, r->columns, r->width, x);
    for (int64_t i = y[0]; i < y[1]; ++i)
        for (int64_t j = x[0]; j < x[1]; ++j) r->pixel[i * r->width + j] = value;
    if (rank > r->rank_max) r->rank_max = rank;
    if (++r->leaves > OUTLINES) return;
    double left = (double)at->column_begin, right = (double)at->column_end;
    double top = (double)at->row_begin, low = (double)at->row_end;
    canvas_put(r->c, "%g %g\n%g %g\n%g %g\n%g %g\n%g %g\n\n", left, top, right, top, right, low,
               left, low, left, top);
}

static void add_leaf(block_raster *r, const ps_hmatrix_leaf *at, int64_t rank, bool mirrored)
{
    ps_hmatrix_leaf other = {at->column_begin, at->column_end, at->row_begin, at->row_end, at->far};
    add_block(r, at, rank);
    if (mirrored && at->row_begin != at->column_begin) add_block(r, &other, rank);
}

static ps_status read_clusters(const char *path, block_raster *r, canvas *c)
{
    PS_SCOPED(ps_clusters_release) ps_clusters k = {0};
    PS_TRY(ps_clusters_load(path, &k));
    PS_TRY(raster_init(r, k.tree[0].dofs, k.tree[1].dofs, c));
    for (int64_t l = 0; l < k.leaves.count; ++l) {
        ps_hmatrix_leaf at = ps_cluster_leaf_at(&k.leaves, &k.tree[0], &k.tree[1], l);
        add_leaf(r, &at, at.far ? 1 : PS_RANK_DENSE, false);
    }
    return PS_OK;
}

static ps_status read_matrix(const char *path, block_raster *r, canvas *c)
{
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    PS_TRY(ps_hmatrix_open(path, &file));
    const ps_hmatrix *m = &ps_hmatrix_file_overview(file)->shape;
    PS_TRY(raster_init(r, m->rows, m->columns, c));
    for (int64_t l = 0; l < m->leaf_count; ++l)
        add_leaf(r, &m->leaves[l], m->blocks[l].rank, m->symmetric);
    r->ranks = true;
    return PS_OK;
}

static void put_palette(const block_raster *r)
{
    double most = r->rank_max > 1 ? (double)r->rank_max : 1;
    canvas_put(r->c, "set palette defined (0 '#D55E00', 0.5 '#D55E00'");
    for (int s = 0; s <= STOPS; ++s) {
        double rgb[3], t = (double)s / STOPS;
        canvas_sequential(1 - 0.9 * t, rgb);
        canvas_put(r->c, ", %g '#%02x%02x%02x'", 0.5 + 1e-6 + t * (most - 0.4), (int)(255 * rgb[0]),
                   (int)(255 * rgb[1]), (int)(255 * rgb[2]));
    }
    canvas_put(r->c, ")\nset cbrange [0:%g]\n", most);
    if (r->ranks)
        canvas_put(r->c, "set cblabel 'rank (orange: dense)'\n");
    else
        canvas_put(r->c, "unset colorbox\n");
}

static void draw(const plot_request *request, const block_raster *r, const char *name)
{
    double dy = (double)r->rows / (double)r->height, dx = (double)r->columns / (double)r->width;
    char title[512];
    canvas_put(r->c, "END\n");
    canvas_put_pixels(r->c, "S", r->pixel, r->height, r->width);
    snprintf(title, sizeof title, "%s: %lld x %lld", name, (long long)r->rows,
             (long long)r->columns);
    canvas_title(r->c, request->title ? request->title : title);
    put_palette(r);
    canvas_put(r->c,
               "set xlabel 'column'\nset ylabel 'row'\nunset grid\nunset key\n"
               "set xrange [0:%lld]\nset yrange [%lld:0]\n"
               "set colorbox user origin 0.875,0.16 size 0.018,0.70 border\n"
               "set lmargin at screen 0.11\nset rmargin at screen 0.855\n",
               (long long)r->columns, (long long)r->rows);
    canvas_put(r->c, "plot $S matrix using (($1 + 0.5) * %.9g):(($2 + 0.5) * %.9g):3 with image",
               dx, dy);
    if (r->leaves <= OUTLINES)
        canvas_put(r->c, ", $R using 1:2 with lines lw %g lc rgb '#404040'",
                   r->leaves > 2000 ? 0.3 : 0.6);
    canvas_put(r->c, "\n");
}

ps_status plot_hmatrix(const plot_request *request, canvas *c)
{
    block_raster r = {0};
    ps_store *store;
    char name[256];
    PS_TRY(plot_need_files(request, 1, 1, "H-matrix or cluster tree"));
    PS_TRY(ps_store_open(request->files[0], NULL, 0, &store));
    bool clusters = strcmp(ps_store_format(store), PS_CLUSTER_FORMAT) == 0;
    ps_store_close(&store);
    ps_status status =
        clusters ? read_clusters(request->files[0], &r, c) : read_matrix(request->files[0], &r, c);
    plot_label(request, 0, name, sizeof name);
    if (status == PS_OK) draw(request, &r, name);
    free(r.pixel);
    return status;
}
