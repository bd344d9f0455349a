#include "kernels/schwarz/boundary.h"

#include <math.h>
#include <string.h>

#include "kernels/schwarz/prism.h"

#ifdef PS_WITH_FFTW
#include <fftw3.h>
#endif

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

#ifdef PS_WITH_FFTW

enum { BATCH = 4 }; /* pairs of planes at a time, whatever the threads */

/* Planes of cells across `axis`; b and c are the other two, c the faster one. */
typedef struct face_sum {
    const ps_q1_grid *grid;
    const int64_t *refine;
    const double *density;
    int axis, b, c;
    int64_t cells[3], stride[3];              /* of the density */
    int64_t rows, columns, bins;              /* of a transform, real, and of its complex form */
    bool filled[BATCH];                       /* planes that are not empty */
    double *real[BATCH];                      /* [rows][columns] */
    fftw_complex *planes[BATCH][4], *sums[2]; /* density i, density n-1-i, table; face 0 and 1 */
    fftw_plan forward, backward;
} face_sum;

/* The least length >= n with factors 2, 3, 5 alone; even. */
static int64_t good_length(int64_t n)
{
    for (n += n % 2;; n += 2) {
        int64_t rest = n;
        for (int f = 2; f <= 5; f += f == 2 ? 1 : 2)
            while (rest % f == 0) rest /= f;
        if (rest == 1) return n;
    }
}

static void release(face_sum *f)
{
    for (int s = 0; s < BATCH; ++s) {
        fftw_free(f->real[s]);
        for (int k = 0; k < 4; ++k) fftw_free(f->planes[s][k]);
    }
    fftw_free(f->sums[0]);
    fftw_free(f->sums[1]);
    if (f->forward) fftw_destroy_plan(f->forward);
    if (f->backward) fftw_destroy_plan(f->backward);
}

static ps_status prepare(face_sum *f)
{
    bool sound = true;
    f->rows = good_length(2 * f->cells[f->b] + 1);
    f->columns = good_length(2 * f->cells[f->c] + 1);
    f->bins = f->rows * (f->columns / 2 + 1);
    for (int s = 0; s < BATCH; ++s) {
        sound = sound && (f->real[s] = fftw_alloc_real((size_t)(f->rows * f->columns)));
        for (int k = 0; k < 3; ++k)
            sound = sound && (f->planes[s][k] = fftw_alloc_complex((size_t)f->bins));
    }
    for (int k = 0; k < 2; ++k) sound = sound && (f->sums[k] = fftw_alloc_complex((size_t)f->bins));
    if (sound) {
        f->forward = fftw_plan_dft_r2c_2d((int)f->rows, (int)f->columns, f->real[0],
                                          f->planes[0][0], FFTW_ESTIMATE);
        f->backward = fftw_plan_dft_c2r_2d((int)f->rows, (int)f->columns, f->sums[0], f->real[0],
                                           FFTW_ESTIMATE);
    }
    if (sound && f->forward && f->backward) return PS_OK;
    return ps_fail(PS_EXHAUSTED, "no memory for sums over the boundary: %lld bytes",
                   (long long)(BATCH * (8 * f->rows * f->columns + 48 * f->bins)));
}

/* The transform of plane i of the densities; returns whether there is anything. */
static bool transform_density(const face_sum *f, int64_t i, double *real, fftw_complex *out)
{
    bool any = false;
    memset(real, 0, (size_t)(f->rows * f->columns) * sizeof *real);
    const double *from = f->density + i * f->stride[f->axis];
    for (int64_t j = 0; j < f->cells[f->b]; ++j)
        for (int64_t k = 0; k < f->cells[f->c]; ++k) {
            double value = from[j * f->stride[f->b] + k * f->stride[f->c]];
            real[j * f->columns + k] = value;
            any |= value != 0;
        }
    if (any)
        fftw_execute_dft_r2c(f->forward, real, out);
    else
        memset(out, 0, (size_t)f->bins * sizeof *out);
    return any;
}

/* Where the distance of `offset` cells on either side of a node stands: n - c = offset + 1 for a
 * cell before the node, -offset behind it. */
static int64_t wrapped(int64_t n, int64_t length) { return n < 0 ? n + length : n; }

/* The transform of the table for cells `i` layers away from the face. */
static void transform_table(const face_sum *f, int64_t i, double *real, fftw_complex *out)
{
    const double *h = f->grid->spacing;
    memset(real, 0, (size_t)(f->rows * f->columns) * sizeof *real);
    for (int64_t j = 0; j < f->cells[f->b]; ++j)
        for (int64_t k = 0; k < f->cells[f->c]; ++k) {
            double d[3];
            d[f->axis] = (double)i * h[f->axis];
            d[f->b] = (double)j * h[f->b];
            d[f->c] = (double)k * h[f->c];
            double value = ps_cell_potential(d, h);
            int64_t row[2] = {wrapped(-j, f->rows), j + 1};
            int64_t column[2] = {wrapped(-k, f->columns), k + 1};
            for (int s = 0; s < 4; ++s) real[row[s >> 1] * f->columns + column[s & 1]] = value;
        }
    fftw_execute_dft_r2c(f->forward, real, out);
}

/* Cells i and n-1-i: what is `i` layers from one face is n-1-i layers from the other. */
static void transform_pair(face_sum *f, int64_t i, int slot)
{
    int64_t other = f->cells[f->axis] - 1 - i;
    bool first = transform_density(f, i, f->real[slot], f->planes[slot][0]);
    bool second = transform_density(f, other, f->real[slot], f->planes[slot][1]);
    f->filled[slot] = first || second;
    if (f->filled[slot]) transform_table(f, i, f->real[slot], f->planes[slot][2]);
}

static void add_products(const face_sum *f, int slots)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < f->bins; ++m)
        for (int s = 0; s < slots; ++s) {
            if (!f->filled[s]) continue;
            const double *t = f->planes[s][2][m];
            for (int face = 0; face < 2; ++face) {
                const double *d = f->planes[s][face][m];
                f->sums[face][m][0] += t[0] * d[0] - t[1] * d[1];
                f->sums[face][m][1] += t[0] * d[1] + t[1] * d[0];
            }
        }
}

/* Values of a face into u. */
static void put_face(face_sum *f, int face, double factor, double *u)
{
    const int64_t *r = f->refine;
    int64_t n[3];
    for (int a = 0; a < 3; ++a) n[a] = (f->grid->nodes[a] - 1) / r[a] + 1;
    const int64_t stride[3] = {n[1] * n[2], n[2], 1};
    double *from = f->real[0], scale = factor / (double)(f->rows * f->columns);
    fftw_execute_dft_c2r(f->backward, f->sums[face], from);
    double *to = u + (face ? (n[f->axis] - 1) * stride[f->axis] : 0);
    for (int64_t j = 0; j < n[f->b]; ++j)
        for (int64_t k = 0; k < n[f->c]; ++k)
            to[j * stride[f->b] + k * stride[f->c]] =
                scale * from[j * r[f->b] * f->columns + k * r[f->c]];
}

static ps_status sum_axis(const ps_boundary_model *model, int axis, double factor, double *u)
{
    const ps_q1_grid *grid = &model->cells;
    face_sum f = {.grid = grid, .refine = model->refine, .density = model->density, .axis = axis};
    f.b = axis == 0 ? 1 : 0;
    f.c = axis == 2 ? 1 : 2;
    for (int a = 0; a < 3; ++a) f.cells[a] = grid->nodes[a] - 1;
    f.stride[0] = f.cells[1] * f.cells[2], f.stride[1] = f.cells[2], f.stride[2] = 1;
    ps_status status = prepare(&f);
    for (int k = 0; k < 2 && status == PS_OK; ++k)
        memset(f.sums[k], 0, (size_t)f.bins * sizeof *f.sums[k]);
    for (int64_t i = 0; status == PS_OK && i < f.cells[axis]; i += BATCH) {
        int slots = (int)(f.cells[axis] - i < BATCH ? f.cells[axis] - i : BATCH);
#pragma omp parallel for schedule(dynamic)
        for (int s = 0; s < slots; ++s) transform_pair(&f, i + s, s);
        add_products(&f, slots);
    }
    for (int face = 0; face < 2 && status == PS_OK; ++face) put_face(&f, face, factor, u);
    release(&f);
    return status;
}

ps_status ps_boundary_potential(const ps_boundary_model *model, double gravity, double *u)
{
    for (int axis = 0; axis < 3; ++axis) PS_TRY(sum_axis(model, axis, gravity, u));
    return PS_OK;
}

#else

ps_status ps_boundary_potential(const ps_boundary_model *model, double gravity, double *u)
{
    return ps_fail(PS_FAILED, "exact boundary values need FFTW, without which this was built");
}

#endif
