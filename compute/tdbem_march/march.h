/*
 * march: what the files of this program share: options, inputs, the plan, the state of a run.
 */
#ifndef PS_TDBEM_MARCH_MARCH_H
#define PS_TDBEM_MARCH_MARCH_H

#include "compute/tdbem_march/assembling.h"
#include "compute/tdbem_march/far.h"
#include "compute/tdbem_march/held.h"
#include "compute/tdbem_march/lining.h"
#include "compute/tdbem_march/near.h"
#include "compute/tdbem_march/record.h"
#include "compute/tdbem_march/solve.h"
#include "compute/tdbem_march/summation.h"
#include "compute/tdbem_march/symmetric.h"
#include "compute/tdbem_march/workers.h"
#include "formats/incident_file.h"
#include "formats/surface_velocity.h"
#include "kernels/tdbem/load.h"
#include "runtime/ledger.h"
#include "runtime/program.h"

/* Do the cores work beside GPUs? */
typedef enum march_cpu_worker { CPU_WORKER_AUTO, CPU_WORKER_ON, CPU_WORKER_OFF } march_cpu_worker;

typedef struct march_options {
    int64_t steps;
    double time; /* s; instead of steps */
    ps_text_list emitters;
    const char *incident; /* the file of loads instead; NULL: none */
    int64_t group;
    const char *far;                   /* the file of the far lags; NULL: none */
    int64_t far_group;                 /* 0: as long as can be */
    ps_text_list linings, admittances; /* files, and what belongs to each */
    int solver;                        /* solver_kind */
    double tolerance;                  /* 0: by precision */
    ps_interval checkpoint_every;
    int64_t snapshots;
    bool project_mean;
    int cpu_worker;                /* march_cpu_worker */
    int64_t balance;               /* groups in which workers' intervals may move */
    assembling_options assembling; /* where a mesh is given alone */
} march_options;

/* ---- inputs (problem.c) ---- */

typedef struct problem {
    tiles tiles;        /* its header is that of the whole matrix, with far */
    bool symmetric;     /* of the tiles the upper ones alone are swept: */
    tiles upper;        /* these, else empty */
    const char *matrix; /* the file's name, or that of the mesh, of which it is assembled */
    const char *mesh_name;
    assembling *assembling; /* of which it is assembled in memory; NULL: it is in a file */
    far_matrix far;
    linings linings;
    ps_surface_mesh mesh;
    ps_store *mesh_store;
    ps_incident incident; /* the emitters, then their images */
    int emitters;
    ps_load load;
    ps_incident_file *recorded;   /* the loads, with --incident; else NULL */
    ps_surface_velocity velocity; /* of the surface, of that file; modes 0: it rests */
    ps_surface_flow flow;         /* about the body, of that file; vertices 0: none */
    ps_csr m0;                    /* until the solver takes it */
    near_tally *near;             /* until the matrices are made */
    double *weights; /* [unknowns] share of the surface: triangle areas or a third of those around
                        a vertex; they sum up to 1 */
    double area;     /* m^2 */
    int64_t steps;
    solver_kind solver;
    double tolerance;
} problem;

/* MATRIX MESH OUTPUT, or MESH OUTPUT: which of them is the output. PS_USAGE if they are neither. */
ps_status problem_operands(ps_run *run);
/* Opens and checks all inputs. PS_USAGE for options, PS_INVALID for files that do not belong
 * together. Release it also after a failure. */
ps_status problem_open(const ps_run *run, const march_options *options, problem *out);
void problem_release(problem *problem);
/* The tiles that are swept. */
tiles *problem_swept(problem *problem);
/* out[unknowns] = l^n, of emitters or of the file; work: ps_load_workspace. */
ps_status problem_load(const problem *problem, int64_t n, double *out, double *work);
/* Assembles the matrix, where that is wanted; else nothing is done. */
struct march_plan;
ps_status problem_assemble(const ps_run *run, const march_options *options,
                           const struct march_plan *plan, problem *problem);
/* The files that a run depends on. */
ps_status problem_inputs(const problem *problem, ps_product *product);
void problem_history_header(const problem *problem, const march_options *options,
                            ps_history_header *out);

/* ---- what comes in (incoming.c) ---- */

extern const ps_allowance march_allowances[]; /* what --allow takes */
/* Warns of a matrix that is not passive. */
void march_tell_passivity(const problem *problem);
/* Refuses pulses that mesh and step do not resolve or that
 * are on the body at t = 0, and sources inside it or close to it. */
ps_status march_check_incoming(const ps_run *run, const problem *problem);
/* Refuses loads of a flow, whose scattering is another one. */
ps_status march_check_flow(const ps_run *run, const ps_incident_header *header, const char *path);

/* ---- the plan (plan.c) ---- */

typedef struct march_plan {
    ps_ledger ledger;
    int64_t budget;             /* of this rank, bytes */
    int devices;                /* that take part; 0: cores do it all */
    int64_t near, fixed;        /* near matrices of cores; all that must be in memory, with them */
    int64_t tiles, tiles_least; /* unpacked data of this rank; least buffers to stream it */
    int64_t tiles_whole;        /* all that a stream takes to keep every tile */
    int64_t far, far_least;     /* likewise of the far tiles; 0 without */
    int64_t lining_near;        /* near matrices of linings, a part of `fixed`, as are: */
    int64_t lining_tiles[LININGS_MAX]; /* what their streams are given */
    int64_t lining_spared;             /* of it, what they could do without */
    int64_t output;                    /* bytes to be written at most */
} march_plan;

/* What the run will take. PS_EXHAUSTED, naming the amounts, if that exceeds budget or disk. The
 * plan is filled in either case. */
ps_status plan_make(const ps_run *run, const march_options *options, problem *problem,
                    march_plan *out);
/* Steps that are computed before the past grows: how far products read beyond it. */
int64_t march_ahead(const march_options *options, const problem *problem);
/* PS_EXHAUSTED if the memory of the GPUs cannot do. */
ps_status plan_print(const ps_run *run, const march_options *options, problem *problem,
                     const march_plan *plan);

/* ---- the run (run.c) ---- */

typedef struct march_clock {
    double start, opening, summation, far, radiation, load, solve, communication, writing;
} march_clock;

typedef struct march {
    struct team *team; /* the workers, where GPUs take part (team.h); else NULL */
    const ps_run *run;
    const ps_product *product; /* set by who finishes the march */
    const march_options *options;
    problem *problem;
    window window;
    near_matrices near;
    summation summation;
    far_sums far;
    lining_sums linings;
    solver solver;
    record record;
    figures figures;
    march_clock clock;
    ps_worker_log workers; /* of this rank, since this start */
    int64_t first, done;   /* steps done at the start, and now */
    void *recent;          /* [group][unknowns], precision of the run: the group being computed */
    double *sums, *load, *load_work;
    bool stopped;
    bool hopeless; /* the march failed by itself (growth, no convergence): so it would again */
} march;

/* Opens everything but the record, within the budget of the plan. */
ps_status march_open(const ps_run *run, const march_options *options, problem *problem,
                     const march_plan *plan, march *out);
void march_close(march *march);

/* Marches from march->done to the last step or a stop, group by group. */
ps_status march_run(march *march);
/* Log, snapshots and checkpoint of the `count` steps up to march->done. For rank 0 alone. */
ps_status march_keep(march *march, int64_t count);
/* Growth after the loads are over, after step n: warns, then PS_FAILED (specs/tdbem_march.md). */
ps_status march_watch_growth(march *march, int64_t n);
/* May the mean be taken out of the past now? */
bool march_may_project(const march *march);

/* Takes the straight line through the surface means of the window out of it: the null mode of
 * closed sound-hard bodies (guide, 2.3). Only once the loads have been quiet for a whole window;
 * else it does nothing. */
void march_project_mean(march *march);

/* Writes the surface of every `snapshots`-th step among the last `count` (snapshots.c). Rank 0. */
ps_status march_snapshots(const march *march, int64_t count);

/* ---- the figures (figures.c) ---- */
/* The wall time of this rank since march_open, by stage: seconds[STAGES]. */
void march_stages(const march *march, double *seconds);
void march_report(const march *march, const march_plan *plan);

#endif
