#include <string.h>

#include "formats/field.h"
#include "formats/gravity_map.h"
#include "formats/hbem_solution.h"
#include "formats/history.h"
#include "formats/hmatrix.h"
#include "formats/prism_model.h"
#include "formats/slice_matrix.h"
#include "formats/block_matrix.h"
#include "formats/surface_mesh.h"
#include "formats/trace.h"
#include "formats/transmission.h"
#include "formats/volume_mesh.h"
#include "postprocess/report/report.h"

enum { FRAMES_MAX = 24, CURVES = 4 };

/* The kinds of pictures of each format; a kind that a file has nothing for is refused by plot. */
static const struct {
    const char *format, *kinds[REPORT_PICTURES_MAX];
} table[] = {{PS_SLICE_MATRIX_FORMAT, {"slice", "lengths"}},
             {PS_BLOCK_MATRIX_FORMAT, {"blocks"}},
             {PS_HMATRIX_FORMAT, {"hmatrix"}},
             {PS_CLUSTER_FORMAT, {"hmatrix"}},
             {"penstock-worker-log", {"workers", "stages"}},
             {"penstock-task-trace", {"gantt"}},
             {PS_TRANSMISSION_FORMAT, {"convergence", "isolines"}},
             {PS_GRAVITY_MAP_FORMAT, {"gravity-map", "gravity-profile"}},
             {PS_PRISM_MODEL_FORMAT, {"prism-model", "residuals"}},
             {PS_SURFACE_MESH_FORMAT, {"view"}},
             {PS_VOLUME_MESH_FORMAT, {"view"}},
             {PS_HBEM_SOLUTION_FORMAT, {"view"}},
             {PS_FIELD_FORMAT, {"view"}}};

static void put(report_drawing *d, const char *argument)
{
    int count = 0;
    while (d->arguments[count]) ++count;
    d->arguments[count] = argument;
}

/* The file whose content a history was computed on. */
static const report_file *find_mesh(const report_files *all, const char *content)
{
    for (int64_t i = 0; i < all->count; ++i)
        if (strcmp(all->files[i].format, PS_SURFACE_MESH_FORMAT) == 0 &&
            strcmp(all->files[i].content, content) == 0)
            return &all->files[i];
    return NULL;
}

static void begin(report_drawing *d, const char *kind, const char *path)
{
    *d = (report_drawing){.view = strcmp(kind, "view") == 0};
    put(d, kind);
    put(d, path);
}

/* A few channels, spread over all. */
static void put_channels(report_drawing *d, int64_t channels)
{
    size_t used = 0;
    if (channels <= CURVES) return;
    for (int i = 0; i < CURVES; ++i)
        used += (size_t)snprintf(d->numbers + used, sizeof d->numbers - used, "%s%lld",
                                 i ? "," : "", (long long)(channels * i / CURVES));
    put(d, "--channels");
    put(d, d->numbers);
}

static int draw_trace(const report_file *file, report_drawing *out)
{
    int count = 0;
    if (file->plane) begin(&out[count++], "plane", file->path);
    if (file->plane) return count;
    if (file->samples > 1) {
        begin(&out[count], file->in_frequency ? "spectrum" : "trace", file->path);
        put_channels(&out[count++], file->channels);
    }
    if (file->in_frequency && file->channels >= 8) begin(&out[count++], "polar", file->path);
    return count;
}

static int draw_series(const report_file *file, report_drawing *out)
{
    int64_t frames = file->member_count < FRAMES_MAX ? file->member_count : FRAMES_MAX;
    begin(out, "view", file->members[0]);
    for (int64_t i = 1; i < frames; ++i)
        put(out, file->members[(file->member_count - 1) * i / (frames - 1)]);
    return 1;
}

int report_drawings(const report_file *file, const report_files *all, report_drawing *out)
{
    int count = 0;
    if (file->members) return draw_series(file, out);
    if (strcmp(file->format, PS_TRACE_FORMAT) == 0) return draw_trace(file, out);
    if (strcmp(file->format, PS_HISTORY_FORMAT) == 0) {
        const report_file *mesh = find_mesh(all, file->mesh);
        if (!mesh) return 0;
        begin(out, "view", mesh->path);
        put(out, file->path);
        return 1;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        for (int k = 0; k < REPORT_PICTURES_MAX && table[i].kinds[k]; ++k)
            if (strcmp(table[i].format, file->format) == 0)
                begin(&out[count++], table[i].kinds[k], file->path);
    return count;
}

const report_file *report_find_same(const report_files *all, int64_t index)
{
    const report_file *file = &all->files[index];
    for (int64_t i = 0; i < index && !file->problem; ++i) {
        const report_file *earlier = &all->files[i];
        if (!earlier->problem && strcmp(earlier->format, file->format) == 0 &&
            strcmp(earlier->content, file->content) == 0)
            return earlier;
    }
    return NULL;
}
