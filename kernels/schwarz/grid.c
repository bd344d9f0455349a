#include "kernels/schwarz/grid.h"

#include <math.h>

ps_status ps_q1_grid_make(const int64_t nodes[3], const double length[3], ps_q1_grid *out)
{
    for (int a = 0; a < 3; ++a) {
        int64_t least = a == 0 ? 2 : 3;
        if (nodes[a] < least)
            return ps_fail(PS_USAGE, "a grid needs at least %d nodes along %c, not %lld",
                           (int)least, "xyz"[a], (long long)nodes[a]);
        if (!(length[a] > 0) || !isfinite(length[a]))
            return ps_fail(PS_USAGE, "a grid cannot be %g long along %c", length[a], "xyz"[a]);
        out->nodes[a] = nodes[a];
        out->spacing[a] = length[a] / (double)(nodes[a] - 1);
    }
    out->lumped = 0;
    return PS_OK;
}

int64_t ps_q1_grid_size(const ps_q1_grid *grid)
{
    return grid->nodes[0] * grid->nodes[1] * grid->nodes[2];
}

ps_slab ps_slab_whole(const ps_q1_grid *grid) { return (ps_slab){.grid = *grid}; }

/* ---- weights ---- */

typedef struct line_weights {
    double stiffness[2], mass[2]; /* of the distances 0 and 1 */
} line_weights;

static line_weights line_of(const ps_q1_grid *grid, int axis)
{
    double h = grid->spacing[axis];
    return (line_weights){{2 / h, -1 / h},
                          {ps_mass_here(h, grid->lumped), ps_mass_beside(h, grid->lumped)}};
}

void ps_face_weights(const ps_q1_grid *grid, double p, double q, double weights[2][2])
{
    line_weights y = line_of(grid, 1), z = line_of(grid, 2);
    for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 2; ++c)
            weights[b][c] = p * y.mass[b] * z.mass[c] +
                            q * (y.stiffness[b] * z.mass[c] + y.mass[b] * z.stiffness[c]);
}

void ps_slab_stencil_make(const ps_slab *slab, ps_slab_stencil *out)
{
    const ps_q1_grid *grid = &slab->grid;
    line_weights x = line_of(grid, 0);
    for (int a = 0; a < 3; ++a) out->nodes[a] = grid->nodes[a];
    ps_face_weights(grid, x.stiffness[0], x.mass[0], out->plane[0]);
    ps_face_weights(grid, x.stiffness[1], x.mass[1], out->side);
    for (int s = 0; s < 2; ++s) {
        out->free[s] = slab->free[s];
        ps_face_weights(grid, x.stiffness[0] / 2 + slab->p[s], x.mass[0] / 2 + slab->q[s],
                        out->plane[1 + s]);
    }
}

/* ---- operators ---- */

static int plane_kind(const ps_slab_stencil *s, int64_t i)
{
    return i == 0 ? 1 : i == s->nodes[0] - 1 ? 2 : 0;
}

void ps_face_apply(const ps_q1_grid *grid, const double weights[2][2], const double *in,
                   double *out)
{
    int64_t ny = grid->nodes[1], nz = grid->nodes[2];
    for (int64_t j = 0; j < ny; ++j)
        for (int64_t k = 0; k < nz; ++k) {
            double sum = 0;
            if (j > 0 && j < ny - 1 && k > 0 && k < nz - 1)
                for (int dj = j == 1 ? 0 : -1; dj <= (j == ny - 2 ? 0 : 1); ++dj)
                    for (int dk = k == 1 ? 0 : -1; dk <= (k == nz - 2 ? 0 : 1); ++dk)
                        sum += weights[dj != 0][dk != 0] * in[(j + dj) * nz + k + dk];
            out[j * nz + k] = sum;
        }
}

/* Pairs of neighbours, oneself among them, in a line of n. */
static int64_t pairs(int64_t n) { return n > 0 ? 3 * n - 2 : 0; }

static int64_t open_planes(const ps_slab_stencil *s)
{
    return s->nodes[0] - !s->free[0] - !s->free[1];
}

static int64_t stencil_entries(const ps_slab_stencil *s)
{
    int64_t a = open_planes(s), b = s->nodes[1] - 2, c = s->nodes[2] - 2;
    return pairs(a) * pairs(b) * pairs(c) + s->nodes[0] * s->nodes[1] * s->nodes[2] - a * b * c;
}

/* The unfixed neighbours of (i, j, k), columns ascending; returns their number. Fills nothing
 * where columns is NULL. */
static int64_t gather_row(const ps_slab_stencil *s, const int64_t at[3], int32_t *columns,
                          double *values)
{
    int64_t ny = s->nodes[1], nz = s->nodes[2], count = 0;
    for (int64_t i = at[0] - 1; i <= at[0] + 1; ++i)
        for (int64_t j = at[1] - 1; j <= at[1] + 1; ++j)
            for (int64_t k = at[2] - 1; k <= at[2] + 1; ++k) {
                if (i < 0 || i >= s->nodes[0] || ps_stencil_fixed(s, i, j, k)) continue;
                if (columns) {
                    const double(*w)[2] = i == at[0] ? s->plane[plane_kind(s, i)] : s->side;
                    columns[count] = (int32_t)((i * ny + j) * nz + k);
                    values[count] = w[j != at[1]][k != at[2]];
                }
                ++count;
            }
    return count;
}

int64_t ps_stencil_row(const ps_slab_stencil *s, int64_t row, int32_t *columns, double *values)
{
    int64_t ny = s->nodes[1], nz = s->nodes[2];
    int64_t at[3] = {row / (ny * nz), row / nz % ny, row % nz};
    if (!ps_stencil_fixed(s, at[0], at[1], at[2])) return gather_row(s, at, columns, values);
    if (columns) {
        columns[0] = (int32_t)row;
        values[0] = 1;
    }
    return 1;
}

static ps_status init_matrix(int64_t rows, int64_t entries, ps_csr *matrix)
{
    if (rows > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "a matrix of %lld rows: columns are of 32 bits; use slabs",
                       (long long)rows);
    return ps_csr_init(matrix, rows, entries);
}

ps_status ps_stencil_assemble(const ps_slab_stencil *s, ps_csr *matrix)
{
    int64_t rows = ps_stencil_rows(s);
    PS_TRY(init_matrix(rows, stencil_entries(s), matrix));
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; ++r) matrix->row_start[r + 1] = ps_stencil_row(s, r, NULL, NULL);
    matrix->row_start[0] = 0;
    for (int64_t r = 0; r < rows; ++r) matrix->row_start[r + 1] += matrix->row_start[r];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; ++r)
        ps_stencil_row(s, r, matrix->columns + matrix->row_start[r],
                 matrix->values + matrix->row_start[r]);
    return PS_OK;
}

void ps_unit_load(const ps_q1_grid *grid, const ps_slab_stencil *s, double *b)
{
    int64_t ny = s->nodes[1], nz = s->nodes[2];
    double volume = grid->spacing[0] * grid->spacing[1] * grid->spacing[2];
    for (int64_t r = 0; r < ps_stencil_rows(s); ++r)
        b[r] = ps_stencil_fixed(s, r / (ny * nz), r / nz % ny, r % nz) ? 0 : volume;
}

ps_status ps_face_assemble(const ps_q1_grid *grid, double p, double q, ps_csr *matrix)
{
    int64_t ny = grid->nodes[1], nz = grid->nodes[2];
    PS_TRY(init_matrix(ny * nz, pairs(ny - 2) * pairs(nz - 2), matrix));
    /* A face is a slab of one plane that is free. */
    ps_slab_stencil s = {.nodes = {1, ny, nz}, .free = {true, true}};
    ps_face_weights(grid, p, q, s.plane[1]);
    int64_t at = 0;
    for (int64_t r = 0; r < ny * nz; ++r) {
        int64_t node[3] = {0, r / nz, r % nz};
        matrix->row_start[r] = at;
        if (!ps_stencil_fixed(&s, 0, node[1], node[2]))
            at += gather_row(&s, node, matrix->columns + at, matrix->values + at);
    }
    matrix->row_start[ny * nz] = at;
    return PS_OK;
}

/* ---- figures ---- */

static ps_row_figures figures_of(int64_t rows, int64_t entries, double squares, int64_t longest)
{
    double mean = (double)entries / (double)rows;
    return (ps_row_figures){rows, entries, longest, mean,
                            sqrt(fmax(squares / (double)rows - mean * mean, 0))};
}

ps_row_figures ps_csr_row_figures(const ps_csr *matrix)
{
    int64_t squares = 0, longest = 0;
    for (int64_t r = 0; r < matrix->rows; ++r) {
        int64_t length = matrix->row_start[r + 1] - matrix->row_start[r];
        squares += length * length;
        if (length > longest) longest = length;
    }
    return figures_of(matrix->rows, matrix->nnz, (double)squares, longest);
}

/* Sum of squared numbers of neighbours in a line of n: ends have 2, the others 3. */
static int64_t squares_in_line(int64_t n) { return n > 1 ? 9 * n - 10 : n; }

static int64_t longest_in_line(int64_t n) { return n > 2 ? 3 : n; }

ps_row_figures ps_q1_grid_row_figures(const ps_q1_grid *grid)
{
    ps_slab slab = ps_slab_whole(grid);
    ps_slab_stencil stencil;
    ps_slab_stencil_make(&slab, &stencil);
    int64_t squares = 1, inside = 1, longest = 1;
    for (int a = 0; a < 3; ++a) {
        squares *= squares_in_line(grid->nodes[a] - 2);
        longest *= longest_in_line(grid->nodes[a] - 2);
        inside *= grid->nodes[a] - 2;
    }
    int64_t rows = ps_q1_grid_size(grid);
    squares += rows - inside;
    return figures_of(rows, stencil_entries(&stencil), (double)squares, longest);
}

ps_status ps_gravi_grid(int which, ps_q1_grid *out)
{
    static const int side[PS_GRAVI_MATRICES] = {36, 44, 46, 56, 64,  66,  74, 76,
                                                81, 84, 86, 94, 106, 106, 116};
    static const int tall = 13; /* the second grid of 106 is 118 nodes high */
    if (which < 0 || which >= PS_GRAVI_MATRICES)
        return ps_fail(PS_USAGE, "table 5 has %d matrices; there is no number %d",
                       PS_GRAVI_MATRICES, which);
    int64_t m = side[which], nodes[3] = {m, m, which == tall ? 118 : m + 2};
    return ps_q1_grid_make(nodes, (const double[3]){250, 250, 15}, out);
}
