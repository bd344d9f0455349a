/* Records of the journal: squares that were computed (specs/tdbem_assembly.md). */
#include <string.h>

#include "formats/append_log.h"
#include "stage/tdbem_assembly/slice_assembly.h"

/* A record: this, then the arrays of the tile. */
typedef struct square_head {
    int64_t unit, rows, slices, value_count, near_count, pairs;
} square_head;

int64_t ps_assembly_journal_bytes(int64_t entries, int64_t values, ps_precision precision)
{
    return (int64_t)sizeof(square_head) + entries * 20 + values * (precision == PS_SINGLE ? 4 : 8);
}

static char *append(char *at, const void *from, int64_t bytes)
{
    memcpy(at, from, (size_t)bytes);
    return at + bytes;
}

static const char *get(const char *at, void *to, int64_t bytes)
{
    memcpy(to, at, (size_t)bytes);
    return at + bytes;
}

int64_t ps_assembly_journal_pack(int64_t unit, const ps_interaction_tile *tile,
                                 ps_precision precision, void *out)
{
    int64_t entries = tile->rows * tile->slices;
    square_head head = {unit,       tile->rows, tile->slices, tile->value_count, tile->near_count,
                        tile->pairs};
    char *at = append(out, &head, sizeof head);
    at = append(at, tile->starts, 2 * entries);
    at = append(at, tile->lengths, 2 * entries);
    at = append(at, tile->near_rows, 4 * tile->near_count);
    at = append(at, tile->near_columns, 4 * tile->near_count);
    at = append(at, tile->near_values, 8 * tile->near_count);
    if (precision == PS_DOUBLE)
        return append(at, tile->values, 8 * tile->value_count) - (char *)out;
    for (int64_t i = 0; i < tile->value_count; ++i, at += sizeof(float)) {
        float value = (float)tile->values[i];
        memcpy(at, &value, sizeof value);
    }
    return at - (char *)out;
}

int64_t ps_assembly_journal_unit(const void *record, int64_t bytes)
{
    square_head head = {.unit = -1};
    if (bytes >= (int64_t)sizeof head) memcpy(&head, record, sizeof head);
    return head.unit;
}

static bool within(int32_t place, int64_t first, int64_t count)
{
    return place >= first && place < first + count;
}

static bool is_sound(const ps_interaction_tile *tile, int64_t k_bound)
{
    int64_t values = 0;
    bool sound = ps_append_log_is_finite(tile->values, tile->value_count, 8) &&
                 ps_append_log_is_finite(tile->near_values, tile->near_count, 8);
    for (int64_t v = 0; v < tile->rows * tile->slices; ++v) {
        values += tile->lengths[v];
        sound &= tile->lengths[v] == 0 ||
                 (tile->starts[v] >= 1 && tile->starts[v] + tile->lengths[v] - 1 <= k_bound);
    }
    for (int64_t e = 0; e < tile->near_count; ++e)
        sound &= within(tile->near_rows[e], tile->first_row, tile->rows) &&
                 within(tile->near_columns[e], tile->first_slice, tile->slices);
    return sound && values == tile->value_count;
}

ps_status ps_assembly_journal_unpack(const void *record, int64_t bytes, ps_precision precision,
                                     int64_t k_bound, ps_interaction_tile *tile)
{
    square_head head;
    const char *at = get(record, &head, sizeof head);
    int64_t entries = tile->rows * tile->slices, item = precision == PS_SINGLE ? 4 : 8;
    if (head.rows != tile->rows || head.slices != tile->slices || head.value_count < 0 ||
        head.value_count > tile->value_capacity || head.near_count < 0 ||
        head.near_count > entries ||
        bytes !=
            (int64_t)sizeof head + 4 * entries + 16 * head.near_count + item * head.value_count)
        return ps_fail(PS_INVALID, "the journal's square %lld has the wrong size",
                       (long long)head.unit);
    at = get(at, tile->starts, 2 * entries);
    at = get(at, tile->lengths, 2 * entries);
    at = get(at, tile->near_rows, 4 * head.near_count);
    at = get(at, tile->near_columns, 4 * head.near_count);
    at = get(at, tile->near_values, 8 * head.near_count);
    tile->value_count = head.value_count;
    tile->near_count = head.near_count;
    tile->pairs = 0; /* not evaluated this time */
    if (precision == PS_DOUBLE) get(at, tile->values, 8 * head.value_count);
    for (int64_t i = 0; precision == PS_SINGLE && i < head.value_count; ++i) {
        float value;
        at = get(at, &value, sizeof value);
        tile->values[i] = value; /* rounds to the same again */
    }
    if (is_sound(tile, k_bound)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "the journal's square %lld holds what no square has: no run has written it; "
                   "--fresh begins anew",
                   (long long)head.unit);
}
