#include "formats/transmission.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
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

static ps_status pass_arrays(ps_store *store, const ps_transmission_file *f, ps_columns_pass *each)
{
    int64_t c = f->conditions, s = f->samples;
    char per_length[24];
    snprintf(per_length, sizeof per_length, "1/%s", f->length_unit);
    const ps_column columns[] = {
        {"/conditions/coefficients", "1", "p1 and p2 in 1/length, q1 and q2 in length", PS_F64, c,
         4, .data = (void *)f->coefficients},
        {"/conditions/factor", "1", NULL, PS_F64, c, 1, .data = (void *)f->factor},
        {"/conditions/evaluations", "1", NULL, PS_I64, c, 1, .data = (void *)f->evaluations},
        {"/curves/k", per_length, NULL, PS_F64, s, 1, .at = &f->k},
        {"/curves/factor", "1", NULL, PS_F64, c, s, .at = &f->rate}};
    return each(store, columns, PS_COLUMNS(columns));
}

/* The group of a map: that of the only one in version 1. */
static void map_group(const ps_store *store, ps_map_kind which, char out[48])
{
    snprintf(out, 48, ps_store_version(store) < 2 ? "/map" : "/map/%s", ps_map_table[which].kind);
}

static ps_status pass_map(ps_store *store, const ps_transmission_file *f, ps_map_kind which,
                          ps_columns_pass *each)
{
    const ps_map_axes *axes = &ps_map_table[which];
    const ps_transmission_map *m = &f->maps[which];
    int64_t n = f->map;
    char group[48], name[3][64], per_length[24];
    map_group(store, which, group);
    snprintf(name[0], sizeof name[0], "%s/%s", group, axes->x);
    snprintf(name[1], sizeof name[1], "%s/%s", group, axes->y);
    snprintf(name[2], sizeof name[2], "%s/factor", group);
    snprintf(per_length, sizeof per_length, "1/%s", f->length_unit);
    const ps_column columns[] = {
        {name[0], per_length, NULL, PS_F64, n, 1, .at = &m->x},
        {name[1], axes->y_is_length ? f->length_unit : per_length, NULL, PS_F64, n, 1, .at = &m->y},
        {name[2], "1", NULL, PS_F64, n, n, .at = &m->rate}};
    return each(store, columns, PS_COLUMNS(columns));
}

static ps_status pass_attributes(ps_store *store, const ps_transmission_file *f,
                                 ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("length_unit", f->length_unit),
                                PS_ENTRY("k_min", f->k_min),
                                PS_ENTRY("k_max", f->k_max),
                                PS_ENTRY("overlap", f->overlap),
                                PS_ENTRY("hx", f->hx),
                                PS_ENTRY("seed", f->seed)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

/* ---- writing ---- */

static ps_status put_all(ps_store *store, const ps_transmission_file *f)
{
    PS_TRY(ps_store_put_int(store, "/", "conditions", f->conditions));
    PS_TRY(
        ps_store_put_texts(store, "condition", f->conditions, f->kinds[0], PS_CONDITION_NAME_MAX));
    PS_TRY(ps_store_put_text(store, "/", "symbol", f->discrete ? "discrete" : "continuous"));
    PS_TRY(pass_attributes(store, f, ps_entries_put));
    PS_TRY(pass_arrays(store, f, ps_columns_write));
    for (int m = 0; m < PS_MAPS; ++m)
        if (f->maps[m].rate) PS_TRY(pass_map(store, f, (ps_map_kind)m, ps_columns_write));
    return PS_OK;
}

ps_status ps_transmission_save(const char *path, const ps_transmission_file *file,
                               const ps_store_identity *identity)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create_as(path, identity, PS_TRANSMISSION_FORMAT, PS_TRANSMISSION_VERSION,
                              &store));
    PS_TRY(put_all(store, file));
    return ps_store_commit(&store);
}

/* ---- reading ---- */

static ps_status get_attributes(ps_store *store, ps_transmission_file *f)
{
    char text[32];
    PS_TRY(
        ps_store_get_texts(store, "condition", f->conditions, f->kinds[0], PS_CONDITION_NAME_MAX));
    PS_TRY(ps_store_get_text(store, "/", "symbol", text, sizeof text));
    f->discrete = strcmp(text, "discrete") == 0;
    return pass_attributes(store, f, ps_entries_get);
}

static ps_status rows_of(const ps_store *store, const char *name, int64_t *rows)
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, name, &info));
    *rows = info.dims[0];
    return PS_OK;
}

/* The maps that are there; all have the same number of values an axis. */
static ps_status get_map(ps_store *store, ps_transmission_file *f, ps_map_kind which)
{
    char group[48], name[64];
    map_group(store, which, group);
    if (ps_store_version(store) < 2 && which != PS_MAP_OO2) return PS_OK;
    if (!ps_store_has(store, group, NULL)) return PS_OK;
    snprintf(name, sizeof name, "%s/%s", group, ps_map_table[which].x);
    if (!f->map) PS_TRY(rows_of(store, name, &f->map));
    return pass_map(store, f, which, ps_columns_load);
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
    PS_TRY(ps_store_get_int(store, "/", "conditions", &conditions));
    PS_TRY(rows_of(store, "/curves/k", &samples));
    if (conditions < 1 || conditions > PS_CONDITIONS_MAX)
        return ps_fail(PS_INVALID, "%s: %lld conditions; 1 to %d can be", ps_store_path(store),
                       (long long)conditions, PS_CONDITIONS_MAX);
    PS_TRY(ps_transmission_file_init(out, (int)conditions, samples));
    PS_TRY(get_attributes(store, out));
    PS_TRY(pass_arrays(store, out, ps_columns_read));
    for (int m = 0; m < PS_MAPS; ++m) PS_TRY(get_map(store, out, (ps_map_kind)m));
    return check_conditions(out, ps_store_path(store));
}

ps_status ps_transmission_load(const char *path, ps_transmission_file *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_TRANSMISSION_FORMAT, PS_TRANSMISSION_VERSION, &store));
    ps_status status = get_all(store, out);
    if (status != PS_OK) ps_transmission_file_release(out);
    return status;
}
