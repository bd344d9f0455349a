/*
 * The passivity certificate: H(theta) of kernels/tdbem/passivity.h, gathered square by square while
 * the slices are assembled, and its least eigenvalue. One rank holds a square of each symmetric
 * pair and uses it in both directions; with more ranks each holds all rows of its own slices.
 * Of the combined field equation, whose matrices are not symmetric, each rank holds all rows of its
 * own slices, real and imaginary parts of A(theta), and makes products with (A + A^H)/2.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/tdbem_assembly/slice_assembly.h"
#include "stage/tdbem_assembly/certificate_device.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

/* Where the outer rule fails first is z = -1, the shortest oscillation that a march can have. */
static const double angles_of[PS_PASSIVITY_ANGLES] = {1, .7, .4, .15}; /* in pi */

struct ps_assembly_certificate {
    ps_formulation formulation;
    int64_t unknowns, side, row_tiles, block_count, first_column, k_max;
    int angles, steps, threads;
    bool one_rank;
    int parts;                 /* real numbers of an entry: 1, or 2 of A */
    double *weights[2];        /* real, imaginary */
    certificate_block *blocks; /* of the units, empty until they are there */
    double *diagonal;          /* of M^0 */
    double *scale, *scaled, *workspace;
    int angle;                    /* of the product */
    ps_assembly_devices *devices; /* borrowed; NULL: none */
    int64_t device_room;          /* bytes that assembling leaves of a device */
    certificate_device *device;   /* that makes products; NULL: cores do */
};

int64_t ps_assembly_certificate_bytes(const ps_assembly_plan *plan, int angles)
{
    const ps_slice_tiling *t = &plan->tiling;
    if (angles == 0) return 0;
    int64_t n = t->unknowns, mine = t->end_slice - t->first_slice;
    int64_t parts = plan->unsymmetric ? 2 : 1;
    int64_t entries = mine == n && parts == 1 ? n * (n + t->tile_rows) / 2 : n * mine;
    return parts * (4 * entries * angles + 24 * n) +
           8 * ps_lanczos_workspace(parts * n, plan->lanczos_steps);
}

ps_status ps_assembly_certificate_open(const ps_retarded_problem *problem,
                                       const ps_assembly_plan *plan, ps_assembly_certificate **out)
{
    *out = NULL;
    if (plan->angles == 0) return PS_OK;
    ps_assembly_certificate *c;
    double theta[PS_PASSIVITY_ANGLES];
    const ps_slice_tiling *t = &plan->tiling;
    PS_TRY(PS_ALLOC(out, 1, "the passivity certificate"));
    c = *out;
    c->formulation = problem->interaction.formulation;
    c->unknowns = t->unknowns;
    c->side = t->tile_rows;
    c->row_tiles = plan->row_tiles;
    c->block_count = plan->units;
    c->first_column = t->first_slice / t->tile_rows;
    c->k_max = ps_interaction_k_bound(&problem->interaction) + 1;
    c->angles = plan->angles;
    c->steps = plan->lanczos_steps;
    c->threads = plan->threads;
    c->parts = plan->unsymmetric ? 2 : 1;
    c->devices = plan->devices;
    c->device_room = plan->devices ? ps_assembly_devices_room(plan->devices, &plan->device) : 0;
    c->one_rank = t->end_slice - t->first_slice == t->unknowns;
    for (int a = 0; a < PS_PASSIVITY_ANGLES; ++a) theta[a] = M_PI * angles_of[a];
    for (int part = 0; part < c->parts; ++part) {
        PS_TRY(PS_ALLOC(&c->weights[part], (c->k_max + 1) * PS_PASSIVITY_ANGLES, "weights"));
        ps_passivity_weights(c->formulation, c->k_max, theta, part == 1, c->weights[part]);
    }
    PS_TRY(PS_ALLOC(&c->blocks, c->block_count, "the passivity certificate"));
    PS_TRY(PS_ALLOC(&c->diagonal, c->unknowns, "the passivity certificate"));
    PS_TRY(PS_ALLOC(&c->scale, c->parts * c->unknowns, "the passivity certificate"));
    return PS_ALLOC(&c->scaled, c->parts * c->unknowns, "the passivity certificate");
}

void ps_assembly_certificate_close(ps_assembly_certificate **out)
{
    ps_assembly_certificate *c = *out;
    *out = NULL;
    if (!c) return;
    certificate_device_close(&c->device);
    for (int64_t b = 0; c->blocks && b < c->block_count; ++b) free(c->blocks[b].values);
    PS_FREE(c->blocks, c->weights[0], c->weights[1], c->diagonal, c->scale, c->scaled, c->workspace,
            c);
}

/* ---- gathering ---- */

/* The real or imaginary parts of a square, at all angles. */
static void fill_part(ps_assembly_certificate *c, const ps_interaction_tile *tile,
                      const double *weights, float *values)
{
    int64_t entries = tile->rows * tile->slices;
    float *out[PS_PASSIVITY_ANGLES];
    for (int a = 0; a < c->angles; ++a) out[a] = values + a * entries;
    const ps_passivity_functions *functions = ps_passivity_functions_here();
    if (tile->singles)
        functions->fill_f32(entries, tile->starts, tile->lengths, tile->singles, weights, c->angles,
                            out);
    else
        functions->fill_f64(entries, tile->starts, tile->lengths, tile->values, weights, c->angles,
                            out);
    for (int64_t e = 0; e < tile->near_count; ++e) {
        int64_t v = (tile->near_columns[e] - tile->first_slice) * tile->rows + tile->near_rows[e] -
                    tile->first_row;
        for (int a = 0; a < c->angles; ++a) out[a][v] += (float)(weights[a] * tile->near_values[e]);
    }
}

ps_status ps_assembly_certificate_add(ps_assembly_certificate *c, int64_t unit,
                                      const ps_interaction_tile *tile)
{
    if (!c) return PS_OK;
    int64_t values = tile->rows * tile->slices * c->angles;
    certificate_block *block = &c->blocks[unit];
    *block =
        (certificate_block){tile->first_row, tile->rows, tile->first_slice, tile->slices, NULL};
    PS_TRY(ps_alloc_untouched((void **)&block->values, 4 * values * c->parts,
                              "the passivity certificate"));
    for (int part = 0; part < c->parts; ++part)
        fill_part(c, tile, c->weights[part], block->values + part * values);
    for (int64_t e = 0; e < tile->near_count; ++e)
        if (tile->near_columns[e] == tile->near_rows[e])
            c->diagonal[tile->near_rows[e]] = tile->near_values[e];
    return PS_OK;
}

/* ---- products ---- */

/* y of the block's rows += H x of its slices. */
static void add_direct(const certificate_block *b, const float *h, const double *x, double *y)
{
    for (int64_t s = 0; s < b->slices; ++s) {
        double factor = x[b->first_slice + s];
        const float *column = h + s * b->rows;
        double *rows = y + b->first_row;
#pragma omp simd
        for (int64_t r = 0; r < b->rows; ++r) rows[r] += (double)column[r] * factor;
    }
}

/* y of the block's slices += H^T x of its rows. */
static void add_transposed(const certificate_block *b, const float *h, const double *x, double *y)
{
    for (int64_t s = 0; s < b->slices; ++s) {
        const float *column = h + s * b->rows;
        const double *rows = x + b->first_row;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t r = 0; r < b->rows; ++r) sum += (double)column[r] * rows[r];
        y[b->first_slice + s] += sum;
    }
}

static const certificate_block *block_of(const ps_assembly_certificate *c, int64_t row_tile,
                                         int64_t column_tile)
{
    return &c->blocks[(column_tile - c->first_column) * c->row_tiles + row_tile];
}

/* A thread owns a part of y: the slices of square column `column`. */
static void multiply_column(const ps_assembly_certificate *c, int64_t column, const double *x,
                            double *y)
{
    for (int64_t row = 0; row < c->row_tiles; ++row) {
        const certificate_block *b = block_of(c, row, column);
        bool mirrored = !b->values && c->one_rank;
        if (mirrored) b = block_of(c, column, row);
        if (!b->values) continue;
        const float *h = b->values + c->angle * b->rows * b->slices;
        if (mirrored)
            add_direct(b, h, x, y);
        else
            add_transposed(b, h, x, y);
    }
}

/* Of a block of A its real and imaginary parts at the angle of the product. */
static const float *parts_of(const ps_assembly_certificate *c, const certificate_block *b,
                             const float **imaginary)
{
    int64_t entries = b->rows * b->slices;
    const float *real = b->values + c->angle * entries;
    *imaginary = real + c->angles * entries;
    return real;
}

/* y of the block's slices += A^H x / 2 of its rows, of one pass over the block; x and y: real
 * parts, imaginary ones `n` further. */
static void add_adjoint(const certificate_block *b, const float *re, const float *im, int64_t n,
                        const double *x, double *y)
{
    const double *xr = x + b->first_row, *xi = xr + n;
    for (int64_t s = 0; s < b->slices; ++s, re += b->rows, im += b->rows) {
        double real = 0, imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
        for (int64_t r = 0; r < b->rows; ++r) {
            double ar = (double)re[r], ai = (double)im[r];
            real += ar * xr[r] + ai * xi[r];
            imaginary += ar * xi[r] - ai * xr[r];
        }
        y[b->first_slice + s] += .5 * real;
        y[b->first_slice + s + n] += .5 * imaginary;
    }
}

/* y of the block's rows += A x / 2 of its slices. */
static void add_forward(const certificate_block *b, const float *re, const float *im, int64_t n,
                        const double *x, double *y)
{
    double *yr = y + b->first_row, *yi = yr + n;
    for (int64_t s = 0; s < b->slices; ++s, re += b->rows, im += b->rows) {
        double real = .5 * x[b->first_slice + s], imaginary = .5 * x[b->first_slice + s + n];
#pragma omp simd
        for (int64_t r = 0; r < b->rows; ++r) {
            double ar = (double)re[r], ai = (double)im[r];
            yr[r] += ar * real - ai * imaginary;
            yi[r] += ar * imaginary + ai * real;
        }
    }
}

/* The same for (A + A^H)/2, x and y real parts, then imaginary ones: A^H to the slices of `column`.
 */
static void multiply_conjugate(const ps_assembly_certificate *c, int64_t column, const double *x,
                               double *y)
{
    for (int64_t row = 0; row < c->row_tiles; ++row) {
        const certificate_block *b = block_of(c, row, column);
        const float *im, *re = parts_of(c, b, &im);
        add_adjoint(b, re, im, c->unknowns, x, y);
    }
}

/* A to the rows of row tile `row`. */
static void multiply_rows(const ps_assembly_certificate *c, int64_t row, const double *x, double *y)
{
    int64_t columns = c->block_count / c->row_tiles;
    for (int64_t column = c->first_column; column < c->first_column + columns; ++column) {
        const certificate_block *b = block_of(c, row, column);
        const float *im, *re = parts_of(c, b, &im);
        add_forward(b, re, im, c->unknowns, x, y);
    }
}

/* y = H x or (A + A^H) x / 2, of this rank's squares. */
static void multiply_here(const ps_assembly_certificate *c, const double *x, double *y)
{
    enum { THREADED = 2048 };
    int64_t columns = c->block_count / c->row_tiles;
    memset(y, 0, (size_t)(c->parts * c->unknowns) * sizeof *y);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) if (c->unknowns > THREADED)
    for (int64_t j = 0; j < columns; ++j) {
        if (c->parts == 1)
            multiply_column(c, c->first_column + j, x, y);
        else
            multiply_conjugate(c, c->first_column + j, x, y);
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) if (c->unknowns > THREADED)
    for (int64_t i = 0; i < c->row_tiles; ++i)
        if (c->parts == 2) multiply_rows(c, i, x, y);
}

/* y = D^{-1/2} H D^{-1/2} x. Collective. */
static ps_status multiply(void *context, const double *x, double *y)
{
    ps_assembly_certificate *c = context;
    int64_t n = c->parts * c->unknowns;
    for (int64_t i = 0; i < n; ++i) c->scaled[i] = c->scale[i] * x[i];
    if (c->device)
        PS_TRY(certificate_device_multiply(c->device, c->scaled, y));
    else
        multiply_here(c, c->scaled, y);
    PS_TRY(ps_comm_sum_f64(y, n));
    for (int64_t i = 0; i < n; ++i) y[i] *= c->scale[i];
    return PS_OK;
}

/* ---- the least eigenvalue ---- */

/* D^{-1/2} of kernels/tdbem/passivity.h: what one unknown's own M^0 makes of g. It is there for
 * every unknown, of which each rank has its own. */
static void set_scale(ps_assembly_certificate *c)
{
    double factor = ps_passivity_factor(c->formulation, M_PI * angles_of[c->angle]);
    for (int64_t i = 0; i < c->parts * c->unknowns; ++i) {
        double diagonal = c->diagonal[i % c->unknowns];
        c->scale[i] = diagonal > 0 ? 1 / sqrt(factor * diagonal) : 0;
    }
}

static ps_status find_least(ps_assembly_certificate *c, ps_passivity *out)
{
    ps_lanczos_result found;
    set_scale(c);
    if (c->device) PS_TRY(certificate_device_load(c->device, c->angle));
    PS_TRY(ps_lanczos_least(c->parts * c->unknowns, c->scale, c->steps, multiply, c, c->workspace,
                            &found));
    *out = (ps_passivity){.least = found.least,
                          .angle = M_PI * angles_of[c->angle],
                          .unknown = found.largest % c->unknowns,
                          .share = found.share};
    return PS_OK;
}

/* A device makes the products where it has room for the squares of an angle, and this rank has them
 * all. */
static ps_status open_device(ps_assembly_certificate *c)
{
    const certificate_squares squares = {.blocks = c->blocks,
                                         .unknowns = c->unknowns,
                                         .side = c->side,
                                         .tiles = c->row_tiles,
                                         .angles = c->angles,
                                         .parts = c->parts};
    if (!c->devices || !c->one_rank) return PS_OK;
    return certificate_device_open(ps_assembly_devices_host(c->devices), c->device_room, &squares,
                                   &c->device);
}

ps_status ps_assembly_certificate_finish(ps_assembly_certificate *c, ps_passivity *out)
{
    *out = (ps_passivity){.angles = 0};
    if (!c) return PS_OK;
    PS_TRY(ps_comm_agree(PS_ALLOC(
        &c->workspace, ps_lanczos_workspace(c->parts * c->unknowns, c->steps), "Lanczos' method")));
    PS_TRY(ps_comm_sum_f64(c->diagonal, c->unknowns));
    PS_TRY(ps_comm_agree(open_device(c)));
    for (c->angle = 0; c->angle < c->angles; ++c->angle) {
        ps_passivity one;
        PS_TRY(find_least(c, &one));
        if (c->angle == 0 || one.least < out->least) *out = one;
    }
    out->angles = c->angles;
    return PS_OK;
}
