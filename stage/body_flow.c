#include "stage/body_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csr.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const double tolerance = 1e-12;
enum { ITERATIONS_MAX = 500 };

int64_t ps_body_flow_bytes(int64_t vertices)
{
    return vertices * vertices * (int64_t)(sizeof(double) + sizeof(int32_t));
}

ps_status ps_body_flow_open(const ps_surface_mesh *mesh, const ps_surface_flow *flow,
                            ps_body_flow *out)
{
    *out = (ps_body_flow){.flow = flow};
    PS_TRY(PS_ALLOC(&out->triangles, mesh->triangle_count, "the flow about the body"));
    return ps_hbem_surface_init(&out->surface, mesh->vertices, mesh->vertex_count, mesh->triangles,
                                mesh->triangle_count, out->triangles);
}

void ps_body_flow_close(ps_body_flow *body)
{
    free(body->triangles);
    memset(body, 0, sizeof *body);
}

/* Calls for every triangle at x: the integrals of its hats with d_ny 1/(4 pi r). */
static void layer_at(const ps_hbem_triangle *triangle, const double x[3], double out[3])
{
    ps_hbem_closed closed;
    ps_hbem_closed_at(triangle, x, &closed);
    for (int l = 0; l < 3; ++l) out[l] = closed.slope[l] / (4 * M_PI);
}

static void fill_row(const ps_hbem_surface *surface, int64_t i, double *row)
{
    double sum = 0, hat[3];
    for (int64_t j = 0; j < surface->vertex_count; ++j) row[j] = 0;
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        layer_at(&surface->triangles[t], surface->vertices + 3 * i, hat);
        for (int l = 0; l < 3; ++l) {
            row[surface->triangles[t].vertex[l]] -= hat[l];
            sum += hat[l];
        }
    }
    row[i] += 1 + sum;
}

static void fill(const ps_hbem_surface *surface, ps_csr *matrix)
{
    int64_t n = matrix->rows;
    for (int64_t i = 0; i <= n; ++i) matrix->row_start[i] = i * n;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) matrix->columns[i * n + j] = (int32_t)j;
        fill_row(surface, i, matrix->values + i * n);
    }
}

static ps_status iterate(const ps_csr *matrix, const double *right, double *x)
{
    PS_SCOPED_MEMORY double *work = NULL;
    PS_SCOPED_MEMORY double *scale = NULL;
    ps_krylov_result result;
    ps_krylov_system system = {.matrix = matrix, .b = right, .x = x};
    PS_TRY(PS_ALLOC(&scale, matrix->rows, "the flow about the body"));
    PS_TRY(ps_csr_inverse_diagonal(matrix, false, scale));
    system.inverse_diagonal = scale;
    PS_TRY(PS_ALLOC(&work, ps_krylov_cpu_workspace(PS_KRYLOV_BICGSTAB, &system),
                    "the flow about the body"));
    PS_TRY(
        ps_krylov_cpu_solve(PS_KRYLOV_BICGSTAB, &system, tolerance, ITERATIONS_MAX, work, &result));
    if (result.converged) return PS_OK;
    return ps_fail(PS_FAILED,
                   "the flow about the body: a residual of %.3g after %lld iterations; is the mesh "
                   "closed, without faces that touch?",
                   result.residual, (long long)result.iterations);
}

static ps_status solve(const ps_body_flow *body, ps_csr *matrix, ps_surface_flow *flow)
{
    int64_t n = body->surface.vertex_count;
    PS_SCOPED_MEMORY double *right = NULL;
    PS_TRY(PS_ALLOC(&right, n, "the flow about the body"));
    PS_TRY(ps_csr_init(matrix, n, n * n));
    fill(&body->surface, matrix);
    for (int64_t i = 0; i < n; ++i)
        right[i] = flow->potential[i] = ps_dot3(flow->velocity, body->surface.vertices + 3 * i);
    return iterate(matrix, right, flow->potential);
}

ps_status ps_body_flow_solve(const ps_surface_mesh *mesh, ps_surface_flow *flow)
{
    PS_SCOPED(ps_body_flow_close) ps_body_flow body = {.flow = NULL};
    PS_SCOPED(ps_csr_release) ps_csr matrix = {.rows = 0};
    PS_TRY(ps_body_flow_open(mesh, flow, &body));
    PS_TRY(ps_hbem_surface_check_closed(&body.surface));
    return solve(&body, &matrix, flow);
}

double ps_body_flow_potential(const ps_body_flow *body, const double x[3])
{
    double sum = ps_dot3(body->flow->velocity, x), hat[3];
    for (int64_t t = 0; t < body->surface.triangle_count; ++t) {
        const ps_hbem_triangle *triangle = &body->surface.triangles[t];
        layer_at(triangle, x, hat);
        for (int l = 0; l < 3; ++l) sum += hat[l] * body->flow->potential[triangle->vertex[l]];
    }
    return sum;
}

void ps_body_flow_velocity(const ps_body_flow *body, const double x[3], double reach, double out[3])
{
    for (int k = 0; k < 3; ++k) {
        double there[3] = {x[0], x[1], x[2]}, here[3] = {x[0], x[1], x[2]};
        there[k] += reach;
        here[k] -= reach;
        out[k] = (ps_body_flow_potential(body, there) - ps_body_flow_potential(body, here)) /
                 (2 * reach);
    }
}
