#include "formats/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/store_scales.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status ps_trace_init(ps_trace *trace, int64_t samples, int64_t channels, bool complex_values)
{
    memset(trace, 0, sizeof *trace);
    ps_status status = PS_OK;
    if (samples < 1 || channels < 1)
        return ps_fail(PS_INVALID, "a trace needs samples and channels, not %lld x %lld",
                       (long long)samples, (long long)channels);
    if (channels > INT64_MAX / samples)
        return ps_fail(PS_EXHAUSTED, "a trace of %lld x %lld values cannot be held",
                       (long long)samples, (long long)channels);
    trace->samples = samples;
    trace->channels = channels;
    trace->complex_values = complex_values;
    strcpy(trace->units, "1");
    PS_GUARD(status, failed, PS_ALLOC(&trace->axis, samples, "the axis of a trace"));
    PS_GUARD(status, failed, PS_ALLOC(&trace->places, 3 * channels, "the places of a trace"));
    PS_GUARD(status, failed, PS_ALLOC(&trace->real, samples * channels, "the values of a trace"));
    if (complex_values)
        PS_GUARD(status, failed,
                 PS_ALLOC(&trace->imaginary, samples * channels, "the values of a trace"));
    return PS_OK;
failed:
    ps_trace_release(trace);
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
    int id;
    PS_TRY(ps_store_find(store, "/trace/real", &id));
    PS_TRY(ps_store_dataset(store, id, info));
    if (info->rank != 2 || info->type != PS_F64)
        return ps_fail(PS_INVALID, "/trace/real is not a two-dimensional array of f64");
    *complex_values = ps_store_has(store, "/trace/imaginary", NULL);
    return PS_OK;
}

/* A companion of the values: its shape must be rows x columns (columns 0: rank 1). */
static ps_status read_array(ps_store *store, const char *name, int64_t rows, int64_t columns,
                            double *out)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    bool shaped = columns ? info.rank == 2 && info.dims[1] == columns : info.rank == 1;
    if (!shaped || info.dims[0] != rows || info.type != PS_F64)
        return ps_fail(PS_INVALID, "%s does not have the shape that /trace/real asks for", name);
    return ps_store_read_array(store, name, PS_F64, 0, rows,
                               PS_ROOM(out, rows * (columns ? columns : 1)), out);
}

static ps_status read_description(ps_store *store, ps_trace *trace)
{
    int64_t frequency, far;
    PS_TRY(ps_store_get_int(store, "/", "in_frequency", &frequency));
    PS_TRY(ps_store_get_int(store, "/", "far_field", &far));
    PS_TRY(ps_store_get_int(store, "/", "grid_rows", &trace->grid[0]));
    PS_TRY(ps_store_get_int(store, "/", "grid_columns", &trace->grid[1]));
    PS_TRY(ps_store_get_text(store, "/", "quantity", trace->quantity, sizeof trace->quantity));
    PS_TRY(ps_store_get_text(store, "/", "value_units", trace->units, sizeof trace->units));
    trace->in_frequency = frequency != 0;
    trace->far_field = far != 0;
    return PS_OK;
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
    PS_TRY(read_array(store, "/trace/real", trace->samples, trace->channels, trace->real));
    if (complex_values)
        PS_TRY(read_array(store, "/trace/imaginary", trace->samples, trace->channels,
                          trace->imaginary));
    PS_TRY(read_array(store, "/trace/axis", trace->samples, 0, trace->axis));
    PS_TRY(read_array(store, "/trace/places", trace->channels, 3, trace->places));
    PS_TRY(read_description(store, trace));
    if (!trace->in_frequency) PS_TRY(ps_store_check_finite(store)); /* spectra may have gaps */
    PS_TRY(read_origin(store, &trace->origin));
    PS_TRY(check_axis(trace));
    return check_shape(trace);
}

ps_status ps_trace_load(const char *path, ps_trace *trace)
{
    memset(trace, 0, sizeof *trace);
    ps_store *store = NULL;
    PS_TRY(ps_store_open(path, PS_TRACE_FORMAT, PS_TRACE_VERSION, &store));
    ps_status status = read_trace(store, trace);
    if (status != PS_OK) {
        ps_context(status, "%s", path);
        ps_trace_release(trace);
    }
    ps_store_close(&store);
    return status;
}

/* ---- writing ---- */

static ps_status write_values(ps_store *store, const ps_trace *trace)
{
    ps_dataset_spec spec = {.name = "/trace/real",
                            .type = PS_F64,
                            .rank = 2,
                            .dims = {trace->samples, trace->channels},
                            .dimensions = {"/trace/axis", "/trace/channel"},
                            .units = trace->units,
                            .description = trace->quantity};
    PS_TRY(ps_store_write_array(store, &spec, trace->real));
    if (trace->complex_values) {
        spec.name = "/trace/imaginary";
        PS_TRY(ps_store_write_array(store, &spec, trace->imaginary));
    }
    ps_dataset_spec axis = {.name = "/trace/axis",
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {trace->samples},
                            .units = trace->in_frequency ? "Hz" : "s",
                            .description = trace->in_frequency ? "frequency" : "time"};
    PS_TRY(ps_store_write_array(store, &axis, trace->axis));
    ps_dataset_spec places = {.name = "/trace/places",
                              .type = PS_F64,
                              .rank = 2,
                              .dims = {trace->channels, 3},
                              .dimensions = {"/trace/channel", "/trace/direction"},
                              .units = trace->far_field ? "1" : "m",
                              .description = trace->far_field ? "directions of the receivers"
                                                              : "positions of the receivers"};
    PS_TRY(ps_store_write_array(store, &places, trace->places));
    return ps_store_put_numbers(store, "/trace/channel", trace->channels, "receiver number");
}

static ps_status write_coordinates(ps_store *store, const ps_trace *trace)
{
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

static ps_status write_description(ps_store *store, const ps_trace *trace)
{
    PS_TRY(ps_store_put_int(store, "/", "in_frequency", trace->in_frequency));
    PS_TRY(ps_store_put_int(store, "/", "far_field", trace->far_field));
    PS_TRY(ps_store_put_int(store, "/", "grid_rows", trace->grid[0]));
    PS_TRY(ps_store_put_int(store, "/", "grid_columns", trace->grid[1]));
    PS_TRY(ps_store_put_text(store, "/", "quantity", trace->quantity));
    return ps_store_put_text(store, "/", "value_units", trace->units);
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
    PS_TRY(write_values(store, trace));
    PS_TRY(write_coordinates(store, trace));
    PS_TRY(write_description(store, trace));
    PS_TRY(write_origin(store, &trace->origin));
    return write_nexus(store, trace);
}

ps_status ps_trace_save(const char *path, const ps_trace *trace, const ps_store_identity *identity,
                        int input_count, const char *const *roles, ps_store *const *inputs)
{
    ps_status status = check_axis(trace);
    if (status == PS_OK) status = check_shape(trace);
    if (status != PS_OK) return ps_context(status, "%s not written", path);
    ps_store_identity own = *identity;
    own.format = PS_TRACE_FORMAT;
    own.format_version = PS_TRACE_VERSION;
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create(path, &own, &store));
    status = write_trace(store, trace);
    for (int i = 0; status == PS_OK && i < input_count; ++i)
        status = ps_store_add_input(store, roles[i], inputs[i]);
    if (status == PS_OK) return ps_store_commit(&store);
    return status;
}
