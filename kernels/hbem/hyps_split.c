#include "kernels/hbem/hyps_split.h"

#include <string.h>

/* The 3 x 3 block of a triangle: block[l'][l]. */
static void block_of(const ps_hbem_split_factor *f, const ps_hbem_triangle *t, double block[3][3])
{
    double curl[3];
    memset(block, 0, 9 * sizeof(double));
    for (int l = 0; l < 3; ++l) {
        ps_hbem_curl(t, l, curl);
        if (f->split == PS_SPLIT_NORMAL) block[l][l] = t->normal[f->axis];
        for (int k = 0; k < 3 && f->split == PS_SPLIT_CURL; ++k)
            block[k][l] = curl[f->axis] / t->jacobian;
    }
}

void ps_hbem_split_apply(const ps_hbem_split_factor *factor, const double *x, double *y)
{
    const ps_hbem_surface *surface = factor->p1->surface;
    double block[3][3];
    memset(y, 0, (size_t)factor->dp1->dofs * sizeof *y);
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        block_of(factor, &surface->triangles[t], block);
        for (int e = 0; e < 9; ++e)
            y[factor->dp1->dof_of[3 * t + e / 3]] +=
                block[e / 3][e % 3] * x[factor->p1->dof_of[3 * t + e % 3]];
    }
}

void ps_hbem_split_add_transposed(const ps_hbem_split_factor *factor, double scale, const double *x,
                                  double *y)
{
    const ps_hbem_surface *surface = factor->p1->surface;
    double block[3][3];
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        block_of(factor, &surface->triangles[t], block);
        for (int e = 0; e < 9; ++e)
            y[factor->p1->dof_of[3 * t + e % 3]] +=
                scale * block[e / 3][e % 3] * x[factor->dp1->dof_of[3 * t + e / 3]];
    }
}
