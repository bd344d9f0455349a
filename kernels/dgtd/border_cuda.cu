/*
 * The border on CUDA (kernels/dgtd/border.h, device_march.h): a warp an element with absorbing
 * faces or at the surface of the total field; arithmetic in double as on the host.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
#include "runtime/cuda_overlap.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

#define LEAF __device__
#include "kernels/dgtd/incident_body.h"
#undef LEAF

enum { WARPS = 4, WARP = 32, NF = PS_DGTD_MAX_FACE_NODES, TRACES = 4 * 2 * NF };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

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

/* One element and its warp. */
template <typename real> struct place {
    const ps_dgtd_border_element *element;
    real *field; /* component 0, coefficient 0 */
    double *former;
    int lane;
};

/* Returns when the kernel before has ended. */
template <typename real>
__device__ bool find(const view &v, void *field, place<real> *out)
{
    ps_overlap_begin();
    const int64_t k = v.parts.begin[blockIdx.y] + (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    const bool inside = k < v.parts.end[blockIdx.y];
    out->element = v.elements + k;
    const int64_t slot = inside ? out->element->slot : 0, L = lanes<real>;
    ps_overlap_wait();
    if (!inside) return false;
    out->field = static_cast<real *>(field) + slot / L * 3 * v.nodes * L + slot % L;
    out->former = v.former + k * 8 * v.face_nodes;
    out->lane = threadIdx.x % WARP;
    return true;
}

/* Tangential component of a field: item = (face k, tangent, node). */
template <typename real>
__device__ double trace(const view &v, const place<real> &x, int item)
{
    const ps_dgtd_border_face *face = x.element->face + item / (2 * v.face_nodes);
    const double *tangent = face->tangent[item / v.face_nodes % 2];
    const int n = v.faces.node[face->face][item % v.face_nodes];
    double sum = 0;
    for (int c = 0; c < 3; ++c)
        sum += tangent[c] * (double)x.field[(c * v.nodes + n) * lanes<real>];
    return sum;
}

/* field += LIFT of the traces [faces][2][face nodes] of the element's first faces. */
template <typename real>
__device__ void add_lifted(const view &v, const place<real> &x, int faces, const double *traces)
{
    const int nf = v.face_nodes;
    for (int item = x.lane; item < 3 * v.nodes; item += WARP) {
        const int c = item / v.nodes, i = item % v.nodes;
        double sum = 0;
        for (int k = 0; k < faces; ++k) {
            const ps_dgtd_border_face *face = x.element->face + k;
            const double *row = v.lift + (face->face * v.nodes + i) * nf, *in = traces + 2 * k * nf;
            for (int m = 0; m < nf; ++m)
                sum += row[m] * (face->tangent[0][c] * in[m] + face->tangent[1][c] * in[nf + m]);
        }
        real *to = x.field + item * lanes<real>;
        *to = (real)((double)*to + sum);
    }
    __syncwarp();
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
    for (int item = x.lane; item < faces * nf; item += WARP) {
        double value[2];
        const int k = item / nf, m = item % nf;
        incident_trace(v, x.element->face + k, which, m, t, value);
        for (int a = 0; a < 2; ++a) nodal[(2 * k + a) * nf + m] = value[a];
    }
    __syncwarp();
    for (int item = x.lane; item < faces * 2 * nf; item += WARP) {
        const double *row = v.face_from_nodes + item % nf * nf, *in = nodal + item / nf * nf;
        double sum = 0;
        for (int m = 0; m < nf; ++m) sum += row[m] * in[m];
        traces[item] = sum;
    }
    __syncwarp();
    add_lifted(v, x, faces, traces);
}

/* The absorbing term: of the old field, or of the mean of old and new one. */
template <typename real>
__device__ void absorb(const view &v, const place<real> &x, int which, double *in, double *out)
{
    const int nf = v.face_nodes, absorbing = x.element->absorbing, size = 2 * nf * absorbing;
    const int n = absorbing == 1 ? nf : size; /* one face: the tangents share a matrix */
    const double *matrix = v.matrices + x.element->matrix + (int64_t)which * n * n;
    for (int item = x.lane; item < size; item += WARP)
        in[item] = v.averaged ? trace(v, x, item) + x.former[item] : x.former[item];
    __syncwarp();
    for (int item = x.lane; item < size; item += WARP) {
        double sum = 0;
        if (v.averaged)
            for (int c = 0; c < n; ++c) sum += matrix[item % n * n + c] * in[item / n * n + c];
        else
            sum = 2 * x.element->face[item / (2 * nf)].decay[which] * in[item];
        out[item] = -sum;
    }
    __syncwarp();
    add_lifted(v, x, absorbing, out);
}

/* What the next half step of this field takes as the old traces. */
template <typename real> __device__ void keep_traces(const view &v, const place<real> &x)
{
    for (int item = x.lane; item < x.element->absorbing * 2 * v.face_nodes; item += WARP)
        x.former[item] = trace(v, x, item);
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
    double *in = shared[0][threadIdx.x / WARP], *out = shared[1][threadIdx.x / WARP];
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
    PS_CUDA(device->precision == PS_SINGLE
                ? ps_launch_overlapped(keep<float>, blocks, WARPS * WARP, 0, queue, v,
                                       static_cast<const float *>(field))
                : ps_launch_overlapped(keep<double>, blocks, WARPS * WARP, 0, queue, v,
                                       static_cast<const double *>(field)));
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
    PS_CUDA(device->precision == PS_SINGLE
                ? ps_launch_overlapped(apply<float>, blocks, WARPS * WARP, 0, queue, v,
                                       static_cast<float *>(field), (int)which)
                : ps_launch_overlapped(apply<double>, blocks, WARPS * WARP, 0, queue, v,
                                       static_cast<double *>(field), (int)which));
    return PS_OK;
}
