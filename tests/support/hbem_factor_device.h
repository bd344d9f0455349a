/*
 * hbem_factor_device: sparse factors of a body's square-root operator on a CUDA device.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_FACTOR_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_FACTOR_DEVICE_H

#include "kernels/hbem/factor_device.h"
#include "kernels/hbem/osrc.h"
#include "tests/support/hbem_dissection.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/hbem_sparse.h"

typedef struct factor_place {
    hbem_case body;
    ps_cluster_tree tree;
    ps_pencil sparse;
    ps_dissection d;
    void *cut, *memory, *scratch;
    int64_t *firsts;
    ps_factor_device f;
} factor_place;

/* Of a body that is made: dissected in the order of clusters, ready for ps_factor_device_make. */
static inline void factor_place_open(factor_place *p, double k, ps_stream *stream)
{
    ps_osrc osrc;
    ps_device *device = ps_stream_device(stream);
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    hbem_case_finish(&p->body, PS_SPACE_P1, 1e-3);
    hbem_tree_make(&p->tree, &p->body.space, 32);
    p->sparse = hbem_sparse_make(&p->body.space);
    p->cut = hbem_dissection_make(&p->sparse, &p->d);
    must(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, 4));
    int count = ps_osrc_shifts(&osrc, shift);
    p->firsts = malloc((size_t)ps_factor_device_firsts(&p->d) * 8);
    must(ps_factor_device_measure(&p->d, count, p->firsts, &p->f));
    memcpy(p->f.shift, shift, (size_t)count * sizeof *shift);
    p->f.stream = stream;
    must(ps_device_alloc(device, ps_factor_device_bytes(&p->f), &p->memory));
    must(ps_device_alloc(device, ps_factor_device_scratch(&p->f), &p->scratch));
}

static inline void factor_place_close(factor_place *p)
{
    ps_device *device = ps_stream_device(p->f.stream);
    ps_device_free(device, p->memory);
    ps_device_free(device, p->scratch);
    hbem_dissection_free(&p->d, p->cut);
    free(p->firsts);
    hbem_sparse_free(&p->sparse);
    hbem_tree_free(&p->tree);
    hbem_case_release(&p->body);
}

#endif
