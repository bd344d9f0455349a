/* table_sample OUT.h5 NAME=FILE.csv[+|-]...: text tables as datasets of an HDF5 file: all columns,
 * with + all but the first, with - the first alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/number_file.h"
#include "formats/store.h"
#include "tests/support/dataset_spec.h"

enum { COLUMNS = 10000, VALUES = 4000000 };

static ps_status add(ps_store *store, char *word)
{
    static double values[VALUES], row[COLUMNS];
    ps_number_file *file;
    int64_t rows = 0, kept = 0;
    int count;
    char *path = strchr(word, '='), *last = word + strlen(word) - 1, part = *last, name[64];
    *path++ = 0;
    if (part == '+' || part == '-') *last = 0;
    PS_TRY(ps_number_file_open(path, &file));
    for (;; ++rows) {
        PS_TRY(ps_number_file_line(file, row, COLUMNS, &count));
        if (count == 0) break;
        int first = part == '+', end = part == '-' ? 1 : count;
        memcpy(values + rows * (end - first), row + first, (size_t)(end - first) * sizeof *row);
        kept = end - first;
    }
    ps_number_file_close(&file);
    snprintf(name, sizeof name, "/%s", word);
    ps_dataset_spec spec = table_spec(name, PS_F64, rows, kept > 1 ? kept : 0, 0);
    spec.description = "a table";
    return ps_store_write_array(store, &spec, values);
}

int main(int argc, char **argv)
{
    const ps_store_identity identity = {.format = "penstock-test",
                                        .format_version = 1,
                                        .creator = "test",
                                        .revision = "r",
                                        .options = ""};
    ps_store *store = NULL;
    ps_status status = argc > 2 ? ps_store_create(argv[1], &identity, &store) : PS_USAGE;
    for (int i = 2; status == PS_OK && i < argc; ++i) status = add(store, argv[i]);
    if (status == PS_OK) status = ps_store_commit(&store);
    if (status != PS_OK) fprintf(stderr, "table_sample: %s\n", ps_message());
    return status;
}
