/*
 * scale: mass scaling of slivers. Permittivity and permeability of the smallest elements are raised
 * by one factor each until none is smaller, in sqrt(eps mu) V/P, than the first one that is left
 * alone: the time step follows that one. Waves are slower in them by the factor and their impedance
 * stays; they are far below the wavelength and a vanishing part of the volume. (L. Olovsson, K.
 * Simonsson, M. Unosson, Int. J. Numer. Methods Eng. 63 (2005) 1436, scale masses for the same
 * reason.)
 *
 * Permittivity alone would not do: the limit then goes by the magnetic energy of the sliver and the
 * electric one of its neighbours. Measured by power iteration, the limit is .98 of the rule's with
 * both raised (a ball's mesh, 5 to 500 elements, P2): SCALE_MARGIN covers that.
 *
 * Factors are powers of SCALE_STEP, so that few media come to those there are.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/mesh.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "setup.h"

#define SCALE_STEP 1.25
#define SCALE_MARGIN 0.95
/* Of the volume; .07 % changed the field in a ball by .7 %. */
#define EXCESS_WARNED 1e-4
enum { LEVELS = 32 }; /* 1.25^31 = 1000 */

typedef struct scaling {
    setup *s;
    int32_t *media; /* [media before][LEVELS] the medium of each level, -1: not yet there */
    int64_t before, capacity;
    double target; /* least size afterwards */
    double total_volume;
} scaling;

static double volume_of(const setup *s, int64_t e)
{
    double t[3][3];
    ps_dgtd_tangents(s->mesh.vertices, s->mesh.tetrahedra + 4 * e, t);
    return 4. / 3 * fabs(ps_dgtd_determinant((const double(*)[3])t));
}

/* A medium of which eps and mu are higher by the level. */
static ps_status add_medium(scaling *x, int64_t medium, int level)
{
    setup *s = x->s;
    int64_t count = s->media_count, room = x->capacity;
    double factor = pow(SCALE_STEP, level);
    if (count == PS_DGTD_MEDIA_MAX)
        return ps_fail(PS_USAGE, "--scale-slivers: more than %d media; scale fewer elements",
                       PS_DGTD_MEDIA_MAX);
    PS_TRY(ps_grow((void **)&s->media, &x->capacity, count + 1, sizeof *s->media, "media"));
    PS_TRY(ps_grow((void **)&s->materials, &room, count + 1, sizeof *s->materials, "media"));
    s->media[count] = s->media[medium];
    s->materials[count] = s->materials[medium];
    s->media[count].eps *= factor;
    for (int k = 0; k < 6; ++k) s->media[count].tensor[k] *= factor;
    s->media[count].mu *= factor;
    s->materials[count].eps *= factor;
    s->materials[count].mu *= factor;
    x->media[medium * LEVELS + level] = (int32_t)s->media_count++;
    s->scaled_factor = fmax(s->scaled_factor, factor);
    return PS_OK;
}

static ps_status scale_element(scaling *x, int64_t e)
{
    setup *s = x->s;
    int64_t medium = s->material[e];
    double ratio = x->target / s->sizes[e];
    int level = (int)ceil(log(ratio) / log(SCALE_STEP) * (1 - 1e-12));
    if (level >= LEVELS)
        return ps_fail(PS_USAGE,
                       "--scale-slivers: the smallest element would need %.3g times its "
                       "permittivity; repair the mesh",
                       ratio);
    if (x->media[medium * LEVELS + level] < 0) PS_TRY(add_medium(x, medium, level));
    s->material[e] = (uint16_t)x->media[medium * LEVELS + level];
    s->sizes[e] *= pow(SCALE_STEP, level);
    s->scaled_volume += volume_of(s, e) / x->total_volume;
    s->scaled_excess += volume_of(s, e) / x->total_volume * (pow(SCALE_STEP, level) - 1);
    ++s->scaled;
    return PS_OK;
}

static ps_status scale_all(scaling *x)
{
    setup *s = x->s;
    PS_TRY(PS_ALLOC(&x->media, x->before * LEVELS, "scaled media"));
    memset(x->media, 0xff, (size_t)(x->before * LEVELS) * sizeof *x->media);
    for (int64_t e = 0; e < s->mesh.elements; ++e) x->total_volume += volume_of(s, e);
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        if (s->sizes[e] < x->target) PS_TRY(scale_element(x, e));
    return PS_OK;
}

ps_status scale_slivers(setup *s, double target)
{
    scaling x = {.s = s, .before = s->media_count, .capacity = s->media_count, .target = target};
    ps_status status = scale_all(&x);
    free(x.media);
    PS_TRY(status);
    if (s->scaled_excess > EXCESS_WARNED)
        ps_warning("--scale-slivers %" PRId64
                   ": eps and mu of the mesh rise by %.2g %% on the mean; "
                   "fields may be wrong by several times that",
                   s->options->scale, 100 * s->scaled_excess);
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        if (s->sizes[e] < s->sizes[s->limiting]) s->limiting = e;
    s->header.dt_rule =
        SCALE_MARGIN * ps_dgtd_step_constant(s->header.order) * s->sizes[s->limiting];
    return PS_OK;
}
