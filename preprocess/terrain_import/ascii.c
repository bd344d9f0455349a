/* ESRI's ASCII grids: a header of names and numbers, then rows from the north. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "preprocess/terrain_import/terrain.h"
#include "runtime/path.h"

enum { COLUMNS, ROWS, X_CORNER, Y_CORNER, X_CENTRE, Y_CENTRE, CELL, NO_DATA, NAMES };
static const char *const names[NAMES] = {"ncols",     "nrows",     "xllcorner", "yllcorner",
                                         "xllcenter", "yllcenter", "cellsize",  "nodata_value"};

static int find_name(const char *word)
{
    for (int k = 0; k < NAMES; ++k)
        if (strcasecmp(word, names[k]) == 0) return k;
    return -1;
}

static bool is_count(double value) { return value >= 1 && value <= 1e9 && value == floor(value); }

static ps_status read_header(FILE *file, const char *path, double value[NAMES])
{
    char word[32];
    for (int k = 0; k < NAMES; ++k) value[k] = NAN;
    for (;;) {
        long at = ftell(file);
        if (fscanf(file, "%31s", word) != 1) break;
        int k = find_name(word);
        if (k < 0) {
            if (fseek(file, at, SEEK_SET) != 0)
                return ps_fail(PS_INVALID, "%s must be a regular file", path);
            break;
        }
        if (!isnan(value[k])) return ps_fail(PS_INVALID, "%s has %s twice", path, names[k]);
        if (fscanf(file, "%lf", &value[k]) != 1)
            return ps_fail(PS_INVALID, "%s: %s has no number", path, names[k]);
    }
    bool x = isfinite(value[X_CORNER]) != isfinite(value[X_CENTRE]);
    bool y = isfinite(value[Y_CORNER]) != isfinite(value[Y_CENTRE]);
    if (x && y && is_count(value[COLUMNS]) && is_count(value[ROWS]) && value[CELL] > 0 &&
        isfinite(value[CELL]))
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s is neither NetCDF nor GeoTIFF, nor an ASCII grid: ncols, nrows, xllcorner "
                   "or xllcenter, yllcorner or yllcenter and cellsize are expected",
                   path);
}

static ps_status read_rows(FILE *file, elevation *e, double no_data)
{
    char word[64], *end;
    for (int64_t k = 0; k < e->count[0] * e->count[1]; ++k) {
        if (fscanf(file, "%63s", word) != 1)
            return ps_fail(PS_INVALID, "%s ends after %lld of %lld heights", e->path, (long long)k,
                           (long long)(e->count[0] * e->count[1]));
        e->height[k] = strtod(word, &end);
        if (*end)
            return ps_fail(PS_INVALID, "%s: height %lld is \"%s\", no number", e->path,
                           (long long)k + 1, word);
    }
    elevation_drop(e, no_data);
    return fscanf(file, "%63s", word) == 1
               ? ps_fail(PS_INVALID, "%s goes on after its %lld heights", e->path,
                         (long long)(e->count[0] * e->count[1]))
               : PS_OK;
}

/* A height takes two bytes at least: what the header announces beyond that is not believed. */
static ps_status check_size(FILE *file, const elevation *e)
{
    off_t at = ftello(file), end = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    if (at < 0 || end < 0 || fseeko(file, at, SEEK_SET) != 0)
        return ps_fail(PS_INVALID, "%s must be a regular file", e->path);
    if ((double)e->count[0] * (double)e->count[1] <= (double)(end - at + 1) / 2) return PS_OK;
    return ps_fail(PS_INVALID, "%s announces %lld x %lld heights, which its %lld bytes cannot hold",
                   e->path, (long long)e->count[0], (long long)e->count[1], (long long)end);
}

static ps_status read_grid(FILE *file, const reading *how, elevation *e)
{
    double v[NAMES];
    PS_TRY(read_header(file, e->path, v));
    e->count[0] = (int64_t)v[COLUMNS], e->count[1] = (int64_t)v[ROWS];
    for (int d = 0; d < 2; ++d) {
        bool centre = isfinite(v[X_CENTRE + d]);
        double first = centre ? v[X_CENTRE + d] : v[X_CORNER + d] + v[CELL] / 2;
        double north = first + v[CELL] * (double)(e->count[d] - 1);
        PS_TRY(d == 0 ? elevation_axis(e, d, first, v[CELL])
                      : elevation_axis(e, d, north, -v[CELL]));
    }
    PS_TRY(check_size(file, e));
    PS_TRY(elevation_allocate(how->run, e));
    return read_rows(file, e, v[NO_DATA]);
}

ps_status read_ascii(const char *path, const reading *how, elevation *out)
{
    FILE *file;
    PS_TRY(ps_path_open_input(path, "an ASCII grid", &file));
    ps_status status = read_grid(file, how, out);
    fclose(file);
    return status;
}
