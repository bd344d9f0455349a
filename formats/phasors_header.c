/* What a file of phasors says at its root: order, frequencies, materials, powers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/phasors_internal.h"
#include "formats/store_texts.h"
#include "runtime/scope.h"

/* ---- checking ---- */

static ps_status check_frequencies(const ps_phasors_header *h)
{
    if (h->frequencies < 1 || h->frequencies > PS_PHASORS_FREQUENCIES_MAX)
        return ps_fail(PS_INVALID, "%d frequencies; there may be 1 to %d", h->frequencies,
                       PS_PHASORS_FREQUENCIES_MAX);
    for (int i = 0; i < h->frequencies; ++i) {
        if (!(h->frequency[i] > (i ? h->frequency[i - 1] : 0)) || !isfinite(h->frequency[i]))
            return ps_fail(PS_INVALID, "frequency %d of %d, %g Hz, is not positive and ascending",
                           i + 1, h->frequencies, h->frequency[i]);
        double size = hypot(h->source[i][0], h->source[i][1]);
        if (!(size > 0) || !isfinite(size))
            return ps_fail(PS_INVALID, "the source has nothing at %g Hz to refer the fields to",
                           h->frequency[i]);
    }
    return PS_OK;
}

static ps_status check_materials(const ps_phasors_header *h)
{
    if (h->materials < 1 || h->materials > PS_PHASORS_MATERIALS_MAX)
        return ps_fail(PS_INVALID, "%d materials; there may be 1 to %d", h->materials,
                       PS_PHASORS_MATERIALS_MAX);
    for (int m = 0; m < h->materials; ++m) {
        const ps_phasors_material *x = &h->material[m];
        if (!(x->eps > 0 && x->mu > 0 && x->sigma >= 0 && x->density >= 0) ||
            !isfinite(x->eps + x->mu + x->sigma + x->density))
            return ps_fail(PS_INVALID,
                           "material %d (tag %d, %s) has eps %g, mu %g, sigma %g, density %g; eps "
                           "and mu must be positive, the others not negative",
                           m, x->tag, x->name, x->eps, x->mu, x->sigma, x->density);
        for (int f = 0; f < h->frequencies && x->dispersive; ++f)
            if (!(h->sigma_at[f][m] >= 0) || !isfinite(h->eps_at[f][m] + h->sigma_at[f][m]))
                return ps_fail(PS_INVALID,
                               "material %d (tag %d, %s) has eps %g and sigma %g at %g Hz; sigma "
                               "must not be negative",
                               m, x->tag, x->name, h->eps_at[f][m], h->sigma_at[f][m],
                               h->frequency[f]);
        if (strchr(x->name, '\n'))
            return ps_fail(PS_INVALID, "the name of material %d has a line end", m);
    }
    return PS_OK;
}

ps_status phasors_check_header(const ps_phasors_header *h)
{
    if (h->order < 1 || h->order > 4)
        return ps_fail(PS_INVALID, "order %d; 1 to 4 are known", h->order);
    if (h->rows < 0 || h->mesh_elements < 1 || h->rows > h->mesh_elements ||
        h->mesh_elements > INT32_MAX)
        return ps_fail(PS_INVALID, "%lld elements of a mesh of %lld", (long long)h->rows,
                       (long long)h->mesh_elements);
    PS_TRY(check_frequencies(h));
    return check_materials(h);
}

/* ---- attributes ---- */

static const char *const column_names[] = {"material_eps", "material_mu", "material_sigma",
                                           "material_density"};

static ps_status put_materials(ps_store *store, const ps_phasors_header *h)
{
    int64_t tags[PS_PHASORS_MATERIALS_MAX];
    double columns[4][PS_PHASORS_MATERIALS_MAX];
    char text[PS_PHASORS_MATERIALS_MAX * sizeof h->material->name] = "";
    for (int m = 0; m < h->materials; ++m) {
        const ps_phasors_material *x = &h->material[m];
        tags[m] = x->tag;
        columns[0][m] = x->eps;
        columns[1][m] = x->mu;
        columns[2][m] = x->sigma;
        columns[3][m] = x->density;
        if (m) strcat(text, "\n");
        strcat(text, x->name);
    }
    PS_TRY(ps_store_put_ints(store, "/", "material_tags", tags, h->materials));
    for (int k = 0; k < 4; ++k)
        PS_TRY(ps_store_put_reals(store, "/", column_names[k], columns[k], h->materials));
    return ps_store_put_text(store, "/", "material_names", text);
}

bool phasors_are_dispersive(const ps_phasors_header *h)
{
    bool any = false;
    for (int m = 0; m < h->materials; ++m) any |= h->material[m].dispersive;
    return any;
}

static void frequency_names(int frequency, char eps[PS_NAME_MAX], char sigma[PS_NAME_MAX])
{
    snprintf(eps, PS_NAME_MAX, "material_eps_%03d", frequency);
    snprintf(sigma, PS_NAME_MAX, "material_sigma_%03d", frequency);
}

/* What version 2 has more. */
static ps_status put_dispersive(ps_store *store, const ps_phasors_header *h)
{
    int64_t which[PS_PHASORS_MATERIALS_MAX];
    char eps[PS_NAME_MAX], sigma[PS_NAME_MAX];
    if (!phasors_are_dispersive(h)) return PS_OK;
    for (int m = 0; m < h->materials; ++m) which[m] = h->material[m].dispersive;
    PS_TRY(ps_store_put_ints(store, "/", "material_dispersive", which, h->materials));
    for (int f = 0; f < h->frequencies; ++f) {
        frequency_names(f, eps, sigma);
        PS_TRY(ps_store_put_reals(store, "/", eps, h->eps_at[f], h->materials));
        PS_TRY(ps_store_put_reals(store, "/", sigma, h->sigma_at[f], h->materials));
    }
    return PS_OK;
}

ps_status phasors_put_header(ps_store *store, const ps_phasors_header *h)
{
    PS_TRY(ps_store_put_int(store, "/", "order", h->order));
    PS_TRY(ps_store_put_text(store, "/", "mesh_hash", h->mesh_hash));
    PS_TRY(ps_store_put_int(store, "/", "mesh_elements", h->mesh_elements));
    PS_TRY(ps_store_put_reals(store, "/", "frequencies", h->frequency, h->frequencies));
    PS_TRY(ps_store_put_reals(store, "/", "source", h->source[0], 2 * h->frequencies));
    PS_TRY(ps_store_put_text(store, "/", "source_units", h->source_units));
    PS_TRY(ps_store_put_int(store, "/", "magnetic", h->magnetic));
    if (h->unsettled >= 0) PS_TRY(ps_store_put_real(store, "/", "unsettled", h->unsettled));
    if (h->has_accepted)
        PS_TRY(ps_store_put_reals(store, "/", "accepted_power", h->accepted, h->frequencies));
    if (h->has_incident)
        PS_TRY(ps_store_put_reals(store, "/", "incident_power", h->incident, h->frequencies));
    PS_TRY(put_dispersive(store, h));
    return put_materials(store, h);
}

/* The number of values of an attribute. PS_INVALID unless it has 1 to `most`. */
static ps_status count_of(const ps_store *store, const char *name, int most, int *out)
{
    PS_SCOPED_MEMORY ps_attribute *list = NULL;
    int count;
    *out = 0;
    PS_TRY(ps_store_list_attributes(store, "/", &list, &count));
    for (int i = 0; i < count; ++i)
        if (strcmp(list[i].name, name) == 0 && list[i].count <= most) *out = (int)list[i].count;
    return *out > 0 ? PS_OK
                    : ps_fail(PS_INVALID, "%s: attribute %s is missing or has more than %d values",
                              ps_store_path(store), name, most);
}

static ps_status get_materials(const ps_store *store, ps_phasors_header *h)
{
    int64_t tags[PS_PHASORS_MATERIALS_MAX];
    double columns[4][PS_PHASORS_MATERIALS_MAX];
    PS_TRY(count_of(store, "material_tags", PS_PHASORS_MATERIALS_MAX, &h->materials));
    PS_TRY(ps_store_get_ints(store, "/", "material_tags", tags, h->materials));
    for (int k = 0; k < 4; ++k)
        PS_TRY(ps_store_get_reals(store, "/", column_names[k], columns[k], h->materials));
    for (int m = 0; m < h->materials; ++m)
        h->material[m] = (ps_phasors_material){
            (int)tags[m], columns[0][m], columns[1][m], columns[2][m], columns[3][m], "", false};
    return ps_store_get_lines(store, "material_names", h->materials, h->material->name,
                              sizeof *h->material, sizeof h->material->name);
}

static ps_status get_dispersive(const ps_store *store, ps_phasors_header *h)
{
    int64_t which[PS_PHASORS_MATERIALS_MAX];
    char eps[PS_NAME_MAX], sigma[PS_NAME_MAX];
    if (!ps_store_has(store, "/", "material_dispersive")) return PS_OK;
    PS_TRY(ps_store_get_ints(store, "/", "material_dispersive", which, h->materials));
    for (int f = 0; f < h->frequencies; ++f) {
        frequency_names(f, eps, sigma);
        PS_TRY(ps_store_get_reals(store, "/", eps, h->eps_at[f], h->materials));
        PS_TRY(ps_store_get_reals(store, "/", sigma, h->sigma_at[f], h->materials));
    }
    for (int m = 0; m < h->materials; ++m) h->material[m].dispersive = which[m] != 0;
    return PS_OK;
}

ps_status phasors_get_header(const ps_store *store, ps_phasors_header *h)
{
    int64_t order, magnetic;
    PS_TRY(ps_store_get_int(store, "/", "order", &order));
    PS_TRY(ps_store_get_int(store, "/", "magnetic", &magnetic));
    PS_TRY(ps_store_get_int(store, "/", "mesh_elements", &h->mesh_elements));
    PS_TRY(ps_store_get_text(store, "/", "mesh_hash", h->mesh_hash, sizeof h->mesh_hash));
    PS_TRY(ps_store_get_text(store, "/", "source_units", h->source_units, sizeof h->source_units));
    h->order = order < 1 || order > 4 ? 0 : (int)order;
    h->magnetic = magnetic != 0;
    PS_TRY(count_of(store, "frequencies", PS_PHASORS_FREQUENCIES_MAX, &h->frequencies));
    PS_TRY(ps_store_get_reals(store, "/", "frequencies", h->frequency, h->frequencies));
    PS_TRY(ps_store_get_reals(store, "/", "source", h->source[0], 2 * h->frequencies));
    h->has_incident = ps_store_has(store, "/", "incident_power");
    if (h->has_incident) {
        PS_TRY(ps_store_get_reals(store, "/", "incident_power", h->incident, h->frequencies));
        for (int k = 0; k < h->frequencies; ++k)
            if (!isfinite(h->incident[k]) || h->incident[k] < 0)
                return ps_fail(PS_INVALID, "incident_power is no power");
    }
    h->has_accepted = ps_store_has(store, "/", "accepted_power");
    if (h->has_accepted) {
        PS_TRY(ps_store_get_reals(store, "/", "accepted_power", h->accepted, h->frequencies));
        for (int k = 0; k < h->frequencies; ++k)
            if (!isfinite(h->accepted[k]))
                return ps_fail(PS_INVALID, "accepted_power is not finite");
    }
    h->unsettled = -1;
    if (ps_store_has(store, "/", "unsettled")) {
        PS_TRY(ps_store_get_real(store, "/", "unsettled", &h->unsettled));
        if (!(h->unsettled >= 0) || !isfinite(h->unsettled))
            return ps_fail(PS_INVALID, "unsettled is %g; a share of the fields is expected",
                           h->unsettled);
    }
    PS_TRY(get_materials(store, h));
    return get_dispersive(store, h);
}
