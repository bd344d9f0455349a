/* Records of the journal: squares that were computed (specs/tdbem_assembly.md). */
#include <string.h>

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

ps_status ps_assembly_journal_unpack(const void *record, int64_t bytes, ps_precision precision,
                                     ps_interaction_tile *tile)
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
    return PS_OK;
}
