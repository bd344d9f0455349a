/* octree_file: the tree, its particles and its lists in a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/entries.h"
#include "formats/octree.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { COLUMNS_MAX = PS_PARTICLE_COLUMNS_MAX + 1 }; /* the last of a side is the permutation */

typedef struct side_state {
    int columns; /* of particles: 3, or 3 + right_hand_sides */
    int ids[COLUMNS_MAX];
    int64_t tiles, capacity, *start;
} side_state;

struct ps_octree_file {
    ps_store *store;
    ps_particle_file *particles; /* whose store it is; NULL: an octree */
    ps_octree_header header;
    side_state sides[2];
};

static const char *const side_names[] = {"sources", "targets"};

static void level_name(char out[PS_NAME_MAX], const char *side, int level, const char *what)
{
    snprintf(out, PS_NAME_MAX, "/%s/level_%02d/%s", side, level, what);
}

static void column_name(char out[PS_NAME_MAX], ps_octree_side side, int column, int columns)
{
    char letter[4] = {"xyz"[column < 3 ? column : 0], 0};
    if (column >= 3 && column < columns) snprintf(letter, sizeof letter, "q%d", (column - 3) % 10);
    snprintf(out, PS_NAME_MAX, "/%s/%s", side_names[side],
             column == columns ? "permutation" : letter);
}

static ps_status put_ints(ps_store *store, const char *name, const char *description,
                          const void *values, int64_t count)
{
    ps_dataset_spec spec = {.name = name,
                            .type = PS_I64,
                            .rank = 1,
                            .dims = {count},
                            .units = "1",
                            .description = description};
    return ps_store_write_array(store, &spec, values);
}

static ps_status get_size(ps_store *store, const char *name, int64_t *count)
{
    ps_dataset_info info;
    *count = 0;
    PS_TRY(ps_store_describe(store, name, &info));
    if (info.type != PS_I64 || info.rank != 1)
        return ps_fail(PS_INVALID, "%s: %s is not a list of i64", ps_store_path(store), name);
    *count = info.dims[0];
    return PS_OK;
}

static ps_status get_ints(ps_store *store, const char *name, int64_t count, int64_t *out)
{
    int64_t stored = 0;
    PS_TRY(get_size(store, name, &stored));
    if (stored != count)
        return ps_fail(PS_INVALID, "%s: %s has %lld values, not %lld", ps_store_path(store), name,
                       (long long)stored, (long long)count);
    return count ? ps_store_read_array(store, name, PS_I64, 0, count, PS_ROOM(out, count), out)
                 : PS_OK;
}

static ps_status get_list_of_ints(ps_store *store, const char *name, int64_t **out, int64_t *count)
{
    PS_TRY(get_size(store, name, count));
    PS_TRY(PS_ALLOC(out, *count, name));
    return get_ints(store, name, *count, *out);
}

/* ---- writing ---- */

static ps_status pass_header(ps_store *store, const ps_octree_header *h, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("group_size", h->group_size),
                                PS_ENTRY("same", h->same),
                                PS_ENTRY("count", h->count),
                                PS_ENTRY("corner", h->box.corner),
                                PS_ENTRY("width", h->box.width),
                                PS_ENTRY("length_units", h->length_units),
                                PS_ENTRY("charge_units", h->charge_units)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

static ps_status put_header(ps_store *store, const ps_octree_header *h)
{
    PS_TRY(ps_store_put_int(store, "/", "height", h->height));
    PS_TRY(ps_store_put_int(store, "/", "right_hand_sides", h->right_hand_sides));
    PS_TRY(ps_moments_put(store, h->moments));
    return pass_header(store, h, ps_entries_put);
}

ps_status ps_octree_create(const char *path, const ps_store_identity *identity,
                           const ps_octree_header *header, ps_octree_file **out)
{
    PS_TRY(PS_ALLOC(out, 1, "an octree file"));
    (*out)->header = *header;
    ps_store_identity own = *identity;
    own.format_version = ps_moments_version(header->moments);
    ps_status status = ps_store_create(path, &own, &(*out)->store);
    if (status == PS_OK) status = put_header((*out)->store, header);
    if (status != PS_OK) ps_octree_close(out);
    return status;
}

static ps_status define_columns(ps_octree_file *file, ps_octree_side side)
{
    side_state *s = &file->sides[side];
    for (int c = 0; c <= s->columns; ++c) {
        char name[PS_NAME_MAX];
        column_name(name, side, c, s->columns);
        bool place = c == s->columns;
        ps_dataset_spec spec = {.name = name,
                                .type = place ? PS_I64 : PS_F64,
                                .rank = 2,
                                .dims = {s->tiles, s->capacity},
                                .chunk_rows = 1,
                                .units = place   ? "1"
                                         : c < 3 ? file->header.length_units
                                                 : file->header.charge_units,
                                .description = place   ? "place in the caller's order"
                                               : c < 3 ? "position, sorted by leaf"
                                                       : "charge or mass, sorted by leaf"};
        PS_TRY(ps_store_define(file->store, &spec, &s->ids[c]));
    }
    return PS_OK;
}

ps_status ps_octree_put_tree(ps_octree_file *file, ps_octree_side side, const ps_octree *tree)
{
    char name[PS_NAME_MAX];
    side_state *s = &file->sides[side];
    for (int l = 0; l < tree->height; ++l) {
        level_name(name, side_names[side], l, "keys");
        PS_TRY(
            put_ints(file->store, name, "Morton keys of the cells", tree->keys[l], tree->cells[l]));
        level_name(name, side_names[side], l, "start");
        PS_TRY(put_ints(file->store, name, "first child of each cell, or first particle",
                        l < tree->height - 1 ? tree->child_start[l] : tree->particle_start,
                        tree->cells[l] + 1));
    }
    PS_TRY(ps_octree_tiles(tree, &s->start, &s->tiles, &s->capacity));
    snprintf(name, sizeof name, "/%s/tile_start", side_names[side]);
    PS_TRY(put_ints(file->store, name, "first particle of each tile", s->start, s->tiles + 1));
    s->columns = side == PS_OCTREE_SOURCES ? 3 + file->header.right_hand_sides : 3;
    return define_columns(file, side);
}

ps_status ps_octree_write_tile(ps_octree_file *file, ps_octree_side side, int64_t tile,
                               const double *const *columns, const int64_t *permutation)
{
    const side_state *s = &file->sides[side];
    int64_t count = s->start[tile + 1] - s->start[tile];
    for (int c = 0; c < s->columns; ++c)
        PS_TRY(ps_store_write_chunk(file->store, s->ids[c], tile, columns[c], count, NULL));
    return ps_store_write_chunk(file->store, s->ids[s->columns], tile, permutation, count, NULL);
}

static const char *const list_names[] = {"far_groups", "near_groups", "augmented"};
static const char *const list_texts[] = {"source groups of M2L", "other source groups of P2P",
                                         "neighbour leaves of later groups"};
static const char *const forecast_names[] = {"far_pairs", "near_pairs", "augmented_pairs"};
static const char *const forecast_texts[] = {"cell pairs of M2L", "particle pairs of P2P",
                                             "particle pairs with augmented leaves"};

/* Lists and forecasts are those of the targets' groups. */
static const char *target_side(const ps_octree_file *file)
{
    return side_names[file->header.same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS];
}

static void start_name(char out[PS_NAME_MAX], const ps_octree_file *file, ps_octree_list which,
                       int level)
{
    char what[64];
    snprintf(what, sizeof what, "%s_start", list_names[which]);
    level_name(out, target_side(file), level, what);
}

ps_status ps_octree_put_list(ps_octree_file *file, ps_octree_list which, int level,
                             const ps_group_list *list)
{
    char name[PS_NAME_MAX];
    start_name(name, file, which, level);
    PS_TRY(put_ints(file->store, name, "first item of each group", list->start, list->groups + 1));
    level_name(name, target_side(file), level, list_names[which]);
    return put_ints(file->store, name, list_texts[which], list->items, list->start[list->groups]);
}

ps_status ps_octree_put_forecast(ps_octree_file *file, ps_octree_forecast which, int level,
                                 const int64_t *values, int64_t groups)
{
    char name[PS_NAME_MAX];
    level_name(name, target_side(file), level, forecast_names[which]);
    return put_ints(file->store, name, forecast_texts[which], values, groups);
}

ps_status ps_octree_commit(ps_octree_file **file, int64_t coincident, int64_t clamped)
{
    ps_status status = ps_store_put_int((*file)->store, "/", "coincident", coincident);
    if (status == PS_OK) status = ps_store_put_int((*file)->store, "/", "clamped", clamped);
    if (status == PS_OK) status = ps_store_commit(&(*file)->store);
    ps_octree_close(file);
    return status;
}

void ps_octree_close(ps_octree_file **file)
{
    if (!*file) return;
    if (!(*file)->particles) ps_store_close(&(*file)->store);
    ps_particles_close(&(*file)->particles);
    for (int s = 0; s < 2; ++s) free((*file)->sides[s].start);
    free(*file);
    *file = NULL;
}

/* ---- reading ---- */

static ps_status get_header(ps_store *store, ps_octree_header *h)
{
    int64_t height, sides;
    PS_TRY(ps_store_get_int(store, "/", "height", &height));
    PS_TRY(ps_store_get_int(store, "/", "right_hand_sides", &sides));
    PS_TRY(pass_header(store, h, ps_entries_get));
    PS_TRY(ps_store_get_int(store, "/", "coincident", &h->coincident));
    PS_TRY(ps_store_get_int(store, "/", "clamped", &h->clamped));
    if (height < 1 || height > PS_OCTREE_LEVELS_MAX || h->group_size < 1 || sides < 1 ||
        sides > PS_RIGHT_HAND_SIDES_MAX || !(h->box.width > 0) || h->count[0] < 1 ||
        h->count[1] < 1)
        return ps_fail(PS_INVALID,
                       "%s: height %lld, groups of %lld, %lld charges, width %g: not "
                       "those of an octree",
                       ps_store_path(store), (long long)height, (long long)h->group_size,
                       (long long)sides, h->box.width);
    h->height = (int)height;
    h->right_hand_sides = (int)sides;
    h->sorted = true;
    return ps_moments_get(store, h->right_hand_sides, &h->moments);
}

static ps_status get_tiles(ps_octree_file *file, ps_octree_side side)
{
    char name[PS_NAME_MAX];
    side_state *s = &file->sides[side];
    ps_store *store = file->store;
    int64_t starts = 0, count = file->header.count[side];
    snprintf(name, sizeof name, "/%s/tile_start", side_names[side]);
    PS_TRY(get_list_of_ints(store, name, &s->start, &starts));
    s->tiles = starts - 1;
    bool good = starts >= 2 && s->start[0] == 0 && s->start[s->tiles] == count;
    for (int64_t t = 0; good && t < s->tiles; ++t) good = s->start[t + 1] > s->start[t];
    if (!good)
        return ps_fail(PS_INVALID, "%s: %s does not cut %lld particles into tiles",
                       ps_store_path(store), name, (long long)count);
    return PS_OK;
}

/* The chunk tables tell that every tile has its particles. */
static ps_status check_column(const ps_octree_file *file, const side_state *s, int column)
{
    ps_dataset_info info;
    ps_chunk_info chunk;
    PS_TRY(ps_store_dataset(file->store, s->ids[column], &info));
    bool good = info.type == (column == s->columns ? PS_I64 : PS_F64) &&
                info.chunk_count == s->tiles &&
                (file->particles ? info.rank == 1 : info.rank == 2 && info.chunk_rows == 1);
    for (int64_t t = 0; good && t < s->tiles; ++t) {
        PS_TRY(ps_store_chunk(file->store, s->ids[column], t, &chunk));
        good = chunk.count == s->start[t + 1] - s->start[t] && chunk.non_finite == 0;
    }
    return good ? PS_OK
                : ps_fail(PS_INVALID,
                          "%s: the tiles of %s are not those of tile_start, or hold "
                          "values that are not finite",
                          ps_store_path(file->store), info.name);
}

/* The chunks of a file of particles. */
static ps_status chunks_as_tiles(ps_octree_file *file, side_state *s)
{
    s->tiles = ps_particles_chunk_count(file->particles);
    PS_TRY(PS_ALLOC(&s->start, s->tiles + 1, "tiles"));
    for (int64_t t = 0; t < s->tiles; ++t)
        s->start[t + 1] = s->start[t] + ps_particles_chunk_size(file->particles, t);
    return PS_OK;
}

static ps_status open_side(ps_octree_file *file, ps_octree_side side)
{
    side_state *s = &file->sides[side];
    s->columns = side == PS_OCTREE_SOURCES ? 3 + file->header.right_hand_sides : 3;
    PS_TRY(file->particles ? chunks_as_tiles(file, s) : get_tiles(file, side));
    for (int c = 0; c < s->columns + !file->particles; ++c) {
        char name[PS_NAME_MAX];
        column_name(name, side, c, s->columns);
        const char *own = file->particles ? strrchr(name, '/') : name;
        PS_TRY(ps_store_find(file->store, own, &s->ids[c]));
        PS_TRY(check_column(file, s, c));
    }
    return PS_OK;
}

static ps_status open_particles(const char *path, ps_octree_file *file)
{
    PS_TRY(ps_particles_open(path, &file->particles));
    const ps_particle_header *h = ps_particles_header(file->particles);
    file->store = ps_particles_store(file->particles);
    file->header = (ps_octree_header){.height = 1,
                                      .right_hand_sides = h->right_hand_sides,
                                      .moments = h->moments,
                                      .group_size = 1,
                                      .box = ps_octree_bounding_box(h->lower, h->upper),
                                      .same = true,
                                      .count = {h->count, h->count}};
    memcpy(file->header.length_units, h->length_units, sizeof h->length_units);
    memcpy(file->header.charge_units, h->charge_units, sizeof h->charge_units);
    return PS_OK;
}

static ps_status open_header(const char *path, ps_octree_file *file)
{
    ps_store *any;
    bool particles = ps_store_open_unchecked(path, NULL, 0, &any) == PS_OK &&
                     strcmp(ps_store_format(any), PS_PARTICLES_FORMAT) == 0;
    ps_store_close(&any);
    if (particles) return open_particles(path, file);
    PS_TRY(ps_store_open(path, PS_OCTREE_FORMAT, PS_OCTREE_VERSION, &file->store));
    return get_header(file->store, &file->header);
}

ps_status ps_octree_open(const char *path, ps_octree_file **out)
{
    *out = NULL;
    PS_TRY(PS_ALLOC(out, 1, "an octree file"));
    ps_status status = open_header(path, *out);
    if (status == PS_OK) status = open_side(*out, PS_OCTREE_SOURCES);
    if (status == PS_OK && !(*out)->header.same) status = open_side(*out, PS_OCTREE_TARGETS);
    if (status != PS_OK) ps_octree_close(out);
    return status;
}

const ps_octree_header *ps_octree_file_header(const ps_octree_file *file) { return &file->header; }

ps_store *ps_octree_file_store(const ps_octree_file *file) { return file->store; }

static ps_octree_side stored_side(const ps_octree_file *file, ps_octree_side side)
{
    return file->header.same ? PS_OCTREE_SOURCES : side;
}

static ps_status read_levels(ps_octree_file *file, ps_octree_side side, ps_octree *tree)
{
    char name[PS_NAME_MAX];
    for (int l = 0; l < tree->height; ++l) {
        level_name(name, side_names[side], l, "keys");
        PS_TRY(get_ints(file->store, name, tree->cells[l], (int64_t *)tree->keys[l]));
        level_name(name, side_names[side], l, "start");
        PS_TRY(get_ints(file->store, name, tree->cells[l] + 1,
                        l < tree->height - 1 ? tree->child_start[l] : tree->particle_start));
    }
    ps_status status = ps_octree_check(tree);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_store_path(file->store));
}

ps_status ps_octree_load_tree(ps_octree_file *file, ps_octree_side side, ps_octree *out)
{
    char name[PS_NAME_MAX];
    const ps_octree_header *h = &file->header;
    int64_t cells[PS_OCTREE_LEVELS_MAX] = {1};
    memset(out, 0, sizeof *out);
    side = stored_side(file, side);
    for (int l = 0; l < h->height && h->sorted; ++l) {
        level_name(name, side_names[side], l, "keys");
        PS_TRY(get_size(file->store, name, &cells[l]));
    }
    PS_TRY(ps_octree_init(out, h->height, &h->box, cells, h->group_size));
    out->particles = h->count[side];
    if (!h->sorted) {
        memset(out->memory, 0, (size_t)ps_octree_bytes(1, cells));
        out->particle_start[1] = out->particles;
        return PS_OK;
    }
    ps_status status = read_levels(file, side, out);
    if (status != PS_OK) ps_octree_release(out);
    return status;
}

const int64_t *ps_octree_tile_start(const ps_octree_file *file, ps_octree_side side, int64_t *tiles)
{
    const side_state *s = &file->sides[stored_side(file, side)];
    *tiles = s->tiles;
    return s->start;
}

/* One column's part of tile t within [first, end), to out, which begins at `first`. */
static ps_status read_part(ps_octree_file *file, const side_state *s, int column, int64_t tile,
                           const int64_t range[2], char *out)
{
    int64_t begin = s->start[tile], size = s->start[tile + 1] - begin;
    int64_t from = range[0] > begin ? range[0] : begin;
    int64_t to = range[1] < begin + size ? range[1] : begin + size;
    char *here = out + 8 * (from - range[0]);
    if (to - from == size)
        return ps_store_read_values(file->store, s->ids[column], tile, 8 * size, here);
    PS_SCOPED_MEMORY double *whole = NULL;
    PS_TRY(PS_ALLOC(&whole, size, "a tile of particles"));
    PS_TRY(ps_store_read_values(file->store, s->ids[column], tile, 8 * size, whole));
    memcpy(here, whole + (from - begin), 8 * (size_t)(to - from));
    return PS_OK;
}

ps_status ps_octree_read(ps_octree_file *file, ps_octree_side side, int64_t first, int64_t count,
                         double *const *columns, int column_count, int64_t *permutation)
{
    const side_state *s = &file->sides[stored_side(file, side)];
    int64_t range[2] = {first, first + count};
    if (first < 0 || count < 0 || range[1] > s->start[s->tiles] || column_count > s->columns)
        return ps_fail(PS_FAILED, "%s: no particles %lld to %lld, or not %d columns of them",
                       ps_store_path(file->store), (long long)first, (long long)range[1],
                       column_count);
    for (int64_t t = ps_range_of(s->start, s->tiles, first); s->start[t] < range[1]; ++t) {
        for (int c = 0; c < column_count; ++c)
            PS_TRY(read_part(file, s, c, t, range, (char *)columns[c]));
        if (permutation && file->header.sorted)
            PS_TRY(read_part(file, s, s->columns, t, range, (char *)permutation));
    }
    for (int64_t i = 0; permutation && i < count; ++i) {
        if (!file->header.sorted) permutation[i] = first + i;
        if (permutation[i] < 0 || permutation[i] >= s->start[s->tiles])
            return ps_fail(PS_INVALID, "%s: particle %lld has place %lld of %lld",
                           ps_store_path(file->store), (long long)(first + i),
                           (long long)permutation[i], (long long)s->start[s->tiles]);
    }
    return PS_OK;
}

static ps_status get_list(ps_octree_file *file, ps_octree_list which, int level, ps_group_list *out)
{
    char name[PS_NAME_MAX];
    int64_t starts = 0, items = 0;
    start_name(name, file, which, level);
    PS_TRY(get_list_of_ints(file->store, name, &out->start, &starts));
    out->groups = starts - 1;
    level_name(name, target_side(file), level, list_names[which]);
    PS_TRY(get_list_of_ints(file->store, name, &out->items, &items));
    bool good = starts >= 1 && out->start[0] == 0 && out->start[out->groups] == items;
    for (int64_t g = 0; good && g < out->groups; ++g) good = out->start[g + 1] >= out->start[g];
    return good ? PS_OK
                : ps_fail(PS_INVALID, "%s: the starts of %s do not fit it",
                          ps_store_path(file->store), name);
}

ps_status ps_octree_get_list(ps_octree_file *file, ps_octree_list which, int level,
                             ps_group_list *out)
{
    memset(out, 0, sizeof *out);
    if (!file->header.sorted) { /* one group, which needs no other one */
        out->groups = 1;
        PS_TRY(PS_ALLOC(&out->items, 1, "a list of groups"));
        return PS_ALLOC(&out->start, 2, "a list of groups");
    }
    ps_status status = get_list(file, which, level, out);
    if (status != PS_OK) ps_group_list_release(out);
    return status;
}

ps_status ps_octree_get_forecast(ps_octree_file *file, ps_octree_forecast which, int level,
                                 int64_t **values, int64_t *groups)
{
    char name[PS_NAME_MAX];
    *values = NULL;
    if (!file->header.sorted) {
        int64_t n = ps_smaller(file->header.count[0], (int64_t)1 << 31); /* or too many to sum */
        *groups = 1;
        PS_TRY(PS_ALLOC(values, 1, "forecasts"));
        if (which == PS_OCTREE_NEAR_PAIRS) **values = n * (n - 1) / 2;
        return PS_OK;
    }
    level_name(name, target_side(file), level, forecast_names[which]);
    ps_status status = get_list_of_ints(file->store, name, values, groups);
    if (status != PS_OK) {
        free(*values);
        *values = NULL;
    }
    return status;
}
