/* Loads on CUDA (kernels/tdbem/load_device.h): a thread a triangle and step, then for sound-hard
 * bodies a thread a vertex and step, which adds the corners there in the order of the host. */
#include <cuda_runtime.h>

#include <cmath>
#include <cstring>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/load_device.h"
#include "kernels/tdbem/quadrature.h"
}

namespace
{

#define LEAF __device__
#include "kernels/tdbem/incident_body.h"
#include "kernels/tdbem/load_body.h"
#undef LEAF

enum { THREADS = 128 };

struct mesh_view {
    int64_t vertex_count, triangle_count;
    const double *vertices;
    const int32_t *triangles, *corner_start, *corners;
};

__global__ void soft_loads(const __grid_constant__ wave w, const mesh_view mesh, int64_t n,
                           double *out)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, g = blockIdx.y;
    if (i >= mesh.triangle_count) return;
    const panel t = panel_of(mesh.vertices, mesh.triangles, i);
    out[g * mesh.triangle_count + i] = -panel_pressure(&w, &t, n + g);
}

__global__ void corner_loads(const __grid_constant__ wave w, const mesh_view mesh, int64_t n,
                             double *out)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, g = blockIdx.y;
    if (i >= mesh.triangle_count) return;
    const panel t = panel_of(mesh.vertices, mesh.triangles, i);
    panel_slopes(&w, &t, n + g, out + 3 * (g * mesh.triangle_count + i));
}

__global__ void vertex_loads(const mesh_view mesh, const double *corners, double *out)
{
    const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x, g = blockIdx.y;
    if (v >= mesh.vertex_count) return;
    double sum = 0;
    for (int c = mesh.corner_start[v]; c < mesh.corner_start[v + 1]; ++c)
        sum += corners[3 * g * mesh.triangle_count + mesh.corners[c]];
    out[g * mesh.vertex_count + v] = sum;
}

ps_status fill_wave(const ps_device_load *load, wave *w)
{
    w->formulation = load->formulation;
    w->dt = load->dt;
    w->pressure = load->combined > 0 ? load->combined / load->incident.speed : 0;
    w->incident = load->incident;
    memcpy(w->node, ps_gauss3_node, sizeof w->node);
    memcpy(w->weight, ps_gauss3_weight, sizeof w->weight);
    return ps_triangle_rule_init(SPACE_POINTS, &w->rule);
}

dim3 grid_of(int64_t items, int64_t steps)
{
    return dim3((unsigned)((items + THREADS - 1) / THREADS), (unsigned)steps);
}

} // namespace

extern "C" ps_status ps_device_load_cuda(const ps_device_load *load, int64_t n, int64_t count,
                                         double *out, double *workspace, ps_stream *stream)
{
    const mesh_view mesh = {load->vertex_count, load->triangle_count, load->vertices,
                            load->triangles,    load->corner_start,   load->corners};
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const dim3 panels = grid_of(mesh.triangle_count, count);
    wave w;
    if (count == 0 || mesh.triangle_count == 0) return PS_OK;
    PS_TRY(fill_wave(load, &w));
    PS_TRY(ps_stream_enter(stream));
    if (load->formulation != PS_SOUND_HARD) {
        soft_loads<<<panels, THREADS, 0, queue>>>(w, mesh, n, out);
        PS_CUDA(cudaGetLastError());
        return PS_OK;
    }
    corner_loads<<<panels, THREADS, 0, queue>>>(w, mesh, n, workspace);
    PS_CUDA(cudaGetLastError());
    vertex_loads<<<grid_of(mesh.vertex_count, count), THREADS, 0, queue>>>(mesh, workspace, out);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
