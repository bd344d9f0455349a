/*
 * hbem_sparse: mass and stiffness of a space, for tests.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_SPARSE_H
#define PS_TESTS_SUPPORT_HBEM_SPARSE_H

#include "kernels/hbem/sparse.h"
#include "kernels/linear/shifted_solve.h"
#include "tests/support/hbem_case.h"

static inline ps_pencil hbem_sparse_make(const ps_hbem_space *space)
{
    ps_pencil s = {.start = calloc((size_t)space->dofs + 1, sizeof *s.start),
                   .column = calloc((size_t)ps_hbem_sparse_bound(space), sizeof *s.column)};
    must(ps_hbem_sparse_pattern(space, &s));
    s.mass = calloc((size_t)s.nnz, sizeof *s.mass);
    s.stiffness = calloc((size_t)s.nnz, sizeof *s.stiffness);
    ps_hbem_sparse_fill(space, &s);
    return s;
}

static inline void hbem_sparse_free(ps_pencil *s)
{
    PS_FREE(s->start, s->column, s->mass, s->stiffness);
    memset(s, 0, sizeof *s);
}

/* y[2][dofs] = (M - c L) x */
static inline void hbem_sparse_apply(const ps_pencil *s, const double c[2], const double *x,
                                     double *y)
{
    int64_t n = s->dofs;
    for (int64_t i = 0; i < n; ++i) {
        double m[2] = {0}, l[2] = {0};
        for (int64_t e = s->start[i]; e < s->start[i + 1]; ++e)
            for (int part = 0; part < 2; ++part) {
                m[part] += s->mass[e] * x[part * n + s->column[e]];
                l[part] += s->stiffness[e] * x[part * n + s->column[e]];
            }
        y[i] = m[0] - c[0] * l[0] + c[1] * l[1];
        y[n + i] = m[1] - c[0] * l[1] - c[1] * l[0];
    }
}

/* The iterative solver of complex systems, with memory of its own. */
static inline ps_shifted_iterative hbem_iterative(const ps_pencil *s, double tolerance)
{
    return (ps_shifted_iterative){.matrix = s,
                                  .options = {2, tolerance, 1000},
                                  .workspace = calloc((size_t)ps_shifted_workspace(s->dofs), 8)};
}

#endif
