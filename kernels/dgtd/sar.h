/*
 * sar: power that phasors of a field leave in elements, and that flows out of the mesh.
 *
 * E(t) = Re(E^ e^{iwt}), peak values, so that means over a period are halves:
 *   absorbed power of an element  P = 1/2 sigma int |E^|^2 = 1/2 sigma |det| sum_c E^_c^H M^ E^_c,
 *   SAR = P/(rho V), sigma |E^|^2/(2 rho) at a point (guide, section 2),
 *   outflow through faces  1/2 Re int (E^ x H^*) . n dA.
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

/* Outflow of each row, W, through those of its faces that links[count][4] of the mesh call open (<
 * 0): out[rows]. The tetrahedra's vertices must ascend, as links number the faces of such. */
void ps_dgtd_outflow(const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                     const int32_t *links, const ps_dgtd_rows *electric, const float *magnetic,
                     double *out);

#endif
