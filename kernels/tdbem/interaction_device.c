#include "kernels/tdbem/interaction_device.h"

#include <math.h>
#include <string.h>

#include "kernels/tdbem/interaction_internal.h"
#include "kernels/tdbem/interaction_launch.h"

static bool is_hard(const ps_interaction *interaction)
{
    return interaction->formulation == PS_SOUND_HARD;
}

/* Of the combined equation and linings; the entries of a tile and its mirror are not alike then. */
static bool has_double_layer(const ps_interaction *interaction)
{
    return interaction->combined > 0 || interaction->lined;
}

/* Kinds of entries of a tile and its mirror. */
static int kinds_of(const ps_interaction *interaction, bool mirrored)
{
    return mirrored && has_double_layer(interaction) ? 2 : 1;
}

/* ---- sizes ---- */

/* Shells that a sphere of this radius spans, rounded up; where two meet, their sum and
 * PS_SHELL_EXTRA are enough. */
static int64_t span(double radius, double shell)
{
    return (int64_t)ceil(2 * radius / shell * (1 + 1e-9));
}

static bool is_free(const ps_interaction *interaction, int64_t vertex)
{
    return !interaction->fixed || !interaction->fixed[vertex];
}

/* The lowest vertex of the range that lists this triangle. */
static int64_t owner(const ps_interaction *interaction, int64_t triangle, int64_t first,
                     int64_t end)
{
    int64_t lowest = end;
    for (int c = 0; c < 3; ++c) {
        int64_t v = interaction->corners[triangle][c];
        if (v >= first && v < lowest && is_free(interaction, v)) lowest = v;
    }
    return lowest;
}

static void add_vertex(const ps_interaction *interaction, int64_t vertex, int64_t first,
                       int64_t end, ps_interaction_side *side)
{
    const int64_t *start = interaction->around_start;
    if (!is_free(interaction, vertex)) return;
    int64_t slots = start[vertex + 1] - start[vertex];
    side->slots += slots;
    if (slots > side->most) side->most = slots;
    for (int64_t p = start[vertex]; p < start[vertex + 1]; ++p) {
        int64_t t = interaction->around[p];
        if (owner(interaction, t, first, end) != vertex) continue;
        ++side->triangles;
        side->shells += span(interaction->triangles[t].radius, interaction->shell);
    }
}

ps_interaction_side ps_interaction_side_of(const ps_interaction *interaction, int64_t first,
                                           int64_t count)
{
    ps_interaction_side side = {.unknowns = count};
    for (int64_t i = first; i < first + count; ++i) {
        side.widths += span(interaction->reach[i], interaction->shell);
        if (is_hard(interaction)) add_vertex(interaction, i, first, first + count, &side);
    }
    return side;
}

/* ---- layout ---- */

/* Written on the host, and copied as they are. */
typedef struct side_tables {
    int32_t *start, *slot, *list, *shells; /* as in ps_device_side */
} side_tables;

typedef struct tile_tables {
    ps_device_result *results; /* [2] */
    int32_t *row_widths, *slice_widths;
    side_tables rows, band;
    int64_t band_offset; /* where the tables of a band begin, bytes */
} tile_tables;

static void carve_side(const ps_interaction_side *side, ps_carver *carver, side_tables *out)
{
    out->start = ps_carve(carver, side->unknowns + 1, sizeof *out->start);
    out->slot = ps_carve(carver, 2 * side->slots, sizeof *out->slot);
    out->list = ps_carve(carver, side->triangles, sizeof *out->list);
    out->shells = ps_carve(carver, side->triangles + 1, sizeof *out->shells);
}

static void carve_tables(const ps_interaction_side *rows, const ps_interaction_side *slices,
                         ps_carver *carver, tile_tables *out)
{
    out->results = ps_carve(carver, 2, sizeof *out->results);
    out->row_widths = ps_carve(carver, rows->unknowns + 1, sizeof *out->row_widths);
    out->slice_widths = ps_carve(carver, slices->unknowns + 1, sizeof *out->slice_widths);
    carve_side(rows, carver, &out->rows);
    out->band_offset = carver->used;
    carve_side(slices, carver, &out->band);
}

static void carve_entries(int64_t entries, int64_t bins, ps_carver *carver, ps_device_entries *out)
{
    out->bins = ps_carve(carver, bins, sizeof *out->bins);
    out->starts = ps_carve(carver, entries, sizeof *out->starts);
    out->lengths = ps_carve(carver, entries, sizeof *out->lengths);
    out->near_rows = ps_carve(carver, entries, sizeof *out->near_rows);
    out->near_columns = ps_carve(carver, entries, sizeof *out->near_columns);
    out->near_values = ps_carve(carver, entries, sizeof *out->near_values);
}

/* What stays for the whole tile. The values' room is as large as the bins'. */
static void carve_tile(const ps_interaction *interaction, const ps_interaction_side *rows,
                       const ps_interaction_side *slices, bool mirrored, ps_carver *carver,
                       ps_device_tile *out)
{
    int64_t n = rows->unknowns, m = slices->unknowns, entries = n * m;
    int64_t bins = PS_BIN_EXTRA * entries + n * slices->widths + m * rows->widths;
    out->first = ps_carve(carver, entries, sizeof *out->first);
    out->count = ps_carve(carver, entries, sizeof *out->count);
    for (int kind = 0; kind < kinds_of(interaction, mirrored); ++kind)
        carve_entries(entries, bins, carver, &out->entries[kind]);
    if (kinds_of(interaction, mirrored) == 1) out->entries[1] = out->entries[0];
    for (int order = 0; order < 1 + mirrored; ++order) {
        out->totals[order] = ps_carve(carver, (order ? n : m) + 1, sizeof *out->totals[order]);
        out->out_starts[order] = ps_carve(carver, entries, sizeof *out->out_starts[order]);
        out->out_lengths[order] = ps_carve(carver, entries, sizeof *out->out_lengths[order]);
        out->out_values[order] = ps_carve(carver, bins, sizeof(double));
    }
    int64_t apart = is_hard(interaction) ? slices->triangles : n;
    out->apart = ps_carve(carver, apart, PS_TRIANGLE_NUMBERS * sizeof *out->apart);
    if (!is_hard(interaction)) return;
    out->sum_shells =
        2 * span(interaction->triangle_reach_max, interaction->shell) + PS_SHELL_EXTRA;
    int64_t sums = has_double_layer(interaction) ? PS_COMBINED_SUMS : PS_HARD_SUMS;
    out->sums = ps_carve(carver, out->sum_shells * sums,
                         PS_PAIR_BLOCKS * PS_PAIR_THREADS * sizeof *out->sums);
}

/* What a band of slices needs besides. */
static void carve_band(const ps_interaction *interaction, const ps_interaction_side *rows,
                       const ps_interaction_side *band, ps_carver *carver, ps_device_tile *out)
{
    int64_t n = rows->triangles, m = band->triangles;
    out->term_rows = has_double_layer(interaction) ? 18 : 9;
    out->pairs = ps_carve(carver, n * m, sizeof *out->pairs);
    out->terms = ps_carve(carver, PS_TERM_EXTRA * n * m + n * band->shells + m * rows->shells,
                          out->term_rows * (int64_t)sizeof *out->terms);
}

ps_interaction_room ps_interaction_room_of(const ps_interaction *interaction,
                                           const ps_interaction_side *rows,
                                           const ps_interaction_side *slices, bool mirrored)
{
    tile_tables tables;
    ps_device_tile tile;
    ps_carver carver = {NULL, 0}, least, whole;
    carve_tables(rows, slices, &carver, &tables);
    ps_interaction_room room = {.tables = carver.used};
    carve_tile(interaction, rows, slices, mirrored, &carver, &tile);
    least = whole = carver;
    if (is_hard(interaction)) {
        int64_t shells = slices->most * span(interaction->triangle_reach_max, interaction->shell);
        ps_interaction_side one = {.triangles = slices->most, .shells = shells};
        carve_band(interaction, rows, &one, &least, &tile);
        carve_band(interaction, rows, slices, &whole, &tile);
    }
    room.least = least.used;
    room.whole = whole.used > least.used ? whole.used : least.used;
    return room;
}

/* ---- tables ---- */

static void fill_widths(const ps_interaction *interaction, int64_t first, int64_t count,
                        int32_t *widths)
{
    widths[0] = 0;
    for (int64_t i = 0; i < count; ++i)
        widths[i + 1] =
            widths[i] + (int32_t)span(interaction->reach[first + i], interaction->shell);
}

static int corner_of(const ps_interaction *interaction, int64_t triangle, int64_t vertex)
{
    int c = 0;
    while (c < 2 && interaction->corners[triangle][c] != vertex) ++c;
    return c;
}

/* Place in the list of a triangle that an earlier vertex listed. */
static int32_t place_of(const side_tables *tables, int64_t unknown, int64_t triangle)
{
    int32_t p = tables->start[unknown];
    while (tables->slot[2 * p] != triangle) ++p;
    return tables->slot[2 * p + 1] / 4;
}

enum { CLASSES = 8 };

static int class_of(const ps_interaction *interaction, int64_t triangle)
{
    int parts = ps_interaction_parts(interaction, triangle);
    return parts < CLASSES ? parts - 1 : CLASSES - 1;
}

/* Where triangles of each class begin in the list: threads side by side then have equally many
 * outer points. */
static void place_classes(const ps_interaction *interaction, int64_t first, int64_t count,
                          int32_t next[CLASSES])
{
    int32_t of[CLASSES] = {0}, before = 0;
    for (int64_t i = first; i < first + count; ++i)
        for (int64_t p = interaction->around_start[i]; p < interaction->around_start[i + 1]; ++p) {
            int64_t t = interaction->around[p];
            if (owner(interaction, t, first, first + count) == i) ++of[class_of(interaction, t)];
        }
    for (int k = 0; k < CLASSES; ++k) {
        next[k] = before;
        before += of[k];
    }
}

/* Puts triangle t into the next slot of vertex i, and into the list if i lists it. */
static void fill_slot(const ps_interaction *interaction, const int64_t range[2], int64_t i,
                      int32_t slot, int32_t next[CLASSES], const side_tables *out)
{
    int32_t t = interaction->around[interaction->around_start[i] + slot - out->start[i - range[0]]];
    int64_t lister = owner(interaction, t, range[0], range[0] + range[1]);
    int32_t place;
    if (lister == i) {
        place = next[class_of(interaction, t)]++;
        out->list[place] = t;
    } else
        place = place_of(out, lister - range[0], t);
    out->slot[2 * slot] = t;
    out->slot[2 * slot + 1] = 4 * place + corner_of(interaction, t, i);
}

static void fill_side(const ps_interaction *interaction, int64_t first, int64_t count,
                      const side_tables *out)
{
    int64_t range[2] = {first, count};
    int32_t slots = 0, next[CLASSES];
    place_classes(interaction, first, count, next);
    for (int64_t i = first; i < first + count; ++i) {
        out->start[i - first] = slots;
        if (!is_free(interaction, i)) continue;
        int64_t at = interaction->around_start[i + 1] - interaction->around_start[i];
        for (int64_t p = 0; p < at; ++p) fill_slot(interaction, range, i, slots++, next, out);
    }
    out->start[count] = slots;
    out->shells[0] = 0;
    for (int32_t n = 0; n < next[CLASSES - 1]; ++n) {
        double radius = interaction->triangles[out->list[n]].radius;
        out->shells[n + 1] = out->shells[n] + (int32_t)span(radius, interaction->shell);
    }
}

static ps_device_side device_side(const side_tables *tables, int64_t triangles)
{
    return (ps_device_side){triangles, tables->list, tables->shells, tables->start, tables->slot};
}

/* ---- computing ---- */

/* A tile on its way: host and device tables, and what is left of the device memory. */
typedef struct device_task {
    const ps_interaction_device *device;
    ps_device_tile tile;
    ps_interaction_side rows, slices;
    tile_tables host, there;
    int64_t table_bytes;
    ps_carver memory;
} device_task;

static ps_status prepare(const ps_interaction_device *device, const ps_interaction_tile *tile,
                         bool mirrored, device_task *task)
{
    const ps_interaction *interaction = device->interaction;
    memset(task, 0, sizeof *task);
    task->device = device;
    task->tile = (ps_device_tile){.formulation = interaction->formulation,
                                  .precision = device->precision,
                                  .shell = interaction->shell,
                                  .speed = interaction->speed,
                                  .combined = interaction->combined,
                                  .lined = interaction->lined ? device->lined : NULL,
                                  .rule = interaction->rule,
                                  .triangles = device->triangles,
                                  .first_row = tile->first_row,
                                  .rows = tile->rows,
                                  .first_slice = tile->first_slice,
                                  .slices = tile->slices};
    task->rows = ps_interaction_side_of(interaction, tile->first_row, tile->rows);
    task->slices = ps_interaction_side_of(interaction, tile->first_slice, tile->slices);
    ps_interaction_room room =
        ps_interaction_room_of(interaction, &task->rows, &task->slices, mirrored);
    if (room.tables > device->table_bytes || room.least > device->memory_bytes)
        return ps_fail(PS_EXHAUSTED,
                       "a tile of %lld x %lld entries needs %.0f MB of device memory, %.0f MB are "
                       "there",
                       (long long)tile->rows, (long long)tile->slices, (double)room.least / 1e6,
                       (double)device->memory_bytes / 1e6);
    ps_carver host = {device->tables, 0};
    task->memory = (ps_carver){device->memory, 0};
    carve_tables(&task->rows, &task->slices, &host, &task->host);
    carve_tables(&task->rows, &task->slices, &task->memory, &task->there);
    carve_tile(interaction, &task->rows, &task->slices, mirrored, &task->memory, &task->tile);
    task->table_bytes = host.used;
    task->tile.row_widths = task->there.row_widths;
    task->tile.slice_widths = task->there.slice_widths;
    for (int kind = 0; kind < 2; ++kind)
        task->tile.entries[kind].result =
            task->there.results + (kind < kinds_of(interaction, mirrored) ? kind : 0);
    return PS_OK;
}

static ps_status send_tables(const device_task *task, int64_t first, int64_t end, ps_stream *stream)
{
    return ps_copy_to_device(stream, (char *)task->device->memory + first,
                             (char *)task->device->tables + first, end - first);
}

/* As many slices from `first` on as there is memory for. */
static ps_status choose_band(device_task *task, int64_t first, ps_interaction_side *band)
{
    const ps_device_tile *tile = &task->tile;
    for (int64_t count = tile->slices - first;; count = (count + 1) / 2) {
        ps_carver carver = task->memory;
        *band = ps_interaction_side_of(task->device->interaction, tile->first_slice + first, count);
        carve_band(task->device->interaction, &task->rows, band, &carver, &task->tile);
        if (carver.used <= task->device->memory_bytes) return PS_OK;
        if (count == 1) return ps_fail(PS_FAILED, "internal error: no room for a slice");
    }
}

static ps_status hard_band(device_task *task, bool both, int64_t first, int64_t *done,
                           ps_stream *stream)
{
    ps_device_tile *tile = &task->tile;
    ps_interaction_side band;
    PS_TRY(choose_band(task, first, &band));
    if (first > 0) PS_TRY(ps_stream_wait(stream)); /* the tables are in use until then */
    fill_side(task->device->interaction, tile->first_slice + first, band.unknowns,
              &task->host.band);
    PS_TRY(send_tables(task, task->host.band_offset, task->table_bytes, stream));
    tile->band_first = first;
    tile->band_slices = band.unknowns;
    tile->band_side = device_side(&task->there.band, band.triangles);
    PS_TRY(ps_device_hard_pairs(tile, ps_stream_handle(stream)));
    PS_TRY(ps_device_hard_entries(tile, both, ps_stream_handle(stream)));
    *done = first + band.unknowns;
    return PS_OK;
}

static ps_status compute_entries(device_task *task, bool both, ps_stream *stream)
{
    ps_device_tile *tile = &task->tile;
    if (!is_hard(task->device->interaction))
        return ps_device_soft_entries(tile, ps_stream_handle(stream));
    tile->row_side = device_side(&task->there.rows, task->rows.triangles);
    for (int64_t s = 0; s < tile->slices;) PS_TRY(hard_band(task, both, s, &s, stream));
    return PS_OK;
}

ps_status ps_interaction_device_start(const ps_interaction_device *device,
                                      const ps_interaction_tile *tile, bool mirrored,
                                      ps_stream *stream)
{
    device_task task;
    int kinds = kinds_of(device->interaction, mirrored);
    PS_TRY(prepare(device, tile, mirrored, &task));
    PS_TRY(ps_stream_enter(stream));
    memset(task.host.results, 0, 2 * sizeof *task.host.results);
    fill_widths(device->interaction, tile->first_row, tile->rows, task.host.row_widths);
    fill_widths(device->interaction, tile->first_slice, tile->slices, task.host.slice_widths);
    if (is_hard(device->interaction))
        fill_side(device->interaction, tile->first_row, tile->rows, &task.host.rows);
    PS_TRY(send_tables(&task, 0, task.host.band_offset, stream));
    PS_TRY(compute_entries(&task, kinds == 2, stream));
    for (int kind = 0; kind < kinds; ++kind)
        PS_TRY(ps_device_trim(&task.tile, kind, ps_stream_handle(stream)));
    PS_TRY(ps_device_compact(&task.tile, 0, ps_stream_handle(stream)));
    return mirrored ? ps_device_compact(&task.tile, 1, ps_stream_handle(stream)) : PS_OK;
}

/* ---- fetching ---- */

/* Asleep, so that the core is free for others. */
static ps_status wait_for(const ps_interaction_device *device, ps_stream *stream)
{
    PS_TRY(ps_event_record(device->done, stream));
    return ps_event_sync(device->done);
}

static ps_status check_result(const ps_device_result *result, const ps_interaction_tile *tile)
{
    if (result->faults & PS_DEVICE_ROOM)
        return ps_fail(PS_FAILED, "internal error: triangles touch shells outside their bounding "
                                  "spheres");
    if (result->faults & PS_DEVICE_K)
        return ps_fail(PS_FAILED, "k does not fit 16 bits; choose a larger --dt");
    if (result->value_count > tile->value_capacity)
        return ps_fail(PS_FAILED, "internal error: capacity of %lld values is too small",
                       (long long)tile->value_capacity);
    return PS_OK;
}

static ps_status copy_order(const device_task *task, int order, ps_interaction_tile *out,
                            ps_stream *stream)
{
    const ps_device_tile *tile = &task->tile;
    int64_t vectors = tile->rows * tile->slices * 2;
    bool single = tile->precision == PS_SINGLE;
    PS_TRY(ps_copy_to_host(stream, out->starts, tile->out_starts[order], vectors));
    PS_TRY(ps_copy_to_host(stream, out->lengths, tile->out_lengths[order], vectors));
    return ps_copy_to_host(stream, single ? (void *)out->singles : (void *)out->values,
                           tile->out_values[order], out->value_count * (single ? 4 : 8));
}

static ps_status copy_near(const device_task *task, int kind, ps_interaction_tile *out,
                           ps_stream *stream)
{
    const ps_device_entries *entries = &task->tile.entries[kind];
    int64_t count = out->near_count;
    PS_TRY(ps_copy_to_host(stream, out->near_rows, entries->near_rows, 4 * count));
    PS_TRY(ps_copy_to_host(stream, out->near_columns, entries->near_columns, 4 * count));
    return ps_copy_to_host(stream, out->near_values, entries->near_values, 8 * count);
}

/* What the tile's `order` holds, and the entries of k = 0 unless they are those of order 0. */
static ps_status fetch_order(const device_task *task, int order, int kind, ps_interaction_tile *out,
                             ps_stream *stream)
{
    const ps_device_result *result = &task->host.results[kind];
    PS_TRY(check_result(result, out));
    out->value_count = result->value_count;
    out->near_count = result->near_count;
    out->k_max = result->k_max;
    out->pairs = 0;
    PS_TRY(copy_order(task, order, out, stream));
    return order == kind ? copy_near(task, kind, out, stream) : PS_OK;
}

static void transpose_near(const ps_interaction_tile *tile, ps_interaction_tile *mirror)
{
    for (int64_t e = 0; e < tile->near_count; ++e) {
        mirror->near_rows[e] = tile->near_columns[e];
        mirror->near_columns[e] = tile->near_rows[e];
        mirror->near_values[e] = tile->near_values[e];
    }
}

ps_status ps_interaction_device_fetch(const ps_interaction_device *device,
                                      ps_interaction_tile *tile, ps_interaction_tile *mirror,
                                      ps_stream *stream)
{
    device_task task;
    bool mirrored = mirror != NULL;
    int kinds = kinds_of(device->interaction, mirrored);
    PS_TRY(prepare(device, tile, mirrored, &task));
    ps_device_result *results = task.host.results;
    PS_TRY(ps_copy_to_host(stream, results, task.there.results, 2 * sizeof *results));
    PS_TRY(wait_for(device, stream));
    results[kinds - 1].faults |= results[0].faults;
    PS_TRY(fetch_order(&task, 0, 0, tile, stream));
    if (mirror) PS_TRY(fetch_order(&task, 1, kinds - 1, mirror, stream));
    PS_TRY(wait_for(device, stream));
    tile->pairs = is_hard(device->interaction) ? task.rows.triangles * task.slices.triangles
                                               : tile->rows * tile->slices;
    if (mirror && kinds == 1) transpose_near(tile, mirror);
    return PS_OK;
}
