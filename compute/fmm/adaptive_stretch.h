/*
 * adaptive_stretch: an adaptive tree whose particles and expansions memory does not hold, evaluated
 * by stretches of portions (kernels/fmm/adaptive_essential.h): cells and leaves of all stay in
 * memory, the rest comes and goes by scratch files (adaptive_store.h). The bits are those of all in
 * memory. One rank, one set of particles, charges to gradients, boxes that do not repeat.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_STRETCH_H
#define PS_COMPUTE_FMM_ADAPTIVE_STRETCH_H

#include "compute/fmm/adaptive_parts.h"
#include "compute/fmm/adaptive_store.h"

struct fmm_stretches {
    fmm_store store;
    ps_essential essential;
    int64_t building;       /* bytes that only the making of the tree has taken              */
    int64_t *need;          /* [portions] bytes that each takes by itself                    */
    int64_t least, room;    /* the most of them; bytes that a stretch may take               */
    int64_t count;          /* stretches that have been evaluated */
    int64_t largest;        /* bytes of one */
    int64_t device_largest; /* of the device's memory, operators with them */
    int64_t fitted;         /* needs of the last stretch that was made smaller for the device */
    ps_adaptive_problem problem; /* of the stretch */
    double *columns, *results;   /* [3 + S][particles], [rows][particles] */
    char *vectors;
    void *workspace;
};

/* ---- making the tree: adaptive_spill.c ---- */

/* Of a tree whose sorted particles are in memory: these go to the store. OpenMP inside. */
ps_status fmm_adaptive_spill(fmm_run *r, fmm_store *store);
/* Sorts the particles of the file into the store, and makes the tree. PS_EXHAUSTED where
 * --host-memory does not hold their keys. OpenMP inside. */
ps_status fmm_adaptive_sort_out(fmm_run *r, fmm_store *store);

/* ---- adaptive_stretch.c ---- */

/* Whether a run can be evaluated so: on cores, or on a device by the host's tree. */
bool fmm_stretches_can(const fmm_run *r);
/* Makes a->stretches of a tree that is there (spill), or is made now. */
ps_status fmm_stretches_open(fmm_run *r, bool spill);
void fmm_stretches_close(fmm_adaptive *a);
/* What is of one attempt. */
void fmm_stretches_empty(fmm_adaptive *a);

/* The plan: of each portion what it takes; then what all take with that much room. */
ps_status fmm_stretches_plan(fmm_run *r);
void fmm_stretches_widen(fmm_run *r, int64_t bytes); /* so much more room; nothing if none */
int64_t fmm_stretches_bytes(const fmm_run *r);
/* Of a device's memory, 0 without one: no stretch takes more, operators included. */
int64_t fmm_stretches_device_bytes(const fmm_run *r);
/* Direct sums of a check over the sorted sources; the bits of those in memory. */
ps_status fmm_stretches_check(fmm_run *r, fmm_check *check);
/* Results of an earlier start: values[rows][count] of sorted targets. */
ps_status fmm_stretches_restore(fmm_run *r, ps_fmm_range targets, const double *values);
ps_status fmm_stretches_run(fmm_run *r);
/* A thread that takes results: bytes; results of a chunk [rows][count] of targets of the file, and
 * their charges [S][count], in `room`, of so many bytes. */
int64_t fmm_stretches_taker_bytes(const fmm_run *r);
ps_status fmm_stretches_take(fmm_run *r, int64_t chunk, fmm_source *source, double *room,
                             double **charges);
void fmm_stretches_report(const fmm_run *r, ps_report *report);

#endif
