/*
 * vertical: the exact vertical attraction of a density model on the top of its own grid.
 *
 * The cells are prisms of constant density (prism.h), the points are the nodes of the uppermost
 * plane. A layer of cells adds a discrete convolution with the attractions of one cell of that
 * depth (plane_sum.h), so that a map of n nodes costs two FFTs of size 4 n a layer and an
 * evaluation of the closed form a cell. Against direct sums of prisms: 10^-12 of the largest value
 * (tests), the digits that the closed form has. Without FFTW the convolutions are made directly, 2
 * flops a node and cell: a map of 100 x 100 nodes over 30 layers takes 6 Gflop, one of 1000 x 1000
 * ten thousand times that.
 */
#ifndef PS_KERNELS_SCHWARZ_VERTICAL_H
#define PS_KERNELS_SCHWARZ_VERTICAL_H

#include "kernels/schwarz/grid.h"

struct ps_plane_sum;
typedef struct ps_vertical_sum {
    ps_q1_grid cells; /* m */
    struct ps_plane_sum *planes;
    double *table, *sums; /* [cx][cy], [nx][ny]: without FFTW */
} ps_vertical_sum;

bool ps_vertical_by_fft(void); /* whether this was built with FFTW */

/* Bytes that a sum allocates, and doubles that the caller brings. */
int64_t ps_vertical_bytes(const ps_q1_grid *cells, bool fft);
int64_t ps_vertical_workspace(const ps_q1_grid *cells, bool fft);

/* Begins with nothing. workspace: ps_vertical_workspace doubles, kept. PS_EXHAUSTED. */
ps_status ps_vertical_open(const ps_q1_grid *cells, bool fft, double *workspace,
                           ps_vertical_sum *out);
/* Adds layers [first, first + count), density[count][cx][cy] in kg/m3, x first. Bits depend
 * neither on threads (OpenMP inside) nor on how many layers come at a time. */
void ps_vertical_add(ps_vertical_sum *sum, int64_t first, int64_t count, const double *density);
/* g_z in m/s2 at every refine-th node of the top, out[(nx-1)/refine[0]+1][(ny-1)/refine[1]+1]; to
 * be called once. */
void ps_vertical_values(ps_vertical_sum *sum, double gravity, const int64_t refine[2], double *out);
void ps_vertical_close(ps_vertical_sum *sum);

#endif
