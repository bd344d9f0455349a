#include "preprocess/incident/incident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_hdf5.h"
#include "formats/number_file.h"
#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

enum { COLUMNS_MAX = 1 << 22 };

void table_release(table *t)
{
    free(t->values);
    memset(t, 0, sizeof *t);
}

/* ---- reading ---- */

static ps_status read_text(const char *path, table *out)
{
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    PS_SCOPED_MEMORY double *row = NULL;
    int64_t room = 0;
    PS_TRY(PS_ALLOC(&row, COLUMNS_MAX, "a line of numbers"));
    PS_TRY(ps_number_file_open(path, &file));
    for (;;) {
        int count;
        PS_TRY(ps_number_file_line(file, row, COLUMNS_MAX, &count));
        if (count == 0) return PS_OK;
        if (out->rows > 0 && count != out->width)
            return ps_fail(PS_INVALID, "%s line %lld has %d numbers, those before have %lld", path,
                           (long long)ps_number_file_where(file), count, (long long)out->width);
        out->width = count;
        PS_TRY(
            ps_grow((void **)&out->values, &room, (out->rows + 1) * count, sizeof *row, "a table"));
        memcpy(out->values + out->rows++ * count, row, (size_t)count * sizeof *row);
    }
}

static ps_status read_hdf5(const char *path, const char *name, table *out)
{
    PS_SCOPED(ps_hdf5_columns_close) ps_hdf5_columns *file = NULL;
    PS_TRY(ps_hdf5_columns_open(path, &name, 1, &file));
    out->rows = ps_hdf5_columns_rows(file);
    out->width = ps_hdf5_columns_width(file, 0);
    PS_TRY(PS_ALLOC(&out->values, out->rows * out->width, "a table"));
    return ps_hdf5_columns_read(file, 0, 0, out->rows, out->values);
}

ps_status table_read(const char *path, const char *name, table *out)
{
    memset(out, 0, sizeof *out);
    bool hdf5 = ps_is_hdf5(path);
    ps_status status = hdf5 ? read_hdf5(path, name, out) : read_text(path, out);
    for (int64_t i = 0; status == PS_OK && i < out->rows * out->width; ++i)
        if (!isfinite(out->values[i]))
            status = ps_fail(PS_INVALID, "%s%s%s: row %lld, column %lld is not a finite number",
                             path, hdf5 ? " " : "", hdf5 ? name : "",
                             (long long)(i / out->width + 1), (long long)(i % out->width + 1));
    if (status != PS_OK) table_release(out);
    return status;
}

/* Of text the first column is the time: it is taken out. */
static ps_status split_times(const char *path, table *out, table *times)
{
    if (out->width < 2) return ps_fail(PS_INVALID, "%s: a time and no value in a line", path);
    *times = (table){.rows = out->rows, .width = 1};
    PS_TRY(PS_ALLOC(&times->values, out->rows, "times"));
    for (int64_t r = 0; r < out->rows; ++r) {
        times->values[r] = out->values[r * out->width];
        memmove(out->values + r * (out->width - 1), out->values + r * out->width + 1,
                (size_t)(out->width - 1) * sizeof *out->values);
    }
    --out->width;
    return PS_OK;
}

ps_status table_read_series(const char *path, const char *name, table *out, even_times *even)
{
    PS_SCOPED(table_release) table times = {0};
    PS_TRY(table_read(path, name, out));
    PS_TRY(ps_is_hdf5(path) ? table_read(path, "time", &times) : split_times(path, out, &times));
    if (times.width != 1 || times.rows != out->rows || out->rows < 2)
        return ps_fail(PS_INVALID, "%s: %lld times for %lld rows of %s: as many, and two at least",
                       path, (long long)(times.rows * times.width), (long long)out->rows, name);
    for (int64_t r = 0; r < out->rows; ++r)
        PS_TRY(even_time(path, r, r + 1, times.values[r], even));
    return PS_OK;
}

/* ---- places ---- */

typedef struct key {
    double x;
    int64_t index;
} key;

static int by_x(const void *a, const void *b)
{
    double x = ((const key *)a)->x, y = ((const key *)b)->x;
    return (x > y) - (x < y);
}

/* The nearest point among those whose x is within the tolerance. */
static int64_t nearest(const key *keys, const double *points, int64_t count, const double *place,
                       double tolerance)
{
    int64_t low, best = -1;
    double least = tolerance;
    PS_LOWER_BOUND(low, 0, count, at, keys[at].x < place[0] - tolerance);
    for (; low < count && keys[low].x <= place[0] + tolerance; ++low) {
        double d = ps_distance3(points + 3 * keys[low].index, place);
        if (d > least) continue;
        least = d;
        best = keys[low].index;
    }
    return best;
}

ps_status table_match(const char *path, const table *places, const double *points, int64_t count,
                      double tolerance, int64_t *place)
{
    PS_SCOPED_MEMORY key *keys = NULL;
    PS_SCOPED_MEMORY char *met = NULL;
    PS_TRY(PS_ALLOC(&keys, count, "places"));
    PS_TRY(PS_ALLOC(&met, count, "places"));
    for (int64_t i = 0; i < count; ++i) keys[i] = (key){points[3 * i], i};
    qsort(keys, (size_t)count, sizeof *keys, by_x);
    for (int64_t r = 0; r < places->rows; ++r) {
        const double *x = places->values + r * places->width;
        place[r] = nearest(keys, points, count, x, tolerance);
        if (place[r] >= 0 && !met[place[r]]++) continue;
        return ps_fail(PS_INVALID,
                       "%s: point %lld at %g,%g,%g is %s; give the mesh's vertices or its "
                       "triangles' centroids, each once, in any order",
                       path, (long long)r + 1, x[0], x[1], x[2],
                       place[r] < 0 ? "not on the mesh" : "given twice");
    }
    return PS_OK;
}
