/*
 * sar: power that phasors of a field leave in elements, and that flows out of the mesh.
 *
 * E(t) = Re(E^ e^{iwt}), peak values, so that means over a period are halves:
 *   absorbed power of an element  P = 1/2 sigma int |E^|^2 = 1/2 sigma |det| sum_c E^_c^H M^ E^_c,
 *   SAR = P/(rho V), sigma |E^|^2/(2 rho) at a point (guide, section 2),
 *   outflow through faces  1/2 Re int (E^ x H^*) . n dA,
 *   through absorbing ones that nothing comes in by  1/4 int (|n x E^|^2/Z + Z |n x H^|^2) dA,
 *     which is what leaves the discrete field (energy.h); equal if E^, H^ are outgoing exactly.
 * E in V/m, H in A/m, sigma in S/m, rho in kg/m3. In double; the rows' values are fp32.
 */
#ifndef PS_KERNELS_DGTD_SAR_H
#define PS_KERNELS_DGTD_SAR_H

#include "kernels/dgtd/lattice.h"

/* Mean over the element, and largest value at its nodes, of |E^|^2: mean[rows], most[rows]. */
void ps_dgtd_mean_squares(const ps_dgtd_reference *reference, const ps_dgtd_rows *rows,
                          double *mean, double *most);

/* Volumes of all tetrahedra, m3. */
void ps_dgtd_volumes(const ps_dgtd_tets *mesh, double *volumes);

/* What is known of the surface of a mesh. */
typedef struct ps_dgtd_surface {
    const int32_t *links;    /* [mesh count][4]: faces with < 0 are open                      */
    const uint8_t *kinds;    /* [rows][4] ps_dgtd_face; NULL: not known                       */
    const double *impedance; /* [rows] ohm, sqrt(mu/eps) of the element; with kinds           */
} ps_dgtd_surface;

/* Power out of an element through one of its faces of a kind (ps_dgtd_face), W: 0 through PEC and
 * PMC, the absorbing form through absorbing ones (impedance, ohm, counts there alone), E^ x H^* of
 * the element's own traces through all others. electric, magnetic: [6][nodes] of the element. */
double ps_dgtd_face_power(const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                          int64_t tetrahedron, int face, int kind, double impedance,
                          const float *electric, const float *magnetic);

/* Outflow of each row through its open faces, W: out[rows]. Where kinds are known, nothing flows
 * through faces of PEC and PMC, and through absorbing ones only outwards; else E^ x H^* counts
 * everywhere. The tetrahedra's vertices must ascend, as links and kinds number the faces of such.
 */
void ps_dgtd_outflow(const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                     const ps_dgtd_surface *surface, const ps_dgtd_rows *electric,
                     const float *magnetic, double *out);

#endif
