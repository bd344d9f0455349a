/*
 * schwarz-solve: what its files share.
 */
#ifndef PS_SCHWARZ_SOLVE_SOLVE_H
#define PS_SCHWARZ_SOLVE_SOLVE_H

#include "formats/box_field.h"
#include "kernels/schwarz/krylov.h"
#include "kernels/schwarz/slab_box.h"
#include "runtime/program.h"

enum { HISTORY_MAX = 100000 };

typedef enum solve_method {
    METHOD_DIRECT,
    METHOD_CG,
    METHOD_BICGSTAB,
    METHOD_BICGCR,
    METHOD_FIXED_POINT, /* from here on: slabs */
    METHOD_GMRES,
    METHOD_SWEEPS
} solve_method;

typedef struct solve_options {
    solve_method method;
    int64_t slabs, limit, restart, checkpoint_every;
    double tolerance, coarse; /* coarse: 1/m */
    bool streamed, resume;
    ps_transmission transmission; /* 1/m, m */
    const char *kind;
    double factor;        /* predicted, of a double step */
    const char *identity; /* of a run, for its checkpoints */
} solve_options;

typedef struct solve_problem {
    const ps_run *run;
    bool trial; /* no output: for the figures alone */
    ps_box_field load, out;
    ps_q1_grid grid; /* m */
    solve_options options;
    /* results */
    ps_krylov_result result;
    double *history;   /* [result.iterations], residuals */
    int64_t memory;    /* bytes of the plan */
    double seconds[4]; /* reading and transforming, solving, writing, checking */
    double residual;   /* of the whole system, |b - A u| / |b| */
} solve_problem;

enum { SECONDS_READ, SECONDS_SOLVE, SECONDS_WRITE, SECONDS_CHECK };

extern const char *const solve_method_names[];

/* Bytes that a method needs. */
int64_t whole_memory(const solve_problem *p);
int64_t slabs_memory(const solve_problem *p);

/* Solve and write the field to p->out, plane by plane. */
ps_status solve_whole(solve_problem *p);
ps_status solve_slabs(solve_problem *p);

/* Notes an iteration and tells it. PS_OK; or the answer to a wish to stop, PS_FAILED. */
ps_status note_iteration(solve_problem *p, int64_t iteration, double residual);

/* ---- writing by planes ---- */

typedef struct plane_writer {
    ps_box_field *field;
    int64_t next;  /* plane */
    double *chunk; /* planes that are not full chunks yet */
} plane_writer;
ps_status plane_writer_open(ps_box_field *field, plane_writer *out);
/* The next plane, [ny][nz]. */
ps_status plane_writer_add(plane_writer *writer, const double *plane);
void plane_writer_close(plane_writer *writer);

/* |b - A u| / |b| over the rows that are not fixed, from the two files, some planes at a time. */
ps_status check_residual(solve_problem *p, ps_box_field *solution, double *out);

#endif
