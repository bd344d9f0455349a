#include "formats/transmission.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- in memory ---- */

ps_status ps_transmission_file_init(ps_transmission_file *file, int conditions, int64_t samples,
                                    int64_t map)
{
    static const char what[] = "transmission conditions";
    memset(file, 0, sizeof *file);
    if (conditions < 1 || conditions > PS_CONDITIONS_MAX || samples < 2 || map < 0)
        return ps_fail(PS_USAGE, "%d conditions with %lld samples", conditions, (long long)samples);
    file->conditions = conditions;
    file->samples = samples;
    file->map = map;
    ps_status status = PS_ALLOC(&file->k, samples, what);
    if (status == PS_OK) status = PS_ALLOC(&file->rate, conditions * samples, what);
    if (status == PS_OK && map) status = PS_ALLOC(&file->map_p, map, what);
    if (status == PS_OK && map) status = PS_ALLOC(&file->map_q, map, what);
    if (status == PS_OK && map) status = PS_ALLOC(&file->map_rate, map * map, what);
    if (status != PS_OK) ps_transmission_file_release(file);
    return status;
}

void ps_transmission_file_release(ps_transmission_file *file)
{
    free(file->k);
    free(file->rate);
    free(file->map_p);
    free(file->map_q);
    free(file->map_rate);
    memset(file, 0, sizeof *file);
}

int ps_transmission_find(const ps_transmission_file *file, const char *kind)
{
    for (int i = 0; i < file->conditions; ++i)
        if (strcmp(file->kinds[i], kind) == 0) return i;
    return -1;
}

/* ---- the arrays, for both directions ---- */

enum { ARRAYS = 8 };

typedef struct array {
    ps_dataset_spec spec;
    void *data;
} array;

/* Those that this file has: returns their number. */
static int list_arrays(const ps_transmission_file *f, const char *per_length, array out[ARRAYS])
{
    const char *unit = f->length_unit;
    int64_t c = f->conditions, s = f->samples, n = f->map;
    array all[ARRAYS] = {
        {{"/conditions/coefficients", PS_F64, 2, {c, 4}, .units = "1"}, (void *)f->coefficients},
        {{"/conditions/factor", PS_F64, 1, {c}, .units = "1"}, (void *)f->factor},
        {{"/conditions/evaluations", PS_I64, 1, {c}, .units = "1"}, (void *)f->evaluations},
        {{"/curves/k", PS_F64, 1, {s}, .units = per_length}, f->k},
        {{"/curves/factor", PS_F64, 2, {c, s}, .units = "1"}, f->rate},
        {{"/map/p", PS_F64, 1, {n}, .units = per_length}, f->map_p},
        {{"/map/q", PS_F64, 1, {n}, .units = unit}, f->map_q},
        {{"/map/factor", PS_F64, 2, {n, n}, .units = "1"}, f->map_rate}};
    all[0].spec.description = "p1 and p2 in 1/length, q1 and q2 in length";
    memcpy(out, all, sizeof all);
    return n ? ARRAYS : ARRAYS - 3;
}

/* ---- writing ---- */

static ps_status put_attributes(ps_store *store, const ps_transmission_file *f)
{
    char name[32];
    PS_TRY(ps_store_put_int(store, "/", "conditions", f->conditions));
    for (int i = 0; i < f->conditions; ++i) {
        snprintf(name, sizeof name, "condition_%d", i);
        PS_TRY(ps_store_put_text(store, "/", name, f->kinds[i]));
    }
    PS_TRY(ps_store_put_text(store, "/", "symbol", f->discrete ? "discrete" : "continuous"));
    PS_TRY(ps_store_put_text(store, "/", "length_unit", f->length_unit));
    PS_TRY(ps_store_put_real(store, "/", "k_min", f->k_min));
    PS_TRY(ps_store_put_real(store, "/", "k_max", f->k_max));
    PS_TRY(ps_store_put_real(store, "/", "overlap", f->overlap));
    PS_TRY(ps_store_put_real(store, "/", "hx", f->hx));
    return ps_store_put_int(store, "/", "seed", f->seed);
}

static ps_status put_all(ps_store *store, const ps_transmission_file *f)
{
    array arrays[ARRAYS];
    char per_length[24];
    snprintf(per_length, sizeof per_length, "1/%s", f->length_unit);
    int count = list_arrays(f, per_length, arrays);
    PS_TRY(put_attributes(store, f));
    for (int i = 0; i < count; ++i)
        PS_TRY(ps_store_write_array(store, &arrays[i].spec, arrays[i].data));
    return PS_OK;
}

ps_status ps_transmission_save(const char *path, const ps_transmission_file *file,
                               const ps_store_identity *identity)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity own = *identity;
    own.format = PS_TRANSMISSION_FORMAT;
    own.format_version = PS_TRANSMISSION_VERSION;
    PS_TRY(ps_store_create(path, &own, &store));
    PS_TRY(put_all(store, file));
    return ps_store_commit(&store);
}

/* ---- reading ---- */

static ps_status get_attributes(const ps_store *store, ps_transmission_file *f)
{
    char name[32], text[32];
    for (int i = 0; i < f->conditions; ++i) {
        snprintf(name, sizeof name, "condition_%d", i);
        PS_TRY(ps_store_get_text(store, "/", name, f->kinds[i], sizeof f->kinds[i]));
    }
    PS_TRY(ps_store_get_text(store, "/", "symbol", text, sizeof text));
    f->discrete = strcmp(text, "discrete") == 0;
    PS_TRY(ps_store_get_text(store, "/", "length_unit", f->length_unit, sizeof f->length_unit));
    PS_TRY(ps_store_get_real(store, "/", "k_min", &f->k_min));
    PS_TRY(ps_store_get_real(store, "/", "k_max", &f->k_max));
    PS_TRY(ps_store_get_real(store, "/", "overlap", &f->overlap));
    PS_TRY(ps_store_get_real(store, "/", "hx", &f->hx));
    return ps_store_get_int(store, "/", "seed", &f->seed);
}

static ps_status rows_of(const ps_store *store, const char *name, int64_t *rows)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    *rows = info.dims[0];
    return PS_OK;
}

static ps_status read_one(ps_store *store, const array *a)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, a->spec.name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    bool same = info.type == a->spec.type && info.rank == a->spec.rank;
    for (int d = 0; d < a->spec.rank; ++d) same = same && info.dims[d] == a->spec.dims[d];
    if (!same)
        return ps_fail(PS_INVALID, "%s: %s has another shape than the file's sizes say",
                       ps_store_path(store), a->spec.name);
    int64_t values = 1;
    for (int d = 0; d < a->spec.rank; ++d) values *= a->spec.dims[d];
    return ps_store_read_array(store, a->spec.name, a->spec.type, 0, a->spec.dims[0],
                               values * (int64_t)ps_type_size(a->spec.type), a->data);
}

static ps_status check_conditions(const ps_transmission_file *f, const char *path)
{
    for (int i = 0; i < f->conditions; ++i)
        for (int side = 0; side < 2; ++side) {
            double p = f->coefficients[i][2 * side], q = f->coefficients[i][2 * side + 1];
            if (!(p >= 0 && q >= 0 && p + q > 0 && isfinite(p + q)))
                return ps_fail(PS_INVALID, "%s: condition %s has p = %g, q = %g on side %d", path,
                               f->kinds[i], p, q, side + 1);
        }
    return PS_OK;
}

static ps_status get_all(ps_store *store, ps_transmission_file *out)
{
    int64_t conditions, samples, map = 0;
    array arrays[ARRAYS];
    PS_TRY(ps_store_get_int(store, "/", "conditions", &conditions));
    PS_TRY(rows_of(store, "/curves/k", &samples));
    if (ps_store_has(store, "/map", NULL)) PS_TRY(rows_of(store, "/map/p", &map));
    if (conditions < 1 || conditions > PS_CONDITIONS_MAX)
        return ps_fail(PS_INVALID, "%s: %lld conditions; 1 to %d can be", ps_store_path(store),
                       (long long)conditions, PS_CONDITIONS_MAX);
    PS_TRY(ps_transmission_file_init(out, (int)conditions, samples, map));
    PS_TRY(get_attributes(store, out));
    int count = list_arrays(out, "", arrays);
    for (int i = 0; i < count; ++i) PS_TRY(read_one(store, &arrays[i]));
    return check_conditions(out, ps_store_path(store));
}

ps_status ps_transmission_load(const char *path, ps_transmission_file *out)
{
    ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_TRANSMISSION_FORMAT, PS_TRANSMISSION_VERSION, &store));
    ps_status status = get_all(store, out);
    ps_store_close(&store);
    if (status != PS_OK) ps_transmission_file_release(out);
    return status;
}
