/* Prisms between surfaces (specs/terrain.md). */
#include <math.h>

#include "preprocess/terrain_import/terrain.h"
#include "runtime/log.h"
#include "runtime/memory.h"

static const double degree = 0.017453292519943295;

static int64_t cells_of(const terrain *t) { return t->top.count[0] * t->top.count[1]; }

/* Geographic cells keep their widths at the middle latitude: the frame is flat. */
static void set_frame(terrain *t)
{
    double radii[2] = {1 / degree, 1 / degree};
    bool geographic = t->top.coordinates == COORDINATES_GEOGRAPHIC;
    for (int d = 0; d < 2; ++d)
        t->place[d] = t->top.first[d] + t->top.step[d] * (double)(t->top.count[d] - 1) / 2;
    if (geographic) {
        ellipsoid_radii(t->place[1], radii);
        radii[0] *= cos(degree * t->place[1]);
    }
    for (int d = 0; d < 2; ++d) {
        t->width[d] = t->top.step[d] * degree * radii[d];
        t->origin[d] = geographic ? -t->width[d] * (double)t->top.count[d] / 2
                                  : t->top.first[d] - t->width[d] / 2;
    }
}

void terrain_centre(const terrain *t, int64_t cell, double out[2])
{
    out[0] = t->origin[0] + t->width[0] * ((double)(cell % t->top.count[0]) + 0.5);
    out[1] = t->origin[1] + t->width[1] * ((double)(cell / t->top.count[0]) + 0.5);
}

static double bottom_of(const surface *s, int64_t cell)
{
    return s->grid.height ? s->grid.height[cell] : s->level;
}

static bool has_gap(const terrain *t, int64_t cell)
{
    bool gap = isnan(t->top.height[cell]);
    for (int k = 0; k < t->layers; ++k) gap = gap || isnan(bottom_of(&t->layer[k], cell));
    return gap;
}

/* Whether water stands on the ground there. */
static bool is_wet(const terrain *t, int64_t cell)
{
    return t->top.height[cell] < t->level && !isnan(t->water) && t->water != 0;
}

double terrain_ground(const terrain *t, int64_t cell)
{
    if (has_gap(t, cell)) return NAN;
    return is_wet(t, cell) ? t->level : t->top.height[cell];
}

/* ---- the bodies of one cell ---- */

typedef struct slab {
    double low, high, density;
} slab;

static int add_slab(slab *out, int count, double low, double high, double density)
{
    if (low < high && density != 0) out[count++] = (slab){low, high, density};
    return count;
}

/* From above; out[LAYERS_MAX + 1]. *crossing: the layer whose bottom lies above its top, or -1. */
static int slabs_of(const terrain *t, int64_t cell, slab *out, int *crossing)
{
    int count = 0;
    double top = t->top.height[cell];
    *crossing = -1;
    if (has_gap(t, cell)) return 0;
    if (t->layers == 0) {
        count = add_slab(out, count, t->level, top, t->density);
        return add_slab(out, count, top, t->level, t->water - t->density);
    }
    if (is_wet(t, cell)) count = add_slab(out, count, top, t->level, t->water);
    for (int k = 0; k < t->layers; ++k) {
        double bottom = bottom_of(&t->layer[k], cell);
        if (bottom > top) {
            *crossing = k;
            return 0;
        }
        count = add_slab(out, count, bottom, top, t->layer[k].density);
        top = bottom;
    }
    return count;
}

/* ---- checks ---- */

static ps_status refuse_crossing(const terrain *t, int64_t cell, int layer)
{
    double above = layer ? bottom_of(&t->layer[layer - 1], cell) : t->top.height[cell];
    int64_t i = cell % t->top.count[0], j = cell / t->top.count[0];
    return ps_fail(
        PS_INVALID,
        "layer %d is turned inside out at x %.10g, y %.10g: its bottom is at %.8g m, its "
        "top at %.8g m; surfaces come from above and may touch, not cross",
        layer + 1, t->top.first[0] + t->top.step[0] * (double)i,
        t->top.first[1] + t->top.step[1] * (double)j, bottom_of(&t->layer[layer], cell), above);
}

static ps_status refuse_gap(const elevation *e)
{
    int64_t c = 0;
    while (!isnan(e->height[c])) ++c;
    return ps_fail(PS_INVALID,
                   "%s has %lld gaps in %lld cells, the first at x %.10g, y %.10g: --gaps omit "
                   "leaves them without mass, --gaps level fills those of the top up to --level",
                   e->path, (long long)e->gaps, (long long)(e->count[0] * e->count[1]),
                   e->first[0] + e->step[0] * (double)(c % e->count[0]),
                   e->first[1] + e->step[1] * (double)(c / e->count[0]));
}

static ps_status settle_gaps(terrain *t)
{
    if (t->top.gaps && t->gaps == GAPS_REFUSE) return refuse_gap(&t->top);
    for (int64_t c = 0; c < cells_of(t) && t->gaps == GAPS_LEVEL; ++c)
        if (isnan(t->top.height[c])) t->top.height[c] = t->level;
    for (int k = 0; k < t->layers; ++k) {
        if (!t->layer[k].grid.height) continue;
        PS_TRY(elevation_same_grid(&t->top, &t->layer[k].grid));
        if (t->layer[k].grid.gaps && t->gaps != GAPS_OMIT) return refuse_gap(&t->layer[k].grid);
    }
    return PS_OK;
}

static ps_status count_prisms(terrain *t)
{
    slab slabs[LAYERS_MAX + 1];
    int crossing;
    t->prisms = t->omitted = t->wet = 0;
    for (int64_t c = 0; c < cells_of(t); ++c) {
        t->prisms += slabs_of(t, c, slabs, &crossing);
        if (crossing >= 0) return refuse_crossing(t, c, crossing);
        t->omitted += has_gap(t, c);
        t->wet += t->top.height[c] < t->level;
    }
    if (t->prisms == 0)
        return ps_fail(PS_INVALID,
                       "%s: no prism has a volume and a density: all heights are at the "
                       "level, gaps, or layers of no thickness",
                       t->top.path);
    return PS_OK;
}

static void warn(const terrain *t)
{
    if (t->omitted)
        ps_warning("%s: %lld of %lld cells are gaps and have no mass", t->top.path,
                   (long long)t->omitted, (long long)cells_of(t));
    if (t->gaps == GAPS_LEVEL && t->top.gaps)
        ps_warning("%s: %lld gaps are filled up to %g m", t->top.path, (long long)t->top.gaps,
                   t->level);
    if (t->wet && t->layers && isnan(t->water))
        ps_warning("%lld cells lie below the level of %g m, and nothing is above them: --water "
                   "fills them",
                   (long long)t->wet, t->level);
    double extent =
        fmax(t->width[0] * (double)t->top.count[0], t->width[1] * (double)t->top.count[1]);
    if (t->top.coordinates == COORDINATES_PROJECTED && extent > 5e4)
        ps_warning("%s is %.4g km wide: prisms in a plane leave out the curvature of the Earth, "
                   "about %.2g mGal for each km of height at that width",
                   t->top.path, 1e-3 * extent, 112 * extent / 2 / (2 * 6.371e6));
}

ps_status terrain_check(terrain *t)
{
    set_frame(t);
    PS_TRY(settle_gaps(t));
    PS_TRY(count_prisms(t));
    warn(t);
    return PS_OK;
}

/* ---- prisms ---- */

ps_status terrain_make(terrain *t)
{
    slab slabs[LAYERS_MAX + 1];
    int crossing;
    PS_TRY(PS_ALLOC(&t->prism, PRISM_WIDTH * t->prisms, "prisms"));
    PS_TRY(PS_ALLOC(&t->cell, t->prisms, "cells of prisms"));
    int64_t at = 0;
    for (int64_t c = 0; c < cells_of(t); ++c) {
        int count = slabs_of(t, c, slabs, &crossing);
        for (int k = 0; k < count; ++k, ++at) {
            double *p = t->prism + PRISM_WIDTH * at;
            t->cell[at] = c;
            /* Both sides of a border are the same number, so that prisms share faces. */
            for (int d = 0; d < 2; ++d) {
                int64_t i = d == 0 ? c % t->top.count[0] : c / t->top.count[0];
                p[2 * d] = t->origin[d] + t->width[d] * (double)i;
                p[2 * d + 1] = t->origin[d] + t->width[d] * (double)(i + 1);
            }
            p[4] = slabs[k].low, p[5] = slabs[k].high, p[6] = slabs[k].density;
            t->mass += (p[1] - p[0]) * (p[3] - p[2]) * (p[5] - p[4]) * p[6];
        }
    }
    return PS_OK;
}
