/*
 * surface: the closed surface from which penstock-dgtd-far radiates, and the medium that it
 * radiates into.
 *
 * Some tetrahedra are inside (--around, or all); metal that was left out of the mesh, a hole, is
 * inside if one of its faces belongs to such a tetrahedron. The surface is the boundary of both
 * together: faces between a tetrahedron inside and one outside, faces of the outer boundary, and
 * faces of holes inside that belong to tetrahedra outside. A hole among tetrahedra inside has no
 * face on it: what flows on the metal radiates through the surface around it, and would be taken
 * away again by the metal's own faces. A sheet of metal on the surface counts with the fields of
 * its outer side.
 */
#ifndef PS_DGTD_FAR_SURFACE_H
#define PS_DGTD_FAR_SURFACE_H

#include "formats/phasors.h"
#include "kernels/dgtd/lattice.h"
#include "runtime/program.h"

/* What a surface is made from; borrowed. */
typedef struct far_body {
    ps_dgtd_tets tets;
    const int32_t *links;  /* [tetrahedra][4]                        */
    const uint8_t *inside; /* [tetrahedra]                           */
    const int32_t *row_of; /* [tetrahedra] -1: not in the phasors    */
    const int32_t *number; /* [rows]                                 */
    const int32_t *medium; /* [rows]                                 */
    const uint8_t *kinds;  /* [rows][4]; NULL: not known             */
    const ps_phasors_header *header;
} far_body;

/* Faces of the surface, by the rows that they belong to. */
typedef struct far_surface {
    int64_t count;
    int64_t *faces;  /* [count]: 4 * row + face, ascending          */
    int8_t *outward; /* [count]                                     */
    double *weight;  /* [count]                                     */
    double area;     /* m2                                          */
    int64_t holes;   /* of metal inside the surface                 */
    double eps, mu;  /* of the background, relative                 */
} far_surface;

/* PS_INVALID if fields of the surface are not in the phasors, if part of it is metal or symmetry
 * with nothing behind, or if it does not lie in one lossless medium; what scatters outside of it is
 * refused by the name "outside". */
ps_status far_surface_make(const ps_run *run, const far_body *body, far_surface *out);
/* Power out through faces [first, last) of the surface, W: in fields of rows from `row` on, values
 * [rows][6][nodes]; of an inner face the mean of what both sides' traces have. */
double far_surface_flow(const far_surface *surface, const far_body *body,
                        const ps_dgtd_reference *reference, int64_t first, int64_t last,
                        int64_t row, const float *electric, const float *magnetic);
/* The largest distance of corners of the surface's elements from the origin, m. */
double far_surface_reach(const far_surface *surface, const far_body *body);
void far_surface_release(far_surface *surface);

#endif
