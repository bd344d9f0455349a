#include "kernels/hbem/distances.h"

#include <math.h>

/* Vectors are wider than the registers of the lesser instruction sets; none crosses a call. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))
typedef double lanes __attribute__((vector_size(64)));
typedef int64_t bits __attribute__((vector_size(64)));

/* Lane by lane; macros, as vectors are no arguments (see above). */
#define CHOOSE(where, a, b) ((lanes)(((bits)(a) & (where)) | ((bits)(b) & ~(where))))
#define LEAST(a, b) CHOOSE((a) < (b), a, b)

/* Each t within 0 .. 1. */
INLINE void keep_inside(lanes *t)
{
    const lanes one = 0 * *t + 1;
    *t = LEAST(*t, one);
    *t = CHOOSE(*t < 0, 0 * one, *t);
}

INLINE lanes dot(const lanes a[3], const lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Lowers *least to the square of the distance of two segments, from p along u and from q along v.
 */
INLINE void of_segments(const lanes p[3], const lanes u[3], const lanes q[3], const lanes v[3],
                        lanes *least)
{
    const lanes r[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    const lanes a = dot(u, u), b = dot(u, v), c = dot(u, r), e = dot(v, v), f = dot(v, r);
    const lanes across = a * e - b * b, one = 0 * a + 1;
    lanes s = (b * f - c * e) / CHOOSE(across > 0, across, one), d[3];
    s = CHOOSE(across > 0, s, 0 * s);
    keep_inside(&s);
    lanes t = (b * s + f) / e;
    keep_inside(&t);
    s = (b * t - c) / a;
    keep_inside(&s);
    for (int k = 0; k < 3; ++k) d[k] = r[k] + s * u[k] - t * v[k];
    const lanes square = dot(d, d);
    *least = LEAST(square, *least);
}

/* The same to that of a point from the plane of a triangle, where its foot is inside. */
INLINE void of_plane(const lanes corner[3][3], const lanes edge[3][3], const lanes normal[3],
                     const lanes p[3], lanes *least)
{
    lanes height = 0 * *least;
    bits outside = {0};
    for (int l = 0; l < 3; ++l) {
        const lanes r[3] = {p[0] - corner[l][0], p[1] - corner[l][1], p[2] - corner[l][2]};
        const lanes across[3] = {edge[l][1] * r[2] - edge[l][2] * r[1],
                                 edge[l][2] * r[0] - edge[l][0] * r[2],
                                 edge[l][0] * r[1] - edge[l][1] * r[0]};
        outside |= dot(normal, across) < 0;
        if (l == 0) height = dot(normal, r);
    }
    const lanes square = CHOOSE(outside, *least, height * height);
    *least = LEAST(square, *least);
}

static void distances(const double *x, const double *y, double *out)
{
    lanes corner[2][3][3], edge[2][3][3], normal[2][3];
    for (int side = 0; side < 2; ++side) {
        const lanes *from = (const lanes *)(const void *)(side ? y : x);
        for (int e = 0; e < 9; ++e) {
            corner[side][e / 3][e % 3] = from[e];
            edge[side][e / 3][e % 3] = from[(e + 3) % 9] - from[e];
        }
        for (int c = 0; c < 3; ++c) normal[side][c] = from[9 + c];
    }
    lanes least = 0 * normal[0][0] + 1e300;
    for (int e = 0; e < 9; ++e)
        of_segments(corner[0][e / 3], edge[0][e / 3], corner[1][e % 3], edge[1][e % 3], &least);
    for (int e = 0; e < 6; ++e)
        of_plane(corner[e / 3], edge[e / 3], normal[e / 3], corner[1 - e / 3][e % 3], &least);
    for (int lane = 0; lane < PS_HBEM_LANES_F64; ++lane) out[lane] = sqrt(least[lane]);
}

const struct ps_hbem_distance_functions PS_ISA_TABLE(ps_hbem_distance) = {.distances = distances};
