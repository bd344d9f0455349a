/*
 * run: a run of fmm from the plan to the report (run.c, memory.c, schedule.c, figures.c,
 * resident.c), over what fmm.h has.
 */
#ifndef PS_COMPUTE_FMM_RUN_H
#define PS_COMPUTE_FMM_RUN_H

#include "compute/fmm/fmm.h"

typedef struct fmm_resident fmm_resident;
typedef struct fmm_adaptive fmm_adaptive;

/* What of an unfinished run is there: nothing, or groups of the octree's tree, or portions of the
 * adaptive one's targets. */
typedef enum fmm_left { FMM_LEFT_NONE, FMM_LEFT_UNIFORM, FMM_LEFT_ADAPTIVE } fmm_left;

typedef struct fmm_run {
    const ps_run *run;
    ps_product product;
    const fmm_options *options;
    char journal[4096]; /* OUTPUT.groups */
    bool keeps;         /* finished groups are kept there: asked for, or a long run */
    fmm_left left;      /* by an earlier start */
    fmm_problem problem;
    fmm_pool *pool;
    fmm_source source;
    fmm_work work;
    ps_task_queue *queue;
    ps_task_trace trace, mapping; /* of this run; the one that is replayed */
    uint8_t *done;                /* [groups of leaves], with a journal                       */
    int gpu_kinds;                /* that of the options, or what it is chosen to be */
    int64_t tasks, groups, restored;
    int64_t whole_bytes, largest_bytes, pool_budget, sink_budget; /* all pieces; one task's    */
    int64_t writing;                                              /* for who writes results */
    int writers;                                                  /* threads that do        */
    ps_fmm_result
        *file; /* the output, where results go there as they come; NULL: it is made later */
    ps_ledger ledger;
    double flop[FMM_KINDS];
    double started, seconds, sample_seconds, write_seconds;
    fmm_reached reached;
    int attempts; /* of --accuracy */
    bool missed;  /* the samples of this attempt, known before other results, are not within it */
    int64_t sent_bytes, received_bytes; /* between ranks */
    fmm_resident *resident;             /* NULL: tasks on cores */
    fmm_adaptive *adaptive;             /* NULL: the tree of the octree */
    bool chosen;                        /* between the two */
    const char *uniform_because;        /* an adaptive tree is not used; NULL: it is not wanted */
} fmm_run;

/* ---- all on one device: resident.c ---- */

/* Opens the device, r->resident, where --device and --resident ask for that. PS_USAGE if they ask
 * for what cannot be, PS_FAILED without a device that was asked for. */
ps_status fmm_resident_open(fmm_run *r);
/* Memory, from trees and operators in fp64. What does not fit: PS_EXHAUSTED with --resident yes,
 * otherwise r->resident is gone. */
ps_status fmm_resident_plan(fmm_run *r);
ps_status fmm_resident_prepare(fmm_run *r); /* what fmm_run_prepare does for tasks */
ps_status fmm_resident_run(fmm_run *r);
void fmm_resident_report(const fmm_run *r, ps_report *report);
void fmm_resident_close(fmm_run *r);

/* ---- tasks ---- */

/* The plan of memory: r->ledger and what of it pieces, results and writers get; all on one device
 * instead of tasks and pieces: with `staging` bytes for that and `device` bytes of the device.
 * PS_EXHAUSTED if --host-memory is less than the largest task or a writer needs. memory.c */
ps_status fmm_share_memory(fmm_run *r, int64_t staging, int64_t device);
/* What results come by: the groups of leaves of the targets; of an adaptive tree whose particles no
 * octree has sorted, stretches of the file. Their number is r->groups. */
int64_t fmm_portions(const fmm_run *r);
void fmm_portion(const fmm_run *r, int64_t portion, int64_t *begin, int64_t *count);
int64_t fmm_largest_portion(const fmm_run *r); /* particles */
/* Threads that take results: those that write them as they come have room for that. */
int fmm_takers(const fmm_run *r);
/* Counts tasks and pieces, and decides what lies where: fmm_share_memory. */
ps_status fmm_run_prepare(fmm_run *r);
/* The least memory of the run by the octree's tree, of one whose tree is another: local, one rank.
 */
ps_status fmm_run_least(const fmm_run *r, int64_t *least);
/* Where targets of a group are in the file: places[count], to be freed; they begin with target
 * `begin` of the tree. */
ps_status fmm_group_places(fmm_run *r, int64_t group, int64_t *begin, int64_t *count,
                           int64_t **places);
/* Sends and receives these pieces; rank 0 takes results that are among them. */
ps_status fmm_exchange(fmm_run *r, const fmm_transfer *list, int64_t count);
/* Again, when groups turn out to be done already. */
ps_status fmm_run_recount(fmm_run *r);
ps_status fmm_run_tasks(fmm_run *r);
/* Energy and momentum by side: the attributes of specs/fmm_result.md. */
void fmm_total_sums(const fmm_run *r, double *energy, double *momentum);
/* Buckets and priorities; table[PS_BUCKETS_MAX]. Beside GPUs these take P2P, M2L and all of L2L and
 * L2P; P2P and M2L, M2L first (both, and what is above the leaves of M2M, codes and M2L); tasks of
 * all kinds but the reduction; or P2P and M2L as in Table 3 of RR-8513. */
enum { FMM_GPU_AUTO, FMM_GPU_DOWN, FMM_GPU_TWO, FMM_GPU_ALL, FMM_GPU_TABLE }; /* gpu_kinds */
int fmm_buckets(const fmm_problem *p, int gpu_kinds, ps_bucket *table);
int fmm_bucket(const fmm_problem *p, const fmm_task *task);
double fmm_forecast(const fmm_problem *p, const fmm_task *task);     /* seconds on a CPU worker */
double fmm_gpu_forecast(const fmm_problem *p, const fmm_task *task); /* GPU worker; 0: no code */
ps_status fmm_save_trace(fmm_run *r);
ps_status fmm_report_plan(const fmm_run *r);
ps_status fmm_report(fmm_run *r);
/* Writes the output of rank 0: output.c. The version of its format. */
int fmm_result_version(const fmm_run *r);
ps_status fmm_write_result(fmm_run *r);
ps_status fmm_make_result(fmm_run *r); /* r->file, without its attributes */

#endif
