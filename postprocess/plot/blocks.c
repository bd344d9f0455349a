/*
 * The blocks of one slice over its structure: rectangles of the full and contiguous blocking, or
 * the padded warps.
 */

#include "formats/block_matrix.h"
#include "kernels/common/reals.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { ROWS_SHOWN = 96 };

typedef struct block_picture {
    structure s;
    const ps_block_header *header;
    int64_t slice, rectangles;
    canvas *c;
} block_picture;

static double value_of(const block_picture *p, const ps_block_tile *tile, int64_t at)
{
    return ps_real_at(p->header->slices.precision, tile->values, at);
}

/* A rectangle from (row, k), `rows` high and `columns` wide, as a line of the block $R. */
static void put_rectangle(block_picture *p, int64_t row, int64_t k, int64_t rows, int64_t columns)
{
    if (row + rows <= p->s.first || row >= p->s.first + p->s.count) return;
    double x = (double)k - 0.5, y = (double)row - 0.5;
    double right = x + (double)columns, low = y + (double)rows;
    canvas_put(p->c, "%g %g\n%g %g\n%g %g\n%g %g\n%g %g\n\n", x, y, right, y, right, low, x, low, x,
               y);
    ++p->rectangles;
}

static void add_full(block_picture *p, const ps_block_tile *tile)
{
    int64_t rows = p->header->block_rows, columns = p->header->block_columns;
    int64_t slice = p->slice - tile->first_slice;
    for (int64_t b = tile->block_start[slice]; b < tile->block_start[slice + 1]; ++b) {
        int64_t row = tile->first_row + tile->corner_rows[b], k = tile->corner_columns[b];
        for (int64_t q = 0; q < columns; ++q)
            for (int64_t r = 0; r < rows; ++r)
                structure_add(&p->s, row + r, k + q,
                              value_of(p, tile, (b * columns + q) * rows + r));
        put_rectangle(p, row, k, rows, columns);
    }
}

/* A row of a contiguous block or of a warp: its own rectangle, one row high. */
static void add_contiguous(block_picture *p, const ps_block_tile *tile)
{
    int64_t rows = p->header->block_rows, columns = p->header->block_columns;
    int64_t slice = p->slice - tile->first_slice, blocks = (tile->rows + rows - 1) / rows;
    for (int64_t r = 0; r < tile->rows; ++r) {
        int64_t k = tile->starts[slice * tile->rows + r], b = slice * blocks + r / rows;
        for (int64_t q = 0; q < columns; ++q)
            structure_add(&p->s, tile->first_row + r, k + q,
                          value_of(p, tile, (b * columns + q) * rows + r % rows));
        put_rectangle(p, tile->first_row + r, k, 1, columns);
    }
}

static void add_warps(block_picture *p, const ps_block_tile *tile)
{
    int64_t slice = p->slice - tile->first_slice, at = 0;
    int64_t warps = (tile->rows + PS_WARP_ROWS - 1) / PS_WARP_ROWS;
    for (int64_t w = 0; w < warps; ++w)
        for (int64_t s = 0; s < tile->slices; ++s) {
            int64_t width = tile->widths[w * tile->slices + s];
            for (int lane = 0; s == slice && lane < PS_WARP_ROWS; ++lane) {
                int64_t row = w * PS_WARP_ROWS + lane;
                int64_t k = tile->starts[(w * tile->slices + s) * PS_WARP_ROWS + lane];
                if (row >= tile->rows) break;
                for (int64_t q = 0; q < width; ++q)
                    structure_add(&p->s, tile->first_row + row, k + q,
                                  value_of(p, tile, at + q * PS_WARP_ROWS + lane));
                put_rectangle(p, tile->first_row + row, k, 1, width);
            }
            at += width * PS_WARP_ROWS;
        }
}

static ps_status add_tile(ps_block_matrix *matrix, int64_t index, block_picture *p)
{
    static void (*const add[])(block_picture *,
                               const ps_block_tile *) = {[PS_BLOCK_FULL] = add_full,
                                                         [PS_BLOCK_CONTIGUOUS] = add_contiguous,
                                                         [PS_BLOCK_WARP] = add_warps};
    int64_t raw_bytes = 0, unpacked_bytes = 0;
    ps_block_matrix_tile_bytes(matrix, index, &raw_bytes, &unpacked_bytes);
    PS_SCOPED_MEMORY char *raw = NULL, *unpacked = NULL;
    ps_block_tile tile;
    PS_TRY(PS_ALLOC(&raw, raw_bytes, "a tile"));
    PS_TRY(PS_ALLOC(&unpacked, unpacked_bytes, "a tile"));
    PS_TRY(ps_block_matrix_read_raw(matrix, index, raw));
    PS_TRY(ps_block_matrix_unpack(matrix, index, raw, unpacked, &tile));
    add[p->header->layout](p, &tile);
    return PS_OK;
}

static ps_status gather(const plot_request *request, ps_block_matrix *matrix, block_picture *p)
{
    const ps_slice_header *slices = &p->header->slices;
    int64_t count = request->row_count;
    PS_TRY(structure_slice(slices->unknowns, request->slice, &p->slice));
    if (count == 0 && request->first_row < slices->unknowns)
        count = slices->unknowns - request->first_row < ROWS_SHOWN
                    ? slices->unknowns - request->first_row
                    : ROWS_SHOWN;
    PS_TRY(structure_init(&p->s, slices->unknowns, request->first_row, count,
                          slices->k_max + p->header->block_columns, p->c->height));
    canvas_put(p->c, "$R << END\n");
    for (int64_t index = 0; index < ps_block_matrix_tile_count(matrix); ++index) {
        ps_block_tile tile;
        PS_TRY(ps_block_matrix_tile_info(matrix, index, &tile));
        bool wanted = p->slice >= tile.first_slice && p->slice < tile.first_slice + tile.slices &&
                      tile.first_row < p->s.first + p->s.count &&
                      tile.first_row + tile.rows > p->s.first;
        if (wanted) PS_TRY(add_tile(matrix, index, p));
    }
    canvas_put(p->c, "END\n");
    return PS_OK;
}

static ps_status draw(const plot_request *request, ps_block_matrix *matrix, block_picture *p)
{
    p->header = ps_block_matrix_header(matrix);
    PS_TRY(gather(request, matrix, p));
    char title[200];
    snprintf(title, sizeof title, "%s blocking of slice %lld, rows %lld to %lld: NNZ %.1f %%",
             ps_block_layout_name(p->header->layout), (long long)p->slice, (long long)p->s.first,
             (long long)(p->s.first + p->s.count - 1), p->header->fill);
    canvas_title(p->c, request->title ? request->title : title);
    structure_put(&p->s, p->c);
    canvas_put(p->c, "plot ");
    structure_put_plot(&p->s, p->c);
    if (p->rectangles)
        canvas_put(p->c, ", $R using 1:2 with lines lw %g lc rgb '#D55E00' notitle",
                   p->s.count > 200 ? 0.5 : 0.9);
    canvas_put(p->c, "\n");
    return PS_OK;
}

static void release(block_picture *p) { structure_release(&p->s); }

ps_status plot_blocks(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *matrix = NULL;
    PS_SCOPED(release) block_picture p = {.c = c};
    PS_TRY(plot_need_files(request, 1, 1, "block matrix"));
    PS_TRY(ps_block_matrix_open(request->files[0], &matrix));
    return draw(request, matrix, &p);
}
