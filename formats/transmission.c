#include "formats/transmission.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

const ps_map_axes ps_map_table[PS_MAPS] = {{"oo0", "p", "k", false},
                                           {"oo0-two-sided", "p1", "p2", false},
                                           {"oo2", "p", "q", true},
                                           {"oo2-two-sided", "p1", "q1", true}};

static const char memory_of[] = "transmission conditions";

/* ---- in memory ---- */

ps_status ps_transmission_file_init(ps_transmission_file *file, int conditions, int64_t samples)
{
    memset(file, 0, sizeof *file);
    if (conditions < 1 || conditions > PS_CONDITIONS_MAX || samples < 2)
        return ps_fail(PS_USAGE, "%d conditions with %lld samples", conditions, (long long)samples);
    file->conditions = conditions;
    file->samples = samples;
    ps_status status = PS_ALLOC(&file->k, samples, memory_of);
    if (status == PS_OK) status = PS_ALLOC(&file->rate, conditions * samples, memory_of);
    if (status != PS_OK) ps_transmission_file_release(file);
    return status;
}

ps_status ps_transmission_add_map(ps_transmission_file *file, ps_map_kind which)
{
    ps_transmission_map *m = &file->maps[which];
    PS_TRY(PS_ALLOC(&m->x, file->map, memory_of));
    PS_TRY(PS_ALLOC(&m->y, file->map, memory_of));
    return PS_ALLOC(&m->rate, file->map * file->map, memory_of);
}

void ps_transmission_file_release(ps_transmission_file *file)
{
    free(file->k);
    free(file->rate);
    for (int m = 0; m < PS_MAPS; ++m) {
        PS_FREE(file->maps[m].x, file->maps[m].y, file->maps[m].rate);
    }
    memset(file, 0, sizeof *file);
}

int ps_transmission_find(const ps_transmission_file *file, const char *kind)
{
    for (int i = 0; i < file->conditions; ++i)
        if (strcmp(file->kinds[i], kind) == 0) return i;
    return -1;
}

/* ---- the arrays, for both directions ---- */

enum { ARRAYS = 5, MAP_ARRAYS = 3 };

typedef struct array {
    ps_dataset_spec spec;
    void *data;
} array;

static void list_arrays(const ps_transmission_file *f, const char *per_length, array out[ARRAYS])
{
    int64_t c = f->conditions, s = f->samples;
    array all[ARRAYS] = {
        {{"/conditions/coefficients", PS_F64, 2, {c, 4}, .units = "1"}, (void *)f->coefficients},
        {{"/conditions/factor", PS_F64, 1, {c}, .units = "1"}, (void *)f->factor},
        {{"/conditions/evaluations", PS_I64, 1, {c}, .units = "1"}, (void *)f->evaluations},
        {{"/curves/k", PS_F64, 1, {s}, .units = per_length}, f->k},
        {{"/curves/factor", PS_F64, 2, {c, s}, .units = "1"}, f->rate}};
    all[0].spec.description = "p1 and p2 in 1/length, q1 and q2 in length";
    memcpy(out, all, sizeof all);
}

typedef char map_names[MAP_ARRAYS][64];

/* The group of a map: that of the only one in version 1. */
static void map_group(ps_map_kind which, int version, char out[48])
{
    snprintf(out, 48, version < 2 ? "/map" : "/map/%s", ps_map_table[which].kind);
}

/* What is made of a map; whoever writes it adds the units of its axes. */
static void list_map(const ps_transmission_file *f, ps_map_kind which, const char *group,
                     map_names names, array out[MAP_ARRAYS])
{
    const ps_map_axes *axes = &ps_map_table[which];
    const ps_transmission_map *m = &f->maps[which];
    int64_t n = f->map;
    snprintf(names[0], sizeof names[0], "%s/%s", group, axes->x);
    snprintf(names[1], sizeof names[1], "%s/%s", group, axes->y);
    snprintf(names[2], sizeof names[2], "%s/factor", group);
    array all[MAP_ARRAYS] = {{{names[0], PS_F64, 1, {n}, .units = NULL}, m->x},
                             {{names[1], PS_F64, 1, {n}, .units = NULL}, m->y},
                             {{names[2], PS_F64, 2, {n, n}, .units = "1"}, m->rate}};
    memcpy(out, all, sizeof all);
}

/* ---- writing ---- */

static ps_status put_attributes(ps_store *store, const ps_transmission_file *f)
{
    PS_TRY(ps_store_put_int(store, "/", "conditions", f->conditions));
    PS_TRY(
        ps_store_put_texts(store, "condition", f->conditions, f->kinds[0], PS_CONDITION_NAME_MAX));
    PS_TRY(ps_store_put_text(store, "/", "symbol", f->discrete ? "discrete" : "continuous"));
    PS_TRY(ps_store_put_text(store, "/", "length_unit", f->length_unit));
    PS_TRY(ps_store_put_real(store, "/", "k_min", f->k_min));
    PS_TRY(ps_store_put_real(store, "/", "k_max", f->k_max));
    PS_TRY(ps_store_put_real(store, "/", "overlap", f->overlap));
    PS_TRY(ps_store_put_real(store, "/", "hx", f->hx));
    return ps_store_put_int(store, "/", "seed", f->seed);
}

static ps_status put_map(ps_store *store, const ps_transmission_file *f, ps_map_kind which,
                         const char *per_length)
{
    array arrays[MAP_ARRAYS];
    map_names names;
    char group[48];
    map_group(which, PS_TRANSMISSION_VERSION, group);
    list_map(f, which, group, names, arrays);
    arrays[0].spec.units = per_length;
    arrays[1].spec.units = ps_map_table[which].y_is_length ? f->length_unit : per_length;
    for (int i = 0; i < MAP_ARRAYS; ++i)
        PS_TRY(ps_store_write_array(store, &arrays[i].spec, arrays[i].data));
    return PS_OK;
}

static ps_status put_all(ps_store *store, const ps_transmission_file *f)
{
    array arrays[ARRAYS];
    char per_length[24];
    snprintf(per_length, sizeof per_length, "1/%s", f->length_unit);
    list_arrays(f, per_length, arrays);
    PS_TRY(put_attributes(store, f));
    for (int i = 0; i < ARRAYS; ++i)
        PS_TRY(ps_store_write_array(store, &arrays[i].spec, arrays[i].data));
    for (int m = 0; m < PS_MAPS; ++m)
        if (f->maps[m].rate) PS_TRY(put_map(store, f, (ps_map_kind)m, per_length));
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
    char text[32];
    PS_TRY(
        ps_store_get_texts(store, "condition", f->conditions, f->kinds[0], PS_CONDITION_NAME_MAX));
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

/* The maps that are there; all have the same number of values an axis. */
static ps_status get_map(ps_store *store, ps_transmission_file *f, ps_map_kind which)
{
    array arrays[MAP_ARRAYS];
    map_names names;
    char group[48];
    int version = ps_store_version(store);
    map_group(which, version, group);
    if ((version < 2 && which != PS_MAP_OO2) || !ps_store_has(store, group, NULL)) return PS_OK;
    list_map(f, which, group, names, arrays);
    if (!f->map) PS_TRY(rows_of(store, names[0], &f->map));
    PS_TRY(ps_transmission_add_map(f, which));
    list_map(f, which, group, names, arrays);
    for (int i = 0; i < MAP_ARRAYS; ++i) PS_TRY(read_one(store, &arrays[i]));
    return PS_OK;
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
    int64_t conditions, samples;
    array arrays[ARRAYS];
    PS_TRY(ps_store_get_int(store, "/", "conditions", &conditions));
    PS_TRY(rows_of(store, "/curves/k", &samples));
    if (conditions < 1 || conditions > PS_CONDITIONS_MAX)
        return ps_fail(PS_INVALID, "%s: %lld conditions; 1 to %d can be", ps_store_path(store),
                       (long long)conditions, PS_CONDITIONS_MAX);
    PS_TRY(ps_transmission_file_init(out, (int)conditions, samples));
    PS_TRY(get_attributes(store, out));
    list_arrays(out, "", arrays);
    for (int i = 0; i < ARRAYS; ++i) PS_TRY(read_one(store, &arrays[i]));
    for (int m = 0; m < PS_MAPS; ++m) PS_TRY(get_map(store, out, (ps_map_kind)m));
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
