/* What prisms and their coordinates must be. */
#include <math.h>

#include "compute/prism_field/field.h"
#include "formats/terrain.h"
#include "runtime/log.h"

static ps_status check_bounds(const char *path, const ps_prism_rows *p)
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

static bool has_volume(const ps_prism_rows *p, int64_t i)
{
    return p->column[0][i] < p->column[1][i] && p->column[2][i] < p->column[3][i] &&
           p->column[4][i] < p->column[5][i];
}

ps_status prisms_check(const char *path, ps_prism_rows *p)
{
    int64_t kept = 0, all = p->count;
    PS_TRY(check_bounds(path, p));
    for (int64_t i = 0; i < all; ++i) {
        if (!has_volume(p, i)) continue;
        for (int k = 0; k < PS_PRISM_ROW; ++k)
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

/* Stations that are all on a model of degrees if their numbers are degrees are none of its frame,
 * where they would lie within a few metres. */
static ps_status check_stations(const field *f, const double x[2], const double y[2])
{
    static const double metres = 111e3; /* of a degree */
    double place[2], *const *at = f->stations.column;
    if (!ps_terrain_is_geographic(f->run->operands[0], place)) return PS_OK;
    for (int64_t i = 0; i < f->stations.count; ++i) {
        double east = remainder(at[0][i] - place[0], 360) * cos(place[1] * M_PI / 180) * metres;
        double north = (at[1][i] - place[1]) * metres;
        if (!(east >= x[0] && east <= x[1] && north >= y[0] && north <= y[1])) return PS_OK;
    }
    return ps_refuse(
        f->run, "units",
        "%s: all stations are within the model if x and y are degrees: its frame is in "
        "m from longitude %.8g, latitude %.8g; penstock-terrain-import "
        "--station-places makes stations of degrees",
        f->run->operands[1], place[0], place[1]);
}

ps_status units_check(const field *f)
{
    double x[2], y[2], z[2];
    double *const *c = f->prisms.column;
    range_of(c[0], c[1], f->prisms.count, x);
    range_of(c[2], c[3], f->prisms.count, y);
    range_of(c[4], c[5], f->prisms.count, z);
    bool degrees = x[0] >= -180 && x[1] <= 360 && y[0] >= -90 && y[1] <= 90;
    if (!degrees || z[1] - z[0] < 3 * fmax(x[1] - x[0], y[1] - y[0]))
        return check_stations(f, x, y);
    return ps_refuse(f->run, "units",
                     "the prisms have x from %.8g to %.8g, y from %.8g to %.8g and z from %.8g to "
                     "%.8g: are x and y in degrees? All must be in m, in one projection",
                     x[0], x[1], y[0], y[1], z[0], z[1]);
}
