/*
 * The sparsity of a matrix: each entry where few rows are shown, entries a row where a pixel covers
 * several (table 6 of Magoules, Cheik Ahamed and Putanowicz, 2015). The matrix of the trilinear
 * elements of a box is not made: its rows are asked for one by one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/box_field.h"
#include "formats/matrix_market.h"
#include "kernels/schwarz/grid.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PIXELS = 600, BOX_ROW = 27 };

typedef struct pattern {
    int64_t rows, first, shown; /* rows and columns [first, first + shown) are drawn */
    ps_csr matrix;              /* of a file; otherwise rows = 0                     */
    ps_slab_stencil stencil;    /* of a box                                          */
    int64_t pixels;             /* a side of the picture                             */
    float *pixel;               /* [pixels][pixels] entries                          */
    int64_t entries, bandwidth, longest;
    double squares; /* of the lengths of the rows */
} pattern;

/* ---- the matrix ---- */

static ps_status read_text(const char *path, pattern *p)
{
    int64_t columns;
    PS_TRY(ps_matrix_market_load(path, &p->matrix, &columns));
    p->rows = p->matrix.rows;
    if (p->rows == columns) return PS_OK;
    return ps_fail(PS_INVALID, "%s is %lld x %lld; a square matrix is expected", path,
                   (long long)p->rows, (long long)columns);
}

/* The weights do not matter: their places do, which the nodes alone decide. */
static ps_status read_box(const char *path, pattern *p)
{
    ps_box_field field;
    ps_q1_grid grid;
    PS_TRY(ps_box_field_open(path, NULL, &field));
    ps_box_field_header h = field.header;
    ps_box_field_close(&field);
    if (h.cells)
        return ps_fail(PS_USAGE,
                       "%s holds a %s in cells; the matrix is one of nodes: give the load "
                       "of penstock-gravity-assemble or a potential",
                       path, h.quantity);
    const double length[3] = {h.spacing[0] * (double)(h.nodes[0] - 1),
                              h.spacing[1] * (double)(h.nodes[1] - 1),
                              h.spacing[2] * (double)(h.nodes[2] - 1)};
    PS_TRY_IN(ps_q1_grid_make(h.nodes, length, &grid), "%s", path);
    ps_slab whole = ps_slab_whole(&grid);
    ps_slab_stencil_make(&whole, &p->stencil);
    p->rows = ps_stencil_rows(&p->stencil);
    if (p->rows <= INT32_MAX) return PS_OK;
    return ps_fail(PS_EXHAUSTED, "%s has %lld nodes; 2^31 - 1 can be drawn", path,
                   (long long)p->rows);
}

static bool is_store(const char *path)
{
    size_t length = strlen(path);
    return !(length > 4 && strcmp(path + length - 4, ".mtx") == 0) &&
           !(length > 7 && strcmp(path + length - 7, ".mtx.gz") == 0);
}

/* ---- its entries ---- */

static int64_t row_columns(const pattern *p, int64_t row, int32_t own[BOX_ROW],
                           const int32_t **columns)
{
    double values[BOX_ROW];
    *columns = own;
    if (!p->matrix.rows) return ps_stencil_row(&p->stencil, row, own, values);
    *columns = p->matrix.columns + p->matrix.row_start[row];
    return p->matrix.row_start[row + 1] - p->matrix.row_start[row];
}

static void add_row(pattern *p, int64_t row, const int32_t *columns, int64_t count)
{
    int64_t end = p->first + p->shown, y = (row - p->first) * p->pixels / p->shown;
    p->entries += count;
    p->squares += (double)count * (double)count;
    if (count > p->longest) p->longest = count;
    for (int64_t i = 0; i < count; ++i) {
        int64_t column = columns[i], off = llabs(column - row);
        if (off > p->bandwidth) p->bandwidth = off;
        if (row < p->first || row >= end || column < p->first || column >= end) continue;
        ++p->pixel[y * p->pixels + (column - p->first) * p->pixels / p->shown];
    }
}

/* Pixels become entries a row; a pixel that covers one place becomes 1; nothing stays nothing. */
static float finish_pixels(pattern *p)
{
    float most = 0;
    for (int64_t y = 0; y < p->pixels; ++y) {
        int64_t begin = (y * p->shown + p->pixels - 1) / p->pixels;
        int64_t rows = ((y + 1) * p->shown + p->pixels - 1) / p->pixels - begin;
        for (int64_t x = 0; x < p->pixels; ++x) {
            float *value = &p->pixel[y * p->pixels + x];
            *value = *value > 0 ? *value / (float)rows : NAN;
            most = fmaxf(most, *value);
        }
    }
    return most;
}

static ps_status gather(const plot_request *request, pattern *p)
{
    p->first = request->first_row;
    if (p->first >= p->rows)
        return ps_fail(PS_USAGE, "--first-row %lld: %s has %lld rows", (long long)p->first,
                       request->files[0], (long long)p->rows);
    p->shown = p->rows - p->first;
    if (request->row_count && request->row_count < p->shown) p->shown = request->row_count;
    p->pixels = p->shown < PIXELS ? p->shown : PIXELS;
    PS_TRY(PS_ALLOC(&p->pixel, p->pixels * p->pixels, "a picture of a matrix"));
    for (int64_t row = 0; row < p->rows; ++row) {
        int32_t own[BOX_ROW];
        const int32_t *columns;
        int64_t count = row_columns(p, row, own, &columns);
        add_row(p, row, columns, count);
    }
    return PS_OK;
}

/* ---- the picture ---- */

static void put_title(const plot_request *request, const pattern *p, canvas *c)
{
    char name[96], text[320];
    double rows = (double)p->rows, mean = (double)p->entries / rows;
    plot_label(request, 0, name, sizeof name);
    snprintf(text, sizeof text, "%s: %lld rows, %lld entries (%.3g %%), bandwidth %lld", name,
             (long long)p->rows, (long long)p->entries, 100 * mean / rows, (long long)p->bandwidth);
    canvas_title(c, request->title ? request->title : text);
    canvas_put(c, "set xlabel 'column;  longest row %lld, mean %.3f, deviation %.3f'\n",
               (long long)p->longest, mean, sqrt(fmax(p->squares / rows - mean * mean, 0)));
}

static void draw(const plot_request *request, pattern *p, canvas *c)
{
    float most = finish_pixels(p);
    double step = (double)p->shown / (double)p->pixels;
    canvas_put_pixels(c, "S", p->pixel, p->pixels, p->pixels);
    put_title(request, p, c);
    canvas_palette_sequential(c);
    canvas_put(c, "set cbrange [0:%g]\n%s", most,
               step > 1 ? "set cblabel 'entries of a row in a pixel'\n"
                        : "unset colorbox\nset palette defined (0 '#222222', 1 '#222222')\n");
    canvas_put(
        c,
        "unset grid\nunset key\nset ylabel 'row'\nset size ratio -1\nset xtics rotate by -30\n"
        "set colorbox user origin 0.875,0.16 size 0.018,0.70 border\n"
        "set lmargin at screen 0.11\nset rmargin at screen 0.855\n"
        "set xrange [%lld:%lld]\nset yrange [%lld:%lld]\n"
        "plot $S matrix using (%lld + ($1 + 0.5) * %.9g):(%lld + ($2 + 0.5) * %.9g):3 with image\n",
        (long long)p->first, (long long)(p->first + p->shown), (long long)(p->first + p->shown),
        (long long)p->first, (long long)p->first, step, (long long)p->first, step);
}

static void release(pattern *p)
{
    ps_csr_release(&p->matrix);
    free(p->pixel);
}

ps_status plot_sparsity(const plot_request *request, canvas *c)
{
    PS_SCOPED(release) pattern p = {0};
    const char *path = request->files[0];
    PS_TRY(plot_need_files(request, 1, 1, "matrix, .mtx or .mtx.gz, or load of a box"));
    PS_TRY(is_store(path) ? read_box(path, &p) : read_text(path, &p));
    PS_TRY(gather(request, &p));
    draw(request, &p, c);
    return PS_OK;
}
