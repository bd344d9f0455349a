/* What the numbers of a model are: gaps, units, heights or depths. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "formats/number_file.h"
#include "preprocess/terrain_import/terrain.h"

static int64_t cells_of(const elevation *e) { return e->count[0] * e->count[1]; }

double length_of_unit(const char *name)
{
    static const struct {
        const char *name;
        double metres;
    } known[] = {{"m", 1},
                 {"meter", 1},
                 {"meters", 1},
                 {"metre", 1},
                 {"metres", 1},
                 {"km", 1000},
                 {"kilometer", 1e3},
                 {"kilometers", 1e3},
                 {"kilometre", 1e3},
                 {"kilometres", 1e3},
                 {"ft", 0.3048},
                 {"foot", 0.3048},
                 {"feet", 0.3048},
                 {"international_foot", 0.3048},
                 {"us-ft", 1200. / 3937},
                 {"ftUS", 1200. / 3937},
                 {"US survey foot", 1200. / 3937},
                 {"US_survey_foot", 1200. / 3937},
                 {"gpm", 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcasecmp(name, known[i].name) == 0) return known[i].metres;
    return 0;
}

ps_status elevation_height_unit(const reading *how, const char *unit, elevation *e)
{
    double said = e->height_unit;
    if (how->height_unit > 0 || !unit[0] || strcmp(unit, "1") == 0) return PS_OK;
    e->height_unit = length_of_unit(unit);
    if (!(e->height_unit > 0))
        return ps_fail(PS_INVALID,
                       "%s: heights are in \"%s\": m, km or feet are taken, or --height-unit",
                       e->path, unit);
    if (said == 0 || said == e->height_unit) return PS_OK;
    return ps_fail(PS_INVALID, "%s names two units of its heights: --height-unit chooses", e->path);
}

/* ---- gaps ---- */

void elevation_drop(elevation *e, double flag)
{
    for (int64_t c = 0; c < cells_of(e); ++c)
        if (e->height[c] == flag || (float)e->height[c] == (float)flag) e->height[c] = NAN;
}

static double place_of(const elevation *e, int axis, int64_t cell)
{
    int64_t at = axis == 0 ? cell % e->count[0] : cell / e->count[0];
    return e->first[axis] + e->step[axis] * (double)at;
}

static ps_status refuse_flag(const reading *how, const elevation *e, double flag)
{
    int64_t c = 0;
    while (c + 1 < cells_of(e) && e->height[c] != flag) ++c;
    return ps_refuse(how->run, "flags",
                     "%s: the height at x %.10g, y %.10g is %.9g, a usual flag of gaps that the "
                     "file does not name: --no-data %.9g takes it for one",
                     e->path, place_of(e, 0, c), place_of(e, 1, c), flag, flag);
}

/* Whether a height could not be meant: beyond the Earth, or the end of an integer type. */
static bool is_no_height(const elevation *e, double value)
{
    bool packed = e->scale != 1 || e->offset != 0;
    return fabs(value) >= (packed ? 32767 : 9998) && ps_is_usual_flag(value);
}

/* least, next, before, most: the ends of what there is, and the next within. */
static void find_ends(const elevation *e, double out[4])
{
    double least = INFINITY, most = -INFINITY, next = INFINITY, before = -INFINITY;
    for (int64_t c = 0; c < cells_of(e); ++c) {
        least = fmin(least, e->height[c]);
        most = fmax(most, e->height[c]);
    }
    for (int64_t c = 0; c < cells_of(e); ++c) {
        double h = e->height[c];
        if (h > least) next = fmin(next, h);
        if (h < most) before = fmax(before, h);
    }
    out[0] = least, out[1] = next, out[2] = before, out[3] = most;
}

/* Flags that writers leave without naming them; those that could be heights are told by standing
 * farther off than all others do from one another. */
static ps_status check_flags(const reading *how, const elevation *e)
{
    double end[4];
    for (int64_t c = 0; c < cells_of(e); ++c)
        if (is_no_height(e, e->height[c])) return refuse_flag(how, e, e->height[c]);
    find_ends(e, end);
    double low = end[3] - end[1], high = end[2] - end[0]; /* ranges without the end itself */
    if (low > 0 && end[1] - end[0] > low && ps_is_usual_flag(end[0]))
        return refuse_flag(how, e, end[0]);
    if (high > 0 && end[3] - end[2] > high && ps_is_usual_flag(end[3]))
        return refuse_flag(how, e, end[3]);
    return PS_OK;
}

/* ---- heights ---- */

static ps_status check_heights(const reading *how, const elevation *e)
{
    static const double lowest = -12000, highest = 9500; /* of the Earth, with some room */
    for (int64_t c = 0; c < cells_of(e); ++c)
        if (e->height[c] < lowest || e->height[c] > highest)
            return ps_refuse(how->run, "heights",
                             "%s: the height at x %.10g, y %.10g is %g m; %g to %g are expected: "
                             "check --height-unit and --no-data",
                             e->path, place_of(e, 0, c), place_of(e, 1, c), e->height[c], lowest,
                             highest);
    return PS_OK;
}

/* Depths are written with both signs. */
static ps_status check_direction(const reading *how, const elevation *e)
{
    if (how->positive != POSITIVE_AUTO || e->positive != POSITIVE_AUTO || !e->depths_named)
        return PS_OK;
    for (int64_t c = 0; c < cells_of(e); ++c)
        if (e->height[c] > 0)
            return ps_fail(PS_INVALID,
                           "%s names depths, %g m among them, and does not say whether they count "
                           "downwards: --positive down|up does",
                           e->path, e->height[c]);
    return PS_OK;
}

ps_status settle_heights(const reading *how, elevation *e)
{
    positive upwards = how->positive != POSITIVE_AUTO ? how->positive : e->positive;
    if (how->height_unit > 0) e->height_unit = how->height_unit;
    if (e->height_unit == 0) e->height_unit = 1;
    if (how->has_no_data) elevation_drop(e, how->no_data);
    for (int64_t c = 0; c < cells_of(e); ++c)
        if (!isfinite(e->height[c])) e->height[c] = NAN;
    PS_TRY(check_flags(how, e));
    e->gaps = 0;
    double unit = upwards == POSITIVE_DOWN ? -e->height_unit : e->height_unit;
    for (int64_t c = 0; c < cells_of(e); ++c) {
        e->height[c] = (e->height[c] * e->scale + e->offset) * unit;
        e->gaps += isnan(e->height[c]);
    }
    PS_TRY(check_direction(how, e));
    return check_heights(how, e);
}
