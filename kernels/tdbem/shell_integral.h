/*
 * shell_integral: integrals over a flat triangle T of powers of the distance r = |x - y| to a
 * point x, cut by shells l D <= r < (l+1) D, exactly:
 *
 *     J_p = int_T [shell l] r^p dy, p = -1, 0, 1;   G_a = int_T [shell l] phi_a(y) / r dy
 *     F_a = int_T [shell l] phi_a(y) (x - y).n / r^3 dy
 *
 * (phi_a: hat of vertex a, n the normal of T.) No quadrature, no case table, any position of x:
 * inside T, on an edge, on a vertex, in its plane, far away. The method is that of
 * specs/tdbem_assembly.md: boundary integrals over the parts of the edges that lie inside the
 * sphere r < R, for each R = l D.
 *
 * PS_LANES pairs (point, triangle) are treated at a time, one per vector lane; lanes share
 * nothing but the number of radii walked, and a lane's result does not depend on the others.
 */
#ifndef PS_KERNELS_TDBEM_SHELL_INTEGRAL_H
#define PS_KERNELS_TDBEM_SHELL_INTEGRAL_H

#include <stdint.h>

#include "kernels/tdbem/geometry.h"
#include "runtime/isa.h"

#ifdef __CUDACC__
enum { PS_LANES = 1 }; /* a thread is a lane */
#else
enum { PS_LANES = 8 };
#endif

/* Points and triangles, lane by lane. All lanes must be filled: repeat one where there are
 * fewer pairs. */
typedef struct ps_shell_lanes {
    double point[3][PS_LANES];
    double vertex[3][3][PS_LANES];
    double normal[3][PS_LANES];
    double tangent[3][3][PS_LANES];
    double length[3][PS_LANES];
    double twice_area[PS_LANES]; /* used by `hats` alone */
} __attribute__((aligned(64))) ps_shell_lanes;

/* Results: lane c has shells first[c] .. first[c] + count[c] - 1, those that T reaches as seen
 * from the point; value i of lane c is that of shell first[c] + i. Values beyond a lane's count,
 * up to the return value of the function, are 0 to rounding. Arrays are the caller's,
 * [capacity][PS_LANES], 64-byte aligned. */
typedef struct ps_shell_values {
    int64_t capacity;
    int64_t first[PS_LANES], count[PS_LANES];
    double (*inverse)[PS_LANES];  /* J_{-1}, m                                              */
    double (*one)[PS_LANES];      /* J_0, m^2; hats only                                    */
    double (*distance)[PS_LANES]; /* J_1, m^3; hats only                                    */
    double (*hat[3])[PS_LANES];   /* G_a, m; hats only                                      */
    double (*flux[3])[PS_LANES];  /* F_a, 1; flux only: of a point in the plane of T what the
                                     sign of a distance of 0 makes of it                    */
} ps_shell_values;

/* Both return the largest count of the lanes; if that is above capacity, only the first
 * `capacity` shells are set. Reentrant. */
typedef struct ps_shell_functions {
    int64_t (*soft)(const ps_shell_lanes *lanes, double shell, ps_shell_values *out); /* J_{-1}  */
    int64_t (*hats)(const ps_shell_lanes *lanes, double shell, ps_shell_values *out); /* but F_a */
    int64_t (*flux)(const ps_shell_lanes *lanes, double shell, ps_shell_values *out); /* all     */
} ps_shell_functions;

/* The functions for this machine's instruction set (PENSTOCK_ISA overrides). */
const ps_shell_functions *ps_shell_functions_here(void);

/* Those of a given instruction set; NULL if it was not compiled in or this machine lacks it. */
const ps_shell_functions *ps_shell_functions_of(ps_isa isa);

/* Puts a pair into lane `lane`. */
static inline void ps_shell_lanes_set(ps_shell_lanes *lanes, int lane, const double point[3],
                                      const ps_triangle *triangle)
{
    for (int c = 0; c < 3; ++c) {
        lanes->point[c][lane] = point[c];
        lanes->normal[c][lane] = triangle->normal[c];
        lanes->length[c][lane] = triangle->length[c];
    }
    for (int e = 0; e < 3; ++e)
        for (int c = 0; c < 3; ++c) {
            lanes->vertex[e][c][lane] = triangle->vertex[e][c];
            lanes->tangent[e][c][lane] = triangle->tangent[e][c];
        }
    lanes->twice_area[lane] = 2 * triangle->area;
}

/* Upper bound of the number of shells of width D that a triangle with bounding sphere of this
 * radius can reach. */
static inline int64_t ps_shell_bound(double radius, double shell)
{
    return (int64_t)(2 * radius / shell) + 3;
}

/* What the algorithm costs, for ceilings: operations per edge and radius that is cut. */
enum { PS_SHELL_SOFT_FLOPS = 150, PS_SHELL_HATS_FLOPS = 190 };

#endif
