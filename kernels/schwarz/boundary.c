#include "kernels/schwarz/boundary.h"

#include <math.h>

#include "kernels/schwarz/plane_sum.h"
#include "kernels/schwarz/prism.h"

/* 1/r with the quadrupole of a brick: sum over axes of h^2 (3 x^2 - r^2) / (24 r^5). */
static double expanded(const double centre[3], const double h[3], double square)
{
    double r = sqrt(square), sum = 0;
    for (int a = 0; a < 3; ++a) sum += h[a] * h[a] * (3 * centre[a] * centre[a] - square);
    return h[0] * h[1] * h[2] * (1 + sum / (24 * square * square)) / r;
}

double ps_cell_potential(const double d[3], const double h[3])
{
    static const double origin[3] = {0, 0, 0};
    double centre[3], square = 0, diagonal = 0;
    ps_prism prism = {.density = 1};
    for (int a = 0; a < 3; ++a) {
        centre[a] = d[a] + h[a] / 2;
        square += centre[a] * centre[a];
        diagonal += h[a] * h[a];
        prism.low[a] = d[a];
        prism.high[a] = d[a] + h[a];
    }
    if (square > PS_BOUNDARY_FAR * PS_BOUNDARY_FAR * diagonal) return expanded(centre, h, square);
    return ps_prism_potential(&prism, origin, 1);
}

/* Planes of cells across `axis`; b and c are the other two, c the faster one. */
typedef struct face_sum {
    const ps_q1_grid *grid;
    const int64_t *refine;
    const double *density;
    ps_plane_axes axes;
    int64_t cells[3], stride[3]; /* of the density */
    ps_plane_sum *planes;
} face_sum;

/* Cells i and n-1-i: what is `i` layers from one face is n-1-i layers from the other. */
static void transform_pair(face_sum *f, int64_t i, int slot)
{
    const ps_plane_axes *a = &f->axes;
    const int64_t stride[2] = {f->stride[a->b], f->stride[a->c]};
    int64_t other = f->cells[a->axis] - 1 - i;
    const double *here = f->density + i * f->stride[a->axis];
    const double *there = f->density + other * f->stride[a->axis];
    bool first = ps_plane_sum_density(f->planes, slot, 0, here, stride);
    bool second = ps_plane_sum_density(f->planes, slot, 1, there, stride);
    if (first || second) ps_plane_sum_table(f->planes, slot, a, i, ps_cell_potential);
}

/* Values of a face into u. */
static void put_face(face_sum *f, int face, double factor, double *u)
{
    const int64_t *r = f->refine;
    int64_t n[3], row, size;
    for (int a = 0; a < 3; ++a) n[a] = (f->grid->nodes[a] - 1) / r[a] + 1;
    const int64_t stride[3] = {n[1] * n[2], n[2], 1};
    const double *from = ps_plane_sum_values(f->planes, face, &row, &size);
    double scale = factor / (double)size;
    int axis = f->axes.axis, b = f->axes.b, c = f->axes.c;
    double *to = u + (face ? (n[axis] - 1) * stride[axis] : 0);
    for (int64_t j = 0; j < n[b]; ++j)
        for (int64_t k = 0; k < n[c]; ++k)
            to[j * stride[b] + k * stride[c]] = scale * from[j * r[b] * row + k * r[c]];
}

static ps_status sum_axis(const ps_boundary_model *model, int axis, double factor, double *u)
{
    const ps_q1_grid *grid = &model->cells;
    face_sum f = {.grid = grid, .refine = model->refine, .density = model->density};
    f.axes = (ps_plane_axes){axis, axis == 0 ? 1 : 0, axis == 2 ? 1 : 2, grid->spacing};
    for (int a = 0; a < 3; ++a) f.cells[a] = grid->nodes[a] - 1;
    f.stride[0] = f.cells[1] * f.cells[2], f.stride[1] = f.cells[2], f.stride[2] = 1;
    const int64_t cells[2] = {f.cells[f.axes.b], f.cells[f.axes.c]};
    PS_TRY(ps_plane_sum_open(cells, &f.planes));
    for (int64_t i = 0; i < f.cells[axis]; i += PS_PLANE_SLOTS) {
        int64_t left = f.cells[axis] - i;
        int slots = (int)(left < PS_PLANE_SLOTS ? left : PS_PLANE_SLOTS);
#pragma omp parallel for schedule(dynamic)
        for (int s = 0; s < slots; ++s) transform_pair(&f, i + s, s);
        ps_plane_sum_add(f.planes, slots, 2);
    }
    for (int face = 0; face < 2; ++face) put_face(&f, face, factor, u);
    ps_plane_sum_close(&f.planes);
    return PS_OK;
}

ps_status ps_boundary_potential(const ps_boundary_model *model, double gravity, double *u)
{
    for (int axis = 0; axis < 3; ++axis) {
        ps_status status = sum_axis(model, axis, gravity, u);
        if (status != PS_OK) return ps_context(status, "exact boundary values");
    }
    return PS_OK;
}
