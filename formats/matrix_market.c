#include "formats/matrix_market.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "formats/gzip_file.h"
#include "formats/number_file.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/scope.h"

/* ---- writing ---- */

typedef struct market_text {
    const ps_csr *matrix;
    bool symmetric;
    const char *comment;
} market_text;

static void print_entries(FILE *file, const ps_csr *m, bool symmetric)
{
    for (int64_t i = 0; i < m->rows && !ferror(file); ++i)
        for (int64_t e = m->row_start[i]; e < m->row_start[i + 1]; ++e)
            if (!symmetric || m->columns[e] <= i)
                fprintf(file, "%lld %d %.17g\n", (long long)i + 1, m->columns[e] + 1, m->values[e]);
}

static int64_t stored_entries(const ps_csr *m, bool symmetric)
{
    int64_t count = 0;
    if (!symmetric) return m->nnz;
    for (int64_t i = 0; i < m->rows; ++i)
        for (int64_t e = m->row_start[i]; e < m->row_start[i + 1]; ++e) count += m->columns[e] <= i;
    return count;
}

static void print_market(FILE *file, const void *context)
{
    const market_text *text = context;
    const ps_csr *m = text->matrix;
    fprintf(file, "%%%%MatrixMarket matrix coordinate real %s\n",
            text->symmetric ? "symmetric" : "general");
    if (text->comment) fprintf(file, "%% %s\n", text->comment);
    fprintf(file, "%lld %lld %lld\n", (long long)m->rows, (long long)m->rows,
            (long long)stored_entries(m, text->symmetric));
    print_entries(file, m, text->symmetric);
}

ps_status ps_matrix_market_save(const char *path, const ps_csr *matrix, bool symmetric,
                                const char *comment)
{
    return ps_output_print(path, print_market, &(market_text){matrix, symmetric, comment});
}

/* ---- reading ---- */

typedef struct market {
    bool pattern, symmetric, skew;
    int64_t rows, columns, entries; /* entries of the file */
    int32_t *row, *column;          /* grown as entries come: a header is not believed */
    double *value;
    int64_t row_room, column_room, value_room;
} market;

static ps_status read_banner(const char *path, market *m)
{
    char line[256] = "", object[64], layout[64], field[64], symmetry[64];
    gzFile file;
    PS_TRY(ps_gzip_open(path, "a Matrix Market file", &file));
    const char *got = gzgets(file, line, sizeof line);
    ps_status status = ps_gzip_check(file, path);
    gzclose(file);
    PS_TRY(status);
    if (!got ||
        sscanf(line, "%%%%MatrixMarket %63s %63s %63s %63s", object, layout, field, symmetry) != 4)
        return ps_fail(PS_INVALID, "%s does not begin with %%%%MatrixMarket matrix coordinate ...",
                       path);
    m->pattern = strcasecmp(field, "pattern") == 0;
    m->skew = strcasecmp(symmetry, "skew-symmetric") == 0;
    m->symmetric = m->skew || strcasecmp(symmetry, "symmetric") == 0;
    bool known =
        strcasecmp(object, "matrix") == 0 && strcasecmp(layout, "coordinate") == 0 &&
        (m->pattern || strcasecmp(field, "real") == 0 || strcasecmp(field, "integer") == 0) &&
        (m->symmetric || strcasecmp(symmetry, "general") == 0);
    if (known) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s is a %s %s %s %s; coordinate matrices, real, integer or pattern, "
                   "general, symmetric or skew-symmetric, are read",
                   path, object, layout, field, symmetry);
}

static ps_status read_sizes(const char *path, ps_number_file *file, market *m)
{
    double size[3];
    int count;
    PS_TRY(ps_number_file_line(file, size, 3, &count));
    bool sound = count == 3;
    for (int i = 0; i < 3 && sound; ++i)
        sound = size[i] >= (i < 2) && size[i] <= (i < 2 ? 2147483647 : 1e12) &&
                size[i] == (double)(int64_t)size[i];
    if (!sound) return ps_fail(PS_INVALID, "%s: rows, columns and entries are expected", path);
    m->rows = (int64_t)size[0], m->columns = (int64_t)size[1], m->entries = (int64_t)size[2];
    if (m->symmetric && m->rows != m->columns)
        return ps_fail(PS_INVALID, "%s: a symmetric matrix of %lld x %lld", path,
                       (long long)m->rows, (long long)m->columns);
    return PS_OK;
}

static ps_status make_room(market *m, int64_t count)
{
    static const char what[] = "a sparse matrix";
    PS_TRY(ps_grow((void **)&m->row, &m->row_room, count, sizeof *m->row, what));
    PS_TRY(ps_grow((void **)&m->column, &m->column_room, count, sizeof *m->column, what));
    return ps_grow((void **)&m->value, &m->value_room, count, sizeof *m->value, what);
}

/* Rows cost memory, whether they have entries or not. */
static ps_status check_rows(const char *path, const market *m)
{
    enum { ROWS_MIN = 2000000, ROWS_AN_ENTRY = 8 };
    if (m->rows <= ROWS_MIN || m->rows / ROWS_AN_ENTRY <= m->entries) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %lld rows of %lld entries: nearly all are empty; number the "
                   "rows that have entries",
                   path, (long long)m->rows, (long long)m->entries);
}

static ps_status read_entries(const char *path, ps_number_file *file, market *m)
{
    double entry[3] = {0, 0, 1};
    int wanted = m->pattern ? 2 : 3, count;
    for (int64_t e = 0; e < m->entries; ++e) {
        PS_TRY(ps_number_file_line(file, entry, wanted, &count));
        if (count == 0)
            return ps_fail(PS_INVALID, "%s ends after %lld of %lld entries", path, (long long)e,
                           (long long)m->entries);
        bool sound = count == wanted && entry[0] >= 1 && entry[0] <= (double)m->rows &&
                     entry[1] >= 1 && entry[1] <= (double)m->columns;
        if (!sound || entry[2] - entry[2] != 0)
            return ps_fail(PS_INVALID, "%s line %lld: no entry of a matrix of %lld x %lld", path,
                           (long long)ps_number_file_where(file), (long long)m->rows,
                           (long long)m->columns);
        PS_TRY(make_room(m, e + 1));
        m->row[e] = (int32_t)entry[0] - 1;
        m->column[e] = (int32_t)entry[1] - 1;
        m->value[e] = entry[2];
    }
    PS_TRY(ps_number_file_line(file, entry, 3, &count));
    if (count == 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s line %lld: more than the %lld entries announced", path,
                   (long long)ps_number_file_where(file), (long long)m->entries);
}

static void put_one(ps_csr *out, int64_t *next, int32_t row, int32_t column, double value)
{
    int64_t e = next[row]++;
    out->columns[e] = column;
    out->values[e] = value;
}

/* An entry of a row while it is sorted; equal columns keep the order of the file. */
typedef struct placed {
    int32_t column;
    int64_t place;
    double value;
} placed;

static int by_column(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool ascends(const int32_t *columns, int64_t count)
{
    for (int64_t i = 1; i < count; ++i)
        if (columns[i - 1] > columns[i]) return false;
    return true;
}

/* A row by column, equal columns added; returns what is left. sorted[count]. */
static int64_t tidy_row(int32_t *columns, double *values, int64_t count, placed *sorted)
{
    int64_t kept = 0;
    if (!ascends(columns, count)) {
        for (int64_t i = 0; i < count; ++i) sorted[i] = (placed){columns[i], i, values[i]};
        qsort(sorted, (size_t)count, sizeof *sorted, by_column);
        for (int64_t i = 0; i < count; ++i)
            columns[i] = sorted[i].column, values[i] = sorted[i].value;
    }
    for (int64_t i = 0; i < count; ++i) {
        if (kept > 0 && columns[kept - 1] == columns[i]) {
            values[kept - 1] += values[i];
            continue;
        }
        columns[kept] = columns[i];
        values[kept++] = values[i];
    }
    return kept;
}

static ps_status tidy(ps_csr *m)
{
    int64_t to = 0, from = 0, longest = 0;
    PS_SCOPED_MEMORY placed *sorted = NULL;
    for (int64_t i = 0; i < m->rows; ++i)
        if (m->row_start[i + 1] - m->row_start[i] > longest)
            longest = m->row_start[i + 1] - m->row_start[i];
    PS_TRY(PS_ALLOC(&sorted, longest, "a row of a sparse matrix"));
    for (int64_t i = 0; i < m->rows; ++i) {
        int64_t end = m->row_start[i + 1];
        int64_t kept = tidy_row(m->columns + from, m->values + from, end - from, sorted);
        memmove(m->columns + to, m->columns + from, (size_t)kept * sizeof *m->columns);
        memmove(m->values + to, m->values + from, (size_t)kept * sizeof *m->values);
        from = end;
        m->row_start[i] = to;
        to += kept;
    }
    m->row_start[m->rows] = m->nnz = to;
    return PS_OK;
}

/* Counts, then places; both triangles of symmetric matrices. */
static ps_status to_rows(const market *m, ps_csr *out)
{
    PS_SCOPED_MEMORY int64_t *next = NULL;
    int64_t nnz = m->entries;
    PS_TRY(PS_ALLOC(&next, m->rows + 1, "a sparse matrix"));
    for (int64_t e = 0; e < m->entries; ++e) {
        bool twice = m->symmetric && m->row[e] != m->column[e];
        ++next[m->row[e]];
        if (twice) ++next[m->column[e]], ++nnz;
    }
    PS_TRY(ps_csr_init(out, m->rows, nnz));
    for (int64_t i = 0; i < m->rows; ++i) {
        out->row_start[i + 1] = out->row_start[i] + next[i];
        next[i] = out->row_start[i];
    }
    for (int64_t e = 0; e < m->entries; ++e) {
        put_one(out, next, m->row[e], m->column[e], m->value[e]);
        if (m->symmetric && m->row[e] != m->column[e])
            put_one(out, next, m->column[e], m->row[e], m->skew ? -m->value[e] : m->value[e]);
    }
    return tidy(out);
}

ps_status ps_matrix_market_load(const char *path, ps_csr *out, int64_t *columns)
{
    market m = {.row = NULL};
    ps_number_file *file = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_number_file_open(path, &file)); /* names a file that is missing or empty */
    ps_status status = read_banner(path, &m);
    if (status == PS_OK) status = read_sizes(path, file, &m);
    if (status == PS_OK) status = read_entries(path, file, &m);
    ps_number_file_close(&file);
    if (status == PS_OK) status = check_rows(path, &m);
    if (status == PS_OK) status = to_rows(&m, out);
    if (columns) *columns = m.columns;
    PS_FREE(m.row, m.column, m.value);
    return status;
}
