/*
 * cut: where the outer rule needs more points, because the surface comes close to itself.
 *
 * On two sheets close together (thin wings, sharp trailing edges) and on slivers the contributions
 * of neighbours nearly cancel, and errors of the outer rule that are harmless elsewhere exceed what
 * is left: the matrices lose passivity and the march grows. The triangles concerned are cut into
 * parts for all their pairs alike: a finer rule for the close pairs only makes it worse, because
 * then the errors of a triangle's pairs no longer cancel (specs/tdbem_assembly.md has the numbers).
 */
#ifndef PS_KERNELS_TDBEM_CUT_H
#define PS_KERNELS_TDBEM_CUT_H

#include "kernels/tdbem/geometry.h"

/* Distance from a point to a triangle, m. */
double ps_triangle_distance(const ps_triangle *triangle, const double x[3]);

/*
 * Sets `cut` of all triangles of a surface. With L the longest edge of T and g the least distance
 * from its centroid to any other triangle, or a third of its least height (the distance to a plane
 * neighbour) if that is less:
 *     cut = 1 where g >= L/20,  2 where L/20 > g >= L/100,  3 below.
 * Depends on the whole surface, so triangles[count] must be all of it; not on c, dt or the order of
 * triangles. order[count] is scratch. Local; OpenMP threads, whose number does not matter. A
 * triangle looks at those whose bounding spheres may reach it in x: about count^1.5 steps.
 */
void ps_triangles_set_cut(ps_triangle *triangles, int64_t count, int32_t *order);

#endif
