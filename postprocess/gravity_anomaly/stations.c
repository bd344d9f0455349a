/* Stations: from files or along a line, and whether they can be what they are taken for. */
#include <math.h>
#include <string.h>

#include "formats/number_file.h"
#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { STATION_NUMBERS = 5 };

static ps_status add_station(station_list *s, const double row[4])
{
    PS_TRY(ps_grow((void **)&s->rows, &s->capacity, s->count + 1, 4 * sizeof *s->rows, "stations"));
    memcpy(s->rows + 4 * s->count++, row, 4 * sizeof *row);
    return PS_OK;
}

static ps_status add_line(const char *path, int64_t line, const double *v, int count,
                          bool elevations, station_list *s)
{
    static const char *const names[STATION_NUMBERS] = {"x", "y", "elevation", "observed value",
                                                       "error"};
    if (count < 3 || (s->count > 0 && s->observed != (count > 3)))
        return ps_fail(PS_INVALID,
                       "%s line %lld: x y elevation, and observed values for all or none, are "
                       "expected",
                       path, (long long)line);
    for (int k = 0; k < count && k < 4; ++k)
        if (!isfinite(v[k]))
            return ps_fail(PS_INVALID, "%s line %lld: the %s is %g: leave the station out", path,
                           (long long)line, names[k], v[k]);
    s->observed = count > 3;
    return add_station(
        s, (const double[4]){v[0], v[1], elevations ? -v[2] : v[2], count > 3 ? v[3] : NAN});
}

ps_status stations_read(const char *path, bool elevations, station_list *s)
{
    const char *const names[STATION_NUMBERS] = {PS_COLUMN_X, PS_COLUMN_Y,
                                                elevations ? PS_COLUMN_UP : PS_COLUMN_DOWN,
                                                PS_COLUMN_VALUE ":mGal", PS_COLUMN_ERROR ":mGal"};
    const ps_columns columns = {names, STATION_NUMBERS};
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    double v[STATION_NUMBERS], announced = -1;
    PS_TRY(ps_number_file_open(path, &file));
    ps_number_file_expect(file, &columns);
    s->given = true;
    for (int count;;) {
        PS_TRY(ps_number_file_line(file, v, STATION_NUMBERS, &count));
        if (count == 0) break;
        if (count == 1 && s->count == 0 && announced < 0)
            announced = fabs(v[0]); /* the number of stations */
        else
            PS_TRY(add_line(path, ps_number_file_where(file), v, count, elevations, s));
    }
    if (s->count == 0) return ps_fail(PS_INVALID, "%s: no stations", path);
    if (announced >= 0 && announced != (double)s->count)
        return ps_fail(PS_INVALID, "%s: the first line announces %.15g stations, there are %lld",
                       path, announced, (long long)s->count);
    return PS_OK;
}

ps_status stations_on_line(const char *text, station_list *s)
{
    double v[6];
    int count;
    PS_TRY_IN(ps_parse_reals(text, ',', v, 6, &count), "--profile");
    for (int k = 0; k < count; ++k)
        if (!isfinite(v[k])) count = 0;
    if (count != 6 || !(v[5] >= 2 && v[5] <= 1e7) || v[5] != floor(v[5]))
        return ps_fail(PS_USAGE, "--profile: \"%s\" is not X0,Y0,X1,Y1,Z,N with N >= 2", text);
    for (int64_t i = 0; i < (int64_t)v[5]; ++i) {
        double t = (double)i / (v[5] - 1);
        PS_TRY(add_station(
            s, (const double[4]){v[0] + t * (v[2] - v[0]), v[1] + t * (v[3] - v[1]), v[4], NAN}));
    }
    return PS_OK;
}

/* ---- checks ---- */

bool in_box(const ps_box_field_header *h, const double place[3])
{
    for (int k = 0; k < 3; ++k) {
        double low = h->origin[k], high = low + h->spacing[k] * (double)(h->nodes[k] - 1);
        double slack = 1e-9 * h->spacing[k];
        if (!(place[k] >= low - slack && place[k] <= high + slack)) return false;
    }
    return true;
}

typedef struct extent {
    double low[3], high[3];
} extent;

static extent extent_of(const station_list *s)
{
    extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < s->count; ++i)
        for (int k = 0; k < 3; ++k) {
            e.low[k] = fmin(e.low[k], s->rows[4 * i + k]);
            e.high[k] = fmax(e.high[k], s->rows[4 * i + k]);
        }
    return e;
}

/* What the numbers could be, if they are not m. */
static const char *other_unit(const extent *e)
{
    bool degrees = e->low[0] >= -180 && e->high[0] <= 360 && e->low[1] >= -90 && e->high[1] <= 90;
    bool km = fmax(-e->low[0], e->high[0]) <= 10000 && fmax(-e->low[1], e->high[1]) <= 10000;
    return degrees ? "degrees" : km ? "km" : NULL;
}

/* Stations all within one cell of the box, or none of them in it, with small numbers: degrees or km
 * rather than m. Stations one below the other are a borehole. */
static ps_status check_units(const anomaly *a, const station_list *s)
{
    const ps_box_field_header *h = &a->potential.header;
    const extent e = extent_of(s);
    const char *unit = other_unit(&e);
    double width = e.high[0] - e.low[0], height = e.high[1] - e.low[1];
    bool close = (width > 0 || height > 0) && width < h->spacing[0] && height < h->spacing[1];
    if (!unit || !(close || a->outside == s->count)) return PS_OK;
    return ps_refuse(
        a->run, "station-units",
        "the %lld stations have x from %.8g to %.8g and y from %.8g to %.8g%s, the box "
        "reaches from %.8g to %.8g and %.8g to %.8g m in elements of %g x %g m: are "
        "they in %s? x and y must be in m, in the model's projection",
        (long long)s->count, e.low[0], e.high[0], e.low[1], e.high[1],
        close ? ", all within one element" : "", h->origin[0],
        h->origin[0] + h->spacing[0] * (double)(h->nodes[0] - 1), h->origin[1],
        h->origin[1] + h->spacing[1] * (double)(h->nodes[1] - 1), h->spacing[0], h->spacing[1],
        unit);
}

static ps_status refuse_outside(const anomaly *a, const station_list *s, int64_t first)
{
    const ps_box_field_header *h = &a->potential.header;
    const double *place = s->rows + 4 * first;
    int k = 0;
    while (k < 2 && in_box(h, (const double[3]){k == 0 ? place[0] : h->origin[0],
                                                k == 1 ? place[1] : h->origin[1], h->origin[2]}))
        ++k;
    double low = h->origin[k], high = low + h->spacing[k] * (double)(h->nodes[k] - 1);
    const char *format = "station %lld has %c = %.8g m; the box reaches from %.8g to %.8g m. %lld "
                         "of %lld stations lie outside%s";
    if (!a->model.store)
        return ps_fail(PS_INVALID, format, (long long)first + 1, "xyz"[k], place[k], low, high,
                       (long long)a -> outside, (long long)s -> count,
                       ", where only the sums over a model can say g_z");
    return ps_refuse(a->run, "stations-outside", format, (long long)first + 1, "xyz"[k], place[k],
                     low, high, (long long)a -> outside, (long long)s -> count,
                     ", where mass that the model does not have may be nearer; the sums over the "
                     "model's cells hold there, the elements say nothing");
}

ps_status stations_check(anomaly *a, const station_list *s)
{
    int64_t first = -1;
    a->outside = 0;
    if (s->count == 0) return PS_OK;
    for (int64_t i = 0; i < s->count; ++i)
        if (!in_box(&a->potential.header, s->rows + 4 * i)) {
            ++a->outside;
            if (first < 0) first = i;
        }
    if (s->given) PS_TRY(check_units(a, s));
    return first >= 0 ? refuse_outside(a, s, first) : PS_OK;
}
