/*
 * store_sample PATH: a master at PATH with two parts, for tests of the tools that read files:
 * /a/values f32 [1900] = 0 .. 1899 in chunks of 300, /tiles f64 [5][64] ragged, value = chunk.
 */
#include <stdio.h>

#include "formats/store.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"

static const ps_store_identity identity = {.format = "penstock-test",
                                           .format_version = 1,
                                           .creator = "store_sample",
                                           .options = "a=1\nb=2\n"};

static ps_status write_tiles(ps_store *store, int part)
{
    double values[64];
    int id, tiles = 2 + part;
    ps_dataset_spec spec = table_spec("/tiles", PS_F64, tiles, 64, 1);
    spec.units = "Pa";
    spec.extra_count = 1;
    spec.extras[0] = "nnz";
    PS_TRY(ps_store_define(store, &spec, &id));
    for (int t = 0; t < tiles; ++t) {
        double nnz = 10 + t;
        for (int i = 0; i < 64; ++i) values[i] = 2 * part + t;
        PS_TRY(ps_store_write_chunk(store, id, t, values, 20, &nnz));
    }
    return PS_OK;
}

static ps_status write_part(const char *path, int part)
{
    char name[4096];
    float values[1000];
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_dataset_spec spec = array_spec("/a/values", PS_F32, part ? 900 : 1000, 300);
    spec.units = "m";
    spec.description = "the numbers from 0";
    for (int i = 0; i < 1000; ++i) values[i] = (float)(1000 * part + i);
    ps_store_part_path(path, 0, part, name);
    PS_TRY(ps_store_create(name, &identity, &store));
    PS_TRY(ps_store_write_array(store, &spec, values));
    PS_TRY(write_tiles(store, part));
    PS_TRY(ps_store_put_real(store, "/", "dt", 0.25));
    return ps_store_commit(&store);
}

int main(int argc, char **argv)
{
    if (argc != 2) return PS_USAGE;
    ps_status status = PS_OK;
    for (int part = 0; part < 2 && status == PS_OK; ++part) status = write_part(argv[1], part);
    if (status == PS_OK) status = ps_store_write_master(argv[1], &identity, 0, 2);
    if (status != PS_OK) fprintf(stderr, "%s\n", ps_message());
    return status;
}
