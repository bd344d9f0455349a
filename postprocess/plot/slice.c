/*
 * The structure of one slice: |M^k(i,j)| over k and row i. With a Hilbert order neighbouring
 * rows lie near each other in space, and their row-vectors begin at nearby k.
 */

#include "formats/slice_matrix.h"
#include "kernels/common/reals.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Adds slice j of a tile. */
static void add_rows(const ps_slice_tile *tile, ps_precision precision, int64_t j, structure *s)
{
    int64_t first = (j - tile->first_slice) * tile->rows, at = 0;
    for (int64_t v = 0; v < first; ++v) at += tile->lengths[v];
    for (int64_t r = 0; r < tile->rows; ++r)
        for (int64_t q = 0; q < tile->lengths[first + r]; ++q, ++at)
            structure_add(s, tile->first_row + r, tile->starts[first + r] + q,
                          ps_real_at(precision, tile->values, at));
}

static ps_status add_tile(ps_slice_matrix *matrix, int64_t index, int64_t j, structure *s)
{
    int64_t raw_bytes = 0, unpacked_bytes = 0;
    ps_slice_matrix_tile_bytes(matrix, index, &raw_bytes, &unpacked_bytes);
    PS_SCOPED_MEMORY char *raw = NULL, *unpacked = NULL;
    ps_slice_tile tile;
    PS_TRY(PS_ALLOC(&raw, raw_bytes, "a tile"));
    PS_TRY(PS_ALLOC(&unpacked, unpacked_bytes, "a tile"));
    PS_TRY(ps_slice_matrix_read_raw(matrix, index, raw));
    PS_TRY(ps_slice_matrix_unpack(matrix, index, raw, unpacked, &tile));
    add_rows(&tile, ps_slice_matrix_header(matrix)->precision, j, s);
    return PS_OK;
}

static ps_status draw(const plot_request *request, ps_slice_matrix *matrix, structure *s, canvas *c)
{
    const ps_slice_header *header = ps_slice_matrix_header(matrix);
    int64_t j = 0;
    PS_TRY(structure_slice(header->unknowns, request->slice, &j));
    PS_TRY(structure_init(s, header->unknowns, request->first_row, request->row_count,
                          header->k_max, c->height));
    for (int64_t index = 0; index < ps_slice_matrix_tile_count(matrix); ++index) {
        ps_slice_tile tile;
        PS_TRY(ps_slice_matrix_tile_info(matrix, index, &tile));
        bool wanted = j >= tile.first_slice && j < tile.first_slice + tile.slices &&
                      tile.first_row < s->first + s->count && tile.first_row + tile.rows > s->first;
        if (wanted) PS_TRY(add_tile(matrix, index, j, s));
    }
    char title[160];
    snprintf(title, sizeof title, "slice %lld of %lld: %s, K = %lld, d_max = %lld", (long long)j,
             (long long)header->unknowns, ps_formulation_name(header->formulation),
             (long long)header->k_max, (long long)header->d_max);
    canvas_title(c, request->title ? request->title : title);
    structure_put(s, c);
    canvas_put(c, "plot ");
    structure_put_plot(s, c);
    canvas_put(c, "\n");
    return PS_OK;
}

ps_status plot_slice(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *matrix = NULL;
    PS_SCOPED(structure_release) structure s = {0};
    PS_TRY(plot_need_files(request, 1, 1, "slice matrix"));
    PS_TRY(ps_slice_matrix_open(request->files[0], &matrix));
    return draw(request, matrix, &s, c);
}
