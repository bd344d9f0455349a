/* NetCDF grids after COARDS and CF, as GMT and others write them, by libnetcdf. Coordinates are
 * those of the values, whether pixels or grid lines are meant. */
#include "preprocess/terrain_import/terrain.h"

#ifdef PS_WITH_NETCDF
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/memory.h"

typedef struct source {
    const char *path;
    int file, variable, axis[2]; /* variables of x, y */
    int rank;
} source;

static ps_status failed(const source *s, const char *what, int code)
{
    return ps_fail(code == NC_ENOMEM ? PS_EXHAUSTED : PS_INVALID, "%s: %s: %s", s->path, what,
                   nc_strerror(code));
}

#define NC_TRY(source, what, call)                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != NC_NOERR) return failed((source), (what), code_);                             \
    } while (0)

static void trim(char *text)
{
    size_t length = strlen(text), begin = strspn(text, " ");
    while (length > begin && text[length - 1] == ' ') --length;
    memmove(text, text + begin, length - begin);
    text[length - begin] = 0;
}

/* A text attribute, cut to `size`; "" if there is none. False: it is longer, or no text. */
static bool text_of(const source *s, int variable, const char *name, char *out, size_t size)
{
    size_t length;
    nc_type type;
    char *text = NULL;
    out[0] = 0;
    if (nc_inq_att(s->file, variable, name, &type, &length) != NC_NOERR) return true;
    if (type == NC_STRING && length == 1) {
        if (nc_get_att_string(s->file, variable, name, &text) != NC_NOERR || !text) return false;
        length = strlen(text);
        snprintf(out, size, "%s", text);
        nc_free_string(1, &text);
    } else if (type == NC_CHAR) {
        if (!(text = calloc(length + 1, 1))) return false;
        if (nc_get_att_text(s->file, variable, name, text) == NC_NOERR)
            snprintf(out, size, "%s", text);
        free(text);
    } else {
        return false;
    }
    trim(out);
    return length < size;
}

/* One or two numbers; *count 0 if there are none. */
static ps_status numbers_of(const source *s, int variable, const char *name, double out[2],
                            size_t *count)
{
    nc_type type;
    *count = 0;
    if (nc_inq_att(s->file, variable, name, &type, count) != NC_NOERR) {
        *count = 0;
        return PS_OK;
    }
    if (type == NC_CHAR || type == NC_STRING || *count < 1 || *count > 2)
        return ps_fail(PS_INVALID, "%s: attribute %s is not one or two numbers", s->path, name);
    NC_TRY(s, name, nc_get_att_double(s->file, variable, name, out));
    return PS_OK;
}

/* ---- which variable ---- */

static bool is_grid(const source *s, int variable, int axis[2], int *rank)
{
    int dims[NC_MAX_VAR_DIMS];
    char name[NC_MAX_NAME + 1];
    nc_type type;
    size_t length;
    if (nc_inq_varndims(s->file, variable, rank) != NC_NOERR || *rank < 2 || *rank > 8)
        return false;
    if (nc_inq_vardimid(s->file, variable, dims) != NC_NOERR) return false;
    if (nc_inq_vartype(s->file, variable, &type) != NC_NOERR || type == NC_CHAR || type > NC_UINT64)
        return false;
    for (int k = 0; k < *rank - 2; ++k)
        if (nc_inq_dimlen(s->file, dims[k], &length) != NC_NOERR || length != 1) return false;
    for (int d = 0; d < 2; ++d) {
        if (nc_inq_dimname(s->file, dims[*rank - 1 - d], name) != NC_NOERR) return false;
        if (nc_inq_varid(s->file, name, &axis[d]) != NC_NOERR) return false;
    }
    return true;
}

static ps_status find_variable(source *s, const char *wanted)
{
    int variables = 0, found = 0, axis[2], rank;
    char names[600] = "", name[NC_MAX_NAME + 1];
    NC_TRY(s, "variables", nc_inq_nvars(s->file, &variables));
    for (int v = 0; v < variables; ++v) {
        if (!is_grid(s, v, axis, &rank)) continue;
        NC_TRY(s, "variables", nc_inq_varname(s->file, v, name));
        if (wanted && strcmp(wanted, name) != 0) continue;
        size_t at = strlen(names);
        snprintf(names + at, sizeof names - at, "%s%s", found ? ", " : "", name);
        s->variable = v, s->axis[0] = axis[0], s->axis[1] = axis[1], s->rank = rank;
        ++found;
    }
    if (found == 1) return PS_OK;
    if (found > 1)
        return ps_fail(PS_INVALID, "%s holds several grids: %s: --variable takes one", s->path,
                       names);
    return ps_fail(PS_INVALID,
                   "%s holds no grid%s%s whose two axes have coordinates, as COARDS and CF have it "
                   "(files of GMT 3: gmt grdconvert OLD NEW=nf)",
                   s->path, wanted ? " " : "", wanted ? wanted : "");
}

/* ---- axes ---- */

typedef enum meaning { NOT_SAID, LONGITUDE, LATITUDE } meaning;

/* 0: along x, 1: along y, -1: it does not say. */
static int direction_of(const source *s, int variable, meaning is, const char *name)
{
    static const char *const names[2][2] = {{"x", "easting"}, {"y", "northing"}};
    char axis[4], standard[64];
    if (is != NOT_SAID) return is == LATITUDE;
    text_of(s, variable, "axis", axis, sizeof axis);
    text_of(s, variable, "standard_name", standard, sizeof standard);
    for (int d = 0; d < 2; ++d)
        if (strcasecmp(axis, names[d][0]) == 0 ||
            strcmp(standard, d ? "projection_y_coordinate" : "projection_x_coordinate") == 0)
            return d;
    for (int d = 0; d < 2; ++d)
        if (strcasecmp(name, names[d][0]) == 0 || strcasecmp(name, names[d][1]) == 0) return d;
    return -1;
}

/* What axes may not be: packed, of another pole, along the other direction. */
static ps_status check_axis(const source *s, int axis, meaning is, const char *name)
{
    static const char *const packing[] = {"scale_factor", "add_offset"};
    int variable = s->axis[axis], direction = direction_of(s, variable, is, name);
    char standard[64];
    for (int k = 0; k < 2; ++k)
        if (nc_inq_att(s->file, variable, packing[k], NULL, NULL) == NC_NOERR)
            return ps_fail(PS_INVALID, "%s: %s has a %s, which is not taken for coordinates",
                           s->path, name, packing[k]);
    text_of(s, variable, "standard_name", standard, sizeof standard);
    if (strncmp(standard, "grid_l", 6) == 0)
        return ps_fail(PS_INVALID, "%s: %s is a %s, of a rotated pole: resample it", s->path, name,
                       standard);
    if (direction < 0 || direction == axis) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %s runs along its %s: transpose it", s->path, name,
                   axis ? "columns" : "rows");
}

static meaning meaning_of(const char *name, const char *units)
{
    if (strncasecmp(units, "degree", 6) == 0 && strcasestr(units, "_n")) return LATITUDE;
    if (strncasecmp(units, "degree", 6) == 0 && strcasestr(units, "_e")) return LONGITUDE;
    if (units[0] && strncasecmp(units, "degree", 6) != 0) return NOT_SAID;
    return strncasecmp(name, "lon", 3) == 0   ? LONGITUDE
           : strncasecmp(name, "lat", 3) == 0 ? LATITUDE
                                              : NOT_SAID;
}

static ps_status check_even(const elevation *e, int axis, const double *x)
{
    int64_t n = e->count[axis];
    /* Coordinates in single precision are as even as that allows. */
    double most = fmax(fabs(x[0]), fabs(x[n - 1]));
    double room = fmin(1e-3 * fabs(e->step[axis]) + 1.2e-7 * most, 0.02 * fabs(e->step[axis]));
    for (int64_t i = 0; i < n; ++i) {
        double off = x[i] - (e->first[axis] + (double)i * e->step[axis]);
        if (!(fabs(off) <= room))
            return ps_fail(
                PS_INVALID,
                "%s: point %lld along %c is at %.10g, %.3g beside an even grid: resample "
                "it",
                e->path, (long long)i + 1, "xy"[axis], x[i], off);
    }
    return PS_OK;
}

/* Files that say that they hold pixels must have their centres as coordinates. */
static ps_status check_pixels(const source *s, const elevation *e, int axis)
{
    double range[2], node = 0;
    size_t count;
    if (nc_get_att_double(s->file, NC_GLOBAL, "node_offset", &node) != NC_NOERR || node != 1)
        return PS_OK;
    PS_TRY(numbers_of(s, s->axis[axis], "actual_range", range, &count));
    double last = e->first[axis] + e->step[axis] * (double)(e->count[axis] - 1);
    double low = fmin(e->first[axis], last), half = fabs(e->step[axis]) / 2;
    if (count == 2 && fabs(low - half - fmin(range[0], range[1])) > 0.1 * half)
        return ps_fail(PS_INVALID,
                       "%s: node_offset 1 says that points are pixels; then %c must begin half a "
                       "cell within actual_range, %.10g, not at %.10g",
                       s->path, "xy"[axis], fmin(range[0], range[1]), low);
    return PS_OK;
}

/* Longitudes that go on at the other end of the globe: 179, 180, -179. */
static void unwrap(double *x, size_t count)
{
    for (size_t i = 1; i < count; ++i) x[i] += 360 * round((x[i - 1] - x[i]) / 360);
}

static ps_status read_axis(const source *s, int axis, elevation *e, meaning *is)
{
    char name[NC_MAX_NAME + 1], units[64];
    int rank, dim;
    size_t length;
    double *x = NULL;
    NC_TRY(s, "axes", nc_inq_varname(s->file, s->axis[axis], name));
    NC_TRY(s, name, nc_inq_varndims(s->file, s->axis[axis], &rank));
    if (rank != 1) return ps_fail(PS_INVALID, "%s: %s has %d dimensions", s->path, name, rank);
    NC_TRY(s, name, nc_inq_vardimid(s->file, s->axis[axis], &dim));
    NC_TRY(s, name, nc_inq_dimlen(s->file, dim, &length));
    e->count[axis] = (int64_t)length;
    if (length < 2 || length > (size_t)1 << 31)
        return ps_fail(PS_INVALID, "%s: %s has %zu points: two at least tell the width of cells",
                       s->path, name, length);
    text_of(s, s->axis[axis], "units", units, sizeof units);
    *is = meaning_of(name, units);
    PS_TRY(PS_ALLOC(&x, length, "coordinates"));
    int code = nc_get_var_double(s->file, s->axis[axis], x);
    if (*is == LONGITUDE && code == NC_NOERR) unwrap(x, length);
    ps_status status =
        code == NC_NOERR
            ? elevation_axis(e, axis, x[0], (x[length - 1] - x[0]) / (double)(length - 1))
            : failed(s, name, code);
    if (status == PS_OK) status = check_even(e, axis, x);
    free(x);
    PS_TRY(status);
    PS_TRY(check_axis(s, axis, *is, name));
    double metres = *is == NOT_SAID && units[0] ? length_of_unit(units) : 1;
    if (metres == 0)
        return ps_fail(PS_INVALID, "%s: %s is in \"%s\": m, km, feet or degrees are taken", s->path,
                       name, units);
    if (*is == NOT_SAID && units[0]) e->coordinates = COORDINATES_PROJECTED;
    PS_TRY(check_pixels(s, e, axis));
    e->first[axis] *= metres;
    e->step[axis] *= metres;
    return PS_OK;
}

static ps_status read_axes(const source *s, elevation *e)
{
    meaning is[2];
    PS_TRY(read_axis(s, 0, e, &is[0]));
    PS_TRY(read_axis(s, 1, e, &is[1]));
    if ((is[0] == LONGITUDE) != (is[1] == LATITUDE))
        return ps_fail(PS_INVALID, "%s: one axis is in degrees, the other is not", s->path);
    if (is[0] == LONGITUDE) e->coordinates = COORDINATES_GEOGRAPHIC;
    return PS_OK;
}

/* ---- values ---- */

static ps_status read_reference(const source *s, elevation *e)
{
    static const char *const names[] = {"crs_wkt", "spatial_ref", "epsg_code", "proj4",
                                        "grid_mapping_name"};
    char mapping[NC_MAX_NAME + 1];
    int variable;
    text_of(s, s->variable, "grid_mapping", mapping, sizeof mapping);
    if (!mapping[0] || nc_inq_varid(s->file, mapping, &variable) != NC_NOERR) return PS_OK;
    for (size_t k = 0; k < sizeof names / sizeof *names && !e->reference[0]; ++k)
        if (!text_of(s, variable, names[k], e->reference, sizeof e->reference)) e->reference[0] = 0;
    return PS_OK;
}

static bool is_gap(double raw, const double *fills, int count, const double range[2])
{
    for (int k = 0; k < count; ++k)
        if (raw == fills[k]) return true;
    return raw < range[0] || raw > range[1];
}

enum { FILLS = 12 };

/* What stands for no value, as it is stored, and the range of what is one, if the file tells it. */
static ps_status read_fills(const source *s, double fills[FILLS], int *count, double range[2])
{
    /* Those of CF, and what translations from other forms leave. */
    static const char *const names[] = {"_FillValue", "missing_value", "nodata",
                                        "no_data",    "nodatavals",    "NODATA_value"};
    static const double usual[] = {[NC_SHORT] = NC_FILL_SHORT,
                                   [NC_INT] = NC_FILL_INT,
                                   [NC_FLOAT] = NC_FILL_FLOAT,
                                   [NC_DOUBLE] = NC_FILL_DOUBLE};
    double two[2];
    size_t n;
    nc_type type;
    char unsigned_text[16];
    *count = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        PS_TRY(numbers_of(s, s->variable, names[k], two, &n));
        for (size_t i = 0; i < n; ++i) fills[(*count)++] = two[i];
    }
    NC_TRY(s, "type", nc_inq_vartype(s->file, s->variable, &type));
    if (*count == 0 &&
        (type == NC_SHORT || type == NC_INT || type == NC_FLOAT || type == NC_DOUBLE))
        fills[(*count)++] = usual[type];
    text_of(s, s->variable, "_Unsigned", unsigned_text, sizeof unsigned_text);
    if (strcasecmp(unsigned_text, "true") == 0)
        return ps_fail(PS_INVALID, "%s: unsigned numbers in a signed type are not taken", s->path);
    PS_TRY(numbers_of(s, s->variable, "valid_min", two, &n));
    if (n) range[0] = two[0];
    PS_TRY(numbers_of(s, s->variable, "valid_max", two, &n));
    if (n) range[1] = two[0];
    PS_TRY(numbers_of(s, s->variable, "valid_range", two, &n));
    if (n == 2) range[0] = two[0], range[1] = two[1];
    return PS_OK;
}

/* Which way they count: CF's `positive`, its standard names of depths, or names alone. */
static void read_positive(const source *s, elevation *e)
{
    static const char *const names[] = {"standard_name", "long_name"};
    char text[NC_MAX_NAME + 1];
    text_of(s, s->variable, "positive", text, sizeof text);
    if (strcasecmp(text, "down") == 0) e->positive = POSITIVE_DOWN;
    if (strcasecmp(text, "up") == 0) e->positive = POSITIVE_UP;
    for (int k = 0; k < 2; ++k) {
        text_of(s, s->variable, names[k], text, sizeof text);
        e->depths_named = e->depths_named || strcasestr(text, "depth");
    }
    if (nc_inq_varname(s->file, s->variable, text) == NC_NOERR)
        e->depths_named = e->depths_named || strcasestr(text, "depth");
}

static ps_status read_values(const source *s, const reading *how, elevation *e)
{
    double fills[FILLS], range[2] = {-INFINITY, INFINITY}, two[2];
    char units[64];
    size_t start[8] = {0}, count[8] = {1, 1, 1, 1, 1, 1, 1, 1}, n;
    int fill_count;
    PS_TRY(read_fills(s, fills, &fill_count, range));
    PS_TRY(numbers_of(s, s->variable, "scale_factor", two, &n));
    if (n) e->scale = two[0];
    PS_TRY(numbers_of(s, s->variable, "add_offset", two, &n));
    if (n) e->offset = two[0];
    if (!isfinite(e->scale) || e->scale == 0 || !isfinite(e->offset))
        return ps_fail(PS_INVALID, "%s: scale_factor %g, add_offset %g", s->path, e->scale,
                       e->offset);
    text_of(s, s->variable, "units", units, sizeof units);
    PS_TRY(elevation_height_unit(how, units, e));
    read_positive(s, e);
    PS_TRY(elevation_allocate(how->run, e));
    count[s->rank - 1] = (size_t)e->count[0];
    count[s->rank - 2] = (size_t)e->count[1];
    NC_TRY(s, "heights", nc_get_vara_double(s->file, s->variable, start, count, e->height));
    for (int64_t c = 0; c < e->count[0] * e->count[1]; ++c)
        if (is_gap(e->height[c], fills, fill_count, range)) e->height[c] = NAN;
    return PS_OK;
}

static ps_status read_open(source *s, const reading *how, elevation *out)
{
    PS_TRY(find_variable(s, how->variable));
    PS_TRY(read_axes(s, out));
    PS_TRY(read_reference(s, out));
    return read_values(s, how, out);
}

ps_status read_netcdf(const char *path, const reading *how, elevation *out)
{
    source s = {.path = path};
    NC_TRY(&s, "it cannot be read as NetCDF", nc_open(path, NC_NOWRITE, &s.file));
    ps_status status = read_open(&s, how, out);
    nc_close(s.file);
    return status;
}
#endif
