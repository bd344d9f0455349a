/* Stations at a height above the ground of the model. */
#include <math.h>
#include <string.h>

#include "preprocess/terrain_import/terrain.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/scope.h"
#include "stage/prism_sum/rows.h"

static ps_status parse_above(const char *text, double *out)
{
    static const char prefix[] = "above:";
    size_t length = sizeof prefix - 1;
    if (strncmp(text, prefix, length) != 0)
        return ps_fail(PS_USAGE, "--stations: \"%s\" is not above:HEIGHT, as in above:1m", text);
    PS_TRY(ps_parse_measure(text + length, "METRES", out));
    if (*out >= 0 && *out <= 1e6) return PS_OK;
    return ps_fail(PS_USAGE, "--stations: %g m above the ground; 0 to 1e6 are expected", *out);
}

static void put(terrain *t, double x, double y, double ground)
{
    double *s = t->station + 3 * t->stations++;
    s[0] = x, s[1] = y, s[2] = ground + t->above;
}

static ps_status at_centres(terrain *t, int64_t every)
{
    const int64_t nx = t->top.count[0], ny = t->top.count[1];
    int64_t most = ((nx + every - 1) / every) * ((ny + every - 1) / every);
    PS_TRY(PS_ALLOC(&t->station, 3 * most, "stations"));
    for (int64_t j = 0; j < ny; j += every)
        for (int64_t i = 0; i < nx; i += every) {
            double centre[2], ground = terrain_ground(t, j * nx + i);
            terrain_centre(t, j * nx + i, centre);
            if (!isnan(ground)) put(t, centre[0], centre[1], ground);
        }
    return PS_OK;
}

/* Cells around a place of the frame along one axis: two where it is on a border. */
static int cells_at(const terrain *t, int axis, double x, int64_t out[2])
{
    double at = (x - t->origin[axis]) / t->width[axis];
    int64_t n = t->top.count[axis], low = (int64_t)floor(at - 1e-9),
            high = (int64_t)floor(at + 1e-9);
    int count = 0;
    if (!(at > -1 && at < (double)n + 1)) return 0;
    if (low >= 0 && low < n) out[count++] = low;
    if (high != low && high >= 0 && high < n) out[count++] = high;
    return count;
}

/* The highest ground of the cells that touch the place. */
static double ground_at(const terrain *t, double x, double y)
{
    int64_t i[2], j[2];
    int nx = cells_at(t, 0, x, i), ny = cells_at(t, 1, y, j);
    double most = NAN;
    for (int a = 0; a < nx; ++a)
        for (int b = 0; b < ny; ++b)
            most = fmax(most, terrain_ground(t, j[b] * t->top.count[0] + i[a]));
    return most;
}

/* From the model's coordinates to the frame. */
static void to_frame(const terrain *t, double p[2])
{
    if (t->top.coordinates != COORDINATES_GEOGRAPHIC) return;
    double turn = remainder(p[0] - t->place[0], 360);
    p[0] = turn / t->top.step[0] * t->width[0];
    p[1] = (p[1] - t->place[1]) / t->top.step[1] * t->width[1];
}

static ps_status at_places(terrain *t, const char *path, const ps_prism_rows *rows)
{
    PS_TRY(PS_ALLOC(&t->station, 3 * rows->count, "stations"));
    for (int64_t k = 0; k < rows->count; ++k) {
        double p[2] = {rows->column[0][k], rows->column[1][k]};
        to_frame(t, p);
        double ground = ground_at(t, p[0], p[1]);
        if (isnan(ground))
            return ps_fail(PS_INVALID,
                           "%s: station %lld at %.10g, %.10g has no ground: it lies beside the "
                           "model or in a gap",
                           path, (long long)k + 1, rows->column[0][k], rows->column[1][k]);
        put(t, p[0], p[1], ground);
    }
    return PS_OK;
}

ps_status stations_make(terrain *t, const char *where, int64_t every, const char *places)
{
    PS_TRY(parse_above(where, &t->above));
    if (!places) return at_centres(t, every);
    static const char *const names[] = {"x|lon|longitude|east|easting",
                                        "y|lat|latitude|north|northing"};
    const ps_columns columns = {names, 2};
    const ps_prism_row_form form = {"places", 2, 2, "x y", &columns};
    PS_SCOPED(ps_prism_rows_release) ps_prism_rows rows = {0};
    PS_TRY(ps_prism_rows_read(places, &form, &rows));
    return at_places(t, places, &rows);
}
