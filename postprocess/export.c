/*
 * penstock-export: the densities on their surface as snapshots that ParaView plays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/field.h"
#include "formats/history.h"
#include "formats/surface_mesh.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/progress.h"
#include "runtime/report.h"

static int64_t every = 1;
static double from = -1e300, to = 1e300;

static const ps_option options[] = {
    {"every", PS_OPTION_INT, &every, "N", "a snapshot every N steps", 1, 2147483647, PS_IDENTITY},
    {"from", PS_OPTION_REAL, &from, "S", "first time, s", 0, 0, PS_IDENTITY},
    {"to", PS_OPTION_REAL, &to, "S", "last time, s", 0, 0, PS_IDENTITY},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};

typedef struct export {
    ps_surface_mesh mesh;
    ps_history *history;
    const ps_history_header *header;
    bool hard; /* values at vertices and at t_n; else at triangles and at t_n - dt/2 */
    double *row;
    float *values;
    int64_t first, count; /* steps first, first + every, ... */
} export;

static double time_of(const export *e, int64_t step)
{
    return ((double)step - (e->hard ? 0 : 0.5)) * e->header->slices.dt;
}

static ps_status open_inputs(export *e, const ps_run *run)
{
    PS_TRY(ps_history_open(run->operands[0], &e->history));
    PS_TRY(ps_surface_mesh_load(run->operands[1], &e->mesh));
    e->header = ps_history_header_of(e->history);
    e->hard = e->header->slices.formulation == PS_SOUND_HARD;
    int64_t expected = e->hard ? e->mesh.vertex_count : e->mesh.triangle_count;
    if (e->header->slices.unknowns == expected &&
        strcmp(e->header->slices.mesh_hash, e->mesh.content_hash) == 0)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s was not computed on the mesh %s", run->operands[0],
                   run->operands[1]);
}

static ps_status choose_steps(export *e)
{
    int64_t last = 0;
    for (int64_t n = 1; n <= e->header->steps; ++n) {
        double t = time_of(e, n);
        if (t < from || t > to) continue;
        if (!e->first) e->first = n;
        last = n;
    }
    e->count = e->first ? (last - e->first) / every + 1 : 0;
    if (e->count) return PS_OK;
    return ps_fail(PS_USAGE, "--from, --to: no step lies between %.6g and %.6g s; the history goes "
                             "from %.6g to %.6g s", from, to, time_of(e, 1),
                   time_of(e, e->header->steps));
}

static ps_status save_snapshot(export *e, const ps_run *run, int64_t index, int64_t step)
{
    char path[4096], series[4096];
    PS_TRY(ps_history_read(e->history, step, 1, e->row));
    for (int64_t i = 0; i < e->header->slices.unknowns; ++i) e->values[i] = (float)e->row[i];
    ps_field field = {.name = e->hard ? "total pressure" : "density -du_dn",
                      .units = e->hard ? "Pa" : "Pa/m", .type = PS_F32, .components = 1,
                      .on_points = e->hard, .values = e->values};
    ps_field_snapshot snapshot = {
        .grid = {.vertex_count = e->mesh.vertex_count, .cell_count = e->mesh.triangle_count,
                 .cell_size = 3, .vertices = e->mesh.vertices, .cells = e->mesh.triangles,
                 .single = true},
        .field_count = 1, .fields = &field, .time = time_of(e, step), .creator = ps_version(),
        .options = run->record, .mesh_hash = e->mesh.content_hash};
    ps_field_snapshot_path(run->operands[2], index, path);
    ps_field_series_path(run->operands[2], series);
    PS_TRY(ps_field_save(path, &snapshot));
    return ps_field_series_add(series, path, snapshot.time);
}

static ps_status save_all(export *e, const ps_run *run)
{
    ps_progress progress;
    PS_TRY(PS_ALLOC(&e->row, e->header->slices.unknowns, "densities"));
    PS_TRY(PS_ALLOC(&e->values, e->header->slices.unknowns, "densities"));
    char series[4096]; /* of an earlier export under this name */
    ps_field_series_path(run->operands[2], series);
    remove(series);
    ps_progress_start(&progress, "exporting", "snapshots", e->count);
    for (int64_t i = 0; i < e->count; ++i) {
        if (ps_stop_requested())
            return ps_fail(PS_FAILED, "stopped after %lld of %lld snapshots", (long long)i,
                           (long long)e->count);
        PS_TRY(save_snapshot(e, run, i, e->first + i * every));
        ps_progress_update(&progress, i + 1);
    }
    ps_progress_end(&progress);
    return PS_OK;
}

static void report(const export *e, const ps_run *run)
{
    char series[4096];
    ps_field_series_path(run->operands[2], series);
    ps_report *r = ps_report_new(run->json);
    ps_report_text(r, "series", series);
    ps_report_int(r, "snapshots", e->count, NULL);
    ps_report_real(r, "first_time", time_of(e, e->first), "s");
    ps_report_real(r, "last_time", time_of(e, e->first + (e->count - 1) * every), "s");
    ps_report_print(&r);
}

static ps_status run_export(ps_run *run)
{
    export e = {0};
    ps_status status = open_inputs(&e, run);
    if (status == PS_OK) status = choose_steps(&e);
    if (status == PS_OK && !run->plan) status = save_all(&e, run);
    if (status == PS_OK) report(&e, run);
    free(e.row);
    free(e.values);
    ps_history_close(&e.history);
    ps_surface_mesh_release(&e.mesh);
    return status;
}

static const ps_program program = {
    .name = "export",
    .synopsis = "HISTORY MESH BASE",
    .description =
        "Writes the densities on their surface for ParaView: a file BASE.000000.hdf a snapshot, and\n"
        "BASE.hdf.series, which opens them as an animation. With compressed files ParaView needs\n"
        "the filter plugin: HDF5_PLUGIN_PATH=.../lib/penstock/plugin.",
    .examples = "  penstock-export run.h5 mesh.hdf out/pressure --every 4 --from 0.05 --to 0.2",
    .options = options,
    .operands_min = 3,
    .operands_max = 3,
    .run = run_export};

int main(int argc, char **argv) { return ps_main(&program, argc, argv); }
