/* Elevation models: which reader, what all of them must hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/terrain_import/terrain.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/trial.h"

#ifndef PS_WITH_NETCDF
#define read_netcdf NULL
#endif
#ifndef PS_WITH_GEOTIFF
#define read_geotiff NULL
#endif

/* Of the child that tries a file: beside --host-memory, and at most. */
enum { TRIAL_MORE = 1 << 30, TRIAL_SECONDS = 600 };
/* Memory for a byte of a file that is not compressed: a height of one byte is a double, in two
 * copies. */
enum { OF_PLAIN_BYTE = 24 };

void elevation_release(elevation *e)
{
    free(e->height);
    *e = (elevation){0};
}

/* ---- for readers ---- */

/* What the grid itself takes: prisms, which depend on gaps and layers, are planned later. */
ps_status elevation_allocate(const ps_run *run, elevation *e)
{
    static const int64_t most = (int64_t)1 << 31;
    if (e->count[0] < 1 || e->count[1] < 1 || e->count[0] > most / e->count[1])
        return ps_fail(PS_INVALID, "%s: a grid of %lld x %lld points; 1 to %lld are taken", e->path,
                       (long long)e->count[0], (long long)e->count[1], (long long)most);
    int64_t bytes = 8 * e->count[0] * e->count[1];
    if (bytes > run->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "%s: %lld x %lld heights take %.4g MB; --host-memory is %.4g MB", e->path,
                       (long long)e->count[0], (long long)e->count[1], 1e-6 * (double)bytes,
                       1e-6 * (double)run->host_memory);
    return PS_ALLOC(&e->height, e->count[0] * e->count[1], "heights");
}

ps_status elevation_axis(elevation *e, int axis, double first, double step)
{
    static const double least = 1e-9; /* a border is then off by 1e-7 of its cell at most */
    double last = first + step * (double)(e->count[axis] - 1);
    e->first[axis] = first;
    e->step[axis] = step;
    if (!isfinite(first) || !isfinite(last) || step == 0)
        return ps_fail(PS_INVALID, "%s: %c goes from %.10g to %.10g in %lld points", e->path,
                       "xy"[axis], first, last, (long long)e -> count[axis]);
    if (fabs(step) > least * fmax(fabs(first), fabs(last))) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: steps of %.3g along %c are lost in the rounding of coordinates of %.10g",
                   e->path, step, "xy"[axis], first);
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Columns and rows into ascending order. */
static void turn(elevation *e)
{
    const int64_t nx = e->count[0], ny = e->count[1];
    if (e->step[0] < 0) {
        for (int64_t j = 0; j < ny; ++j)
            for (int64_t i = 0; i < nx / 2; ++i)
                swap(&e->height[j * nx + i], &e->height[j * nx + nx - 1 - i]);
    }
    if (e->step[1] < 0) {
        for (int64_t j = 0; j < ny / 2; ++j)
            for (int64_t i = 0; i < nx; ++i)
                swap(&e->height[j * nx + i], &e->height[(ny - 1 - j) * nx + i]);
    }
    for (int d = 0; d < 2; ++d) {
        if (e->step[d] > 0) continue;
        e->first[d] += (double)(e->count[d] - 1) * e->step[d];
        e->step[d] = -e->step[d];
    }
}

/* ---- what the numbers are ---- */

static bool looks_like_degrees(const elevation *e)
{
    double x = e->first[0] + e->step[0] * (double)e->count[0];
    double y = e->first[1] + e->step[1] * (double)e->count[1];
    return e->first[0] >= -361 && x <= 361 && e->first[1] >= -91 && y <= 91;
}

static double farthest(const elevation *e, int axis)
{
    double last = e->first[axis] + e->step[axis] * (double)(e->count[axis] - 1);
    return fmax(fabs(e->first[axis]), fabs(last));
}

/* Longitudes of a model that goes on behind 360, or begins there: once around is the same place. */
static ps_status turn_back(elevation *e)
{
    double around = e->step[0] * (double)e->count[0], last = e->first[0] + around;
    if (around > 360 * (1 + 1e-6))
        return ps_fail(PS_INVALID,
                       "%s: its cells go %.8g degrees around the globe, so that some lie there "
                       "twice: leave out the columns that come again (360 is 0)",
                       e->path, around);
    if (last > 361 && last < 1081) e->first[0] -= 360 * floor(last / 360);
    return PS_OK;
}

static ps_status settle_coordinates(const reading *how, elevation *e)
{
    if (how->coordinates != COORDINATES_UNKNOWN) e->coordinates = how->coordinates;
    if (e->coordinates == COORDINATES_GEOGRAPHIC) PS_TRY(turn_back(e));
    bool degrees = looks_like_degrees(e);
    if (e->coordinates == COORDINATES_UNKNOWN && degrees)
        return ps_fail(PS_INVALID,
                       "%s does not say whether x from %.8g and y from %.8g are degrees or m: "
                       "--coordinates does",
                       e->path, e->first[0], e->first[1]);
    if (e->coordinates == COORDINATES_UNKNOWN) {
        e->coordinates = COORDINATES_PROJECTED;
        ps_warning("%s does not name its reference system: x and y are taken for m", e->path);
    }
    double far = fmax(farthest(e, 0), farthest(e, 1));
    if (e->coordinates == COORDINATES_PROJECTED && far > 1e9)
        return ps_fail(PS_INVALID, "%s: coordinates of %.3g m are no places of the Earth", e->path,
                       far);
    double south = e->first[1] - e->step[1] / 2;
    double north = e->first[1] + e->step[1] * ((double)e->count[1] - 0.5);
    if (e->coordinates == COORDINATES_GEOGRAPHIC && (!degrees || south < -90 || north > 90))
        return ps_fail(PS_INVALID,
                       "%s: longitudes from %.8g and latitudes from %.8g to %.8g are no "
                       "degrees of one globe (cells reach half a step beyond their points)",
                       e->path, e->first[0], south, north);
    return PS_OK;
}

/* A file may say m, as writers do by default, where its numbers are degrees. */
static ps_status check_slopes(const reading *how, const elevation *e)
{
    double low = INFINITY, high = -INFINITY;
    double extent = fmax(e->step[0] * (double)e->count[0], e->step[1] * (double)e->count[1]);
    if (how->coordinates != COORDINATES_UNKNOWN || e->coordinates != COORDINATES_PROJECTED ||
        !looks_like_degrees(e))
        return PS_OK;
    for (int64_t c = 0; c < e->count[0] * e->count[1]; ++c) {
        low = fmin(low, e->height[c]);
        high = fmax(high, e->height[c]);
    }
    if (!(high - low > 3 * extent)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s says that x from %.8g and y from %.8g are m: heights from %.6g to %.6g m "
                   "within %.3g m would be a needle, and degrees would not: --coordinates says",
                   e->path, e->first[0], e->first[1], low, high, extent);
}

/* ---- which reader ---- */

/* Of a library of others, which may not be there. */
typedef struct library {
    const char *files, *name;
    ps_status (*read)(const char *path, const reading *how, elevation *out); /* NULL: not there */
} library;

typedef struct attempt {
    const library *library;
    const char *path;
    const reading *how;
    bool plain;
} attempt;

static ps_status read_once(void *context)
{
    const attempt *a = context;
    elevation e = {.path = a->path, .scale = 1};
    ps_status status = a->library->read(a->path, a->how, &e);
    elevation_release(&e);
    if (a->plain && status == PS_EXHAUSTED)
        abort(); /* more than the file can fill: no end that may be tried again */
    return status;
}

/* Such libraries believe what damaged files say: a child reads first, with no more memory than
 * heights of this file take (plain: that many bytes, not compressed; 0: unknown). */
static ps_status read_by_library(const library *l, const char *path, int64_t plain,
                                 const reading *how, elevation *out)
{
    ps_trial_end end;
    attempt a = {l, path, how, plain > 0};
    int64_t memory = how->run->host_memory;
    if (plain > 0 && plain < memory / OF_PLAIN_BYTE) memory = plain * OF_PLAIN_BYTE;
    const ps_trial trial = {path, read_once, &a, memory + TRIAL_MORE, TRIAL_SECONDS};
    if (!l->read)
        return ps_fail(PS_INVALID,
                       "%s is a %s file, and this program was built without %s: install %s-dev and "
                       "build it again, or give an ASCII grid",
                       path, l->files, l->name, l->name);
    PS_TRY(ps_trial_run(&trial, &end));
    if (end == PS_TRIAL_DIED)
        return ps_fail(PS_INVALID,
                       "%s is damaged: %s did not survive reading it, or took more memory than its "
                       "heights fill, or %d s",
                       path, l->name, TRIAL_SECONDS);
    return l->read(path, how, out);
}

static bool begins_with(const unsigned char *head, const char *with, size_t length)
{
    return memcmp(head, with, length) == 0;
}

ps_status elevation_read(const char *path, const reading *how, elevation *out)
{
    static const library netcdf = {"NetCDF", "libnetcdf", read_netcdf};
    static const library geotiff = {"GeoTIFF", "libgeotiff", read_geotiff};
    unsigned char head[8] = {0};
    *out = (elevation){.path = path, .scale = 1};
    FILE *file;
    PS_TRY(ps_path_open_input(path, "an elevation model", &file));
    size_t got = fread(head, 1, sizeof head, file);
    int64_t bytes = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : 0;
    fclose(file);
    if (got < sizeof head)
        return ps_fail(PS_INVALID, "%s is no elevation model: %zu bytes", path, got);
    if (begins_with(head, "CDF", 3))
        PS_TRY(read_by_library(&netcdf, path, bytes, how, out));
    else if (begins_with(head, "\x89HDF", 4))
        PS_TRY(read_by_library(&netcdf, path, 0, how, out));
    else if (begins_with(head, "II", 2) || begins_with(head, "MM", 2))
        PS_TRY(read_by_library(&geotiff, path, 0, how, out));
    else
        PS_TRY(read_ascii(path, how, out));
    turn(out);
    PS_TRY(settle_coordinates(how, out));
    PS_TRY(settle_heights(how, out));
    return check_slopes(how, out);
}

ps_status elevation_same_grid(const elevation *a, const elevation *b)
{
    bool same = a->coordinates == b->coordinates;
    for (int d = 0; d < 2; ++d) {
        double far = (double)(a->count[d] - 1) * (a->step[d] - b->step[d]);
        double off = a->first[d] - b->first[d];
        if (d == 0 && a->coordinates == COORDINATES_GEOGRAPHIC) off = remainder(off, 360);
        same = same && a->count[d] == b->count[d] && fabs(off) < 1e-3 * a->step[d] &&
               fabs(far) < 1e-3 * a->step[d];
    }
    if (same) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s has %lld x %lld points from %.10g, %.10g in steps of %.10g, %.10g, and %s "
                   "%lld x %lld from %.10g, %.10g in steps of %.10g, %.10g: surfaces must have the "
                   "same points; resample one",
                   a->path, (long long)a->count[0], (long long)a->count[1], a->first[0],
                   a->first[1], a->step[0], a->step[1], b->path, (long long)b->count[0],
                   (long long)b->count[1], b->first[0], b->first[1], b->step[0], b->step[1]);
}
