/* Nested dissection and the factors by fronts. */
#include "kernels/hbem/sparse_factor.h"

#include "kernels/hbem/osrc.h"
#include "tests/check.h"
#include "tests/support/hbem_dissection.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/hbem_sparse.h"

/* A sphere's mass and stiffness in the order of clusters, dissected. */
typedef struct factor_case {
    hbem_body body;
    ps_pencil sparse;
    ps_dissection d;
    void *memory;
} factor_case;

static void open_case(factor_case *c, int n, bool clusters)
{
    hbem_sphere(&c->body.c, n, PS_SPACE_P1, 1e-3);
    if (clusters) hbem_tree_make(&c->body.tree, &c->body.c.space, 16);
    c->sparse = hbem_sparse_make(&c->body.c.space);
    c->memory = hbem_dissection_make(&c->sparse, &c->d);
}

static void close_case(factor_case *c)
{
    hbem_dissection_free(&c->d, c->memory);
    hbem_sparse_free(&c->sparse);
    hbem_body_release(&c->body);
}

/* Places are a permutation; children come before parents and deeper nodes first; entries lie in
 * the fronts of the nodes that eliminate them. */
static void test_dissection(void **state)
{
    PS_SCOPED(close_case) factor_case c = {0};
    open_case(&c, 20, true);
    const ps_dissection *d = &c.d;
    int64_t entries = 0;
    for (int64_t i = 0; i < d->dofs; ++i) assert_int_equal(d->dof[d->place[i]], i);
    for (int64_t node = 0; node < d->nodes; ++node) {
        assert_true(d->parent[node] > node || node == d->nodes - 1);
        const int32_t *row = d->row + d->row_first[node];
        for (int64_t r = 0; r < ps_dissection_rows(d, node); ++r)
            assert_true(row[r] >= d->first[node + 1] && (r == 0 || row[r] > row[r - 1]));
        for (int32_t at = d->first[node]; at < d->first[node + 1]; ++at)
            for (int64_t e = c.sparse.start[d->dof[at]]; e < c.sparse.start[d->dof[at] + 1]; ++e) {
                int32_t to = d->place[c.sparse.column[e]],
                        pivots = (int32_t)ps_dissection_pivots(d, node);
                int32_t p = d->entry[e];
                assert_true((p < 0) == (to < d->first[node]));
                if (p >= 0) assert_int_equal(p < pivots ? d->first[node] + p : row[p - pivots], to);
                entries += p >= 0;
            }
    }
    assert_true(entries > d->nnz / 2);
    for (int64_t depth = 0; depth < d->depth; ++depth)
        for (int64_t i = d->depth_first[depth]; i < d->depth_first[depth + 1]; ++i)
            if (d->child[2 * d->by_depth[i]] >= 0)
                for (int64_t k = d->depth_first[depth - 1]; k < d->depth_first[depth]; ++k)
                    assert_true(d->by_depth[k] != d->by_depth[i]);
    assert_int_equal(d->depth_first[d->depth], d->nodes);
}

static void factorise(const factor_case *c, const double shift[2], double *numbers)
{
    const ps_dissection *d = &c->d;
    PS_SCOPED_MEMORY double **front = calloc((size_t)d->nodes, sizeof *front);
    for (int64_t node = 0; node < d->nodes; ++node) {
        const int32_t *below = d->child + 2 * node;
        const double *child[2] = {below[0] < 0 ? NULL : front[below[0]],
                                  below[0] < 0 ? NULL : front[below[1]]};
        PS_SCOPED_MEMORY double *scratch = malloc((size_t)(ps_factor_scratch(d, node) + 1) * 8);
        front[node] = malloc((size_t)(2 * ps_factor_front_size(d, node) + 1) * 8);
        must(ps_factor_front(d, &c->sparse, shift, node, child, front[node], numbers, scratch));
    }
    for (int64_t node = 0; node < d->nodes; ++node) free(front[node]);
}

/* Solutions of the shifts of the square-root operator satisfy their equations, from cluster order
 * and from that of the mesh; a side's bits do not depend on the others. */
static void check_solutions(int n, bool clusters)
{
    enum { SIDES = 3 };
    PS_SCOPED(close_case) factor_case c = {0};
    open_case(&c, n, clusters);
    const ps_dissection *d = &c.d;
    double shifts[1 + PS_OSRC_TERMS_MAX][2];
    ps_osrc osrc;
    must(ps_osrc_init(&osrc, PS_COUPLING_OSRC, 9, 1, 4));
    int count = ps_osrc_shifts(&osrc, shifts);
    int64_t size = 2 * d->dofs;
    PS_SCOPED_MEMORY double *numbers = malloc((size_t)d->numbers * 16),
                            *x = calloc((size_t)(SIDES * (3 * size + 2 * d->rows) + 2 * size), 8);
    double *first = x + SIDES * size, *b = first + SIDES * size, *left = b + SIDES * size;
    double *own = left + SIDES * 2 * d->rows, *product = own + size;
    for (int j = 0; j < count; ++j) {
        factorise(&c, shifts[j], numbers);
        for (int sides = SIDES; sides > 0; sides -= 2) {
            ps_factor_vectors v = {sides, b, x, left};
            for (int64_t i = 0; i < sides * size; ++i) b[i] = sin((double)i);
            for (int64_t node = 0; node < d->nodes; ++node) ps_factor_down(d, numbers, &v, node);
            for (int64_t node = d->nodes - 1; node >= 0; --node) ps_factor_up(d, numbers, &v, node);
            if (sides == SIDES) memcpy(first, x, SIDES * (size_t)size * 8);
            assert_memory_equal(x, first, (size_t)(sides * size) * 8);
        }
        double off = 0, norm = 0;
        for (int s = 0; s < SIDES; ++s) {
            for (int64_t i = 0; i < size; ++i)
                own[i % 2 * d->dofs + d->dof[i / 2]] = first[s * size + i];
            hbem_sparse_apply(&c.sparse, shifts[j], own, product);
            for (int64_t i = 0; i < size; ++i) {
                double want = sin((double)(s * size + i));
                off += pow(product[i % 2 * d->dofs + d->dof[i / 2]] - want, 2);
                norm += want * want;
            }
        }
        check_near(sqrt(off / norm), 0, 1e-12, 0);
    }
}

static void test_solutions(void **state)
{
    check_solutions(1, true);
    check_solutions(24, true);
    check_solutions(7, false);
}

/* A matrix of zeros is told. */
static void test_singular(void **state)
{
    PS_SCOPED(close_case) factor_case c = {0};
    open_case(&c, 2, true);
    PS_SCOPED_MEMORY double *numbers = malloc((size_t)c.d.numbers * 16),
                            *front = malloc((size_t)ps_factor_front_size(&c.d, 0) * 16),
                            *scratch = malloc((size_t)ps_factor_scratch(&c.d, 0) * 8);
    memset(c.sparse.mass, 0, (size_t)c.sparse.nnz * 8);
    assert_int_equal(ps_factor_front(&c.d, &c.sparse, (double[]){0, 0}, 0,
                                     (const double *[]){NULL, NULL}, front, numbers, scratch),
                     PS_FAILED);
}
