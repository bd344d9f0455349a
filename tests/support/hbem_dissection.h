/*
 * hbem_dissection: a matrix that is dissected, for tests.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_DISSECTION_H
#define PS_TESTS_SUPPORT_HBEM_DISSECTION_H

#include "kernels/hbem/dissection.h"
#include "tests/support/hbem_case.h"

/* All arrays of *d; the memory of the cut is returned, for hbem_dissection_free. */
static inline void *hbem_dissection_make(const ps_pencil *matrix, ps_dissection *d)
{
    void *memory = malloc((size_t)ps_dissection_bytes(matrix->dofs));
    must(ps_dissection_cut(matrix, memory, d));
    d->row = malloc((size_t)(d->rows + 1) * 4);
    d->gather = malloc((size_t)(d->dofs + d->rows) * 8);
    d->entry = malloc((size_t)d->nnz * 4);
    ps_dissection_fill(matrix, d);
    return memory;
}

static inline void hbem_dissection_free(ps_dissection *d, void *memory)
{
    PS_FREE(d->row, d->gather, d->entry, memory);
}

#endif
