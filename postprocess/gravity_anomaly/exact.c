/* g_z by sums over the cells of the model: on the top by convolutions, at stations cell by cell. */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/prism_field.h"
#include "kernels/schwarz/prism.h"
#include "kernels/schwarz/vertical.h"
#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ---- the map ---- */

enum { AT_A_TIME = 8 }; /* layers between looks at the clock */

typedef struct map_sums {
    ps_vertical_sum sum;
    double *workspace, *planes, *layers; /* planes of a chunk; layers: [at_a_time][cx][cy] */
    int64_t at_a_time;
} map_sums;

static ps_status grid_of(const anomaly *a, ps_q1_grid *out)
{
    const ps_box_field_header *h = &a->model.header;
    double length[3];
    for (int k = 0; k < 3; ++k) length[k] = h->spacing[k] * (double)(h->nodes[k] - 1);
    return ps_q1_grid_make(h->nodes, length, out);
}

/* Bytes beside the layers. */
static int64_t fixed_bytes(const anomaly *a)
{
    ps_q1_grid grid;
    bool fft = ps_vertical_by_fft();
    if (grid_of(a, &grid) != PS_OK) return 0;
    return ps_vertical_bytes(&grid, fft) +
           8 * (ps_vertical_workspace(&grid, fft) + a->model.chunk_planes * a->model.plane);
}

int64_t exact_memory(const anomaly *a)
{
    return a->model.store ? fixed_bytes(a) + 8 * a->model.shape[0] * a->model.shape[1] : 0;
}

/* Layers of cells [first, first + count), from all planes of the file, a chunk of them at a time.
 */
static ps_status read_layers(anomaly *a, map_sums *m, int64_t first, int64_t count)
{
    const int64_t *shape = a->model.shape, step = a->model.chunk_planes;
    for (int64_t at = 0; at < shape[0]; at += step) {
        int64_t planes = ps_smaller(step, shape[0] - at);
        PS_TRY(ps_box_field_read(&a->model, at, planes, m->planes));
        for (int64_t line = 0; line < planes * shape[1]; ++line)
            for (int64_t k = 0; k < count; ++k)
                m->layers[(k * shape[0] + at) * shape[1] + line] =
                    m->planes[line * shape[2] + first + k];
    }
    return PS_OK;
}

/* What libraries and writing take later. */
enum { MARGIN = 8 << 20 };

static ps_status allocate(const anomaly *a, const ps_q1_grid *grid, map_sums *m)
{
    const int64_t *shape = a->model.shape;
    bool fft = ps_vertical_by_fft();
    int64_t left = a->run->host_memory - ps_memory_resident() - MARGIN - fixed_bytes(a);
    int64_t room = left / (8 * shape[0] * shape[1]);
    m->at_a_time = room < 1 ? 1 : ps_smaller(room, shape[2]);
    PS_TRY(PS_ALLOC(&m->workspace, ps_vertical_workspace(grid, fft), "sums over cells"));
    PS_TRY(PS_ALLOC(&m->planes, a->model.chunk_planes * a->model.plane, "planes of the model"));
    PS_TRY(PS_ALLOC(&m->layers, m->at_a_time * shape[0] * shape[1], "layers of the model"));
    return ps_vertical_open(grid, fft, m->workspace, &m->sum);
}

static ps_status sum_layers(anomaly *a, map_sums *m)
{
    ps_progress progress;
    ps_progress_start(&progress, "map", "layers", 0, a->model.shape[2]);
    for (int64_t k = 0; k < a->model.shape[2]; k += m->at_a_time) {
        int64_t count = ps_smaller(a->model.shape[2] - k, m->at_a_time);
        PS_TRY(read_layers(a, m, k, count));
        for (int64_t some = 0; some < count; some += AT_A_TIME) {
            const double *from = m->layers + some * a->model.shape[0] * a->model.shape[1];
            ps_vertical_add(&m->sum, k + some, ps_smaller(count - some, AT_A_TIME), from);
            ps_progress_update(&progress, k + some);
        }
    }
    ps_progress_end(&progress);
    return PS_OK;
}

static void release_sums(map_sums *m)
{
    ps_vertical_close(&m->sum);
    PS_FREE(m->workspace, m->planes, m->layers);
}

ps_status exact_map(anomaly *a)
{
    PS_SCOPED(release_sums) map_sums m = {.at_a_time = 0};
    ps_q1_grid grid;
    int64_t refine[2];
    if (!a->model.store) return PS_OK;
    PS_TRY(grid_of(a, &grid));
    if (!ps_vertical_by_fft())
        ps_info("built without FFTW: the map is summed directly, %.3g flops",
                2. * (double)grid.nodes[0] * (double)grid.nodes[1] *
                    (double)(a->model.shape[0] * a->model.plane));
    for (int k = 0; k < 2; ++k) refine[k] = (a->model.header.nodes[k] - 1) / (a->map.nodes[k] - 1);
    PS_TRY(allocate(a, &grid, &m));
    PS_TRY(sum_layers(a, &m));
    ps_vertical_values(&m.sum, a->gravity / PS_MILLIGAL, refine, a->map.map);
    return PS_OK;
}

/* ---- stations ---- */

/* Bricks of a plane of cells: bounds along x, y, z and densities, each [cells of the plane]. */
typedef struct brick_list {
    int64_t count;
    double *low[3], *high[3], *density;
    double *memory;
} brick_list;

enum { BRICK_NUMBERS = 7 };

static ps_status allocate_bricks(int64_t cells, brick_list *out)
{
    PS_TRY(PS_ALLOC(&out->memory, BRICK_NUMBERS * cells, "bricks"));
    for (int k = 0; k < 3; ++k) {
        out->low[k] = out->memory + 2 * k * cells;
        out->high[k] = out->memory + (2 * k + 1) * cells;
    }
    out->density = out->memory + 6 * cells;
    return PS_OK;
}

/* Bricks of the cells of plane i, those of equal density one below the other as one. */
static void list_bricks(const anomaly *a, int64_t i, const double *density, brick_list *out)
{
    const ps_box_field_header *h = &a->model.header;
    int64_t cz = a->model.shape[2];
    out->count = 0;
    for (int64_t c = 0; c < a->model.plane; ++c) {
        int64_t at[3] = {i, c / cz, c % cz};
        bool goes_on = at[2] > 0 && density[c] == density[c - 1];
        if (density[c] == 0) continue;
        int64_t brick = goes_on ? out->count - 1 : out->count++;
        out->density[brick] = density[c];
        for (int k = 0; k < 3; ++k) {
            double low = h->origin[k] + (double)at[k] * h->spacing[k];
            if (!goes_on) out->low[k][brick] = low;
            out->high[k][brick] = low + h->spacing[k];
        }
    }
}

static void add_bricks(const anomaly *a, const brick_list *bricks)
{
    const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
    ps_prism_set set = {.count = bricks->count, .weight = {bricks->density}};
    for (int k = 0; k < 3; ++k) {
        set.low[k] = bricks->low[k];
        set.high[k] = bricks->high[k];
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t s = 0; s < a->map.stations; ++s) {
        double numbers[PS_PRISM_NUMBERS] = {0};
        f->add(PS_PRISM_GRAVITY, &set, 0, set.count, a->map.place + 3 * s, numbers);
        a->map.exact[s] += a->gravity * numbers[3] / PS_MILLIGAL;
    }
}

/* Stations inside of cells with mass in this plane: as deep in the ground of the model, and half a
 * cell of it more or less, as a slab, is what its steps leave open there. */
static void count_buried(anomaly *a, int64_t i, const double *density)
{
    static const double pi = 3.14159265358979323846;
    const ps_box_field_header *h = &a->model.header;
    for (int64_t s = 0; s < a->map.stations; ++s) {
        bool inside = true;
        int64_t cell[3];
        for (int k = 0; k < 3; ++k) {
            double at = (a->map.place[3 * s + k] - h->origin[k]) / h->spacing[k];
            cell[k] = (int64_t)fmax(fmin(floor(at), 1e9), -1e9);
            inside = inside && cell[k] >= 0 && cell[k] < a->model.shape[k] &&
                     fabs(at - round(at)) > 1e-6;
        }
        if (!inside || cell[0] != i) continue;
        double value = density[cell[1] * a->model.shape[2] + cell[2]];
        if (value == 0) continue;
        ++a->buried;
        a->slab = fmax(a->slab, 2 * pi * a->gravity * fabs(value) * h->spacing[2] / PS_MILLIGAL);
    }
}

static void release_bricks(brick_list *bricks) { free(bricks->memory); }

ps_status exact_stations(anomaly *a)
{
    PS_SCOPED_MEMORY double *density = NULL;
    PS_SCOPED(release_bricks) brick_list bricks = {0};
    ps_progress progress;
    if (!a->map.exact) return PS_OK;
    PS_TRY(PS_ALLOC(&density, a->model.plane, "densities"));
    PS_TRY(allocate_bricks(a->model.plane, &bricks));
    ps_progress_start(&progress, "stations", "planes of cells", 0, a->model.shape[0]);
    for (int64_t i = 0; i < a->model.shape[0]; ++i) {
        ps_progress_update(&progress, i);
        PS_TRY(ps_box_field_read(&a->model, i, 1, density));
        count_buried(a, i, density);
        list_bricks(a, i, density, &bricks);
        add_bricks(a, &bricks);
    }
    ps_progress_end(&progress);
    return PS_OK;
}
