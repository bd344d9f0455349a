#include "formats/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
#include "formats/store_scales.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* The last only of complex values. */
static ps_status pass_arrays(ps_store *store, const ps_trace *t, ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/trace/real", t->units, t->quantity, PS_F64, t->samples, t->channels, &t->real,
         .dimensions = {"/trace/axis", "/trace/channel"}, .rank = 2},
        {"/trace/axis", t->in_frequency ? "Hz" : "s", t->in_frequency ? "frequency" : "time",
         PS_F64, t->samples, 1, .at = &t->axis},
        {"/trace/places", t->far_field ? "1" : "m",
         t->far_field ? "directions of the receivers" : "positions of the receivers", PS_F64,
         t->channels, 3, &t->places, .dimensions = {"/trace/channel", "/trace/direction"}},
        {"/trace/imaginary", t->units, t->quantity, PS_F64, t->samples, t->channels, &t->imaginary,
         .dimensions = {"/trace/axis", "/trace/channel"}, .rank = 2}};
    return each(store, columns, PS_COLUMNS(columns) - !t->complex_values);
}

ps_status ps_trace_init(ps_trace *trace, int64_t samples, int64_t channels, bool complex_values)
{
    *trace = (ps_trace){
        .samples = samples, .channels = channels, .complex_values = complex_values, .units = "1"};
    if (samples < 1 || channels < 1)
        return ps_fail(PS_INVALID, "a trace needs samples and channels, not %lld x %lld",
                       (long long)samples, (long long)channels);
    if (channels > INT64_MAX / samples)
        return ps_fail(PS_EXHAUSTED, "a trace of %lld x %lld values cannot be held",
                       (long long)samples, (long long)channels);
    ps_status status = pass_arrays(NULL, trace, ps_columns_allocate);
    if (status != PS_OK) ps_trace_release(trace);
    return status;
}

void ps_trace_release(ps_trace *trace)
{
    PS_FREE(trace->axis, trace->real, trace->imaginary, trace->places);
    memset(trace, 0, sizeof *trace);
}

void ps_trace_to_target_strength(ps_trace *trace, double distance)
{
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i)
        trace->real[i] = 20 * log10(distance * hypot(trace->real[i], trace->imaginary[i]));
    PS_FREE(trace->imaginary);
    trace->imaginary = NULL;
    trace->complex_values = false;
    strcpy(trace->quantity, "target strength");
    strcpy(trace->units, "dB");
}

/* ---- checking ---- */

static ps_status check_axis(const ps_trace *trace)
{
    for (int64_t i = 0; i < trace->samples; ++i) {
        if (!isfinite(trace->axis[i]))
            return ps_fail(PS_INVALID, "sample %lld of the axis is not finite", (long long)i);
        if (i && trace->axis[i] <= trace->axis[i - 1])
            return ps_fail(PS_INVALID, "the axis does not ascend at sample %lld", (long long)i);
    }
    return PS_OK;
}

static ps_status check_shape(const ps_trace *trace)
{
    const int64_t *grid = trace->grid;
    bool listed = grid[0] == 0 && grid[1] == 0;
    bool plane = grid[0] > 0 && grid[1] > 0 && grid[0] <= trace->channels &&
                 grid[0] * grid[1] == trace->channels;
    if (!listed && !plane)
        return ps_fail(PS_INVALID, "grid %lld x %lld does not fit %lld channels",
                       (long long)grid[0], (long long)grid[1], (long long)trace->channels);
    for (int64_t i = 0; i < 3 * trace->channels; ++i)
        if (!isfinite(trace->places[i]))
            return ps_fail(PS_INVALID, "the place of channel %lld is not finite",
                           (long long)(i / 3));
    return PS_OK;
}

/* ---- reading ---- */

/* The values are read in one go, so the shape is known before anything is allocated. */
static ps_status read_shape(ps_store *store, ps_dataset_info *info, bool *complex_values)
{
    PS_TRY(ps_store_describe(store, "/trace/real", info));
    if (info->rank != 2 || info->type != PS_F64)
        return ps_fail(PS_INVALID, "/trace/real is not a two-dimensional array of f64");
    *complex_values = ps_store_has(store, "/trace/imaginary", NULL);
    return PS_OK;
}

static ps_status pass_description(ps_store *store, const ps_trace *t, ps_entries_pass *each)
{
    const ps_entry entries[] = {
        PS_ENTRY("in_frequency", t->in_frequency), PS_ENTRY("far_field", t->far_field),
        PS_ENTRY("grid_rows", t->grid[0]),         PS_ENTRY("grid_columns", t->grid[1]),
        PS_ENTRY("quantity", t->quantity),         PS_ENTRY("value_units", t->units)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

static const char *const basis_names[] = {"samples", "step-mean", "hat"};

static void read_known(const ps_store *store, const char *name, double *out)
{
    if (!ps_store_has(store, "/", name) || ps_store_get_real(store, "/", name, out) != PS_OK)
        *out = 0;
}

static ps_status read_origin(const ps_store *store, ps_trace_origin *origin)
{
    char text[32], name[16];
    read_known(store, "speed", &origin->speed);
    read_known(store, "dt", &origin->dt);
    read_known(store, "mean_edge", &origin->edge);
    read_known(store, "usable_up_to", &origin->usable);
    PS_TRY(ps_store_get_text(store, "/", "basis", text, sizeof text));
    int basis = 0;
    while (basis < 3 && strcmp(basis_names[basis], text) != 0) ++basis;
    if (basis == 3) return ps_fail(PS_INVALID, "basis \"%s\" is not known", text);
    origin->basis = (ps_trace_basis)basis;
    for (origin->emitter_count = 0; origin->emitter_count < 16; ++origin->emitter_count) {
        snprintf(name, sizeof name, "emitter_%d", origin->emitter_count);
        if (!ps_store_has(store, "/", name)) break;
        PS_TRY(ps_store_get_text(store, "/", name, origin->emitters[origin->emitter_count], 256));
    }
    return ps_reflectors_get(store, &origin->mirrors);
}

static ps_status read_trace(ps_store *store, ps_trace *trace)
{
    ps_dataset_info info;
    bool complex_values = false;
    PS_TRY(read_shape(store, &info, &complex_values));
    PS_TRY(ps_trace_init(trace, info.dims[0], info.dims[1], complex_values));
    PS_TRY(pass_arrays(store, trace, ps_columns_read));
    PS_TRY(pass_description(store, trace, ps_entries_get));
    if (!trace->in_frequency) PS_TRY(ps_store_check_finite(store)); /* spectra may have gaps */
    PS_TRY(read_origin(store, &trace->origin));
    PS_TRY(check_axis(trace));
    return check_shape(trace);
}

ps_status ps_trace_load(const char *path, ps_trace *trace)
{
    memset(trace, 0, sizeof *trace);
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_open(path, PS_TRACE_FORMAT, PS_TRACE_VERSION, &store));
    ps_status status = read_trace(store, trace);
    if (status == PS_OK) return PS_OK;
    ps_trace_release(trace);
    return ps_context(status, "%s", path);
}

/* ---- writing ---- */

static ps_status write_coordinates(ps_store *store, const ps_trace *trace)
{
    PS_TRY(ps_store_put_numbers(store, "/trace/channel", trace->channels, "receiver number"));
    PS_TRY(ps_store_put_numbers(store, "/trace/direction", 3, "x, y, z"));
    PS_TRY(ps_store_put_text(store, "/trace/real", "coordinates", "places"));
    if (trace->complex_values)
        PS_TRY(ps_store_put_text(store, "/trace/imaginary", "coordinates", "places"));
    PS_TRY(ps_store_put_text(store, "/", "Conventions", "CF-1.8"));
    PS_TRY(ps_store_put_text(store, "/trace/axis",
                             trace->in_frequency ? "long_name" : "standard_name",
                             trace->in_frequency ? "frequency" : "time"));
    return ps_store_put_text(store, "/trace/real", "long_name", trace->quantity);
}

/* What makes generic viewers plot the file: the NXdata convention of NeXus. */
static ps_status write_nexus(ps_store *store, const ps_trace *trace)
{
    PS_TRY(ps_store_put_text(store, "/", "default", "trace"));
    PS_TRY(ps_store_put_text(store, "/trace", "NX_class", "NXdata"));
    PS_TRY(ps_store_put_text(store, "/trace", "signal", "real"));
    if (trace->complex_values)
        PS_TRY(ps_store_put_text(store, "/trace", "auxiliary_signals", "imaginary"));
    PS_TRY(ps_store_put_text(store, "/trace", "title", trace->quantity));
    return ps_store_put_text(store, "/trace/real", "axes", "axis:channel");
}

static ps_status write_origin(ps_store *store, const ps_trace_origin *origin)
{
    const char *const names[] = {"speed", "dt", "mean_edge", "usable_up_to"};
    const double values[] = {origin->speed, origin->dt, origin->edge, origin->usable};
    for (int i = 0; i < 4; ++i)
        if (values[i] > 0) PS_TRY(ps_store_put_real(store, "/", names[i], values[i]));
    PS_TRY(ps_store_put_text(store, "/", "basis", basis_names[origin->basis]));
    PS_TRY(ps_store_put_texts(store, "emitter", origin->emitter_count, origin->emitters[0],
                              sizeof origin->emitters[0]));
    return ps_reflectors_put(store, &origin->mirrors);
}

static ps_status write_trace(ps_store *store, const ps_trace *trace)
{
    PS_TRY(pass_arrays(store, trace, ps_columns_write));
    PS_TRY(write_coordinates(store, trace));
    PS_TRY(pass_description(store, trace, ps_entries_put));
    PS_TRY(write_origin(store, &trace->origin));
    return write_nexus(store, trace);
}

ps_status ps_trace_save(const char *path, const ps_trace *trace, const ps_store_identity *identity,
                        int input_count, const char *const *roles, ps_store *const *inputs)
{
    ps_status status = check_axis(trace);
    if (status == PS_OK) status = check_shape(trace);
    if (status != PS_OK) return ps_context(status, "%s not written", path);
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create_as(path, identity, PS_TRACE_FORMAT, PS_TRACE_VERSION, &store));
    status = write_trace(store, trace);
    for (int i = 0; status == PS_OK && i < input_count; ++i)
        status = ps_store_add_input(store, roles[i], inputs[i]);
    if (status == PS_OK) return ps_store_commit(&store);
    return status;
}
