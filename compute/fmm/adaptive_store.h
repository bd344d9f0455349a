/*
 * adaptive_store: what an adaptive tree that memory does not hold is evaluated from: its sorted
 * particles and the multipoles of its cells in scratch files beside the output, and results on
 * their way to one.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_STORE_H
#define PS_COMPUTE_FMM_ADAPTIVE_STORE_H

#include "compute/fmm/run.h"
#include "kernels/fmm/adaptive_essential.h"
#include "kernels/fmm/adaptive_evaluate.h"

/* A record of a sorted particle: its columns [3 + S], and its number in the file. Of a cell: real
 * [sides][l^3]. */
typedef struct fmm_store {
    int particles, multipoles; /* scratch files; -1: none */
    int columns;               /* 3 + S */
    int64_t count;
    fmm_sink *found; /* results, by the number in the file */
    _Atomic int64_t read, written;
} fmm_store;

/* Files that are not there yet; fmm_store_close also after a failure. */
ps_status fmm_store_open(const fmm_run *r, fmm_store *store);
void fmm_store_close(fmm_store *store);
int64_t fmm_store_record(const fmm_store *store); /* bytes of a particle */

/* Records of sorted particles [first, first + count). Thread-safe for different ones. */
ps_status fmm_store_put(fmm_store *store, int64_t first, int64_t count, const double *records);
ps_status fmm_store_get(fmm_store *store, int64_t first, int64_t count, double *records);
/* Numbers in the file alone. */
ps_status fmm_store_places(fmm_store *store, int64_t first, int64_t count, int64_t *places);
/* columns[3 + S][particles of the tree], free places 0. OpenMP inside. */
ps_status fmm_store_gather(fmm_store *store, const ps_essential *essential, double *columns);

/* Bytes of a thread while these functions run. */
int64_t fmm_store_thread_bytes(const fmm_store *store, const ps_adaptive_problem *problem);

/* Multipoles of the cells that are given, from the file; of the others, to it. vectors begin with
 * those of all cells of the tree, which are cleared before they are taken. OpenMP inside. */
ps_status fmm_store_take(fmm_store *store, const ps_essential *essential,
                         const ps_adaptive_problem *problem, char *vectors);
ps_status fmm_store_keep(fmm_store *store, const ps_essential *essential,
                         const ps_adaptive_problem *problem, const char *vectors);

#endif
