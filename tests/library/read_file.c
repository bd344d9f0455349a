/* What a user of the installed library compiles: lists a file, reads it by slabs, verifies it.
 * Arguments: the file, a dataset of it. Prints "FORMAT ROWS SUM-OF-SLABS SUM-OF-CHUNK-TABLE
 * GOOD-CHUNKS". */
#include <penstock/penstock.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(void)
{
    fprintf(stderr, "%s\n", penstock_message());
    return 3;
}

int main(int argc, char **argv)
{
    penstock_file *file;
    penstock_dataset d;
    penstock_chunk c;
    penstock_verdict verdict;
    int number;
    double slabs = 0, table = 0;
    if (argc != 3 || penstock_file_open(argv[1], &file) != PENSTOCK_OK) return failed();
    if (penstock_file_find(file, argv[2], &number) != PENSTOCK_OK) return failed();
    if (penstock_file_dataset(file, number, &d) != PENSTOCK_OK || d.type != PENSTOCK_F64)
        return failed();
    double *column = malloc((size_t)d.dims[0] * sizeof *column);
    for (int64_t j = 0; j < d.dims[1]; ++j) {
        int64_t start[2] = {0, j}, count[2] = {d.dims[0], 1};
        if (penstock_file_read_slab(file, number, start, count, 8 * d.dims[0], column) !=
            PENSTOCK_OK)
            return failed();
        for (int64_t i = 0; i < d.dims[0]; ++i) slabs += column[i];
    }
    for (int64_t i = 0; i < d.chunks; ++i) {
        if (penstock_file_chunk(file, number, i, &c) != PENSTOCK_OK) return failed();
        table += c.sum;
    }
    if (penstock_verify(argv[1], true, &verdict) != PENSTOCK_OK) return failed();
    printf("%s %lld %.12g %.12g %lld\n", penstock_file_format(file), (long long)d.dims[0], slabs,
           table, (long long)(verdict.chunks - verdict.bad_chunks));
    free(column);
    penstock_file_close(&file);
    return 0;
}
