/*
 * layer_growth: whether fields grow in a matched layer with the centred flux. A layer feeds the
 * component of a field along its direction and takes from the others, which is a loss to waves,
 * whose fields are transverse, but not to the mesh's own oscillations where elements are flat along
 * the direction, or sigma is strong against their size. The upwind flux takes from those.
 * specs/dgtd_pml.md has what was measured.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/dgtd/pml.h"
#include "runtime/log.h"
#include "setup.h"

/* By order: the least height along the direction over the longest edge across it, and the largest
 * sigma sqrt(eps mu) over the longest edge's inverse; in rows of one stretch elements as high as
 * `tall` bear more. */
static const double least_height[PS_DGTD_MAX_ORDER] = {.55, .48, .48, .48};
static const double largest_sigma[PS_DGTD_MAX_ORDER] = {6.7, 10.7, 10.7, 10.7};
static const double tall = .7, tall_sigma[PS_DGTD_MAX_ORDER] = {6.7, 16, 16, 16};

typedef struct worst {
    double height, sigma, most; /* most: what the element of this sigma bears */
    int64_t flat, strong; /* the elements that have them */
} worst;

static double length(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* Extent of four corners along a unit vector; the longest edge across it, and of all. */
static void extents(const double corner[4][3], const double axis[3], double out[3])
{
    double low = INFINITY, high = -INFINITY;
    out[1] = out[2] = 0;
    for (int v = 0; v < 4; ++v) {
        double at = corner[v][0] * axis[0] + corner[v][1] * axis[1] + corner[v][2] * axis[2];
        low = fmin(low, at);
        high = fmax(high, at);
        for (int w = 0; w < v; ++w) {
            double edge[3], along = 0;
            for (int c = 0; c < 3; ++c) edge[c] = corner[v][c] - corner[w][c];
            for (int c = 0; c < 3; ++c) along += edge[c] * axis[c];
            double whole = length(edge);
            out[2] = fmax(out[2], whole);
            out[1] = fmax(out[1], sqrt(fmax(whole * whole - along * along, 0)));
        }
    }
    out[0] = high - low;
}

static void measure(const setup *s, const ps_dgtd_pml_profile *profile, int64_t e, worst *w)
{
    const ps_dgtd_material *medium = s->materials + s->material[e];
    double corner[4][3], kappa[3], sigma[3], radial[3], out[3];
    for (int i = 0; i < 12; ++i)
        corner[i / 3][i % 3] =
            s->mesh.vertices[3 * (int64_t)s->mesh.tetrahedra[4 * e + i / 3] + i % 3];
    ps_dgtd_pml_stretch(profile, (const double(*)[3])corner, kappa, sigma, radial);
    for (int k = 0; k < (profile->shape == PS_DGTD_PML_BALL ? 1 : 3); ++k) {
        double axis[3] = {k == 0, k == 1, k == 2};
        for (int c = 0; c < 3 && profile->shape == PS_DGTD_PML_BALL; ++c) axis[c] = radial[c];
        if (!(sigma[k] > 0)) continue;
        extents((const double(*)[3])corner, axis, out);
        double height = out[0] / out[1],
               strong = sigma[k] * out[2] * sqrt(medium->eps * medium->mu);
        int p = s->header.order - 1;
        bool in_rows = fmax(profile->rows[0][k], profile->rows[1][k]) > 0;
        double most = in_rows && height >= tall ? tall_sigma[p] : largest_sigma[p];
        if (height < w->height) w->height = height, w->flat = e;
        if (strong * w->most > w->sigma * most) w->sigma = strong, w->most = most, w->strong = e;
    }
}

/* The upwind flux in the layer alone, where it was asked for or is needed. */
static ps_status take_upwind(setup *s, const worst *w)
{
    int p = s->header.order - 1;
    bool needed = w->height < least_height[p] || w->sigma > w->most;
    if (!needed && s->layer_flux == SETUP_FLUX_AUTO) return PS_OK;
    s->header.upwind = s->header.upwind_layer = true;
    if (s->layer_flux == SETUP_FLUX_AUTO)
        ps_info("--pml: elements are down to %.2g times as high as wide, sigma times their longest "
                "edge is up to %.3g: the layer has the upwind flux, as fields could grow with the "
                "centred one (below %g, above %g)",
                w->height, w->sigma, least_height[p], w->most);
    return PS_OK;
}

ps_status check_layer_growth(setup *s)
{
    const ps_dgtd_layer *x = &s->header.layer;
    ps_dgtd_pml_profile profile = {.shape = x->ball ? PS_DGTD_PML_BALL : PS_DGTD_PML_BOX,
                                   .radius = x->radius,
                                   .grading = x->grading,
                                   .kappa = x->kappa,
                                   .alpha = x->alpha};
    worst w = {INFINITY, 0, 1, 0, 0};
    char place[160];
    int p = s->header.order - 1;
    memcpy(profile.inner, x->inner, sizeof profile.inner);
    memcpy(profile.thickness, x->thickness, sizeof profile.thickness);
    memcpy(profile.centre, x->centre, sizeof profile.centre);
    memcpy(profile.sigma, x->sigma, sizeof profile.sigma);
    memcpy(profile.rows, x->rows, sizeof profile.rows);
    if (s->header.upwind) return PS_OK;
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        if (s->layer[e]) measure(s, &profile, e, &w);
    if (s->layer_flux != SETUP_FLUX_CENTRED) return take_upwind(s, &w);
    if (w.height < least_height[p])
        return ps_refuse(
            s->run, "flat-layer",
            "--pml: %s, in the layer, is %.2g times as high along it as it is wide; "
            "with the centred flux fields grow where that is below %g (order %d): "
            "leave out flux=centred, or give thicker rows (thickness=) or outer faces of equal "
            "sizes",
            element_text(s, w.flat, place), w.height, least_height[p], p + 1);
    if (w.sigma > w.most)
        return ps_refuse(
            s->run, "strong-layer",
            "--pml: sigma times the longest edge is %.3g at %s; with the centred flux "
            "fields grow above %g (order %d): leave out flux=centred, or give more layers or a "
            "larger reflection",
            w.sigma, element_text(s, w.strong, place), w.most, p + 1);
    return PS_OK;
}
