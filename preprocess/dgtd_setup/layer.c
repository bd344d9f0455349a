/* layer: the perfectly matched layer: which elements it has, about what, how it is graded. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/pml.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

/* Vertices of the inner surface may be off a plane or a sphere by so much of its size. */
#define OFF_SHAPE 1e-3
#define OFF_PLANE 1e-6
#define OFF_ROW .05 /* of a row's thickness */
static const char known[] =
    "layers and thickness (of auto), reflection, grading, kappa, alpha, flux";

static ps_status read_layer(setup *s, setup_text *text, double *reflection, int *given_alpha)
{
    ps_dgtd_layer *x = &s->header.layer;
    x->kappa = 1;
    (void)layer_defaults(s->header.order, strcmp(text->head, "auto") == 0, &x->grading, reflection);
    PS_TRY(text_reals(text, "reflection", 1, reflection, NULL));
    PS_TRY(text_reals(text, "grading", 1, &x->grading, NULL));
    PS_TRY(text_reals(text, "kappa", 1, &x->kappa, NULL));
    PS_TRY(text_reals(text, "alpha", 1, &x->alpha, given_alpha));
    const char *flux = text_find(text, "flux");
    s->layer_flux = !flux                          ? SETUP_FLUX_AUTO
                    : strcmp(flux, "centred") == 0 ? SETUP_FLUX_CENTRED
                                                   : SETUP_FLUX_UPWIND;
    if (s->layer_flux == SETUP_FLUX_UPWIND && strcmp(flux, "upwind") != 0)
        return ps_fail(PS_USAGE, "--pml %s: flux is centred or upwind", text->whole);
    x->alpha /= PS_DGTD_C0;
    if (!(*reflection > 0 && *reflection < 1) || !(x->grading >= 1 && x->grading <= 10) ||
        !(x->kappa >= 1 && x->kappa <= 100) || (*given_alpha && !(x->alpha > 0)))
        return ps_fail(PS_USAGE,
                       "--pml %s: reflection %g is between 0 and 1, grading %g from 1 to 10, kappa "
                       "%g from 1 to 100, alpha %g 1/s above 0",
                       text->whole, *reflection, x->grading, x->kappa, x->alpha * PS_DGTD_C0);
    return PS_OK;
}

static ps_status mark_tagged(setup *s, const char *text)
{
    int32_t tag;
    int64_t count = 0;
    PS_TRY(tag_number(s, PS_TAGS_OF_VOLUMES, "pml", text, &tag));
    for (int64_t e = 0; e < s->mesh.elements; ++e) count += s->layer[e] = s->mesh.tags[e] == tag;
    if (count > 0 && count < s->mesh.elements) return PS_OK;
    return ps_fail(PS_USAGE, "--pml %s: %" PRId64 " of %" PRId64 " elements are of that group",
                   text, count, s->mesh.elements);
}

/* ---- the shape ---- */

static const double *corner(const setup *s, int64_t e, int v)
{
    return s->mesh.vertices + 3 * (int64_t)s->mesh.tetrahedra[4 * e + v];
}

static void bounds_of(const setup *s, uint8_t in, double box[2][3])
{
    for (int c = 0; c < 3; ++c) box[0][c] = INFINITY, box[1][c] = -INFINITY;
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        for (int i = 0; i < 12 && s->layer[e] == in; ++i) {
            box[0][i % 3] = fmin(box[0][i % 3], corner(s, e, i / 3)[i % 3]);
            box[1][i % 3] = fmax(box[1][i % 3], corner(s, e, i / 3)[i % 3]);
        }
}

static bool is_interface(const setup *s, int64_t face)
{
    int32_t link = s->mesh.links[face];
    return link >= 0 && !s->layer[face / 4] && s->layer[link / 4];
}

/* Does the layer begin at sides of the box of all other elements, and lie outside of it? */
static bool is_box(const setup *s, const double box[2][3])
{
    double size = 0;
    for (int c = 0; c < 3; ++c) size = fmax(size, box[1][c] - box[0][c]);
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        bool flat = false;
        if (!is_interface(s, f)) continue;
        for (int k = 0; k < 6; ++k) {
            double off = 0;
            for (int i = 0; i < 3; ++i) {
                int v = ps_dgtd_face_vertices[f % 4][i];
                off = fmax(off, fabs(corner(s, f / 4, v)[k % 3] - box[k / 3][k % 3]));
            }
            flat |= off <= OFF_PLANE * size;
        }
        if (!flat) return false;
    }
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        double centre[3] = {0};
        bool outside = false;
        for (int i = 0; i < 12; ++i) centre[i % 3] += corner(s, e, i / 3)[i % 3] / 4;
        for (int c = 0; c < 3; ++c) outside |= centre[c] < box[0][c] || centre[c] > box[1][c];
        if (s->layer[e] && !outside) return false;
    }
    return true;
}

static void take_box(ps_dgtd_layer *x, const double inner[2][3], const double outer[2][3])
{
    memcpy(x->inner, inner, sizeof x->inner);
    for (int c = 0; c < 3; ++c) {
        double size = inner[1][c] - inner[0][c];
        x->thickness[0][c] = fmax(inner[0][c] - outer[0][c], 0);
        x->thickness[1][c] = fmax(outer[1][c] - inner[1][c], 0);
        for (int k = 0; k < 2; ++k)
            if (x->thickness[k][c] < OFF_PLANE * size) x->thickness[k][c] = 0;
    }
}

/* Least squares |x|^2 = 2 c . x + d over points; solved by elimination. */
ps_status fit_sphere(const double *points, int64_t count, double centre[3], double *radius,
                     double *off)
{
    double a[4][5] = {{0}}, mean[3] = {0};
    for (int64_t i = 0; i < 3 * count; ++i) mean[i % 3] += points[i] / (double)count;
    for (int64_t i = 0; i < count; ++i) {
        double r[5] = {0, 0, 0, 1, 0};
        for (int c = 0; c < 3; ++c) {
            double y = points[3 * i + c] - mean[c];
            r[c] = 2 * y;
            r[4] += y * y;
        }
        for (int k = 0; k < 20; ++k) a[k / 5][k % 5] += r[k / 5] * r[k % 5];
    }
    for (int k = 0; k < 4; ++k) {
        int p = k;
        for (int i = k + 1; i < 4; ++i)
            if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
        for (int j = 0; j < 5; ++j) {
            double t = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = t;
        }
        if (!(fabs(a[k][k]) > 0)) return ps_fail(PS_INVALID, "points of no sphere");
        for (int i = 0; i < 4; ++i)
            for (int j = 4; j >= k && i != k; --j) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    *radius = *off = 0;
    for (int c = 0; c < 3; ++c) centre[c] = mean[c] + a[c][4] / a[c][c];
    double least = INFINITY;
    for (int64_t i = 0; i < count; ++i) {
        double square = 0;
        for (int c = 0; c < 3; ++c) square += pow(points[3 * i + c] - centre[c], 2);
        *radius = fmax(*radius, sqrt(square));
        least = fmin(least, sqrt(square));
    }
    *off = *radius - least;
    return PS_OK;
}

/* Least and largest distance of vertices of (other) elements of the layer from the centre. */
static void reach(const setup *s, const double centre[3], uint8_t in, double out[2])
{
    out[0] = INFINITY, out[1] = 0;
    for (int64_t i = 0; i < 4 * s->mesh.elements; ++i) {
        double square = 0;
        if (s->layer[i / 4] != in) continue;
        for (int c = 0; c < 3; ++c) square += pow(corner(s, i / 4, (int)(i % 4))[c] - centre[c], 2);
        out[0] = fmin(out[0], sqrt(square));
        out[1] = fmax(out[1], sqrt(square));
    }
}

static ps_status take_ball(setup *s, const char *text)
{
    ps_dgtd_layer *x = &s->header.layer;
    PS_SCOPED_MEMORY double *points = NULL;
    int64_t count = 0;
    double off = INFINITY, within[2], beyond[2];
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) count += is_interface(s, f);
    PS_TRY(PS_ALLOC(&points, 9 * count, "the layer"));
    count = 0;
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f)
        for (int i = 0; i < 3 && is_interface(s, f); ++i, ++count)
            memcpy(points + 3 * count, corner(s, f / 4, ps_dgtd_face_vertices[f % 4][i]),
                   3 * sizeof *points);
    bool fits = count > 0 && fit_sphere(points, count, x->centre, &x->radius, &off) == PS_OK;
    if (fits) {
        reach(s, x->centre, 0, within);
        reach(s, x->centre, 1, beyond);
    }
    if (!fits || off > OFF_SHAPE * x->radius || within[1] > x->radius * (1 + OFF_SHAPE) ||
        beyond[0] < x->radius * (1 - OFF_SHAPE))
        return ps_fail(PS_INVALID,
                       "--pml %s: the layer begins neither at sides of a box nor at a ball "
                       "(%" PRId64 " vertices there, off a sphere by %.2g of its radius), or lies "
                       "not all outside of it: give the region such a boundary",
                       text, count, fits ? off / x->radius : 1.);
    x->ball = true;
    x->thickness[0][0] = beyond[1] - x->radius;
    return PS_OK;
}

/* ---- rows ---- */

/* Extent of an element beyond a side of a box, or beyond a ball, as parts of the thickness. */
static void depths(const setup *s, int64_t e, int side, int axis, double out[2])
{
    const ps_dgtd_layer *x = &s->header.layer;
    out[0] = INFINITY, out[1] = -INFINITY;
    for (int v = 0; v < 4; ++v) {
        const double *at = corner(s, e, v);
        double depth = 0;
        for (int c = 0; c < 3 && x->ball; ++c) depth += pow(at[c] - x->centre[c], 2);
        if (x->ball)
            depth = sqrt(depth) - x->radius;
        else
            depth = side ? at[axis] - x->inner[1][axis] : x->inner[0][axis] - at[axis];
        out[0] = fmin(out[0], depth / x->thickness[side][axis]);
        out[1] = fmax(out[1], depth / x->thickness[side][axis]);
    }
}

/* The number of rows of equal thickness that all elements at a side lie in, 0 if there are none. */
static double count_rows(const setup *s, int side, int axis)
{
    double least = 1, out[2];
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        if (!s->layer[e]) continue;
        depths(s, e, side, axis, out);
        if (out[0] + out[1] > 0) least = fmin(least, out[1] - out[0]);
    }
    double rows = round(1 / least);
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        if (!s->layer[e]) continue;
        depths(s, e, side, axis, out);
        if (out[0] + out[1] <= 0) continue;
        double row = floor((out[0] + out[1]) / 2 * rows);
        if (out[0] * rows < row - OFF_ROW || out[1] * rows > row + 1 + OFF_ROW) return 0;
    }
    return rows;
}

static void take_rows(setup *s, const char *text, double grown)
{
    ps_dgtd_layer *x = &s->header.layer;
    for (int k = 0; k < 6; ++k) {
        if (!(x->thickness[k / 3][k % 3] > 0)) continue;
        x->rows[k / 3][k % 3] = grown > 0 ? grown : count_rows(s, k / 3, k % 3);
        if (x->rows[k / 3][k % 3] > 0) continue;
        ps_warning(
            "--pml %s: the layer's elements do not lie in rows of equal thickness%s, so that "
            "the stretch changes from element to element: waves that graze the layer come "
            "back (at 80 degrees a sixth of them, where rows leave a hundredth); let mesh or "
            "--pml auto make it in rows",
            text,
            x->ball      ? ""
            : k % 3 == 0 ? " along x"
            : k % 3 == 1 ? " along y"
                         : " along z");
    }
}

/* ---- checks ---- */

static bool differ(const ps_dgtd_medium *a, const ps_dgtd_medium *b)
{
    return a->eps != b->eps || a->mu != b->mu;
}

/* Is a face between two media parallel to all directions in which its element is in the layer? */
static bool goes_on(const setup *s, int64_t face, int64_t other)
{
    const ps_dgtd_layer *x = &s->header.layer;
    double t[3][3], area[4], normal[4][3];
    ps_dgtd_tangents(s->mesh.vertices, s->mesh.tetrahedra + face / 4 * 4, t);
    ps_dgtd_faces((const double(*)[3])t, area, normal);
    for (int k = 0; k < 2; ++k)
        for (int c = 0; c < 3; ++c) {
            int64_t e = k ? other : face / 4;
            double middle = 0;
            for (int v = 0; v < 4; ++v) middle += corner(s, e, v)[c] / 4;
            bool beyond = middle < x->inner[0][c] || middle > x->inner[1][c];
            if (s->layer[e] && beyond && fabs(normal[face % 4][c]) > 1e-3) return false;
        }
    return true;
}

static ps_status check_media(const setup *s)
{
    char place[160];
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        int64_t e = f / 4, other = s->mesh.links[f] < 0 ? e : s->mesh.links[f] / 4;
        const ps_dgtd_medium *a = s->media + s->material[e], *b = s->media + s->material[other];
        if (!s->layer[e] && !s->layer[other]) continue;
        if (a->pole_count > 0 || a->anisotropic)
            return ps_fail(PS_INVALID,
                           "--pml: %s is in or at the layer and has poles or a tensor of "
                           "permittivity, which the layer does not match: leave room between",
                           element_text(s, e, place));
        if (a->sigma > 0 || a->density > 0)
            return ps_fail(PS_INVALID,
                           "--pml: %s is in or at the layer and conducts (%g S/m) or has a density "
                           "(%g kg/m3): leave room without loss between tissue and layer",
                           element_text(s, e, place), a->sigma, a->density);
        if (s->kinds[f] == PS_DGTD_ABSORBING && s->layer[e])
            return ps_fail(PS_USAGE,
                           "--pml: a face of %s, in the layer, absorbs: the layer ends in metal, "
                           "give --boundary ..:pec",
                           element_text(s, e, place));
        if (differ(a, b) && (s->header.layer.ball || !goes_on(s, f, other)))
            return ps_fail(PS_INVALID,
                           "--pml: the medium changes at %s; within the layer, and into it, it "
                           "has to go on as it is%s",
                           element_text(s, e, place),
                           s->header.layer.ball ? " everywhere about a ball" : "");
    }
    return PS_OK;
}

static ps_status grade(setup *s, double reflection, const char *text)
{
    ps_dgtd_layer *x = &s->header.layer;
    double slowness = INFINITY;
    int sides = 0;
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        if (s->layer[e])
            slowness = fmin(
                slowness, sqrt(s->materials[s->material[e]].eps * s->materials[s->material[e]].mu));
    for (int k = 0; k < 6; ++k) {
        double thickness = x->thickness[k / 3][k % 3];
        sides += thickness > 0;
        if (thickness > 0)
            x->sigma[k / 3][k % 3] = ps_dgtd_pml_sigma(reflection, x->grading, thickness, slowness);
    }
    return sides ? PS_OK : ps_fail(PS_INVALID, "--pml %s: the layer has no thickness", text);
}

ps_status set_layer(setup *s)
{
    const ps_text_list *pml = &s->options->pml;
    const char *whole = pml->items[0];
    setup_text text;
    double reflection, grown = 0, inner[2][3], outer[2][3];
    int given_alpha = 0;
    s->header.mesh_elements = s->mesh.elements;
    if (pml->count == 0) return PS_OK;
    if (pml->count > 1)
        return ps_fail(
            PS_USAGE,
            "--pml %s and --pml %s: a model has one layer; elements that are to be in it "
            "are of one physical group",
            whole, pml->items[1]);
    PS_TRY(text_parse("pml", whole, &text));
    PS_TRY(read_layer(s, &text, &reflection, &given_alpha));
    if (strcmp(text.head, "auto") == 0) {
        PS_TRY(grow_layer(s, &text, &grown));
    } else {
        PS_TRY(PS_ALLOC(&s->layer, s->mesh.elements, "the layer"));
        PS_TRY(mark_tagged(s, text.head));
    }
    PS_TRY(text_done(&text, known));
    s->header.has_layer = true;
    for (int64_t e = 0; e < s->mesh.elements; ++e) s->layer_elements += s->layer[e];
    bounds_of(s, 0, inner);
    bounds_of(s, 1, outer);
    if (is_box(s, (const double(*)[3])inner))
        take_box(&s->header.layer, (const double(*)[3])inner, (const double(*)[3])outer);
    else
        PS_TRY(take_ball(s, whole));
    take_rows(s, whole, grown);
    PS_TRY(grade(s, reflection, whole));
    return check_media(s);
}

/* ---- sources ---- */

/* Is a ball, or with radius 0 a point, outside of the layer with some room? */
static bool is_clear(const ps_dgtd_layer *x, const double at[3], double radius)
{
    double square = 0;
    bool clear = true;
    for (int c = 0; c < 3; ++c) {
        square += pow(at[c] - x->centre[c], 2);
        if (x->ball) continue;
        clear = clear && (x->thickness[0][c] == 0 || at[c] - radius >= x->inner[0][c]) &&
                (x->thickness[1][c] == 0 || at[c] + radius <= x->inner[1][c]);
    }
    return x->ball ? sqrt(square) + radius <= x->radius : clear;
}

/* alpha: a twentieth of the lowest frequency of the sources. */
ps_status finish_layer(setup *s)
{
    ps_dgtd_layer *x = &s->header.layer;
    double lowest = INFINITY, diagonal = 0;
    if (!s->header.has_layer) return PS_OK;
    for (int64_t i = 0; i < s->source_count; ++i) {
        const ps_dgtd_source *source = s->sources + i;
        if (source->kind == PS_DGTD_SOURCE_MODE)
            return ps_fail(PS_USAGE, "--source mode: a mode of a box of metal and --pml do not go "
                                     "together");
        if (source->kind == PS_DGTD_SOURCE_CURRENT && !is_clear(x, source->origin, source->radius))
            return ps_fail(PS_INVALID,
                           "--source current %" PRId64 ": its ball of radius %g m about %g,%g,%g "
                           "reaches into the layer of --pml; leave two elements between",
                           i + 1, source->radius, source->origin[0], source->origin[1],
                           source->origin[2]);
        lowest = fmin(lowest, source->omega > 0 ? source->omega : 1 / source->width);
    }
    for (int c = 0; c < 3; ++c) diagonal += pow(s->upper[c] - s->lower[c], 2);
    if (!(lowest < INFINITY)) lowest = 1 / sqrt(diagonal);
    if (x->alpha == 0) x->alpha = .05 * lowest;
    for (int64_t e = 0; e < s->mesh.elements && s->total; ++e)
        if (s->total[e] && s->layer[e])
            return ps_fail(PS_USAGE, "--total: the region reaches into the layer of --pml");
    return check_layer_growth(s);
}
