#include "preprocess/incident/incident.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"

enum { BLOCK = 64 };

/* ---- patterns ---- */

static ps_status fill_pattern(const moving *m, const source_text *s, double *pattern)
{
    int64_t tag;
    PS_TRY_IN(ps_surface_mesh_find_tag(m->mesh, s->where, &tag), "--velocity \"%s\"", s->text);
    for (int64_t t = 0; t < m->mesh->triangle_count; ++t)
        if (tag < 0 || m->mesh->tags[t] == tag)
            pattern[t] = s->along ? ps_dot3(m->triangles[t].normal, s->sound.place) : 1;
    return PS_OK;
}

/* No point of the surface is farther from another than this. */
static double extent(const ps_surface_mesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t v = 0; v < mesh->vertex_count; ++v)
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], mesh->vertices[3 * v + k]);
            high[k] = fmax(high[k], mesh->vertices[3 * v + k]);
        }
    return ps_distance3(low, high);
}

ps_status moving_init(const moving_parts *parts, const ps_incident_header *header, moving *m)
{
    const ps_surface_mesh *mesh = parts->mesh;
    const ps_surface_velocity *more = parts->more;
    *m = (moving){.mesh = mesh,
                  .triangles = parts->triangles,
                  .velocity = {.modes = parts->count + more->modes,
                               .triangle_count = mesh->triangle_count,
                               .steps = header->steps,
                               .density = parts->density}};
    ps_surface_velocity *v = &m->velocity;
    int64_t row = v->triangle_count, times = 2 * (v->steps + 1);
    PS_TRY(ps_surface_velocity_init(v));
    m->radiated = (ps_radiated){v, m->triangles, header->dt, header->speed, header->combined};
    m->lags = ps_radiated_lags(&m->radiated, extent(mesh));
    if (m->lags > header->steps + 2) m->lags = header->steps + 2; /* later there is nothing */
    for (int i = 0; i < parts->count; ++i) {
        PS_TRY(fill_pattern(m, &parts->texts[i], v->patterns + i * row));
        for (int64_t n = 0; n <= v->steps; ++n)
            ps_signal_at(&parts->texts[i].sound.signal, (double)n * header->dt,
                         v->signals + i * times + 2 * n);
    }
    if (more->modes == 0) return PS_OK;
    memcpy(v->patterns + parts->count * row, more->patterns,
           (size_t)(more->modes * row) * sizeof *v->patterns);
    memcpy(v->signals + parts->count * times, more->signals,
           (size_t)(more->modes * times) * sizeof *v->signals);
    return PS_OK;
}

void moving_release(moving *m)
{
    ps_surface_velocity_release(&m->velocity);
    free(m->weights);
    memset(m, 0, sizeof *m);
}

/* ---- loads ---- */

static int64_t weights_of_one(const moving *m)
{
    return ps_radiated_weights(&m->radiated, m->lags);
}

int64_t moving_bytes(const moving *m)
{
    if (m->velocity.modes == 0) return 0;
    int64_t some = 3 * BLOCK + omp_get_max_threads();
    return 8 * (weights_of_one(m) * (m->mesh->vertex_count + some) +
                (BLOCK + 1) * m->velocity.triangle_count);
}

double moving_work(const moving *m)
{
    double triangles = (double)m->velocity.triangle_count;
    return 7 * 4 * triangles * triangles * (double)m->velocity.modes;
}

/* A block of triangles at a time by all threads; then their corners are added in one order. */
ps_status moving_make_weights(moving *m)
{
    PS_SCOPED_MEMORY double *parts = NULL;
    PS_SCOPED_MEMORY double *work = NULL;
    PS_SCOPED_MEMORY double *seen = NULL; /* [BLOCK + 1][triangles], the last: sums */
    int64_t triangles = m->velocity.triangle_count, size;
    if (m->velocity.modes == 0) return PS_OK;
    size = weights_of_one(m);
    PS_TRY(PS_ALLOC(&m->weights, size * m->mesh->vertex_count, "the weights of the velocity"));
    PS_TRY(PS_ALLOC(&parts, 3 * BLOCK * size, "the weights of the velocity"));
    PS_TRY(PS_ALLOC(&work, omp_get_max_threads() * size, "the weights of the velocity"));
    PS_TRY(PS_ALLOC(&seen, (BLOCK + 1) * triangles, "the weights of the velocity"));
    double *sums = seen + BLOCK * triangles;
    ps_progress progress;
    ps_progress_start(&progress, "velocity", "triangles", 0, triangles);
    for (int64_t first = 0; first < triangles; first += BLOCK) {
        int64_t count = triangles - first < BLOCK ? triangles - first : BLOCK;
#pragma omp parallel for schedule(dynamic, 1)
        for (int64_t i = 0; i < count; ++i)
            ps_radiated_load(&m->radiated, first + i, m->lags, parts + 3 * i * size,
                             seen + i * triangles, work + omp_get_thread_num() * size);
        for (int64_t i = 0; i < count; ++i)
            for (int64_t t = 0; t < triangles; ++t) sums[t] += seen[i * triangles + t];
        for (int64_t c = 0; c < 3 * count; ++c) {
            double *sum = m->weights + size * m->mesh->triangles[3 * first + c];
            for (int64_t k = 0; k < size; ++k) sum[k] += parts[c * size + k];
        }
        ps_progress_update(&progress, first + count);
    }
    for (int64_t c = 0; c < 3 * triangles; ++c)
        ps_radiated_own(&m->radiated, c / 3, m->lags, sums[c / 3],
                        m->weights + size * m->mesh->triangles[c]);
    ps_progress_end(&progress);
    return PS_OK;
}

void moving_add_load(const moving *m, int64_t n, double *row)
{
    if (m->velocity.modes == 0) return;
    int64_t size = weights_of_one(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->mesh->vertex_count; ++i)
        row[i] +=
            ps_radiated_sum(&m->velocity, m->radiated.dt, m->weights + i * size, 0, m->lags, n);
}
