/* Voxels over the tissue and the averages over a mass. */
#include <math.h>

#include "postprocess/dgtd_sar/sar.h"
#include "runtime/memory.h"

static double density_of(const sar_job *job, int64_t tetrahedron)
{
    int32_t row = job->row_of[tetrahedron];
    return row < 0 ? 0 : job->density[job->material[row]];
}

static ps_status mark_tissue(sar_job *job, double low[3], double high[3])
{
    int64_t found = 0;
    PS_TRY(PS_ALLOC(&job->wanted, job->tets.count, "marks of tissue"));
    for (int c = 0; c < 3; ++c) low[c] = INFINITY, high[c] = -INFINITY;
    for (int64_t e = 0; e < job->tets.count; ++e) {
        job->wanted[e] = density_of(job, e) > 0;
        if (!job->wanted[e]) continue;
        ++found;
        for (int k = 0; k < 12; ++k) {
            double x = job->mesh.vertices[3 * (int64_t)job->sorted[4 * e + k / 3] + k % 3];
            low[k % 3] = fmin(low[k % 3], x);
            high[k % 3] = fmax(high[k % 3], x);
        }
    }
    return found ? PS_OK
                 : ps_fail(PS_INVALID,
                           "no material of %s has a density, so there is no tissue to "
                           "average over; give --density TAG=KG/M3, or --grid 0",
                           job->run->operands[0]);
}

int64_t sar_voxels_bytes(const sar_job *job)
{
    return job->voxels.count * (8 * 4 + 1) + 32 * ps_mass_average_entries(job->voxels.centres.size);
}

static ps_status place_voxels(sar_job *job, const double low[3], const double high[3])
{
    sar_voxels *v = &job->voxels;
    double count = 1;
    for (int c = 0; c < 3; ++c) {
        double n = ceil((high[c] - low[c]) / job->grid * (1 - 1e-12)) + 2;
        count *= n;
        if (!(count < 1e11))
            return ps_fail(PS_USAGE, "--grid %g gives more than 1e11 voxels", job->grid);
        v->centres.size[c] = (int64_t)n;
        v->centres.origin[c] = low[c] - job->grid / 2; /* a layer of air all round */
        v->centres.step[c][c] = job->grid;
    }
    v->count = ps_dgtd_lattice_points(&v->centres);
    if (sar_voxels_bytes(job) > job->run->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "%lld voxels of %g m take %.1f MB, more than --host-memory; a larger --grid "
                       "takes less",
                       (long long)v->count, job->grid, (double)sar_voxels_bytes(job) / 1e6);
    return PS_OK;
}

static ps_status allocate(sar_voxels *v)
{
    PS_TRY(PS_ALLOC(&v->owner, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->squares, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->density, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->power, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->average.value, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->average.side, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->average.status, v->count, "voxels"));
    PS_TRY(PS_ALLOC(&v->average.work, 2 * v->count, "voxels"));
    return PS_ALLOC(&v->average.sums, ps_mass_average_entries(v->centres.size), "sums of voxels");
}

ps_status sar_voxels_place(sar_job *job)
{
    double low[3], high[3];
    PS_TRY(mark_tissue(job, low, high));
    return place_voxels(job, low, high);
}

ps_status sar_voxels_make(sar_job *job)
{
    PS_TRY(allocate(&job->voxels));
    ps_dgtd_lattice_owners(&job->voxels.centres, &job->tets, job->wanted, job->voxels.owner);
    return PS_OK;
}

ps_status sar_voxels_prepare(sar_job *job)
{
    sar_voxels *v = &job->voxels;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < v->count; ++i) {
        if (v->owner[i] == INT32_MAX) continue;
        int32_t m = job->material[job->row_of[v->owner[i]]];
        v->density[i] = (float)job->density[m];
        v->power[i] = (float)(.5 * job->header->material[m].sigma * v->squares[i] * job->scale);
    }
    ps_mass_average *a = &v->average;
    for (int c = 0; c < 3; ++c) a->size[c] = v->centres.size[c];
    a->step = job->grid;
    a->density = v->density;
    ps_mass_average_sum(a, v->power);
    return PS_OK;
}

void sar_voxels_totals(const sar_job *job, double *mass, double *power)
{
    const ps_mass_average *a = &job->voxels.average;
    const double *last = a->sums[ps_mass_average_entries(a->size) - 1];
    *mass = last[0];
    *power = last[1];
}

/* Voxel that a point is in, or -1. */
static int64_t voxel_of(const sar_voxels *v, double grid, const double point[3])
{
    int64_t at[3];
    for (int c = 0; c < 3; ++c) {
        double i = floor((point[c] - v->centres.origin[c]) / grid + .5);
        if (!(i >= 0 && i < (double)v->centres.size[c])) return -1;
        at[c] = (int64_t)i;
    }
    return at[0] + v->centres.size[0] * (at[1] + v->centres.size[1] * at[2]);
}

static int has_value(const sar_voxels *v, int64_t i)
{
    return v->average.status[i] != PS_MASS_AIR && v->average.status[i] != PS_MASS_NONE;
}

/* The value at a point of tissue: of its voxel or, where that is air, the largest around. */
static float value_near(const sar_job *job, const double point[3])
{
    const sar_voxels *v = &job->voxels;
    const int64_t *n = v->centres.size;
    int64_t i = voxel_of(v, job->grid, point);
    float best = 0;
    if (i < 0) return 0;
    if (has_value(v, i)) return v->average.value[i];
    int64_t x = i % n[0], y = i / n[0] % n[1], z = i / (n[0] * n[1]);
    for (int k = 0; k < 27; ++k) {
        int64_t a = x + k % 3 - 1, b = y + k / 3 % 3 - 1, c = z + k / 9 - 1;
        if (a < 0 || b < 0 || c < 0 || a >= n[0] || b >= n[1] || c >= n[2]) continue;
        int64_t other = a + n[0] * (b + n[1] * c);
        if (has_value(v, other)) best = fmaxf(best, v->average.value[other]);
    }
    return best;
}

double sar_voxels_at(const sar_job *job, const double point[3])
{
    int64_t i = voxel_of(&job->voxels, job->grid, point);
    return i >= 0 && has_value(&job->voxels, i) ? job->voxels.average.value[i] : NAN;
}

static void find_peak(const sar_job *job, sar_peak *peak)
{
    const sar_voxels *v = &job->voxels;
    int64_t at = -1;
    *peak = (sar_peak){.value = NAN, .material = -1};
    for (int64_t i = 0; i < v->count; ++i) {
        peak->none += v->average.status[i] == PS_MASS_NONE;
        if (has_value(v, i) && (at < 0 || v->average.value[i] > v->average.value[at])) at = i;
    }
    if (at < 0) return;
    peak->value = v->average.value[at];
    peak->side = v->average.side[at] * job->grid;
    peak->status = v->average.status[at];
    peak->material = job->material[job->row_of[v->owner[at]]];
    ps_dgtd_lattice_point(&v->centres, at, peak->place);
}

ps_status sar_voxels_average(sar_job *job, int which, sar_peak *peak)
{
    float **out = &job->element_average[which];
    job->voxels.average.mass = job->mass[which];
    ps_mass_average_run(&job->voxels.average);
    find_peak(job, peak);
    PS_TRY(PS_ALLOC(out, job->tets.count, "averages of elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < job->tets.count; ++e) {
        double centroid[3] = {0};
        if (!(density_of(job, e) > 0)) continue;
        for (int k = 0; k < 12; ++k)
            centroid[k % 3] +=
                .25 * job->mesh.vertices[3 * (int64_t)job->sorted[4 * e + k / 3] + k % 3];
        (*out)[e] = value_near(job, centroid);
    }
    return PS_OK;
}
