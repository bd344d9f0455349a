#include "formats/csr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

/* Fixed, so that part files of any size have chunks of the same shape. */
enum { CHUNK_ROWS = 65536 };

ps_status ps_csr_init(ps_csr *matrix, int64_t rows, int64_t nnz)
{
    *matrix = (ps_csr){.rows = rows, .nnz = nnz};
    ps_status status;
    PS_GUARD(status, failed, PS_ALLOC(&matrix->row_start, rows + 1, "rows of a sparse matrix"));
    PS_GUARD(status, failed, PS_ALLOC(&matrix->columns, nnz, "columns of a sparse matrix"));
    PS_GUARD(status, failed, PS_ALLOC(&matrix->values, nnz, "values of a sparse matrix"));
    return PS_OK;
failed:
    ps_csr_release(matrix);
    return status;
}

void ps_csr_release(ps_csr *matrix)
{
    PS_FREE(matrix->row_start, matrix->columns, matrix->values);
    *matrix = (ps_csr){0};
}

static ps_status check_row(const ps_csr *matrix, int64_t row, int64_t column_count)
{
    int64_t last = -1;
    for (int64_t e = matrix->row_start[row]; e < matrix->row_start[row + 1]; ++e) {
        if (matrix->columns[e] <= last || matrix->columns[e] >= column_count)
            return ps_fail(
                PS_INVALID, "row %lld has column %d after %lld; columns must ascend within 0..%lld",
                (long long)row, matrix->columns[e], (long long)last, (long long)column_count - 1);
        if (!isfinite(matrix->values[e]))
            return ps_fail(PS_INVALID, "the value at row %lld, column %d is not finite",
                           (long long)row, matrix->columns[e]);
        last = matrix->columns[e];
    }
    return PS_OK;
}

ps_status ps_csr_transpose(const ps_csr *m, ps_csr *out)
{
    PS_TRY(ps_csr_init(out, m->rows, m->nnz));
    int64_t *start = out->row_start;
    for (int64_t e = 0; e < m->nnz; ++e) ++start[m->columns[e] + 1];
    for (int64_t r = 0; r < m->rows; ++r) start[r + 1] += start[r];
    for (int64_t r = 0; r < m->rows; ++r)
        for (int64_t e = m->row_start[r]; e < m->row_start[r + 1]; ++e) {
            int64_t to = start[m->columns[e]]++;
            out->columns[to] = (int32_t)r;
            out->values[to] = m->values[e];
        }
    for (int64_t r = m->rows; r > 0; --r) start[r] = start[r - 1];
    start[0] = 0;
    return PS_OK;
}

ps_status ps_csr_check(const ps_csr *matrix, int64_t column_count)
{
    if (matrix->row_start[0] != 0 || matrix->row_start[matrix->rows] != matrix->nnz)
        return ps_fail(PS_INVALID, "rows hold %lld values, but %lld are there",
                       (long long)(matrix->row_start[matrix->rows] - matrix->row_start[0]),
                       (long long)matrix->nnz);
    for (int64_t r = 0; r < matrix->rows; ++r)
        if (matrix->row_start[r + 1] < matrix->row_start[r])
            return ps_fail(PS_INVALID, "row %lld has a negative length", (long long)r);
    for (int64_t r = 0; r < matrix->rows; ++r) PS_TRY(check_row(matrix, r, column_count));
    return PS_OK;
}

static ps_status write_part(ps_store *store, const char *group, const char *name, ps_type type,
                            const char *units, int64_t count, const void *data)
{
    char path[PS_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", group, name);
    ps_dataset_spec spec = {.name = path,
                            .type = type,
                            .rank = 1,
                            .dims = {count},
                            .chunk_rows = CHUNK_ROWS,
                            .units = units,
                            .description = "compressed sparse rows"};
    return ps_store_write_array(store, &spec, data);
}

ps_status ps_csr_write(ps_store *store, const char *group, const char *units, const ps_csr *matrix)
{
    PS_SCOPED_MEMORY int32_t *lengths = NULL;
    PS_TRY(PS_ALLOC(&lengths, matrix->rows, "row lengths of a sparse matrix"));
    for (int64_t r = 0; r < matrix->rows; ++r)
        lengths[r] = (int32_t)(matrix->row_start[r + 1] - matrix->row_start[r]);
    PS_TRY(write_part(store, group, "row_length", PS_I32, "1", matrix->rows, lengths));
    PS_TRY(write_part(store, group, "columns", PS_I32, "1", matrix->nnz, matrix->columns));
    PS_TRY(write_part(store, group, "values", PS_F64, units, matrix->nnz, matrix->values));
    return PS_OK;
}

static ps_status read_part(ps_store *store, const char *group, const char *name, ps_type type,
                           int64_t count, void *data)
{
    char path[PS_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", group, name);
    return ps_store_read_array(store, path, type, 0, count, count * (int64_t)ps_type_size(type),
                               data);
}

static ps_status length_of(ps_store *store, const char *group, const char *name, int64_t *out)
{
    char path[PS_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", group, name);
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, path, &info));
    if (info.rank != 1)
        return ps_fail(PS_INVALID, "%s has %d dimensions instead of one", path, info.rank);
    *out = info.dims[0];
    return PS_OK;
}

static ps_status read_rows(ps_store *store, const char *group, ps_csr *out)
{
    PS_SCOPED_MEMORY int32_t *lengths = NULL;
    PS_TRY(PS_ALLOC(&lengths, out->rows, "row lengths of a sparse matrix"));
    PS_TRY(read_part(store, group, "row_length", PS_I32, out->rows, lengths));
    for (int64_t r = 0; r < out->rows; ++r) out->row_start[r + 1] = out->row_start[r] + lengths[r];
    return PS_OK;
}

static ps_status read_all(ps_store *store, const char *group, int64_t rows, int64_t column_count,
                          ps_csr *out)
{
    int64_t stored_rows, columns, nnz;
    PS_TRY(length_of(store, group, "row_length", &stored_rows));
    PS_TRY(length_of(store, group, "columns", &columns));
    PS_TRY(length_of(store, group, "values", &nnz));
    if (stored_rows != rows || columns != nnz)
        return ps_fail(PS_INVALID, "%lld rows, %lld columns and %lld values; %lld rows expected",
                       (long long)stored_rows, (long long)columns, (long long)nnz, (long long)rows);
    PS_TRY(ps_csr_init(out, rows, nnz));
    PS_TRY(read_rows(store, group, out));
    PS_TRY(read_part(store, group, "columns", PS_I32, nnz, out->columns));
    PS_TRY(read_part(store, group, "values", PS_F64, nnz, out->values));
    return ps_csr_check(out, column_count);
}

ps_status ps_csr_read(ps_store *store, const char *group, int64_t rows, int64_t column_count,
                      ps_csr *out)
{
    *out = (ps_csr){0};
    ps_status status = read_all(store, group, rows, column_count, out);
    if (status == PS_OK) return PS_OK;
    ps_csr_release(out);
    return ps_context(status, "%s: %s", ps_store_path(store), group);
}
