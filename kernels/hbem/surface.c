#include "kernels/hbem/surface.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/vec3.h"

static void measure(ps_hbem_triangle *t)
{
    double edge[3][3], difference[3];
    for (int l = 0; l < 3; ++l) ps_subtract3(t->corner[(l + 1) % 3], t->corner[l], edge[l]);
    ps_cross3(edge[0], edge[1], t->normal);
    t->jacobian = sqrt(ps_dot3(t->normal, t->normal));
    for (int c = 0; c < 3; ++c) {
        t->normal[c] /= t->jacobian;
        t->centroid[c] = (t->corner[0][c] + t->corner[1][c] + t->corner[2][c]) / 3;
    }
    t->diameter = t->radius = 0;
    for (int l = 0; l < 3; ++l) {
        ps_subtract3(t->corner[l], t->centroid, difference);
        t->radius = fmax(t->radius, sqrt(ps_dot3(difference, difference)));
        t->diameter = fmax(t->diameter, sqrt(ps_dot3(edge[l], edge[l])));
    }
}

static ps_status set_triangle(const ps_hbem_surface *surface, const int32_t *corners, int64_t t,
                              ps_hbem_triangle *triangle)
{
    memset(triangle, 0, sizeof *triangle);
    for (int l = 0; l < 3; ++l) {
        int32_t v = corners[3 * t + l];
        if (v < 0 || v >= surface->vertex_count)
            return ps_fail(PS_INVALID, "triangle %lld names vertex %d of %lld", (long long)t, v,
                           (long long)surface->vertex_count);
        triangle->vertex[l] = v;
        memcpy(triangle->corner[l], surface->vertices + 3 * (int64_t)v, sizeof triangle->corner[l]);
    }
    measure(triangle);
    if (!isfinite(triangle->jacobian) || !isfinite(triangle->radius))
        return ps_fail(PS_INVALID, "triangle %lld has a vertex that is not finite, or no area",
                       (long long)t);
    if (!(triangle->jacobian > 1e-14 * triangle->diameter * triangle->diameter))
        return ps_fail(PS_INVALID, "triangle %lld has no area", (long long)t);
    return PS_OK;
}

ps_status ps_hbem_surface_init(ps_hbem_surface *surface, const double *vertices,
                               int64_t vertex_count, const int32_t *corners, int64_t triangle_count,
                               ps_hbem_triangle *triangles)
{
    int64_t bad = triangle_count;
    *surface = (ps_hbem_surface){vertex_count, triangle_count, vertices, triangles};
#pragma omp parallel for reduction(min : bad)
    for (int64_t t = 0; t < triangle_count; ++t)
        if (set_triangle(surface, corners, t, &triangles[t]) != PS_OK) bad = t < bad ? t : bad;
    return bad == triangle_count ? PS_OK : set_triangle(surface, corners, bad, &triangles[bad]);
}

/* On a closed oriented surface int n = 0 and int x_a n_b = volume delta_ab. */
ps_status ps_hbem_surface_check_closed(const ps_hbem_surface *surface)
{
    double flux[3] = {0}, moment[3][3] = {{0}}, area = 0, size = 0;
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *triangle = &surface->triangles[t];
        area += triangle->jacobian;
        for (int a = 0; a < 3; ++a) {
            flux[a] += triangle->normal[a] * triangle->jacobian;
            size = fmax(size, fabs(triangle->centroid[a]));
            for (int b = 0; b < 3; ++b)
                moment[a][b] += triangle->centroid[a] * triangle->normal[b] * triangle->jacobian;
        }
    }
    double off = 0;
    for (int a = 0; a < 3; ++a) {
        off = fmax(off, fabs(flux[a]) * size);
        off = fmax(off, fabs(moment[a][(a + 1) % 3]));
        off = fmax(off, fabs(moment[a][(a + 2) % 3]));
        off = fmax(off, fabs(moment[a][a] - moment[0][0]));
    }
    if (!(off <= 1e-9 * area * size))
        return ps_fail(PS_INVALID, "the surface is open or not consistently oriented: exterior "
                                   "problems need a closed one");
    if (moment[0][0] <= 0)
        return ps_fail(PS_INVALID, "the normals point inward: turn the triangles round");
    return PS_OK;
}

int64_t ps_hbem_space_dofs(ps_hbem_space_kind kind, const ps_hbem_surface *surface)
{
    switch (kind) {
    case PS_SPACE_P0:
        return surface->triangle_count;
    case PS_SPACE_P1:
        return surface->vertex_count;
    default:
        return 3 * surface->triangle_count;
    }
}

static int32_t function_of(const ps_hbem_space *space, int64_t item)
{
    switch (space->kind) {
    case PS_SPACE_P0:
        return (int32_t)(item / 3);
    case PS_SPACE_P1:
        return space->surface->triangles[item / 3].vertex[item % 3];
    default:
        return (int32_t)item;
    }
}

/* Items of functions [begin, end): counted in start[function + 1], or put in their places. */
static void pass_items(ps_hbem_space *space, int64_t begin, int64_t end, bool place)
{
    int64_t items = 3 * space->surface->triangle_count;
    for (int64_t e = 0; e < items; ++e) {
        int64_t dof = space->dof_of[e];
        if (dof < begin || dof >= end) continue;
        if (place)
            space->item[space->start[dof]++] = e;
        else
            ++space->start[dof + 1];
    }
}

/* start and item from dof_of. A thread has a range of functions and passes all items. */
static void list_items(ps_hbem_space *space)
{
    int64_t dofs = space->dofs;
    memset(space->start, 0, (size_t)(dofs + 1) * sizeof *space->start);
    for (int place = 0; place < 2; ++place) {
#pragma omp parallel
        {
            int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
            pass_items(space, dofs * thread / threads, dofs * (thread + 1) / threads, place);
        }
        for (int64_t i = 0; !place && i < dofs; ++i) space->start[i + 1] += space->start[i];
    }
    for (int64_t i = dofs; i > 0; --i) space->start[i] = space->start[i - 1];
    space->start[0] = 0;
}

void ps_hbem_space_init(ps_hbem_space *space, ps_hbem_space_kind kind,
                        const ps_hbem_surface *surface, int64_t *start, int64_t *item,
                        int32_t *dof_of)
{
    *space = (ps_hbem_space){kind, surface, ps_hbem_space_dofs(kind, surface), start, item, dof_of};
#pragma omp parallel for
    for (int64_t e = 0; e < 3 * surface->triangle_count; ++e) dof_of[e] = function_of(space, e);
    list_items(space);
}

void ps_hbem_space_init_half(ps_hbem_space *space, ps_hbem_space_kind kind,
                             const ps_hbem_surface *surface, const ps_hbem_half *half,
                             int64_t *start, int64_t *item, int32_t *dof_of)
{
    const ps_hbem_surface body = {half->vertices, half->triangles, NULL, NULL};
    int64_t items = 3 * half->triangles, first = half->image ? items : 0;
    bool turned = half->image && half->turned;
    *space = (ps_hbem_space){kind, surface, ps_hbem_space_dofs(kind, &body), start, item, dof_of};
#pragma omp parallel for
    for (int64_t e = 0; e < items; ++e) {
        int64_t own = turned ? e - e % 3 + (3 - e % 3) % 3 : e; /* that it is the image of */
        dof_of[first + e] = function_of(space, own);
        dof_of[items - first + e] = -1;
    }
    list_items(space);
}

void ps_hbem_space_reorder(ps_hbem_space *space, const int64_t *order, int32_t *scratch)
{
#pragma omp parallel for
    for (int64_t p = 0; p < space->dofs; ++p) scratch[order[p]] = (int32_t)p;
#pragma omp parallel for
    for (int64_t e = 0; e < 3 * space->surface->triangle_count; ++e)
        if (space->dof_of[e] >= 0) space->dof_of[e] = scratch[space->dof_of[e]];
    list_items(space);
}

void ps_hbem_mass_apply(const ps_hbem_space *test, const ps_hbem_space *trial, const double *x,
                        double *y)
{
    memset(y, 0, (size_t)test->dofs * sizeof *y);
    for (int64_t t = 0; t < test->surface->triangle_count; ++t)
        for (int l = 0; l < 3; ++l)
            for (int m = 0; m < 3; ++m)
                y[test->dof_of[3 * t + l]] += test->surface->triangles[t].jacobian *
                                              (l == m ? 2 : 1) / 24 * x[trial->dof_of[3 * t + m]];
}

void ps_hbem_space_integrals(const ps_hbem_space *space, double *out)
{
    memset(out, 0, (size_t)space->dofs * sizeof *out);
    for (int64_t e = 0; e < 3 * space->surface->triangle_count; ++e)
        out[space->dof_of[e]] += space->surface->triangles[e / 3].jacobian / 6;
}

void ps_hbem_curl(const ps_hbem_triangle *triangle, int l, double out[3])
{
    ps_subtract3(triangle->corner[(l + 2) % 3], triangle->corner[(l + 1) % 3], out);
}

double ps_hbem_elements_per_wavelength(const ps_hbem_surface *surface, double wavenumber)
{
    double sum = 0;
    for (int64_t t = 0; t < surface->triangle_count; ++t) sum += surface->triangles[t].diameter;
    return 2 * M_PI * (double)surface->triangle_count / (wavenumber * sum);
}

ps_status ps_hbem_check_wavelength(const ps_hbem_surface *surface, double wavenumber)
{
    static const double least = 4;
    double elements = ps_hbem_elements_per_wavelength(surface, wavenumber);
    if (elements >= least) return PS_OK;
    return ps_fail(PS_INVALID,
                   "the mesh is too coarse for k = %g: %.2g elements a wavelength, at least %g are "
                   "needed; refine it, or --force-coarse",
                   wavenumber, elements, least);
}
