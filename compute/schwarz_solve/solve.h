/*
 * schwarz-solve: what its files share.
 */
#ifndef PS_SCHWARZ_SOLVE_SOLVE_H
#define PS_SCHWARZ_SOLVE_SOLVE_H

#include "formats/box_field.h"
#include "kernels/linear/krylov.h"
#include "kernels/schwarz/slab_box.h"
#include "runtime/comm.h"
#include "runtime/device.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "runtime/progress.h"
#include "stage/product.h"
#include "stage/state.h"

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

/* One of the Krylov methods. */
static inline ps_krylov_method krylov_of(solve_method method)
{
    return (ps_krylov_method)(method - METHOD_CG + PS_KRYLOV_CG);
}

typedef struct solve_options {
    solve_method method, inner; /* inner: of the slabs, METHOD_DIRECT or a Krylov method */
    int64_t slabs, limit, restart;
    ps_interval checkpoint_every;
    double tolerance, inner_tolerance, coarse; /* inner_tolerance 0: tied; coarse: 1/m */
    bool streamed, mixed;                      /* mixed: fp32 with residuals in fp64 */
    bool substructured; /* direct solution over ranks, as slabs with a full coarse space */
    ps_transmission transmission; /* 1/m, m */
    const char *subdomains;       /* the file of general shapes; NULL: slabs */
    const char *kind;
    double factor;  /* predicted, of a double step */
    char *identity; /* of a run, for its checkpoints */
} solve_options;

enum { SECONDS_READ, SECONDS_SOLVE, SECONDS_WRITE, SECONDS_CHECK };

typedef struct solve_problem {
    const ps_run *run;
    ps_product product;
    ps_progress progress;
    bool trial; /* no output: for the figures alone */
    ps_box_field load, out;
    ps_store_set set; /* parts of `out`, of several ranks */
    ps_q1_grid grid;  /* m */
    solve_options options;
    const struct solve_way *way;
    ps_device *device;              /* NULL: processors */
    int64_t first_plane, end_plane; /* what this rank writes */
    /* results */
    ps_krylov_result result;
    double *history;   /* [result.iterations], residuals */
    ps_ledger ledger;  /* the plan of memory */
    int64_t room;      /* bytes of --host-memory for arrays */
    double seconds[4]; /* opening: reading, transforming; solving; writing; checking */
    double residual;   /* of the whole system, |b - A u| / |b| */
    int64_t inner_iterations;
    double copied, copying; /* loads copied to a device in sweeps after the first, bytes; seconds */
    bool stopped;           /* by a wish to stop: what was reached is in a checkpoint */
} solve_problem;

extern const char *const solve_method_names[];

struct plane_writer;
/* A way to solve. Collective over ranks. Its steps are timed by the caller; what it adds to
 * SECONDS_READ itself is reading, and no part of the step. */
typedef struct solve_way {
    size_t size; /* of its state */
    /* Its arrays, of which those that are streamed take what is left of p->room. */
    void (*plan)(solve_problem *p, ps_ledger *ledger);
    ps_status (*open)(solve_problem *p, void *state); /* allocates, reads; a state of zeros */
    /* PS_FAILED at the limit of iterations, the state being the last iterate. */
    ps_status (*solve)(void *state);
    ps_status (*write)(void *state, struct plane_writer *writer); /* own planes of the field */
    void (*close)(void *state); /* what was opened, on failure, too */
} solve_way;
extern const solve_way solve_whole, solve_slabs, solve_parts;
extern const solve_way solve_whole_device, solve_slabs_device, solve_sweeps_device; /* p->device */

/* Planes of the largest slab, which is the first. */
static inline int64_t largest_slab(const solve_problem *p)
{
    return ps_slab_first(p->grid.nodes[0], p->options.slabs, 1) + 1;
}

/* Planes of a rank in a box solved as a whole. */
void whole_planes(const solve_problem *p, int64_t *first, int64_t *end);

/* Notes an iteration and tells it; *stop: whether any rank has been asked to stop. */
void note_iteration(solve_problem *p, int64_t iteration, double residual, bool *stop);
/* Ends a solve that was asked to stop: a failure that main turns into success. */
ps_status stop_here(solve_problem *p);
ps_status not_converged(const solve_problem *p);
/* The two of a solver that is watched (context: the problem): note_iteration and stop_here; and the
 * status of its end, which at the limit is not_converged. */
ps_status watch_iteration(void *problem, int64_t iteration, double residual);
ps_status end_of_krylov(solve_problem *p, ps_status status);

/* What a run is, for its checkpoints: options, load, method, ranks; sets options.identity. */
ps_status solve_identify(solve_problem *p);
/* Solves a prepared problem, checks, writes and reports. Collective. */
ps_status solve_all(solve_problem *p);
/* Prints the figures of a run of so many seconds, or of its plan. Collective. */
void solve_report(const solve_problem *p);

/* ---- the output ---- */

const char *solve_method_name(const solve_options *options);
/* Makes the file of this rank, so that what cannot be written fails before the solve. */
ps_status output_begin_set(solve_problem *p, const char *path);
ps_status output_create(solve_problem *p, const char *path);
/* The field of the state, by all ranks, and the master, once `judge` (NULL: nothing) has found what
 * is known then, p->residual, good enough: before anything gets its name. Collective. */
ps_status output_write(solve_problem *p, const char *path, void *state,
                       ps_status (*judge)(const solve_problem *p));
/* After a failure: at the limit of iterations the last iterate goes beside the output, which the
 * message then says. Returns the failure. Collective. */
ps_status output_keep_iterate(solve_problem *p, ps_status failure, void *state);

/* ---- ranks ---- */

typedef struct rank_links {
    ps_comm_pending *pending[2];
    ps_slab_links links;
} rank_links;
/* Links of this rank, which borrow *out; NULL where there is but one. */
const ps_slab_links *rank_links_open(rank_links *out);

/* ---- checkpoints: of each rank its own, POTENTIAL.state or POTENTIAL.state.rank0001 ---- */

typedef struct run_state {
    solve_problem *p;
    char name[4096];
    ps_state state;
    /* Lists the arrays of the state after `step` iterations; their number. */
    int (*arrays)(void *context, int64_t step, ps_checkpoint_array *arrays);
    /* Fills them before they are written, or takes what was read; NULL: they are the state. */
    ps_status (*bring)(void *context, int64_t step, bool to_host);
    void *context;
} run_state;
void run_state_open(solve_problem *p, run_state *out);
/* Room on the disk for those that stay and the one that is being written, of so many doubles over
 * all ranks. */
void run_state_plan(const solve_problem *p, int64_t doubles, ps_ledger *ledger);
/* Writes the state after `step` iterations if it is due, or in any case. */
ps_status run_state_save(run_state *state, int64_t step, bool always);
/* Loads the newest state that all ranks have; *step 0: there is none, or none is wanted. */
ps_status run_state_load(run_state *state, int64_t *step);
/* PS_USAGE if an unfinished run of something else is there. Collective, as are the others. */
ps_status run_state_check(run_state *state);
ps_status run_state_remove(run_state *state);

/* ---- slabs by Krylov methods ---- */

enum { INNER_LIMIT = 100000 };
/* Tied to the outer iteration, unless given: a hundredth of its last residual, or, in GMRES, whose
 * exchanges must stay linear, of the tolerance wanted. */
double inner_tolerance_of(const solve_problem *p);

typedef struct inner_solver {
    solve_problem *p;
    double *workspace; /* the caller's to free() */
} inner_solver;
int64_t inner_doubles(const solve_problem *p, int64_t planes); /* of workspace */
ps_status inner_open(solve_problem *p, int64_t planes, inner_solver *out);
/* The `solve` of a slab_box plan. context: an inner_solver. */
ps_status inner_solve(void *context, int64_t slab, const ps_slab *geometry, const double *b,
                      double *u);

/* ---- writing by planes ---- */

/* Own planes on their way into p->out, and the residual of their rows, which wait for the plane
 * behind them. */
typedef struct plane_writer {
    solve_problem *p;
    int64_t next, held; /* plane of the file; planes that are written and wait */
    double *planes;     /* those, then what is no full chunk yet; the whole memory */
    double *product, *load, *end, *sums;
} plane_writer;
int64_t plane_writer_bytes(const solve_problem *p);
ps_status plane_writer_open(solve_problem *p, plane_writer *out);
/* The next plane, [ny][nz]. */
ps_status plane_writer_add(plane_writer *writer, const double *plane);
/* |b - A u| / |b| over the rows that are not fixed, once all planes have come. Sums are added plane
 * by plane: the same on any number of ranks. Collective. */
ps_status plane_writer_residual(plane_writer *writer, double *out);
void plane_writer_close(plane_writer *writer);

#endif
