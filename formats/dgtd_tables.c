/* Media and sources of a model as columns of its file. */
#include <string.h>

#include "formats/columns.h"
#include "formats/dgtd_model_internal.h"
#include "runtime/scope.h"

enum { POLE = 5, TENSOR = 7, BAND = 3 };

typedef struct tables {
    int64_t media, sources;
    int32_t *tags, *kinds, *shapes, (*modes)[3];
    double (*values)[4], (*pulses)[4], (*axes)[3], (*polarisations)[3], (*origins)[3],
        (*extents)[3], *radii;
    int64_t pole_count, tensor_count, band_count;              /* of all media */
    double (*poles)[POLE], (*tensors)[TENSOR], (*bands)[BAND]; /* the medium first */
} tables;

static ps_status pass(ps_store *store, const tables *t, ps_columns_pass *each)
{
    int64_t m = t->media, s = t->sources;
    const ps_column columns[] = {
        {"/media/tag", "1", "physical group", PS_I32, m, 1, .at = &t->tags},
        {"/media/values", "1", "eps_r, mu_r, sigma (S/m), density (kg/m3)", PS_F64, m, 4,
         .at = &t->values},
        {"/sources/kind", "1", "0 current, 1 plane wave, 2 incident dipole, 3 mode", PS_I32, s, 1,
         .at = &t->kinds},
        {"/sources/shape", "1", "pulse: 0 Gaussian, 1 ramp", PS_I32, s, 1, .at = &t->shapes},
        {"/sources/pulse", "1", "amplitude, centre (m), width (m), omega (1/m)", PS_F64, s, 4,
         .at = &t->pulses},
        {"/sources/axis", "1", "axis of a dipole, direction of a wave, amplitude of a mode", PS_F64,
         s, 3, .at = &t->axes},
        {"/sources/polarisation", "1", "of a plane wave", PS_F64, s, 3, .at = &t->polarisations},
        {"/sources/origin", "m", "place of a source, corner of a mode's box", PS_F64, s, 3,
         .at = &t->origins},
        {"/sources/extent", "m", "sides of a mode's box", PS_F64, s, 3, .at = &t->extents},
        {"/sources/radius", "m", "of the ball of a current", PS_F64, s, 1, .at = &t->radii},
        {"/sources/mode", "1", "half waves", PS_I32, s, 3, .at = &t->modes},
        {"/media/poles", "1", "medium, kind, strength, frequency (1/m), rate (1/m)", PS_F64,
         t->pole_count, POLE, .at = &t->poles},
        {"/media/tensor", "1", "medium, eps_r xx, yy, zz, xy, xz, yz", PS_F64, t->tensor_count,
         TENSOR, .at = &t->tensors},
        {"/media/band", "Hz", "medium, limits of what its poles stand for", PS_F64, t->band_count,
         BAND, .at = &t->bands},
    };
    return each(store, columns, PS_COLUMNS(columns));
}

static void release(tables *t) { pass(NULL, t, ps_columns_release); }

static void count_extras(tables *t, const ps_dgtd_model *m)
{
    for (const ps_dgtd_medium *x = m->media; x < m->media + m->header.media; ++x) {
        t->pole_count += x->pole_count;
        t->tensor_count += x->anisotropic;
        t->band_count += x->band[1] > 0;
    }
}

static void take_extras_in(tables *t, const ps_dgtd_model *m)
{
    int64_t pole = 0, tensor = 0, band = 0;
    for (int64_t i = 0; i < m->header.media; ++i) {
        const ps_dgtd_medium *x = m->media + i;
        for (int k = 0; k < x->pole_count; ++k) {
            const ps_dgtd_pole *p = x->poles + k;
            const double row[POLE] = {(double)i, (double)p->kind, p->strength, p->frequency,
                                      p->rate};
            memcpy(t->poles[pole++], row, sizeof row);
        }
        if (x->anisotropic) {
            t->tensors[tensor][0] = (double)i;
            memcpy(t->tensors[tensor++] + 1, x->tensor, sizeof x->tensor);
        }
        if (x->band[1] > 0) {
            const double row[BAND] = {(double)i, x->band[0], x->band[1]};
            memcpy(t->bands[band++], row, sizeof row);
        }
    }
}

/* The medium that a row names, or NULL. */
static ps_dgtd_medium *medium_of(const ps_dgtd_model_header *h, ps_dgtd_medium *media, double row)
{
    return row >= 0 && row < (double)h->media ? media + (int64_t)row : NULL;
}

static ps_status take_extras_out(const tables *t, const ps_dgtd_model_header *h,
                                 ps_dgtd_medium *media)
{
    bool good = true;
    for (int64_t i = 0; i < t->pole_count && good; ++i) {
        const double *v = t->poles[i];
        ps_dgtd_medium *x = medium_of(h, media, v[0]);
        good = x && x->pole_count < PS_DGTD_POLES_MAX && v[1] >= 0 && v[1] < PS_DGTD_POLE_KINDS;
        if (good)
            x->poles[x->pole_count++] =
                (ps_dgtd_pole){(ps_dgtd_pole_kind)(int)v[1], v[2], v[3], v[4]};
    }
    for (int64_t i = 0; i < t->tensor_count && good; ++i) {
        ps_dgtd_medium *x = medium_of(h, media, t->tensors[i][0]);
        good = x != NULL;
        if (!good) break;
        x->anisotropic = true;
        memcpy(x->tensor, t->tensors[i] + 1, sizeof x->tensor);
    }
    for (int64_t i = 0; i < t->band_count && good; ++i) {
        ps_dgtd_medium *x = medium_of(h, media, t->bands[i][0]);
        good = x != NULL;
        if (good) memcpy(x->band, t->bands[i] + 1, sizeof x->band);
    }
    return good ? PS_OK
                : ps_fail(PS_INVALID,
                          "poles, tensors or bands of media that there are not, or "
                          "more than %d poles of one, or of an unknown kind",
                          PS_DGTD_POLES_MAX);
}

static void take_in(tables *t, const ps_dgtd_model *m)
{
    take_extras_in(t, m);
    for (int64_t i = 0; i < m->header.media; ++i) {
        const ps_dgtd_medium *x = m->media + i;
        const double values[4] = {x->eps, x->mu, x->sigma, x->density};
        t->tags[i] = x->tag;
        memcpy(t->values[i], values, sizeof values);
    }
    for (int64_t i = 0; i < m->header.sources; ++i) {
        const ps_dgtd_source *x = m->sources + i;
        const double pulse[4] = {x->amplitude, x->centre, x->width, x->omega};
        t->kinds[i] = (int32_t)x->kind;
        t->shapes[i] = x->shape;
        t->radii[i] = x->radius;
        memcpy(t->pulses[i], pulse, sizeof pulse);
        memcpy(t->axes[i], x->axis, sizeof x->axis);
        memcpy(t->polarisations[i], x->polarisation, sizeof x->polarisation);
        memcpy(t->origins[i], x->origin, sizeof x->origin);
        memcpy(t->extents[i], x->extent, sizeof x->extent);
        memcpy(t->modes[i], x->mode, sizeof x->mode);
    }
}

static void take_out(const tables *t, const ps_dgtd_model_header *h, ps_dgtd_medium *media,
                     ps_dgtd_source *sources)
{
    for (int64_t i = 0; i < h->media; ++i) {
        const double *v = t->values[i];
        media[i] = (ps_dgtd_medium){
            .tag = t->tags[i], .eps = v[0], .mu = v[1], .sigma = v[2], .density = v[3]};
    }
    for (int64_t i = 0; i < h->sources; ++i) {
        const double *f = t->pulses[i];
        ps_dgtd_source *x = sources + i;
        *x = (ps_dgtd_source){.kind = (ps_dgtd_source_kind)t->kinds[i],
                              .shape = t->shapes[i],
                              .amplitude = f[0],
                              .centre = f[1],
                              .width = f[2],
                              .omega = f[3],
                              .radius = t->radii[i]};
        memcpy(x->axis, t->axes[i], sizeof x->axis);
        memcpy(x->polarisation, t->polarisations[i], sizeof x->polarisation);
        memcpy(x->origin, t->origins[i], sizeof x->origin);
        memcpy(x->extent, t->extents[i], sizeof x->extent);
        memcpy(x->mode, t->modes[i], sizeof x->mode);
    }
}

/* ---- writing ---- */

ps_status ps_dgtd_tables_write(ps_store *store, const ps_dgtd_model *m)
{
    PS_SCOPED(release) tables t = {.media = m->header.media, .sources = m->header.sources};
    count_extras(&t, m);
    PS_TRY(ps_store_put_int(store, "/", "poles", t.pole_count));
    PS_TRY(ps_store_put_int(store, "/", "tensors", t.tensor_count));
    PS_TRY(ps_store_put_int(store, "/", "bands", t.band_count));
    PS_TRY(pass(NULL, &t, ps_columns_allocate));
    take_in(&t, m);
    return pass(store, &t, ps_columns_write);
}

/* ---- reading ---- */

/* Files of versions 1 to 4 have none of them. */
static ps_status get_extras(const ps_store *store, tables *t)
{
    static const char *const names[] = {"poles", "tensors", "bands"};
    int64_t *counts[] = {&t->pole_count, &t->tensor_count, &t->band_count};
    for (int k = 0; k < 3; ++k) {
        if (ps_store_has(store, "/", names[k]))
            PS_TRY(ps_store_get_int(store, "/", names[k], counts[k]));
        if (*counts[k] < 0 || *counts[k] > PS_DGTD_MEDIA_MAX * (int64_t)PS_DGTD_POLES_MAX)
            return ps_fail(PS_INVALID, "%s: %lld %s of media", ps_store_path(store),
                           (long long)*counts[k], names[k]);
    }
    return PS_OK;
}

ps_status ps_dgtd_tables_read(ps_store *store, const ps_dgtd_model_header *h, ps_dgtd_medium *media,
                              ps_dgtd_source *sources)
{
    PS_SCOPED(release) tables t = {.media = h->media, .sources = h->sources};
    PS_TRY(get_extras(store, &t));
    PS_TRY(pass(store, &t, ps_columns_load));
    take_out(&t, h, media, sources);
    PS_TRY_IN(take_extras_out(&t, h, media), "%s", ps_store_path(store));
    return PS_OK;
}
