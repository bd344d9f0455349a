/* The header of slice and block matrices: root attributes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/entries.h"
#include "formats/slice_matrix.h"

static const char *const formulations[] = {"sound-soft-s", "sound-soft-m", "sound-hard"};
static const char mirrored[] = "-mirrored";
static const double passivity_rounding = 1e-5;
static const char *const precisions[] = {"f32", "f64"};

const char *ps_formulation_name(ps_formulation formulation)
{
    return (unsigned)formulation < 3 ? formulations[formulation] : "unknown";
}

static const char *const combined_name = "sound-hard-combined";

const char *ps_equation_name(ps_formulation formulation, double combined)
{
    return combined > 0 ? combined_name : ps_formulation_name(formulation);
}

static ps_status parse_formulation(const char *name, ps_formulation *out)
{
    for (int f = 0; f < 3; ++f)
        if (strcmp(name, formulations[f]) == 0) {
            *out = (ps_formulation)f;
            return PS_OK;
        }
    return ps_fail(PS_INVALID,
                   "formulation \"%s\" is none of sound-soft-s, sound-soft-m, sound-hard, "
                   "sound-hard-combined, or with planes these with %s",
                   name, mirrored);
}

ps_status ps_equation_put(ps_store *store, ps_formulation formulation, double combined,
                          const ps_reflectors *mirrors)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s", ps_equation_name(formulation, combined),
             mirrors->count > 0 ? mirrored : "");
    PS_TRY(ps_store_put_text(store, "/", "formulation", name));
    PS_TRY(ps_reflectors_put(store, mirrors));
    return combined > 0 ? ps_store_put_real(store, "/", "combined", combined) : PS_OK;
}

ps_status ps_equation_get(const ps_store *store, ps_formulation *formulation, double *combined,
                          ps_reflectors *mirrors)
{
    char name[40];
    *combined = 0;
    PS_TRY(ps_store_get_text(store, "/", "formulation", name, sizeof name));
    PS_TRY(ps_reflectors_get(store, mirrors));
    size_t length = strlen(name), end = strlen(mirrored);
    if (mirrors->count > 0 && length > end && strcmp(name + length - end, mirrored) == 0)
        name[length - end] = 0;
    else if (mirrors->count > 0)
        return ps_fail(PS_INVALID, "formulation \"%s\" does not go with planes that mirror", name);
    if (strcmp(name, combined_name) != 0) return parse_formulation(name, formulation);
    *formulation = PS_SOUND_HARD;
    PS_TRY(ps_store_get_real(store, "/", "combined", combined));
    if (isfinite(*combined) && *combined > 0) return PS_OK;
    return ps_fail(PS_INVALID, "attribute combined is %g; it must be positive", *combined);
}

bool ps_slice_header_is_unsymmetric(const ps_slice_header *header)
{
    return header->combined > 0 || header->lining[0] != 0;
}

static const char lining_name[] = "sound-hard-lining";

static ps_status put_equation(ps_store *store, const ps_slice_header *header)
{
    char name[40];
    if (!header->lining[0])
        return ps_equation_put(store, header->formulation, header->combined, &header->mirrors);
    snprintf(name, sizeof name, "%s%s", lining_name, header->mirrors.count > 0 ? mirrored : "");
    PS_TRY(ps_store_put_text(store, "/", "formulation", name));
    PS_TRY(ps_reflectors_put(store, &header->mirrors));
    PS_TRY(ps_store_put_text(store, "/", "lining", header->lining));
    return header->combined > 0 ? ps_store_put_real(store, "/", "combined", header->combined)
                                : PS_OK;
}

static ps_status get_equation(const ps_store *store, ps_slice_header *header)
{
    char name[40];
    PS_TRY(ps_store_get_text(store, "/", "formulation", name, sizeof name));
    size_t length = strlen(lining_name);
    if (strncmp(name, lining_name, length) != 0)
        return ps_equation_get(store, &header->formulation, &header->combined, &header->mirrors);
    PS_TRY(ps_reflectors_get(store, &header->mirrors));
    if (strcmp(name + length, header->mirrors.count > 0 ? mirrored : "") != 0)
        return ps_fail(PS_INVALID, "formulation \"%s\" does not go with %d planes that mirror",
                       name, header->mirrors.count);
    header->formulation = PS_SOUND_HARD;
    PS_TRY(ps_store_get_text(store, "/", "lining", header->lining, sizeof header->lining));
    if (!header->lining[0])
        return ps_fail(PS_INVALID, "attribute lining is empty; it names a part of the mesh");
    if (!ps_store_has(store, "/", "combined")) return PS_OK;
    PS_TRY(ps_store_get_real(store, "/", "combined", &header->combined));
    if (isfinite(header->combined) && header->combined > 0) return PS_OK;
    return ps_fail(PS_INVALID, "attribute combined is %g; it must be positive", header->combined);
}

static ps_status precision_parse(const char *name, ps_precision *out)
{
    for (int p = 0; p < PS_PRECISION_COUNT; ++p)
        if (strcmp(name, precisions[p]) == 0) {
            *out = (ps_precision)p;
            return PS_OK;
        }
    return ps_fail(PS_INVALID, "precision \"%s\" is neither f32 nor f64", name);
}

bool ps_passivity_is_good(const ps_passivity *passivity)
{
    return passivity->angles > 0 && passivity->least >= -passivity_rounding;
}

static ps_status pass_certificate(ps_store *store, const ps_passivity *p, ps_entries_pass *each)
{
    const ps_entry entries[] = {
        PS_ENTRY("passivity_least", p->least), PS_ENTRY("passivity_at", p->angle),
        PS_ENTRY("passivity_unknown", p->unknown), PS_ENTRY("passivity_share", p->share)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

static ps_status passivity_put(ps_store *store, const ps_passivity *p)
{
    PS_TRY(ps_store_put_int(store, "/", "passivity_angles", p->angles));
    return p->angles == 0 ? PS_OK : pass_certificate(store, p, ps_entries_put);
}

static ps_status pass_numbers(ps_store *store, const ps_slice_header *h, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("unknowns", h->unknowns),
                                PS_ENTRY("k_max", h->k_max),
                                PS_ENTRY("nnz", h->nnz),
                                PS_ENTRY("d_max", h->d_max),
                                PS_ENTRY("outer_points", h->outer_points),
                                PS_ENTRY("d_mean", h->d_mean),
                                PS_ENTRY("score", h->score),
                                PS_ENTRY("dt", h->dt),
                                PS_ENTRY("speed", h->speed),
                                PS_ENTRY("mesh_uuid", h->mesh_uuid),
                                PS_ENTRY("mesh_hash", h->mesh_hash)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

ps_status ps_slice_header_put(ps_store *store, const ps_slice_header *header)
{
    PS_TRY(put_equation(store, header));
    PS_TRY(ps_store_put_text(store, "/", "precision", precisions[header->precision]));
    PS_TRY(pass_numbers(store, header, ps_entries_put));
    return passivity_put(store, &header->passivity);
}

static ps_status check_int(const char *name, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high) return PS_OK;
    return ps_fail(PS_INVALID, "attribute %s is %lld, outside %lld..%lld", name, (long long)value,
                   (long long)low, (long long)high);
}

static ps_status check_positive(const char *name, double value)
{
    if (isfinite(value) && value > 0) return PS_OK;
    return ps_fail(PS_INVALID, "attribute %s is %g; it must be positive", name, value);
}

/* Files from before there was a certificate have none. */
static ps_status passivity_get(ps_store *store, int64_t unknowns, ps_passivity *p)
{
    *p = (ps_passivity){.angles = 0};
    if (!ps_store_has(store, "/", "passivity_angles")) return PS_OK;
    PS_TRY(ps_store_get_int(store, "/", "passivity_angles", &p->angles));
    PS_TRY(check_int("passivity_angles", p->angles, 0, 1024));
    if (p->angles == 0) return PS_OK;
    PS_TRY(pass_certificate(store, p, ps_entries_get));
    PS_TRY(check_int("passivity_unknown", p->unknown, 0, unknowns - 1));
    if (!isfinite(p->least) || !isfinite(p->angle))
        return ps_fail(PS_INVALID, "attributes passivity_least and passivity_at must be finite");
    return PS_OK;
}

static ps_status header_check(const ps_slice_header *header)
{
    PS_TRY(check_int("unknowns", header->unknowns, 1, INT32_MAX));
    PS_TRY(check_int("k_max", header->k_max, 0, PS_K_LIMIT));
    PS_TRY(check_int("d_max", header->d_max, 0, PS_K_LIMIT));
    PS_TRY(check_int("nnz", header->nnz, 0, INT64_MAX));
    PS_TRY(check_int("outer_points", header->outer_points, 1, 1 << 20));
    PS_TRY(check_positive("dt", header->dt));
    return check_positive("speed", header->speed);
}

static ps_status header_get(ps_store *store, ps_slice_header *header)
{
    char name[32];
    PS_TRY(get_equation(store, header));
    PS_TRY(ps_store_get_text(store, "/", "precision", name, sizeof name));
    PS_TRY(precision_parse(name, &header->precision));
    PS_TRY(pass_numbers(store, header, ps_entries_get));
    PS_TRY(header_check(header));
    return passivity_get(store, header->unknowns, &header->passivity);
}

ps_status ps_slice_header_get(ps_store *store, ps_slice_header *header)
{
    *header = (ps_slice_header){0};
    PS_TRY_IN(header_get(store, header), "%s", ps_store_path(store));
    return PS_OK;
}

void ps_slice_header_derive(const ps_slice_tile *tiles, int64_t count, ps_slice_header *header)
{
    double filled = 0, squares = 0, pairs = 0, d_max = 0, k_max = 0;
    header->nnz = 0;
    for (int64_t t = 0; t < count; ++t) {
        double tile_pairs = (double)(tiles[t].slices * (tiles[t].rows - 1));
        header->nnz += tiles[t].value_count;
        filled += tiles[t].filled;
        squares += tiles[t].score * tile_pairs;
        pairs += tile_pairs;
        d_max = fmax(d_max, tiles[t].d_max);
        k_max = fmax(k_max, tiles[t].k_max);
    }
    header->d_max = (int64_t)d_max;
    header->k_max = (int64_t)k_max;
    header->d_mean = filled > 0 ? (double)header->nnz / filled : 0;
    header->score = pairs > 0 ? squares / pairs : 0;
}
