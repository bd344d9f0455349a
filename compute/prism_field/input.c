/* Prisms and stations from files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/prism_field/field.h"
#include "formats/columns_hdf5.h"
#include "formats/number_file.h"
#include "runtime/log.h"
#include "runtime/memory.h"

enum { WIDTH_MAX = 9, ROWS = 4096 };

void columns_release(columns *c)
{
    for (int k = 0; k < WIDTH_MAX; ++k) free(c->column[k]);
    *c = (columns){0};
}

static ps_status add_row(columns *c, int64_t *capacity, int width, const double *row)
{
    if (c->count == *capacity) {
        int64_t room = *capacity;
        for (int k = 0; k < width; ++k) {
            *capacity = room;
            PS_TRY(ps_grow((void **)&c->column[k], capacity, c->count + 1, sizeof(double),
                           "rows of a table"));
        }
    }
    for (int k = 0; k < width; ++k) c->column[k][c->count] = row[k];
    ++c->count;
    return PS_OK;
}

static ps_status check_row(const char *where, int64_t row, const double *v, int width)
{
    static const double most = 1e15;
    for (int k = 0; k < width; ++k)
        if (!(fabs(v[k]) <= most))
            return ps_fail(PS_INVALID,
                           "%s %lld: number %d is %g: finite numbers up to %g are "
                           "expected",
                           where, (long long)row, k + 1, v[k], most);
    return PS_OK;
}

static ps_status read_text(const char *path, int width, const char *expected, columns *out)
{
    ps_number_file *file;
    double row[WIDTH_MAX + 1];
    char where[320];
    int count;
    int64_t capacity = 0;
    snprintf(where, sizeof where, "%.300s line", path);
    PS_TRY(ps_number_file_open(path, &file));
    ps_status status = PS_OK;
    while (status == PS_OK) {
        status = ps_number_file_line(file, row, WIDTH_MAX + 1, &count);
        if (status != PS_OK || count == 0) break;
        int64_t line = ps_number_file_where(file);
        if (count != width)
            status = ps_fail(PS_INVALID, "%s %lld: %d numbers; %s are expected", where,
                             (long long)line, count, expected);
        if (status == PS_OK) status = check_row(where, line, row, width);
        if (status == PS_OK) status = add_row(out, &capacity, width, row);
    }
    ps_number_file_close(&file);
    return status;
}

static ps_status read_rows(ps_hdf5_columns *file, const char *path, int width, columns *out)
{
    double *rows;
    char where[320];
    int64_t all = ps_hdf5_columns_rows(file);
    snprintf(where, sizeof where, "%.300s row", path);
    PS_TRY(PS_ALLOC(&rows, ROWS * width, "rows of a dataset"));
    ps_status status = PS_OK;
    for (int k = 0; k < width && status == PS_OK; ++k)
        status = ps_alloc_buffer((void **)&out->column[k], 8 * all, "rows of a dataset");
    while (status == PS_OK && out->count < all) {
        int64_t some = all - out->count < ROWS ? all - out->count : ROWS;
        status = ps_hdf5_columns_read(file, 0, out->count, some, rows);
        for (int64_t i = 0; i < some && status == PS_OK; ++i) {
            status = check_row(where, out->count + i, rows + i * width, width);
            for (int k = 0; k < width; ++k) out->column[k][out->count + i] = rows[i * width + k];
        }
        out->count += some;
    }
    free(rows);
    return status;
}

static ps_status read_dataset(const char *path, const char *dataset, int width,
                              const char *expected, columns *out)
{
    ps_hdf5_columns *file;
    PS_TRY(ps_hdf5_columns_open(path, &dataset, 1, &file));
    ps_status status = PS_OK;
    if (ps_hdf5_columns_width(file, 0) != width)
        status = ps_fail(PS_INVALID, "%s: %s has %d columns; %s are expected", path, dataset,
                         ps_hdf5_columns_width(file, 0), expected);
    if (status == PS_OK) status = read_rows(file, path, width, out);
    ps_hdf5_columns_close(&file);
    return status;
}

ps_status columns_read(const char *path, const char *dataset, int width, const char *expected,
                       columns *out)
{
    PS_TRY(ps_is_hdf5(path) ? read_dataset(path, dataset, width, expected, out)
                            : read_text(path, width, expected, out));
    return out->count > 0 ? PS_OK : ps_fail(PS_INVALID, "%s: no rows", path);
}

/* ---- checks ---- */

static ps_status check_bounds(const char *path, const columns *p)
{
    for (int64_t i = 0; i < p->count; ++i)
        for (int d = 0; d < 3; ++d)
            if (p->column[2 * d][i] > p->column[2 * d + 1][i])
                return ps_fail(PS_INVALID,
                               "%s: prism %lld is turned inside out: %c from %.10g to %.10g; the "
                               "lower bound comes first",
                               path, (long long)i + 1, "xyz"[d], p -> column[2 * d][i],
                               p -> column[2 * d + 1][i]);
    return PS_OK;
}

static bool has_volume(const columns *p, int64_t i)
{
    return p->column[0][i] < p->column[1][i] && p->column[2][i] < p->column[3][i] &&
           p->column[4][i] < p->column[5][i];
}

ps_status prisms_check(const char *path, columns *p)
{
    int64_t kept = 0, all = p->count;
    PS_TRY(check_bounds(path, p));
    for (int64_t i = 0; i < all; ++i) {
        if (!has_volume(p, i)) continue;
        for (int k = 0; k < WIDTH_MAX; ++k)
            if (p->column[k]) p->column[k][kept] = p->column[k][i];
        ++kept;
    }
    p->count = kept;
    if (kept == 0) return ps_fail(PS_INVALID, "%s: no prism has a volume", path);
    if (kept < all)
        ps_warning("%s: %lld of %lld prisms have no volume and are left out", path,
                   (long long)(all - kept), (long long)all);
    return PS_OK;
}

static void range_of(const double *low, const double *high, int64_t count, double out[2])
{
    out[0] = INFINITY, out[1] = -INFINITY;
    for (int64_t i = 0; i < count; ++i) {
        out[0] = fmin(out[0], low[i]);
        out[1] = fmax(out[1], high[i]);
    }
}

ps_status units_check(const field *f)
{
    double x[2], y[2], z[2];
    double *const *c = f->prisms.column;
    range_of(c[0], c[1], f->prisms.count, x);
    range_of(c[2], c[3], f->prisms.count, y);
    range_of(c[4], c[5], f->prisms.count, z);
    bool degrees = x[0] >= -180 && x[1] <= 360 && y[0] >= -90 && y[1] <= 90;
    if (!degrees || z[1] - z[0] < 3 * fmax(x[1] - x[0], y[1] - y[0])) return PS_OK;
    return ps_refuse(f->run, "units",
                     "the prisms have x from %.8g to %.8g, y from %.8g to %.8g and z from %.8g to "
                     "%.8g: are x and y in degrees? All must be in m, in one projection",
                     x[0], x[1], y[0], y[1], z[0], z[1]);
}
