#include <stdlib.h>
#include <string.h>

#include "postprocess/probe/probe.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { READ_BYTES = 16 << 20 };

/* Area of each unknown: of its triangle, or a third of those around its vertex. */
static void fill_areas(const probe_source *s, double *areas)
{
    for (int64_t t = 0; t < s->mesh.triangle_count; ++t) {
        if (!s->hard) areas[t] = s->triangles[t].area;
        for (int v = 0; s->hard && v < 3; ++v)
            areas[s->mesh.triangles[3 * t + v]] += s->triangles[t].area / 3;
    }
}

static void place_unknowns(const probe_source *s, const int64_t *unknowns, int64_t count,
                           const double *areas, bool mean, ps_trace *trace)
{
    double total = 0, *middle = trace->places + 3 * count;
    for (int64_t c = 0; c < count; ++c)
        memcpy(trace->places + 3 * c,
               s->hard ? s->mesh.vertices + 3 * unknowns[c] : s->triangles[unknowns[c]].centroid,
               3 * sizeof(double));
    for (int64_t j = 0; mean && j < s->unknowns; ++j) {
        const double *x = s->hard ? s->mesh.vertices + 3 * j : s->triangles[j].centroid;
        for (int d = 0; d < 3; ++d) middle[d] += areas[j] * x[d];
        total += areas[j];
    }
    for (int d = 0; mean && d < 3; ++d) middle[d] /= total;
}

static double mean_of(const double *row, const double *areas, int64_t count)
{
    double sum = 0, area = 0;
    for (int64_t j = 0; j < count; ++j) {
        sum += areas[j] * row[j];
        area += areas[j];
    }
    return sum / area;
}

typedef struct reading {
    const probe_source *source;
    const int64_t *unknowns;
    int64_t count;
    bool mean;
    const probe_range *range;
    double *areas, *rows; /* [unknowns], [capacity][unknowns] */
    int64_t capacity;
} reading;

static ps_status read_block(const reading *r, int64_t at, ps_trace *trace)
{
    int64_t n = r->source->unknowns, left = r->range->count - at;
    int64_t count = left < r->capacity ? left : r->capacity;
    PS_TRY(ps_history_read(r->source->history, r->range->first + at, count, r->rows));
    for (int64_t i = 0; i < count; ++i) {
        double *out = trace->real + (at + i) * trace->channels;
        for (int64_t c = 0; c < r->count; ++c) out[c] = r->rows[i * n + r->unknowns[c]];
        if (r->mean) out[r->count] = mean_of(r->rows + i * n, r->areas, n);
    }
    return PS_OK;
}

ps_status probe_surface(const probe_source *source, const int64_t *unknowns, int64_t count,
                        bool mean, const probe_range *range, ps_trace *trace)
{
    PS_SCOPED_MEMORY double *areas = NULL, *rows = NULL;
    int64_t capacity = READ_BYTES / 8 / source->unknowns + 1;
    PS_TRY(PS_ALLOC(&areas, source->unknowns, "areas"));
    PS_TRY(PS_ALLOC(&rows, capacity * source->unknowns, "densities"));
    reading r = {.source = source,
                 .unknowns = unknowns,
                 .count = count,
                 .mean = mean,
                 .range = range,
                 .capacity = capacity,
                 .areas = areas,
                 .rows = rows};
    fill_areas(source, areas);
    place_unknowns(source, unknowns, count, areas, mean, trace);
    double shift = source->hard ? 0 : .5;
    for (int64_t i = 0; i < range->count; ++i)
        trace->axis[i] = ((double)(range->first + i) - shift) * source->dt;
    for (int64_t at = 0; at < range->count; at += capacity) PS_TRY(read_block(&r, at, trace));
    return PS_OK;
}
