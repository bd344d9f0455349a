/* dataset_spec: definitions of datasets, for tests and their programs. */
#ifndef PS_TESTS_SUPPORT_DATASET_SPEC_H
#define PS_TESTS_SUPPORT_DATASET_SPEC_H

#include <string.h>

#include "formats/store.h"

/* Numbers without a unit: of one dimension, or of rows and columns. */
static inline ps_dataset_spec table_spec(const char *name, ps_type type, int64_t rows,
                                         int64_t columns, int64_t chunk_rows)
{
    return (ps_dataset_spec){.name = name,
                             .type = type,
                             .rank = columns ? 2 : 1,
                             .dims = {rows, columns},
                             .chunk_rows = chunk_rows,
                             .units = "1"};
}

static inline ps_dataset_spec array_spec(const char *name, ps_type type, int64_t rows,
                                         int64_t chunk_rows)
{
    return table_spec(name, type, rows, 0, chunk_rows);
}

/* As one that is there. */
static inline ps_dataset_spec copied_spec(const ps_dataset_info *info)
{
    ps_dataset_spec spec = array_spec(info->name, info->type, 0, info->chunk_rows);
    spec.rank = info->rank;
    memcpy(spec.dims, info->dims, sizeof spec.dims);
    spec.units = info->units;
    spec.keep_bits = info->keep_bits;
    spec.extra_count = info->extra_count;
    for (int e = 0; e < info->extra_count; ++e) spec.extras[e] = info->extras[e];
    return spec;
}

#endif
