#include "formats/fmm_result.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_memory.h"
#include "runtime/memory.h"

/* As columns of particles: 1 MiB a chunk; 4 MiB where a column has 256 MiB or more. */
enum { SMALL_ROWS = 1 << 17, LARGE_ROWS = 1 << 19, LARGE_FROM = 1 << 25 };

/* Where a thread brings rows side by side. Rooms are kept: a process that gives large blocks back
 * at once would wait for the pages of every chunk anew. */
typedef struct row_room {
    struct row_room *next;
    double values[];
} row_room;

struct ps_fmm_result {
    ps_store *store;
    ps_fmm_result_header header;
    /* Datasets of each side. */
    int potential[PS_RIGHT_HAND_SIDES_MAX], gradient[PS_RIGHT_HAND_SIDES_MAX];
    int hessian[PS_RIGHT_HAND_SIDES_MAX];
    pthread_mutex_t lock; /* of `idle` */
    row_room *idle;
};

int64_t ps_fmm_result_chunk_rows(int64_t count)
{
    return count >= LARGE_FROM ? LARGE_ROWS : SMALL_ROWS;
}

int ps_fmm_result_version(const ps_fmm_result_header *h)
{
    return h->components > 1 || h->hessian ? 2 : 1;
}

/* Numbers of a target in the file. */
static int values_of(const ps_fmm_result_header *h)
{
    return (1 + (h->gradient ? 3 : 0) + (h->hessian ? 6 : 0)) * h->components * h->right_hand_sides;
}

/* [N], [N][each], of several components [N][components] and [N][components][each]. */
static ps_status define(ps_fmm_result *file, const char *what, int side, int each, int *dataset)
{
    const ps_fmm_result_header *h = &file->header;
    char name[32];
    const char *units = each == 1   ? h->potential_units
                        : each == 3 ? h->gradient_units
                                    : h->hessian_units;
    snprintf(name, sizeof name, "/%s%d", what, side);
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {h->count},
                            .dimensions = {"/target"},
                            .chunk_rows = ps_fmm_result_chunk_rows(h->count),
                            .units = units,
                            .description = each == 1 ? "phi_i = sum_j q_j K(|x_i - x_j|)"
                                           : each == 3
                                               ? "grad phi_i"
                                               : "second derivatives xx, xy, xz, yy, yz, zz"};
    if (h->components > 1) {
        spec.dimensions[spec.rank] = "/component";
        spec.dims[spec.rank++] = h->components;
    }
    if (each > 1) {
        spec.dimensions[spec.rank] = each == 3 ? "/direction" : "/derivative";
        spec.dims[spec.rank++] = each;
    }
    if (h->components > 1 && each == 1) spec.description = "of each component";
    return ps_store_define(file->store, &spec, dataset);
}

static ps_status define_side(ps_fmm_result *file, int side)
{
    const ps_fmm_result_header *h = &file->header;
    const char *value = h->components == 3 ? "velocity" : "potential";
    const char *slope = h->components == 3 ? "velocity_gradient" : "gradient";
    PS_TRY(define(file, value, side, 1, &file->potential[side]));
    if (h->gradient) PS_TRY(define(file, slope, side, 3, &file->gradient[side]));
    return h->hessian ? define(file, "hessian", side, 6, &file->hessian[side]) : PS_OK;
}

static ps_status define_all(ps_fmm_result *file)
{
    const ps_fmm_result_header *h = &file->header;
    PS_TRY(ps_store_put_int(file->store, "/", "count", h->count));
    PS_TRY(ps_store_put_int(file->store, "/", "right_hand_sides", h->right_hand_sides));
    PS_TRY(ps_store_put_int(file->store, "/", "gradient", h->gradient));
    if (ps_fmm_result_version(h) > 1) {
        PS_TRY(ps_store_put_int(file->store, "/", "components", h->components));
        PS_TRY(ps_store_put_int(file->store, "/", "hessian", h->hessian));
    }
    for (int side = 0; side < h->right_hand_sides; ++side) PS_TRY(define_side(file, side));
    return PS_OK;
}

ps_status ps_fmm_result_create(const char *path, const ps_store_identity *identity,
                               const ps_fmm_result_header *header, ps_fmm_result **out)
{
    PS_TRY(PS_ALLOC(out, 1, "a file of results"));
    (*out)->header = *header;
    pthread_mutex_init(&(*out)->lock, NULL);
    ps_store_identity own = *identity;
    own.disk_estimate = 8 * (int64_t)values_of(header) * header->count;
    own.format_version = ps_fmm_result_version(header);
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

/* Rows [from, from + width) side by side. */
static ps_status write_rows(ps_fmm_result *file, int dataset, int64_t chunk, const double *from,
                            int width, int64_t stride, int64_t rows, double *room)
{
    if (width > 1)
        for (int64_t i = 0; i < rows; ++i)
            for (int d = 0; d < width; ++d) room[width * i + d] = from[d * stride + i];
    return ps_store_write_chunk(file->store, dataset, chunk, width > 1 ? room : from, width * rows,
                                NULL);
}

static ps_status write_sides(ps_fmm_result *file, int64_t chunk, const double *values,
                             int64_t stride, int64_t rows, double *room)
{
    const ps_fmm_result_header *h = &file->header;
    int sides = h->right_hand_sides, each = h->components, all = sides * each;
    for (int side = 0; side < sides; ++side) {
        const double *slopes = values + (all + 3 * each * side) * stride,
                     *second = values + (4 * all + 6 * each * side) * stride;
        PS_TRY(write_rows(file, file->potential[side], chunk, values + each * side * stride, each,
                          stride, rows, room));
        if (h->gradient)
            PS_TRY(write_rows(file, file->gradient[side], chunk, slopes, 3 * each, stride, rows,
                              room));
        if (h->hessian)
            PS_TRY(
                write_rows(file, file->hessian[side], chunk, second, 6 * each, stride, rows, room));
    }
    return PS_OK;
}

static int64_t widest(const ps_fmm_result_header *h)
{
    return h->components * (h->hessian ? 6 : 3);
}

int64_t ps_fmm_result_write_bytes(const ps_fmm_result_header *h, int64_t rows, int64_t targets)
{
    int64_t row = 8 * widest(h);
    return row * rows + ps_store_writer_bytes(row * rows) - row * (rows - targets);
}

static ps_status take_room(ps_fmm_result *file, int64_t rows, row_room **out)
{
    pthread_mutex_lock(&file->lock);
    *out = file->idle;
    if (*out) file->idle = (*out)->next;
    pthread_mutex_unlock(&file->lock);
    if (*out) return PS_OK;
    return ps_alloc_untouched((void **)out,
                              (int64_t)sizeof **out + 8 * widest(&file->header) * rows,
                              "results of a chunk");
}

static void give_room(ps_fmm_result *file, row_room *room)
{
    pthread_mutex_lock(&file->lock);
    room->next = file->idle;
    file->idle = room;
    pthread_mutex_unlock(&file->lock);
}

static void release(ps_fmm_result **file)
{
    while ((*file)->idle) {
        row_room *next = (*file)->idle->next;
        free((*file)->idle);
        (*file)->idle = next;
    }
    pthread_mutex_destroy(&(*file)->lock);
    free(*file);
    *file = NULL;
}

ps_status ps_fmm_result_write(ps_fmm_result *file, int64_t chunk, const double *values,
                              int64_t stride)
{
    const ps_fmm_result_header *h = &file->header;
    int64_t chunk_rows = ps_fmm_result_chunk_rows(h->count), left = h->count - chunk * chunk_rows,
            rows = left < chunk_rows ? left : chunk_rows;
    int64_t bad = first_bad(values, stride, rows, values_of(h));
    row_room *room;
    if (bad >= 0)
        return ps_fail(PS_INVALID,
                       "the result at target %lld is not finite: two particles are too close, or "
                       "values are too large",
                       (long long)(chunk * chunk_rows + bad));
    PS_TRY(take_room(file, chunk_rows < h->count ? chunk_rows : h->count, &room));
    ps_status status = write_sides(file, chunk, values, stride, rows, room->values);
    give_room(file, room);
    return status;
}

ps_status ps_fmm_result_commit(ps_fmm_result **file)
{
    ps_status status = ps_store_commit(&(*file)->store);
    release(file);
    return status;
}

void ps_fmm_result_close(ps_fmm_result **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    release(file);
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
