#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/compare/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- reading a dataset row after row, whatever its chunks ---- */

typedef struct row_cursor {
    ps_store *store;
    int id;
    ps_dataset_info info;
    int64_t row_values; /* per row         */
    int64_t *start;     /* [chunks + 1] first row of each chunk */
    int64_t at;         /* chunk of the latest row              */
    int64_t chunk;      /* in buffer; -1                        */
    char *buffer;
} row_cursor;

static void row_cursor_release(row_cursor *cursor)
{
    PS_FREE(cursor->buffer, cursor->start);
    cursor->buffer = NULL;
    cursor->start = NULL;
}

/* In a master file the last chunk of every part may have fewer rows than the others. */
static ps_status find_starts(row_cursor *cursor)
{
    const ps_dataset_info *info = &cursor->info;
    PS_TRY(PS_ALLOC(&cursor->start, info->chunk_count + 1, "chunk starts"));
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(cursor->store, cursor->id, c, &chunk));
        int64_t rows = info->chunk_rows == 1 ? 1 : chunk.count / cursor->row_values;
        cursor->start[c + 1] = cursor->start[c] + rows;
    }
    if (cursor->start[info->chunk_count] == info->dims[0]) return PS_OK;
    return ps_fail(PS_INVALID, "%s: the chunks of %s do not cover its rows",
                   ps_store_path(cursor->store), info->name);
}

static ps_status row_cursor_init(row_cursor *cursor, ps_store *store, int id)
{
    *cursor = (row_cursor){.store = store, .id = id, .chunk = -1, .row_values = 1};
    PS_TRY(ps_store_dataset(store, id, &cursor->info));
    for (int d = 1; d < cursor->info.rank; ++d) cursor->row_values *= cursor->info.dims[d];
    PS_TRY(find_starts(cursor));
    return PS_ALLOC(&cursor->buffer, cursor->info.chunk_bytes, "a chunk to compare");
}

/* The rows from `row` on that one chunk holds; rows are asked for in ascending order. */
static ps_status row_cursor_at(row_cursor *cursor, int64_t row, const char **data, int64_t *rows)
{
    while (row >= cursor->start[cursor->at + 1]) ++cursor->at;
    if (cursor->at != cursor->chunk) {
        cursor->chunk = -1;
        PS_TRY(ps_store_read_chunk(cursor->store, cursor->id, cursor->at, cursor->info.chunk_bytes,
                                   cursor->buffer));
        cursor->chunk = cursor->at;
    }
    int64_t inside = row - cursor->start[cursor->at];
    *rows = cursor->start[cursor->at + 1] - row;
    *data = cursor->buffer + inside * cursor->row_values * (int64_t)ps_type_size(cursor->info.type);
    return PS_OK;
}

/* ---- values of any type ---- */

enum { BATCH = 2048 };

#define WIDEN(type)                                                                                \
    for (int64_t i = 0; i < count; ++i) out[i] = (double)((const type *)data)[i]

static void widen(ps_type type, const void *data, int64_t count, double *out)
{
    switch (type) {
    case PS_U8:
        WIDEN(uint8_t);
        break;
    case PS_U16:
        WIDEN(uint16_t);
        break;
    case PS_U32:
        WIDEN(uint32_t);
        break;
    case PS_I32:
        WIDEN(int32_t);
        break;
    case PS_I64:
        WIDEN(int64_t);
        break;
    case PS_F32:
        WIDEN(float);
        break;
    case PS_F64:
        WIDEN(double);
        break;
    }
}

static bool is_real(ps_type type) { return type == PS_F32 || type == PS_F64; }

/* Values [first, first + count) of both: equal bits where the types are the same, equal
 * values otherwise. */
static void compare_batch(const ps_type types[2], const char *const data[2], int64_t first,
                          int64_t count, difference *d)
{
    double a[BATCH], b[BATCH];
    size_t size = ps_type_size(types[0]);
    bool same_type = types[0] == types[1];
    bool equal = same_type && memcmp(data[0], data[1], (size_t)count * size) == 0;
    widen(types[0], data[0], count, a);
    widen(types[1], data[1], count, b);
    for (int64_t i = 0; i < count; ++i) {
        bool same = equal || (same_type ? memcmp(data[0] + (size_t)i * size,
                                                 data[1] + (size_t)i * size, size) == 0
                                        : a[i] == b[i]);
        if (!same && d->differing++ == 0) d->first = first + i;
        difference_add(d, a[i], b[i], 1);
    }
    d->values += count;
}

static void compare_run(const row_cursor cursors[2], const char *const data[2], int64_t first,
                        int64_t count, difference *d)
{
    ps_type types[2] = {cursors[0].info.type, cursors[1].info.type};
    for (int64_t at = 0; at < count; at += BATCH) {
        const char *from[2];
        for (int s = 0; s < 2; ++s) from[s] = data[s] + at * (int64_t)ps_type_size(types[s]);
        compare_batch(types, from, first + at, count - at < BATCH ? count - at : BATCH, d);
    }
}

/* ---- shapes ---- */

/* Ragged datasets (a row a chunk) may have different capacities, in a master even from part to
 * part: the valid values count. */
static bool is_ragged(const ps_dataset_info *a, const ps_dataset_info *b)
{
    return a->rank == 2 && b->rank == 2 && a->chunk_rows == 1 && b->chunk_rows == 1 &&
           a->dims[0] == b->dims[0];
}

static bool same_shape(const ps_dataset_info *a, const ps_dataset_info *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; ++d)
        if (a->dims[d] != b->dims[d]) return false;
    return true;
}

static void print_shape(const ps_dataset_info *info, char *out, size_t size)
{
    size_t length = 0;
    for (int d = 0; d < info->rank && length < size; ++d)
        length += (size_t)snprintf(out + length, size - length, "%s%lld", d ? " x " : "",
                                   (long long)info->dims[d]);
}

/* ---- one dataset ---- */

static ps_status compare_rows(row_cursor cursors[2], difference *d)
{
    int64_t rows = cursors[0].info.dims[0], values = cursors[0].row_values;
    for (int64_t row = 0; row < rows;) {
        const char *data[2] = {NULL, NULL};
        int64_t available[2] = {0, 0};
        for (int s = 0; s < 2; ++s)
            PS_TRY(row_cursor_at(&cursors[s], row, &data[s], &available[s]));
        int64_t run = available[0] < available[1] ? available[0] : available[1];
        compare_run(cursors, data, row * values, run * values, d);
        row += run;
    }
    return PS_OK;
}

/* The same, but the reference's rows lie in another order: they are all read first. */
static ps_status compare_placed(row_cursor cursors[2], const int64_t *places, difference *d)
{
    int64_t rows = cursors[1].info.dims[0], size = (int64_t)ps_type_size(cursors[1].info.type);
    int64_t bytes = cursors[1].row_values * size;
    PS_SCOPED_MEMORY char *all = NULL;
    ps_status status = PS_OK;
    PS_TRY(ps_alloc((void **)&all, rows * bytes, 1, "the reference's rows"));
    for (int64_t row = 0, run; row < rows && status == PS_OK; row += run) {
        const char *data = NULL;
        status = row_cursor_at(&cursors[1], row, &data, &run);
        if (status == PS_OK) memcpy(all + row * bytes, data, (size_t)(run * bytes));
    }
    for (int64_t row = 0, run; row < rows && status == PS_OK; row += run) {
        const char *data = NULL;
        status = row_cursor_at(&cursors[0], row, &data, &run);
        for (int64_t i = 0; i < run && status == PS_OK; ++i) {
            const char *both[2] = {data + i * cursors[0].row_values *
                                              (int64_t)ps_type_size(cursors[0].info.type),
                                   all + places[row + i] * bytes};
            compare_run(cursors, both, (row + i) * cursors[0].row_values, cursors[0].row_values, d);
        }
    }
    return status;
}

/* Rows with different capacities: counts must agree, the rest is padding. */
static ps_status compare_ragged(row_cursor cursors[2], difference *d)
{
    for (int64_t row = 0; row < cursors[0].info.dims[0]; ++row) {
        const char *data[2] = {NULL, NULL};
        ps_chunk_info chunks[2];
        int64_t rows;
        for (int s = 0; s < 2; ++s) {
            PS_TRY(row_cursor_at(&cursors[s], row, &data[s], &rows));
            PS_TRY(ps_store_chunk(cursors[s].store, cursors[s].id, row, &chunks[s]));
        }
        int64_t more = chunks[0].count - chunks[1].count;
        int64_t common = more < 0 ? chunks[0].count : chunks[1].count;
        compare_run(cursors, data, d->values, common, d);
        if (more) {
            if (d->differing == 0) d->first = d->values;
            d->differing += llabs(more);
            d->non_finite += llabs(more);
        }
    }
    return PS_OK;
}

static ps_status compare_values(ps_store *const stores[2], const int ids[2],
                                const compare_settings *settings, difference *d)
{
    row_cursor cursors[2] = {{.buffer = NULL}, {.buffer = NULL}};
    ps_status status = PS_OK;
    difference_clear(d);
    for (int s = 0; s < 2; ++s)
        PS_GUARD(status, done, row_cursor_init(&cursors[s], stores[s], ids[s]));
    if (is_ragged(&cursors[0].info, &cursors[1].info))
        status = compare_ragged(cursors, d);
    else if (settings->places && cursors[0].info.dims[0] == settings->places_count)
        status = compare_placed(cursors, settings->places, d);
    else
        status = compare_rows(cursors, d);
done:
    for (int s = 0; s < 2; ++s) row_cursor_release(&cursors[s]);
    return status;
}

/* Type, shape and units; false (and a note) if the values cannot be compared. */
static bool comparable(const ps_dataset_info *a, const ps_dataset_info *b,
                       const compare_settings *settings, char *text)
{
    char shapes[2][96];
    print_shape(a, shapes[0], sizeof shapes[0]);
    print_shape(b, shapes[1], sizeof shapes[1]);
    text[0] = 0;
    if (!same_shape(a, b) && !is_ragged(a, b))
        snprintf(text, 256, "%.100s: shapes differ: %.60s and %.60s", a->name, shapes[0],
                 shapes[1]);
    else if (is_real(a->type) != is_real(b->type) ||
             (settings->tolerance == 0 && a->type != b->type))
        snprintf(text, 256, "%.100s: types differ", a->name);
    else if (strcmp(a->units, b->units) != 0)
        snprintf(text, 256, "%.100s: units differ: \"%s\" and \"%s\"", a->name, a->units, b->units);
    return !text[0];
}

/* Whole numbers are indices and counts: they agree or they do not. */
static bool passes(const difference *d, ps_type type, const compare_settings *settings)
{
    return is_real(type) ? difference_passes(d, settings) : d->differing == 0;
}

static ps_status compare_one(ps_store *const stores[2], const int ids[2],
                             const compare_settings *settings, ps_report *report, char *text)
{
    ps_dataset_info info[2];
    difference d;
    for (int s = 0; s < 2; ++s) PS_TRY(ps_store_dataset(stores[s], ids[s], &info[s]));
    ps_report_section(report, info[0].name);
    if (!comparable(&info[0], &info[1], settings, text)) {
        ps_report_text(report, "verdict", text);
        return PS_OK;
    }
    PS_TRY(compare_values(stores, ids, settings, &d));
    bool good = passes(&d, info[0].type, settings);
    difference_report(report, &d);
    ps_report_text(report, "verdict",
                   d.differing == 0 ? "identical"
                   : good           ? "within tolerance"
                                    : "different");
    if (!good)
        snprintf(text, 256,
                 "%.100s differs: relative L2 %.3g, largest difference %.3g, first at value %lld",
                 info[0].name, difference_relative_l2(&d), d.largest, (long long)d.first);
    return PS_OK;
}

/* ---- all datasets ---- */

static bool chosen(const char *name, const compare_settings *settings)
{
    bool wanted = settings->datasets.count == 0;
    for (int i = 0; i < settings->datasets.count; ++i)
        wanted = wanted || fnmatch(settings->datasets.items[i], name, 0) == 0;
    for (int i = 0; i < settings->excluded.count; ++i)
        wanted = wanted && fnmatch(settings->excluded.items[i], name, 0) != 0;
    return wanted;
}

/* A dimension scale, which says where numbers are and not what: what several ranks write has none. */
static bool is_scale(const ps_store *store, const char *name)
{
    char kind[32];
    return ps_store_has(store, name, "CLASS") &&
           ps_store_get_text(store, name, "CLASS", kind, sizeof kind) == PS_OK &&
           strcmp(kind, "DIMENSION_SCALE") == 0;
}

/* Datasets that the reference alone has. */
static ps_status find_missing(ps_store *a, ps_store *b, const compare_settings *settings,
                              compare_result *result)
{
    for (int id = 0; id < ps_store_dataset_count(b); ++id) {
        ps_dataset_info info;
        int other;
        PS_TRY(ps_store_dataset(b, id, &info));
        if (!chosen(info.name, settings) || ps_store_find(a, info.name, &other) == PS_OK ||
            is_scale(b, info.name))
            continue;
        char text[256];
        snprintf(text, sizeof text, "%.100s is missing in the first file", info.name);
        compare_note(result, text);
    }
    return PS_OK;
}

/* The attributes that say what the numbers mean, of all formats. */
static const char *const described_by[] = {
    "formulation", "dt",           "speed",        "unknowns", "k_max",        "steps",     "nnz",
    "d_max",       "outer_points", "value_units",  "quantity", "in_frequency", "far_field", "order",
    "mesh_hash",   "grid_rows",    "grid_columns", "mirror_0", "mirror_1"};

static void attribute_text(const ps_store *store, const char *name, char *out, size_t size)
{
    int64_t whole;
    double real;
    snprintf(out, size, "absent");
    if (!ps_store_has(store, "/", name)) return;
    if (ps_store_get_text(store, "/", name, out, size) == PS_OK) return;
    if (ps_store_get_int(store, "/", name, &whole) == PS_OK)
        snprintf(out, size, "%lld", (long long)whole);
    else if (ps_store_get_real(store, "/", name, &real) == PS_OK)
        snprintf(out, size, "%.17g", real);
}

static void compare_attributes(ps_store *const stores[2], ps_report *report, compare_result *result)
{
    bool begun = false;
    for (size_t i = 0; i < sizeof described_by / sizeof *described_by; ++i) {
        char values[2][96], text[256];
        for (int s = 0; s < 2; ++s)
            attribute_text(stores[s], described_by[i], values[s], sizeof values[s]);
        if (strcmp(values[0], values[1]) == 0) continue;
        snprintf(text, sizeof text, "attribute %s differs: %.90s and %.90s", described_by[i],
                 values[0], values[1]);
        if (!begun) ps_report_section(report, "attributes");
        begun = true;
        ps_report_text(report, described_by[i], text);
        compare_note(result, text);
    }
}

/* ---- rows by the numbers of elements ---- */

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Rows by ascending number: pairs[rows] of number and row. */
static ps_status sort_numbers(ps_store *store, int64_t rows, int32_t (**pairs)[2])
{
    PS_SCOPED_MEMORY int32_t *numbers = NULL;
    PS_TRY(PS_ALLOC(pairs, rows, "numbers of elements"));
    PS_TRY(PS_ALLOC(&numbers, rows, "numbers of elements"));
    PS_TRY(ps_store_read_array(store, "/elements/number", PS_I32, 0, rows,
                               rows * (int64_t)sizeof *numbers, numbers));
    for (int64_t r = 0; r < rows; ++r) {
        (*pairs)[r][0] = numbers[r];
        (*pairs)[r][1] = (int32_t)r;
    }
    qsort(*pairs, (size_t)rows, sizeof **pairs, by_number);
    return PS_OK;
}

/* Fields of two partitions, or of two numbers of ranks, have the same elements in another order:
 * their numbers in the mesh say which belong together. *places stays NULL where the order is the
 * same, or the elements are not. */
static ps_status match_elements(ps_store *const stores[2], int64_t **places, int64_t *count)
{
    PS_SCOPED_MEMORY int32_t(*a)[2] = NULL, (*b)[2] = NULL;
    ps_dataset_info info[2];
    for (int s = 0; s < 2; ++s) {
        int id;
        if (ps_store_find(stores[s], "/elements/number", &id) != PS_OK) return PS_OK;
        PS_TRY(ps_store_dataset(stores[s], id, &info[s]));
        if (info[s].type != PS_I32 || info[s].rank != 1 || info[s].dims[0] != info[0].dims[0])
            return PS_OK;
    }
    int64_t rows = info[0].dims[0];
    bool moved = false;
    *count = rows;
    PS_TRY(sort_numbers(stores[0], rows, &a));
    PS_TRY(sort_numbers(stores[1], rows, &b));
    for (int64_t r = 0; r < rows; ++r) {
        if (a[r][0] != b[r][0]) return PS_OK;
        moved |= a[r][1] != b[r][1];
    }
    if (!moved) return PS_OK;
    PS_TRY(PS_ALLOC(places, rows, "numbers of elements"));
    for (int64_t r = 0; r < rows; ++r) (*places)[a[r][1]] = b[r][1];
    return PS_OK;
}

static ps_status compare_all(ps_store *a, ps_store *b, const compare_settings *settings,
                             ps_report *report, compare_result *result)
{
    ps_store *const stores[2] = {a, b};
    int compared = 0;
    if (settings->attributes) compare_attributes(stores, report, result);
    for (int id = 0; id < ps_store_dataset_count(a); ++id) {
        ps_dataset_info info;
        char text[256] = "";
        int ids[2] = {id, 0};
        PS_TRY(ps_store_dataset(a, id, &info));
        if (!chosen(info.name, settings)) continue;
        ++compared;
        bool missing = ps_store_find(b, info.name, &ids[1]) != PS_OK;
        if (missing && is_scale(a, info.name)) continue;
        if (missing)
            snprintf(text, sizeof text, "%.100s is missing in the reference", info.name);
        else
            PS_TRY(compare_one(stores, ids, settings, report, text));
        if (text[0]) compare_note(result, text);
    }
    PS_TRY(find_missing(a, b, settings, result));
    if (!compared && !result->failures)
        return ps_fail(PS_USAGE, "--dataset: %s has no such dataset; penstock-inspect lists them",
                       ps_store_path(a));
    return PS_OK;
}

ps_status compare_datasets(ps_store *a, ps_store *b, const compare_settings *settings,
                           ps_report *report, compare_result *result)
{
    compare_settings placed = *settings;
    PS_SCOPED_MEMORY int64_t *places = NULL;
    PS_TRY(match_elements((ps_store *const[2]){a, b}, &places, &placed.places_count));
    placed.places = places;
    return compare_all(a, b, &placed, report, result);
}
