#include "formats/fmm_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_memory.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* As columns of particles: 1 MiB a chunk; 4 MiB where a column has 256 MiB or more. */
enum { SMALL_ROWS = 1 << 17, LARGE_ROWS = 1 << 19, LARGE_FROM = 1 << 25 };

struct ps_fmm_result {
    ps_store *store;
    ps_fmm_result_header header;
    int potential[PS_RIGHT_HAND_SIDES_MAX], gradient[PS_RIGHT_HAND_SIDES_MAX]; /* datasets */
};

int64_t ps_fmm_result_chunk_rows(int64_t count)
{
    return count >= LARGE_FROM ? LARGE_ROWS : SMALL_ROWS;
}

static ps_status define_side(ps_fmm_result *file, int side)
{
    const ps_fmm_result_header *h = &file->header;
    char name[32];
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {h->count, 3},
                            .chunk_rows = ps_fmm_result_chunk_rows(h->count),
                            .units = h->potential_units,
                            .description = "phi_i = sum_j q_j K(|x_i - x_j|)"};
    snprintf(name, sizeof name, "/potential%d", side);
    PS_TRY(ps_store_define(file->store, &spec, &file->potential[side]));
    if (!h->gradient) return PS_OK;
    snprintf(name, sizeof name, "/gradient%d", side);
    spec.rank = 2;
    spec.units = h->gradient_units;
    spec.description = "grad phi_i";
    return ps_store_define(file->store, &spec, &file->gradient[side]);
}

static ps_status define_all(ps_fmm_result *file)
{
    const ps_fmm_result_header *h = &file->header;
    PS_TRY(ps_store_put_int(file->store, "/", "count", h->count));
    PS_TRY(ps_store_put_int(file->store, "/", "right_hand_sides", h->right_hand_sides));
    PS_TRY(ps_store_put_int(file->store, "/", "gradient", h->gradient));
    for (int side = 0; side < h->right_hand_sides; ++side) PS_TRY(define_side(file, side));
    return PS_OK;
}

ps_status ps_fmm_result_create(const char *path, const ps_store_identity *identity,
                               const ps_fmm_result_header *header, ps_fmm_result **out)
{
    PS_TRY(PS_ALLOC(out, 1, "a file of results"));
    (*out)->header = *header;
    ps_store_identity own = *identity;
    own.disk_estimate = 8 * (header->gradient ? 4 : 1) * header->right_hand_sides * header->count;
    ps_status status = ps_store_create(path, &own, &(*out)->store);
    if (status == PS_OK) status = define_all(*out);
    if (status != PS_OK) ps_fmm_result_close(out);
    return status;
}

ps_store *ps_fmm_result_store(ps_fmm_result *file) { return file->store; }

/* The first target of a chunk with a value that is not finite; -1: none. */
static int64_t first_bad(const double *values, int64_t stride, int64_t rows, int count)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int v = 0; v < count; ++v)
            if (!isfinite(values[v * stride + i])) return i;
    return -1;
}

static ps_status write_sides(ps_fmm_result *file, int64_t chunk, const double *values,
                             int64_t stride, int64_t rows, double *triples)
{
    int sides = file->header.right_hand_sides;
    for (int side = 0; side < sides; ++side) {
        PS_TRY(ps_store_write_chunk(file->store, file->potential[side], chunk,
                                    values + side * stride, rows, NULL));
        if (!file->header.gradient) continue;
        const double *from = values + (sides + 3 * side) * stride;
        for (int64_t i = 0; i < rows; ++i)
            for (int d = 0; d < 3; ++d) triples[3 * i + d] = from[d * stride + i];
        PS_TRY(ps_store_write_chunk(file->store, file->gradient[side], chunk, triples, 3 * rows,
                                    NULL));
    }
    return PS_OK;
}

int64_t ps_fmm_result_write_bytes(int64_t rows)
{
    return 24 * rows + ps_store_writer_bytes(24 * rows);
}

ps_status ps_fmm_result_write(ps_fmm_result *file, int64_t chunk, const double *values,
                              int64_t stride)
{
    const ps_fmm_result_header *h = &file->header;
    int64_t chunk_rows = ps_fmm_result_chunk_rows(h->count), left = h->count - chunk * chunk_rows,
            rows = left < chunk_rows ? left : chunk_rows;
    int64_t bad = first_bad(values, stride, rows, (h->gradient ? 4 : 1) * h->right_hand_sides);
    PS_SCOPED_MEMORY double *triples = NULL;
    if (bad >= 0)
        return ps_fail(PS_INVALID,
                       "the result at target %lld is not finite: two particles are too close, or "
                       "values are too large",
                       (long long)(chunk * chunk_rows + bad));
    PS_TRY(ps_alloc_untouched((void **)&triples, 24 * rows, "gradients of a chunk"));
    return write_sides(file, chunk, values, stride, rows, triples);
}

ps_status ps_fmm_result_commit(ps_fmm_result **file)
{
    ps_status status = ps_store_commit(&(*file)->store);
    free(*file);
    *file = NULL;
    return status;
}

void ps_fmm_result_close(ps_fmm_result **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    free(*file);
    *file = NULL;
}

void ps_fmm_result_units(const char *charge, const char *length, int degree, char *out, size_t size)
{
    bool has_charge = strcmp(charge, "1") != 0, has_length = strcmp(length, "1") != 0 && degree;
    if (!has_length)
        snprintf(out, size, "%s", charge);
    else
        snprintf(out, size, "%s%s%s^%d", has_charge ? charge : "", has_charge ? " " : "", length,
                 degree);
}
