/*
 * slab_load: the load of the own slabs, as nodes or as sine modes: all in memory, or streamed, the
 * slabs to come being read and transformed while one is solved (runtime/chunk_stream.h).
 */
#ifndef PS_SCHWARZ_SOLVE_SLAB_LOAD_H
#define PS_SCHWARZ_SOLVE_SLAB_LOAD_H

#include "compute/schwarz_solve/solve.h"
#include "runtime/chunk_stream.h"

typedef struct slab_load {
    solve_problem *p;
    const ps_slab_box_plan *plan; /* borrowed */
    const ps_fast_solver *tables; /* borrowed */
    double *planes;               /* own planes, where they are in memory; else NULL */
    ps_chunk_stream *stream;      /* of `order` */
    ps_slab_order order;
    int64_t budget; /* bytes for a stream */
} slab_load;

/* Bytes held: of all own planes, or at least for a stream, at most `most`. */
int64_t slab_load_memory(const solve_problem *p, const ps_slab_box_plan *plan, int64_t most);

/* Reads all, or gets ready to stream in `most` bytes. */
ps_status slab_load_open(solve_problem *p, const ps_slab_box_plan *plan,
                         const ps_fast_solver *tables, int64_t most, slab_load *out);
/* The `walk` of a slab_box plan. */
ps_status slab_load_walk(slab_load *load, ps_slab_order order, ps_slab_step *step, void *argument);
/* Bytes of the load of a visit of load->order, and the load itself as the box's plan has it: what
 * the workers of a stream do. Reads the file; several threads at a time. */
int64_t slab_load_visit_bytes(const slab_load *load, int64_t visit);
ps_status slab_load_visit(const slab_load *load, int64_t visit, double *out);
/* Bytes that so many workers have at hand, one a thread of the run. */
int64_t slab_load_workers(const solve_problem *p, const ps_slab_box_plan *plan);
/* Ends the stream of an order that is done with: its time of waiting goes to SECONDS_READ. */
void slab_load_rest(slab_load *load);
void slab_load_close(slab_load *load);

#endif
