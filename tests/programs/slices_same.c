/*
 * slices_same A B: whether two slice matrices hold the same row-vectors and M^0, bit for bit,
 * however they are cut into tiles and parts. Prints what differs first; exit 0 if nothing does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/slice_matrix.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* All row-vectors of a file by (slice, row). */
typedef struct expanded {
    int64_t n;
    size_t width;
    uint16_t *starts, *lengths; /* [n * n] */
    char **values;              /* [n * n], into tile memory */
    ps_csr m0;
} expanded;

static ps_status expand_tile(ps_slice_matrix *matrix, int64_t index, expanded *out)
{
    int64_t raw_bytes, bytes;
    ps_slice_tile tile;
    PS_SCOPED_MEMORY void *raw = NULL;
    void *unpacked;
    ps_slice_matrix_tile_bytes(matrix, index, &raw_bytes, &bytes);
    PS_TRY(ps_alloc(&raw, raw_bytes, 1, "stored tile"));
    PS_TRY(ps_alloc(&unpacked, bytes, 1, "tile"));
    PS_TRY(ps_slice_matrix_read_raw(matrix, index, raw));
    PS_TRY(ps_slice_matrix_unpack(matrix, index, raw, unpacked, &tile));
    char *value = tile.values;
    for (int64_t v = 0; v < tile.slices * tile.rows; ++v) {
        int64_t at = (tile.first_slice + v / tile.rows) * out->n + tile.first_row + v % tile.rows;
        out->starts[at] = tile.lengths[v] ? tile.starts[v] : 0;
        out->lengths[at] = tile.lengths[v];
        out->values[at] = value;
        value += tile.lengths[v] * out->width;
    }
    return PS_OK; /* the tile stays: values point into it */
}

static ps_status expand(const char *path, expanded *out)
{
    ps_slice_matrix *matrix;
    PS_TRY(ps_slice_matrix_open(path, &matrix));
    const ps_slice_header *header = ps_slice_matrix_header(matrix);
    out->n = header->unknowns;
    out->width = header->precision == PS_SINGLE ? 4 : 8;
    PS_TRY(PS_ALLOC(&out->starts, out->n * out->n, "starts"));
    PS_TRY(PS_ALLOC(&out->lengths, out->n * out->n, "lengths"));
    PS_TRY(PS_ALLOC(&out->values, out->n * out->n, "values"));
    for (int64_t t = 0; t < ps_slice_matrix_tile_count(matrix); ++t)
        PS_TRY(expand_tile(matrix, t, out));
    PS_TRY(ps_slice_matrix_load_m0(matrix, &out->m0));
    ps_slice_matrix_close(&matrix);
    return PS_OK;
}

static int differ(const expanded *a, const expanded *b)
{
    if (a->n != b->n || a->width != b->width) return printf("sizes differ\n");
    for (int64_t v = 0; v < a->n * a->n; ++v)
        if (a->starts[v] != b->starts[v] || a->lengths[v] != b->lengths[v] ||
            memcmp(a->values[v], b->values[v], a->lengths[v] * a->width) != 0)
            return printf("slice %lld row %lld differs\n", (long long)(v / a->n),
                          (long long)(v % a->n));
    if (a->m0.nnz != b->m0.nnz ||
        memcmp(a->m0.columns, b->m0.columns, (size_t)a->m0.nnz * sizeof *a->m0.columns) != 0 ||
        memcmp(a->m0.values, b->m0.values, (size_t)a->m0.nnz * sizeof *a->m0.values) != 0)
        return printf("M^0 differs\n");
    printf("%lld slices are the same\n", (long long)a->n);
    return 0;
}

int main(int argc, char **argv)
{
    expanded a = {0}, b = {0};
    if (argc != 3) return fprintf(stderr, "usage: slices_same A B\n"), 2;
    if (expand(argv[1], &a) != PS_OK || expand(argv[2], &b) != PS_OK)
        return fprintf(stderr, "%s\n", ps_message()), 3;
    return differ(&a, &b) ? 1 : 0;
}
