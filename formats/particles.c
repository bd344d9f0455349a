#include "formats/particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

/* 1 MiB a chunk and column; 4 MiB where a column has 256 MiB or more. */
enum { SMALL_ROWS = 1 << 17, LARGE_ROWS = 1 << 19, LARGE_FROM = 1 << 25 };

struct ps_particle_file {
    ps_store *store;
    ps_particle_header header;
    int columns, ids[PS_PARTICLE_COLUMNS_MAX];
    int64_t chunk_rows;
};

static const char *column_name(int column, char out[8])
{
    if (column < 3)
        snprintf(out, 8, "/%c", "xyz"[column]);
    else
        snprintf(out, 8, "/q%d", (column - 3) % 10);
    return out;
}

const char *const ps_moments_names[PS_MOMENTS_COUNT] = {"charges", "dipoles", "charges-and-dipoles",
                                                        "forces", "complex"};

int ps_moments_columns(ps_moments moments)
{
    static const int columns[PS_MOMENTS_COUNT] = {1, 3, 4, 3, 2};
    return columns[moments];
}

int ps_moments_version(ps_moments moments) { return moments == PS_MOMENTS_CHARGES ? 1 : 2; }

static ps_status check_moments(const char *path, ps_moments moments, int columns)
{
    if (columns % ps_moments_columns(moments) == 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %d columns of %s, which have %d each", path, columns,
                   ps_moments_names[moments], ps_moments_columns(moments));
}

ps_status ps_moments_put(ps_store *store, ps_moments moments)
{
    if (moments == PS_MOMENTS_CHARGES) return PS_OK;
    return ps_store_put_text(store, "/", "moments", ps_moments_names[moments]);
}

ps_status ps_moments_get(const ps_store *store, int columns, ps_moments *moments)
{
    char name[32];
    *moments = PS_MOMENTS_CHARGES;
    if (ps_store_version(store) < 2) return PS_OK;
    PS_TRY(ps_store_get_text(store, "/", "moments", name, sizeof name));
    for (int m = 0; m < PS_MOMENTS_COUNT; ++m)
        if (strcmp(name, ps_moments_names[m]) == 0) {
            *moments = (ps_moments)m;
            return check_moments(ps_store_path(store), *moments, columns);
        }
    return ps_fail(PS_INVALID, "%s: moments \"%s\" are not known", ps_store_path(store), name);
}

static ps_status check_header(const char *path, const ps_particle_header *h)
{
    if (h->count < 1)
        return ps_fail(PS_INVALID, "%s: %lld particles; there must be one at least", path,
                       (long long)h->count);
    if (h->right_hand_sides < 1 || h->right_hand_sides > PS_RIGHT_HAND_SIDES_MAX)
        return ps_fail(PS_INVALID, "%s: %d charges a particle; there may be 1 to %d", path,
                       h->right_hand_sides, PS_RIGHT_HAND_SIDES_MAX);
    return check_moments(path, h->moments, h->right_hand_sides);
}

static ps_status new_file(const ps_particle_header *header, ps_particle_file **out)
{
    PS_TRY(PS_ALLOC(out, 1, "a file of particles"));
    (*out)->header = *header;
    (*out)->columns = 3 + header->right_hand_sides;
    (*out)->chunk_rows = header->count >= LARGE_FROM ? LARGE_ROWS : SMALL_ROWS;
    return PS_OK;
}

static ps_status define_columns(ps_particle_file *file)
{
    const ps_particle_header *h = &file->header;
    PS_TRY(ps_store_put_int(file->store, "/", "count", h->count));
    PS_TRY(ps_store_put_int(file->store, "/", "right_hand_sides", h->right_hand_sides));
    PS_TRY(ps_moments_put(file->store, h->moments));
    for (int c = 0; c < file->columns; ++c) {
        char name[8];
        ps_dataset_spec spec = {.name = column_name(c, name),
                                .type = PS_F64,
                                .rank = 1,
                                .dims = {h->count},
                                .chunk_rows = file->chunk_rows,
                                .units = c < 3 ? h->length_units : h->charge_units,
                                .description = c < 3         ? "position"
                                               : h->moments ? ps_moments_names[h->moments]
                                                            : "charge or mass"};
        PS_TRY(ps_store_define(file->store, &spec, &file->ids[c]));
    }
    return PS_OK;
}

ps_status ps_particles_create(const char *path, const ps_store_identity *identity,
                              const ps_particle_header *header, ps_particle_file **out)
{
    *out = NULL;
    PS_TRY(check_header(path, header));
    PS_TRY(new_file(header, out));
    ps_store_identity own = *identity;
    own.format_version = ps_moments_version(header->moments);
    own.disk_estimate = 8 * (int64_t)(*out)->columns * header->count;
    ps_status status = ps_store_create(path, &own, &(*out)->store);
    if (status == PS_OK) status = define_columns(*out);
    if (status != PS_OK) ps_particles_close(out);
    return status;
}

int64_t ps_particles_chunk_rows(const ps_particle_file *file) { return file->chunk_rows; }

int64_t ps_particles_chunk_count(const ps_particle_file *file)
{
    return (file->header.count + file->chunk_rows - 1) / file->chunk_rows;
}

int64_t ps_particles_chunk_size(const ps_particle_file *file, int64_t chunk)
{
    int64_t left = file->header.count - chunk * file->chunk_rows;
    return left < file->chunk_rows ? left : file->chunk_rows;
}

ps_status ps_particles_write_chunk(ps_particle_file *file, int64_t chunk,
                                   const double *const *columns)
{
    int64_t count = ps_particles_chunk_size(file, chunk);
    for (int c = 0; c < file->columns; ++c)
        PS_TRY(ps_store_write_chunk(file->store, file->ids[c], chunk, columns[c], count, NULL));
    return PS_OK;
}

/* The tables tell extent and faults without a reading of the data. */
static ps_status scan_column(ps_particle_file *file, int column)
{
    ps_dataset_info info;
    ps_chunk_info chunk;
    double low = INFINITY, high = -INFINITY;
    PS_TRY(ps_store_dataset(file->store, file->ids[column], &info));
    for (int64_t c = 0; c < info.chunk_count; ++c) {
        PS_TRY(ps_store_chunk(file->store, file->ids[column], c, &chunk));
        if (chunk.non_finite > 0)
            return ps_fail(PS_INVALID, "%s: chunk %lld of %s has %lld values that are not finite",
                           ps_store_path(file->store), (long long)c, info.name,
                           (long long)chunk.non_finite);
        low = fmin(low, chunk.minimum);
        high = fmax(high, chunk.maximum);
    }
    if (column < 3) {
        file->header.lower[column] = low;
        file->header.upper[column] = high;
    }
    return PS_OK;
}

static ps_status scan_columns(ps_particle_file *file)
{
    for (int c = 0; c < file->columns; ++c) PS_TRY(scan_column(file, c));
    return PS_OK;
}

ps_status ps_particles_commit(ps_particle_file **file)
{
    ps_status status = scan_columns(*file);
    if (status == PS_OK) status = ps_store_commit(&(*file)->store);
    ps_particles_close(file);
    return status;
}

void ps_particles_close(ps_particle_file **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    free(*file);
    *file = NULL;
}

static ps_status find_column(ps_particle_file *file, int column)
{
    char name[8];
    ps_dataset_info info;
    PS_TRY(ps_store_find(file->store, column_name(column, name), &file->ids[column]));
    PS_TRY(ps_store_dataset(file->store, file->ids[column], &info));
    if (info.type != PS_F64 || info.rank != 1 || info.dims[0] != file->header.count)
        return ps_fail(PS_INVALID, "%s: %s is not an array of %lld fp64 values",
                       ps_store_path(file->store), name, (long long)file->header.count);
    if (column == 0) file->chunk_rows = info.chunk_rows;
    char *units = column < 3 ? file->header.length_units : file->header.charge_units;
    memcpy(units, info.units, sizeof file->header.length_units);
    return PS_OK;
}

static ps_status read_header(ps_store *store, ps_particle_header *h)
{
    int64_t sides;
    PS_TRY(ps_store_get_int(store, "/", "count", &h->count));
    PS_TRY(ps_store_get_int(store, "/", "right_hand_sides", &sides));
    h->right_hand_sides = sides < 0 || sides > INT32_MAX ? 0 : (int)sides;
    PS_TRY(ps_moments_get(store, h->right_hand_sides, &h->moments));
    return check_header(ps_store_path(store), h);
}

ps_status ps_particles_open(const char *path, ps_particle_file **out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_SCOPED(ps_particles_close) ps_particle_file *file = NULL;
    ps_particle_header header = {0};
    *out = NULL;
    PS_TRY(ps_store_open(path, PS_PARTICLES_FORMAT, PS_PARTICLES_VERSION, &store));
    PS_TRY(read_header(store, &header));
    PS_TRY(new_file(&header, &file));
    file->store = store;
    store = NULL;
    for (int c = 0; c < file->columns; ++c) PS_TRY(find_column(file, c));
    PS_TRY(scan_columns(file));
    *out = file;
    file = NULL;
    return PS_OK;
}

const ps_particle_header *ps_particles_header(const ps_particle_file *file)
{
    return &file->header;
}

ps_store *ps_particles_store(const ps_particle_file *file) { return file->store; }

ps_status ps_particles_read(ps_particle_file *file, int64_t first, int64_t count,
                            double *const *columns, int column_count)
{
    char name[8];
    if (column_count > file->columns)
        return ps_fail(PS_FAILED, "%s has %d columns, not %d", ps_store_path(file->store),
                       file->columns, column_count);
    for (int c = 0; c < column_count; ++c)
        PS_TRY(ps_store_read_array(file->store, column_name(c, name), PS_F64, first, count,
                                   PS_ROOM(columns[c], count), columns[c]));
    return PS_OK;
}
