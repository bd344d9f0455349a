#include <stdio.h>
#include <string.h>

#include "formats/slice_matrix.h"
#include "kernels/common/reals.h"
#include "postprocess/compare/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* Slice matrices of other numbers of ranks, or that were cut into different tiles: their
 * row-vectors are compared entry by entry, M^k(i,j), missing entries being 0. */

/* A matrix and one tile of it in memory. */
typedef struct tile_reader {
    ps_slice_matrix *matrix;
    int64_t loaded; /* -1: none */
    void *raw, *unpacked;
    ps_slice_tile tile;
} tile_reader;

static ps_status tile_reader_open(tile_reader *reader, const char *path)
{
    int64_t raw = 0, unpacked = 0;
    reader->loaded = -1;
    PS_TRY(ps_slice_matrix_open(path, &reader->matrix));
    for (int64_t t = 0; t < ps_slice_matrix_tile_count(reader->matrix); ++t) {
        int64_t sizes[2];
        ps_slice_matrix_tile_bytes(reader->matrix, t, &sizes[0], &sizes[1]);
        if (sizes[0] > raw) raw = sizes[0];
        if (sizes[1] > unpacked) unpacked = sizes[1];
    }
    PS_TRY(ps_alloc(&reader->raw, raw + 128, 1, "a stored tile"));
    return ps_alloc(&reader->unpacked, unpacked + 128, 1, "a tile");
}

static void tile_reader_close(tile_reader *reader)
{
    ps_slice_matrix_close(&reader->matrix);
    PS_FREE(reader->raw, reader->unpacked);
}

static ps_status tile_reader_load(tile_reader *reader, int64_t index)
{
    if (reader->loaded == index) return PS_OK;
    reader->loaded = -1;
    PS_TRY(ps_slice_matrix_read_raw(reader->matrix, index, reader->raw));
    PS_TRY(ps_slice_matrix_unpack(reader->matrix, index, reader->raw, reader->unpacked,
                                  &reader->tile));
    reader->loaded = index;
    return PS_OK;
}

/* ---- row-vectors ---- */

typedef struct row_vector {
    int64_t start, length; /* k = start .. start + length - 1 */
    const void *values;
    ps_precision precision;
} row_vector;

/* Row-vector of row i in slice j, which the loaded tile holds. */
static row_vector row_vector_of(const tile_reader *reader, int64_t i, int64_t j)
{
    const ps_slice_tile *t = &reader->tile;
    int64_t row = i - t->first_row, slice = j - t->first_slice, block = row / PS_TILE_ROW_BLOCK;
    const uint16_t *lengths = t->lengths + slice * t->rows;
    int64_t at = t->offsets[slice * ps_slice_tile_row_blocks(t) + block];
    for (int64_t r = block * PS_TILE_ROW_BLOCK; r < row; ++r) at += lengths[r];
    ps_precision precision = ps_slice_matrix_header(reader->matrix)->precision;
    return (row_vector){.start = t->starts[slice * t->rows + row],
                        .length = lengths[row],
                        .values = (const char *)t->values + at * ps_real_bytes(precision),
                        .precision = precision};
}

static double entry(const row_vector *v, int64_t k)
{
    if (k < v->start || k >= v->start + v->length) return 0;
    return ps_real_at(v->precision, v->values, k - v->start);
}

/* Adds all k that either has. */
static void compare_vectors(const row_vector *a, const row_vector *b, difference *d)
{
    const row_vector *both[2] = {a, b};
    int64_t first = INT64_MAX, end = 0;
    for (int s = 0; s < 2; ++s) {
        if (!both[s]->length) continue;
        if (both[s]->start < first) first = both[s]->start;
        if (both[s]->start + both[s]->length > end) end = both[s]->start + both[s]->length;
    }
    bool shaped = a->length == b->length && (!a->length || a->start == b->start);
    for (int64_t k = first; k < end; ++k) {
        double x = entry(a, k), y = entry(b, k);
        bool same = shaped && memcmp(&x, &y, sizeof x) == 0;
        if (!same && d->differing++ == 0) d->first = d->values;
        ++d->values;
        difference_add(d, x, y, 1);
    }
}

/* ---- tiles ---- */

static bool overlap(const ps_slice_tile *a, const ps_slice_tile *b)
{
    return a->first_row < b->first_row + b->rows && b->first_row < a->first_row + a->rows &&
           a->first_slice < b->first_slice + b->slices &&
           b->first_slice < a->first_slice + a->slices;
}

static void compare_overlap(const tile_reader *a, const tile_reader *b, difference *d)
{
    const ps_slice_tile *s = &a->tile, *t = &b->tile;
    int64_t last_row = ps_smaller(s->first_row + s->rows, t->first_row + t->rows);
    int64_t last_slice = ps_smaller(s->first_slice + s->slices, t->first_slice + t->slices);
    for (int64_t j = ps_larger(s->first_slice, t->first_slice); j < last_slice; ++j)
        for (int64_t i = ps_larger(s->first_row, t->first_row); i < last_row; ++i) {
            row_vector v = row_vector_of(a, i, j), w = row_vector_of(b, i, j);
            compare_vectors(&v, &w, d);
        }
}

static ps_status compare_tiles(tile_reader *a, tile_reader *b, difference *d)
{
    for (int64_t s = 0; s < ps_slice_matrix_tile_count(a->matrix); ++s) {
        PS_TRY(tile_reader_load(a, s));
        for (int64_t t = 0; t < ps_slice_matrix_tile_count(b->matrix); ++t) {
            ps_slice_tile other;
            PS_TRY(ps_slice_matrix_tile_info(b->matrix, t, &other));
            if (!overlap(&a->tile, &other)) continue;
            PS_TRY(tile_reader_load(b, t));
            compare_overlap(a, b, d);
        }
    }
    return PS_OK;
}

/* ---- M^0 ---- */

static void compare_row(const ps_csr *a, const ps_csr *b, int64_t i, difference *d)
{
    int64_t p = a->row_start[i], q = b->row_start[i];
    while (p < a->row_start[i + 1] || q < b->row_start[i + 1]) {
        int64_t left = p < a->row_start[i + 1] ? a->columns[p] : INT64_MAX;
        int64_t right = q < b->row_start[i + 1] ? b->columns[q] : INT64_MAX;
        double x = left <= right ? a->values[p++] : 0, y = right <= left ? b->values[q++] : 0;
        bool same = left == right && memcmp(&x, &y, sizeof x) == 0;
        if (!same && d->differing++ == 0) d->first = d->values;
        ++d->values;
        difference_add(d, x, y, 1);
    }
}

static ps_status compare_m0(tile_reader *a, tile_reader *b, difference *d)
{
    PS_SCOPED(ps_csr_release) ps_csr x = {.rows = 0};
    PS_SCOPED(ps_csr_release) ps_csr y = {.rows = 0};
    PS_TRY(ps_slice_matrix_load_m0(a->matrix, &x));
    PS_TRY(ps_slice_matrix_load_m0(b->matrix, &y));
    for (int64_t i = 0; i < x.rows; ++i) compare_row(&x, &y, i, d);
    return PS_OK;
}

/* ---- both ---- */

static bool same_tiles(const ps_slice_matrix *a, const ps_slice_matrix *b)
{
    int64_t count = ps_slice_matrix_tile_count(a);
    bool same = count == ps_slice_matrix_tile_count(b);
    for (int64_t t = 0; same && t < count; ++t) {
        ps_slice_tile x, y;
        same = ps_slice_matrix_tile_info(a, t, &x) == PS_OK &&
               ps_slice_matrix_tile_info(b, t, &y) == PS_OK && x.first_row == y.first_row &&
               x.rows == y.rows && x.first_slice == y.first_slice && x.slices == y.slices;
    }
    return same;
}

/* Parts that a file is made of: each has a row of the histogram, and its own root attributes. */
static int64_t count_parts(ps_slice_matrix *matrix)
{
    int id;
    ps_dataset_info info;
    ps_store *store = ps_slice_matrix_store(matrix);
    bool known = ps_store_find(store, "/length_histogram", &id) == PS_OK &&
                 ps_store_dataset(store, id, &info) == PS_OK;
    return known ? info.dims[0] : 0;
}

static ps_status check_headers(const tile_reader readers[2], compare_result *result)
{
    const ps_slice_header *a = ps_slice_matrix_header(readers[0].matrix);
    const ps_slice_header *b = ps_slice_matrix_header(readers[1].matrix);
    if (a->unknowns != b->unknowns)
        return ps_fail(PS_INVALID, "the matrices have %lld and %lld unknowns",
                       (long long)a->unknowns, (long long)b->unknowns);
    if (a->formulation != b->formulation || a->combined != b->combined ||
        strcmp(a->lining, b->lining) != 0)
        compare_note(result, "the formulations differ");
    if (a->dt != b->dt) compare_note(result, "the time steps differ");
    if (a->speed != b->speed) compare_note(result, "the speeds differ");
    return PS_OK;
}

static ps_status compare_all(tile_reader readers[2], const compare_settings *settings,
                             ps_report *report, compare_result *result)
{
    static const char *const names[] = {"M^0", "M^k, k >= 1"};
    difference d[2];
    PS_TRY(check_headers(readers, result));
    for (int part = 0; part < 2; ++part) difference_clear(&d[part]);
    PS_TRY(compare_m0(&readers[0], &readers[1], &d[0]));
    PS_TRY(compare_tiles(&readers[0], &readers[1], &d[1]));
    for (int part = 0; part < 2; ++part) {
        char text[256];
        ps_report_section(report, names[part]);
        difference_report(report, &d[part]);
        if (difference_passes(&d[part], settings)) continue;
        snprintf(text, sizeof text, "%s differs: relative L2 %.3g, largest difference %.3g",
                 names[part], difference_relative_l2(&d[part]), d[part].largest);
        compare_note(result, text);
    }
    return PS_OK;
}

ps_status compare_slices(const char *path, const char *reference, const compare_settings *settings,
                         ps_report *report, compare_result *result, bool *done)
{
    tile_reader readers[2] = {{.loaded = -1}, {.loaded = -1}};
    ps_status status = tile_reader_open(&readers[0], path);
    if (status == PS_OK) status = tile_reader_open(&readers[1], reference);
    *done = status == PS_OK && (!same_tiles(readers[0].matrix, readers[1].matrix) ||
                                count_parts(readers[0].matrix) != count_parts(readers[1].matrix));
    if (*done) status = compare_all(readers, settings, report, result);
    for (int s = 0; s < 2; ++s) tile_reader_close(&readers[s]);
    return status;
}
