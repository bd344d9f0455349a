/*
 * The border on CUDA (kernels/dgtd/border.h, device_march.h): a warp an element with absorbing
 * faces or at the surface of the total field; arithmetic in double as on the host.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

#define LEAF __device__
#include "kernels/dgtd/incident_body.h"
#undef LEAF
#include "kernels/dgtd/border_device_body.h"

enum { WARPS = 4, NF = PS_DGTD_MAX_FACE_NODES, TRACES = 4 * 2 * NF };

/* What the kernels need of device, border and range. */
struct view {
    int order, nodes, face_nodes, averaged, has_incident;
    ps_dgtd_face_nodes faces;
    int8_t index[NF][3]; /* barycentric indices of face nodes */
    const double *lift, *face_from_nodes, *matrices;
    const ps_dgtd_border_element *elements;
    double *former;
    ps_dgtd_border_parts parts; /* of blockIdx.y */
    ps_dgtd_incident incident;
};

template <typename real>
__device__ bool find(const view &v, void *field, place<real> *out)
{
    const int64_t k =
        v.parts.begin[blockIdx.y] + (int64_t)blockIdx.x * WARPS + threadIdx.x / BORDER_WARP;
    if (k >= v.parts.end[blockIdx.y]) return false;
    *out = place_of<real>(v, v.elements, v.former, k, field);
    return true;
}

/* What the incident field adds to the trace of the half step of `which` at node m of a face. */
__device__ void incident_trace(const view &v, const ps_dgtd_border_face *face, int which, int m,
                               double t, double out[2])
{
    double point[3] = {0, 0, 0}, inc[2][3];
    for (int s = 0; s < 3; ++s)
        for (int c = 0; c < 3; ++c)
            point[c] += (double)v.index[m][s] / v.order * face->corner[s][c];
    incident_at(&v.incident, point, t, inc[PS_DGTD_E], inc[PS_DGTD_H]);
    double turned[3];
    if (face->lag != 0) {
        double none[3];
        double *early = inc[which];
        incident_at(&v.incident, point, t - face->lag, which == PS_DGTD_E ? early : none,
                    which == PS_DGTD_E ? none : early);
    }
    cross(face->normal, inc[1 - which], turned);
    for (int a = 0; a < 2; ++a)
        out[a] = face->own[which] * dot(face->tangent[a], inc[which]) +
                 face->turned[which] * dot(face->tangent[a], turned);
}

template <typename real>
__device__ void add_incident(const view &v, const place<real> &x, int which, double t,
                             double *nodal, double *traces)
{
    const int nf = v.face_nodes, faces = x.element->faces;
    for (int item = x.lane; item < faces * nf; item += BORDER_WARP) {
        double value[2];
        const int k = item / nf, m = item % nf;
        incident_trace(v, x.element->face + k, which, m, t, value);
        for (int a = 0; a < 2; ++a) nodal[(2 * k + a) * nf + m] = value[a];
    }
    __syncwarp();
    for (int item = x.lane; item < faces * 2 * nf; item += BORDER_WARP) {
        const double *row = v.face_from_nodes + item % nf * nf, *in = nodal + item / nf * nf;
        double sum = 0;
        for (int m = 0; m < nf; ++m) sum += row[m] * in[m];
        traces[item] = sum;
    }
    __syncwarp();
    add_lifted(v, x, faces, traces);
}

template <typename real>
__global__ void keep(const __grid_constant__ view v, const real *field)
{
    place<real> x;
    if (find(v, const_cast<real *>(field), &x)) keep_traces(v, x);
}

template <typename real>
__global__ void apply(const __grid_constant__ view v, real *field, int which)
{
    __shared__ double shared[2][WARPS][TRACES];
    place<real> x;
    if (!find(v, field, &x)) return;
    double *in = shared[0][threadIdx.x / BORDER_WARP], *out = shared[1][threadIdx.x / BORDER_WARP];
    if (v.has_incident) add_incident(v, x, which, v.parts.t[blockIdx.y], in, out);
    if (x.element->absorbing) absorb(v, x, which, in, out);
    keep_traces(v, x);
}

view view_of(const ps_dgtd_device *d, const ps_dgtd_device_border *border, ps_dgtd_field field,
             const ps_dgtd_border_parts *parts)
{
    const int p = d->order, nf = (p + 1) * (p + 2) / 2;
    view v = {p, (p + 1) * (p + 2) * (p + 3) / 6, nf, border->averaged,
              border->has_incident, {}, {}, d->lift, d->face_from_nodes, border->matrices,
              border->elements, border->former + field * border->count * 8 * nf, *parts,
              border->incident};
    int m = 0;
    ps_dgtd_list_face_nodes(p, &v.faces);
    for (int k = 0; k <= p; ++k)
        for (int j = 0; j + k <= p; ++j, ++m) {
            v.index[m][0] = (int8_t)(p - j - k);
            v.index[m][1] = (int8_t)j;
            v.index[m][2] = (int8_t)k;
        }
    return v;
}

dim3 blocks_of(const ps_dgtd_border_parts *parts)
{
    int64_t most = 0;
    for (int k = 0; k < parts->count; ++k)
        if (parts->end[k] - parts->begin[k] > most) most = parts->end[k] - parts->begin[k];
    return dim3((unsigned)((most + WARPS - 1) / WARPS), (unsigned)parts->count);
}

} // namespace

extern "C" ps_status ps_dgtd_border_keep_cuda(const ps_dgtd_device *device,
                                              const ps_dgtd_device_border *border,
                                              ps_dgtd_field which, const void *field,
                                              const ps_dgtd_border_parts *parts, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const view v = view_of(device, border, which, parts);
    const dim3 blocks = blocks_of(parts);
    if (device->precision == PS_SINGLE)
        keep<<<blocks, WARPS * BORDER_WARP, 0, queue>>>(v, static_cast<const float *>(field));
    else
        keep<<<blocks, WARPS * BORDER_WARP, 0, queue>>>(v, static_cast<const double *>(field));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_dgtd_border_apply_cuda(const ps_dgtd_device *device,
                                               const ps_dgtd_device_border *border,
                                               ps_dgtd_field which, void *field,
                                               const ps_dgtd_border_parts *parts,
                                               ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const view v = view_of(device, border, which, parts);
    const dim3 blocks = blocks_of(parts);
    if (device->precision == PS_SINGLE)
        apply<<<blocks, WARPS * BORDER_WARP, 0, queue>>>(v, static_cast<float *>(field), (int)which);
    else
        apply<<<blocks, WARPS * BORDER_WARP, 0, queue>>>(v, static_cast<double *>(field), (int)which);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
