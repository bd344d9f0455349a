/*
 * compare_pair OUTPUT chunk_rows type spoil: a store for tests/stages/test_compare.sh.
 * /values [1000][7], f32 or f64, the same numbers (exact in f32) whatever the chunks; /counts i32;
 * /ragged [4][capacity]. spoil: none, value, nan, count, units, shape, missing, ragged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/dataset_spec.h"

enum { ROWS = 1000, COLUMNS = 7 };

static double value_at(int64_t i) { return (double)((i * 7919) % 2048 - 1024) / 256; }

static ps_status put_values(ps_store *store, int64_t chunk_rows, ps_type type, const char *spoil)
{
    static float single[ROWS * COLUMNS];
    static double both[ROWS * COLUMNS];
    for (int64_t i = 0; i < ROWS * COLUMNS; ++i) both[i] = value_at(i);
    if (!strcmp(spoil, "value")) both[4321] += 0x1p-10;
    if (!strcmp(spoil, "nan")) both[4321] = NAN;
    for (int64_t i = 0; i < ROWS * COLUMNS; ++i) single[i] = (float)both[i];
    ps_dataset_spec spec = table_spec(
        "/group/values", type, strcmp(spoil, "shape") ? ROWS : ROWS - 1, COLUMNS, chunk_rows);
    spec.units = strcmp(spoil, "units") ? "Pa" : "m";
    return ps_store_write_array(store, &spec, type == PS_F32 ? (void *)single : (void *)both);
}

static ps_status put_counts(ps_store *store, int64_t chunk_rows, const char *spoil)
{
    int32_t counts[ROWS];
    for (int i = 0; i < ROWS; ++i) counts[i] = i * i;
    if (!strcmp(spoil, "count")) counts[999] += 1;
    ps_dataset_spec spec = array_spec("/counts", PS_I32, ROWS, chunk_rows);
    return ps_store_write_array(store, &spec, counts);
}

/* Capacity differs with the chunks; the valid values do not. */
static ps_status put_ragged(ps_store *store, int64_t chunk_rows, const char *spoil)
{
    int id;
    double data[64];
    ps_dataset_spec spec = table_spec("/ragged", PS_F64, 4, 20 + chunk_rows % 10, 1);
    PS_TRY(ps_store_define(store, &spec, &id));
    for (int64_t c = 0; c < 4; ++c) {
        for (int64_t i = 0; i < 20; ++i) data[i] = value_at(100 * c + i);
        int64_t count = 17 + c - (c == 2 && !strcmp(spoil, "ragged"));
        PS_TRY(ps_store_write_chunk(store, id, c, data, count, NULL));
    }
    return PS_OK;
}

static ps_status make(const char *path, int64_t chunk_rows, ps_type type, const char *spoil)
{
    ps_store *store;
    ps_store_identity identity = {.format = "penstock-test",
                                  .format_version = 1,
                                  .creator = "test",
                                  .revision = "0",
                                  .options = ""};
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(ps_store_put_real(store, "/", "dt", 0.5));
    PS_TRY(put_values(store, chunk_rows, type, spoil));
    if (strcmp(spoil, "missing")) PS_TRY(put_counts(store, chunk_rows, spoil));
    PS_TRY(put_ragged(store, chunk_rows, spoil));
    return ps_store_commit(&store);
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    ps_type type = strcmp(argv[3], "f32") ? PS_F64 : PS_F32;
    ps_status status = make(argv[1], atoll(argv[2]), type, argv[4]);
    if (status != PS_OK) fprintf(stderr, "%s\n", ps_message());
    return (int)status;
}
