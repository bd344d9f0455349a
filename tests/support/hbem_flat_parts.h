/*
 * hbem_flat_parts: far blocks of flat parts, of which most rows do not see what a few do, in many
 * orders of the rows (numerics guide hbem, pitfalls): the check of crosses must find those few.
 *
 * A *piece* is a list of triangles: rows, then columns. A body has one copy of it after the other
 * at the same place, each with its rows in another order; a copy is one far leaf, its functions
 * those of P0, and the tree halves the list of copies, and the rows and columns of each.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_FLAT_PARTS_H
#define PS_TESTS_SUPPORT_HBEM_FLAT_PARTS_H

#include "kernels/hbem/strata.h"
#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

enum { HBEM_PIECE_MAX = 2048, HBEM_PIECE_LEAF = 32 };

typedef struct hbem_piece {
    int64_t rows, columns;
    double corner[HBEM_PIECE_MAX][3][3];
} hbem_piece;

typedef struct hbem_flat_parts {
    const hbem_piece *piece;
    int64_t copies;
    int32_t *row_of; /* [copies][rows] row of the piece */
    hbem_case body;
    ps_cluster_tree tree;
    int32_t *plane, *stratum;
    ps_hmatrix_leaf *leaves; /* [copies] */
} hbem_flat_parts;

/* ---- pieces ---- */

/* Triangles o, o + u, o + v and o + u + v, o + v, o + u. */
static inline void hbem_piece_square(hbem_piece *piece, int64_t *count, const double o[3],
                                     const double u[3], const double v[3])
{
    for (int half = 0; half < 2; ++half, ++*count)
        for (int l = 0; l < 3; ++l)
            for (int c = 0; c < 3; ++c)
                piece->corner[*count][l][c] = half == 0 ? o[c] + (l == 1) * u[c] + (l == 2) * v[c]
                                                        : o[c] + (l != 1) * u[c] + (l != 2) * v[c];
}

/* 150 rows by 120 columns of two planes: a floor, of which half of the columns and all rows are but
 * for `hidden` of them, and a ramp. A double layer between triangles of one plane is 0, so the rows
 * of the floor see the ramp alone and those of the ramp the floor alone; the normals of both are of
 * one group. */
static inline void hbem_piece_hidden(hbem_piece *piece, int hidden)
{
    const double x[3] = {.1, 0, 0}, y[3] = {0, .1, 0}, up[3] = {.1, 0, .05};
    int64_t count = 0;
    piece->rows = 150;
    piece->columns = 120;
    for (int s = 0; s < 75; ++s)
        hbem_piece_square(piece, &count, (const double[3]){.1 * (s % 15), .1 * (s / 15), 0}, x, y);
    for (int s = 0; s < 60; ++s) {
        const double at[3] = {3 + .1 * (s % 6), .1 * (s / 6 % 5), s < 30 ? 0 : 1.5 + .05 * (s % 6)};
        hbem_piece_square(piece, &count, at, s < 30 ? x : up, y);
    }
    for (int t = 0; t < hidden; ++t)
        for (int l = 0; l < 3; ++l) {
            double *at = piece->corner[150 / hidden * t][l];
            at[2] = at[0] / 2;
        }
}

/* Rows of one plane, 38 in a strip and 6 in the next one, by columns of another plane: long
 * triangles at the edge of a box. Rows of a strip are of low rank and say nothing of the other. */
static inline void hbem_piece_strips(hbem_piece *piece)
{
    const double along[3] = {.3636, 0, 0}, up[3] = {0, 0, .0227}, in[3] = {0, .0227, 0};
    int64_t count = 0;
    piece->rows = 44;
    piece->columns = 44;
    for (int s = 0; s < 22; ++s)
        hbem_piece_square(piece, &count,
                          (const double[3]){s < 19 ? .3636 : .7272, 1, .52 + .0227 * (s % 19)},
                          along, up);
    for (int s = 0; s < 22; ++s)
        hbem_piece_square(piece, &count, (const double[3]){0, .0227 * s, 0}, in, along);
}

/* Squares of x <= 2 are rows, those of x >= 4 are columns. */
static inline void hbem_stairs_square(hbem_piece *piece, int64_t *count, bool columns,
                                      const double o[3], const double u[3], const double v[3])
{
    double high = o[0] + u[0] + v[0];
    if (columns ? o[0] >= 4 : high <= 2) hbem_piece_square(piece, count, o, u, v);
}

static inline int hbem_stairs_height(int i, int j, int side)
{
    return i >= 0 && j >= 0 && i < side && j < side ? i + j + 1 : 0;
}

/* Blocks of stairs of side x side columns of heights 1 .. 2 side - 1, as `ugly-meshes terrace`
 * makes them: many coplanar and parallel faces. */
static inline void hbem_piece_stairs(hbem_piece *piece, int side)
{
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    int64_t count = 0;
    for (int columns = 0; columns < 2; ++columns) {
        for (int e = 0; e < side * side; ++e) {
            int i = e / side, j = e % side, top = hbem_stairs_height(i, j, side);
            hbem_stairs_square(piece, &count, columns, (const double[3]){i, j, 0}, y, x);
            hbem_stairs_square(piece, &count, columns, (const double[3]){i, j, top}, x, y);
            for (int h = 0; h < top; ++h) {
                if (h >= hbem_stairs_height(i - 1, j, side))
                    hbem_stairs_square(piece, &count, columns, (const double[3]){i, j, h}, z, y);
                if (h >= hbem_stairs_height(i + 1, j, side))
                    hbem_stairs_square(piece, &count, columns, (const double[3]){i + 1, j, h}, y,
                                       z);
                if (h >= hbem_stairs_height(i, j - 1, side))
                    hbem_stairs_square(piece, &count, columns, (const double[3]){i, j, h}, x, z);
                if (h >= hbem_stairs_height(i, j + 1, side))
                    hbem_stairs_square(piece, &count, columns, (const double[3]){i, j + 1, h}, z,
                                       x);
            }
        }
        if (columns == 0) piece->rows = count;
    }
    piece->columns = count - piece->rows;
}

/* ---- bodies ---- */

/* A node with those below it; the nodes so far are counted in tree->node_count. */
static inline int64_t hbem_flat_node(hbem_flat_parts *f, int64_t begin, int64_t end)
{
    const int64_t rows = f->piece->rows, one = rows + f->piece->columns;
    int64_t at = f->tree.node_count++, cut = (begin + end) / 2;
    f->tree.nodes[at] = (ps_cluster_node){.begin = begin, .end = end, .child = {-1, -1}};
    if (end - begin <= HBEM_PIECE_LEAF) return at;
    if (end - begin > one) cut = begin + (end - begin) / one / 2 * one;
    if (end - begin == one) cut = begin + rows;
    int64_t first = hbem_flat_node(f, begin, cut), second = hbem_flat_node(f, cut, end);
    f->tree.nodes[at].child[0] = first;
    f->tree.nodes[at].child[1] = second;
    return at;
}

static inline void hbem_flat_tree(hbem_flat_parts *f)
{
    int64_t one = f->piece->rows + f->piece->columns, dofs = f->copies * one;
    f->tree = (ps_cluster_tree){.dofs = dofs, .leaf_size = HBEM_PIECE_LEAF};
    f->tree.nodes = calloc((size_t)dofs, sizeof *f->tree.nodes);
    f->tree.order = calloc((size_t)dofs, sizeof *f->tree.order);
    for (int64_t i = 0; i < dofs; ++i) f->tree.order[i] = i;
    hbem_flat_node(f, 0, dofs);
    f->leaves = calloc((size_t)f->copies, sizeof *f->leaves);
    for (int64_t c = 0; c < f->copies; ++c)
        f->leaves[c] = (ps_hmatrix_leaf){c * one, c * one + f->piece->rows,
                                         c * one + f->piece->rows, (c + 1) * one, true};
}

/* Triangles of their own corners. */
static inline void hbem_flat_put(hbem_case *body, const double corner[3][3])
{
    int64_t t = body->triangle_count++;
    memcpy(body->vertices + 9 * t, corner, 9 * sizeof(double));
    for (int l = 0; l < 3; ++l) body->corners[3 * t + l] = (int32_t)(3 * t + l);
    body->vertex_count += 3;
}

/* Rows of the piece in an order of its own for each copy. */
static inline void hbem_flat_mix(hbem_flat_parts *f, uint64_t seed)
{
    const int64_t rows = f->piece->rows;
    f->row_of = calloc((size_t)(f->copies * rows), sizeof *f->row_of);
    for (int64_t c = 0; c < f->copies; ++c) {
        int32_t *of = f->row_of + c * rows;
        for (int32_t i = 0; i < rows; ++i) of[i] = i;
        check_shuffle(&seed, rows, of);
    }
}

static inline void hbem_flat_strata(hbem_flat_parts *f)
{
    int64_t triangles = f->body.triangle_count;
    f->plane = calloc((size_t)triangles, sizeof *f->plane);
    f->stratum = calloc((size_t)triangles, sizeof *f->stratum);
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_strata_bytes(triangles, triangles, 0));
    ps_hbem_planes(&f->body.surface, f->plane, w.base);
    ps_hbem_strata(&f->body.space, f->plane, f->stratum, w.base);
}

static inline void hbem_flat_make(hbem_flat_parts *f, const hbem_piece *piece, int64_t copies,
                                  uint64_t seed)
{
    int64_t one = piece->rows + piece->columns;
    *f = (hbem_flat_parts){.piece = piece, .copies = copies};
    f->body.vertices = calloc((size_t)(copies * one), 9 * sizeof(double));
    f->body.corners = calloc((size_t)(copies * one), 3 * sizeof(int32_t));
    f->body.triangles = calloc((size_t)(copies * one), sizeof *f->body.triangles);
    hbem_flat_mix(f, seed);
    for (int64_t c = 0; c < copies; ++c)
        for (int64_t i = 0; i < one; ++i)
            hbem_flat_put(&f->body,
                          piece->corner[i < piece->rows ? f->row_of[c * piece->rows + i] : i]);
    hbem_case_surface(&f->body);
    hbem_case_finish(&f->body, PS_SPACE_P0, 1e-4);
    hbem_flat_tree(f);
    hbem_flat_strata(f);
}

static inline void hbem_flat_free(hbem_flat_parts *f)
{
    hbem_tree_free(&f->tree);
    PS_FREE(f->leaves, f->plane, f->stratum, f->row_of);
    hbem_case_release(&f->body);
}

/* ---- what crosses make of them ---- */

/* An H-matrix of the leaves alone, to be assembled; with strata, or without. */
static inline void hbem_flat_hmatrix(const hbem_flat_parts *f, const ps_hbem_operator *op,
                                     bool strata, bool skeleton, hbem_hmatrix *h)
{
    hbem_hmatrix_over(h, op, f->leaves, f->copies, false, 1e-4);
    h->assembly.max_rank = 100;
    h->assembly.skeleton = skeleton;
    h->assembly.plane = strata ? f->plane : NULL;
    h->assembly.stratum = strata ? f->stratum : NULL;
}

/* |leaf - exact|_F / |exact|_F of a copy; exact[part][column][row]: of the first copy. */
static inline double hbem_flat_error(const hbem_flat_parts *f, const ps_hmatrix *matrix,
                                     int64_t copy, const double *exact)
{
    const int64_t m = f->piece->rows, n = f->piece->columns;
    double error = 0, norm = 0, own[2];
    PS_SCOPED_MEMORY int32_t *at = calloc((size_t)m, sizeof *at);
    for (int32_t i = 0; i < m; ++i) at[f->row_of[i]] = i;
    for (int64_t e = 0; e < m * n; ++e) {
        int64_t i = e % m, j = e / m, first = at[f->row_of[copy * m + i]];
        hbem_leaf_entry(matrix, copy, i, j, own);
        for (int part = 0; part < matrix->parts; ++part) {
            double right = exact[(part * n + j) * m + first];
            error += (own[part] - right) * (own[part] - right);
            norm += right * right;
        }
    }
    return sqrt(error / norm);
}

/* Copies with an error above ten times the tolerance, which those with unseen rows have; *worst
 * error. */
static inline int64_t hbem_flat_missed(const hbem_flat_parts *f, const ps_hbem_operator *op,
                                       const ps_hmatrix *matrix, double *worst)
{
    const ps_hmatrix_leaf *first = &f->leaves[0];
    PS_SCOPED_MEMORY double *exact =
        hbem_block(op, (ps_hbem_range){first->row_begin, first->row_end},
                   (ps_hbem_range){first->column_begin, first->column_end});
    double most = 0;
    int64_t missed = 0;
#pragma omp parallel for reduction(+ : missed) reduction(max : most)
    for (int64_t c = 0; c < f->copies; ++c) {
        double error = hbem_flat_error(f, matrix, c, exact);
        missed += !(error <= 1e-3);
        most = error <= most ? most : error;
    }
    *worst = most;
    return missed;
}

#endif
