/*
 * adaptive_gpu: the evaluation of an adaptive tree on one CUDA device
 * (kernels/fmm/adaptive_device.h). Either tree and lists grow there (adaptive_growth.h), from
 * particles in the order of the file, and results come back in that order; or the host's threads
 * make both, and particles and results move in the tree's order.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_GPU_H
#define PS_COMPUTE_FMM_ADAPTIVE_GPU_H

#include "compute/fmm/traffic.h"
#include "kernels/fmm/adaptive_device.h"
#include "kernels/fmm/adaptive_evaluate.h"
#include "kernels/fmm/device_growth.h"
#include "kernels/fmm/device_tree.h"
#include "runtime/device_share.h"

typedef struct fmm_adaptive_gpu fmm_adaptive_gpu;
struct fmm_adaptive_gpu {
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_ADAPTIVE_DEVICE_STAGES + 1];
    ps_adaptive_device run;
    ps_adaptive_plan plan;
    ps_fmm_device_table tables[PS_ADAPTIVE_LEVELS];
    void *table_blocks[PS_ADAPTIVE_LEVELS], *rows[2], *results, *block;
    int64_t most, bytes;      /* of the device's memory: that may be taken, that is */
    int columns, result_rows; /* of sources behind their places; of results    */
    ps_fmm_device_moments moments;
    ps_adaptive_rule rule; /* of the plan that the host made */
    ps_adaptive_own share; /* of the targets: what each rank has, once there are lists */
    /* ---- a tree that has grown on the device ---- */
    bool grown;
    fmm_traffic traffic;
    ps_device_sort sort;
    void *sorting, *growth, *parts[PS_PLAN_PARTS];
    int64_t sort_bytes, growth_bytes;
    bool shared; /* other processes reach the results by the ticket */
    ps_share_ticket ticket;
    void *reached; /* the results of the first rank, in this process; NULL: they are not */
    /* ---- seconds ---- */
    double gathering, reading, growing, listing, moving, evaluation;
    double stages[PS_ADAPTIVE_DEVICE_STAGES];
    /* ---- several devices of one process, for a tree that has grown ---- */
    fmm_adaptive_gpu *others[FMM_DEVICES_MAX - 1]; /* of the first one, which stands for all; NULL
                                                      behind the last */
    ps_adaptive_tree tree; /* of another one: its shape, and its share of the work */
    ps_adaptive_work work;
};

/* Opens the device of this rank, or so many of one process; fmm_adaptive_gpu_close also after a
 * failure. The lists of each are of the targets of a share that is balanced by these costs.
 * A device of a number takes the place of all. PS_USAGE for more devices than there are, or than
 * one on several ranks. */
ps_status fmm_adaptive_gpu_open(const ps_run *run, ps_adaptive_costs costs, int devices,
                                fmm_adaptive_gpu **out);
int fmm_adaptive_gpu_count(const fmm_adaptive_gpu *gpu); /* devices */
void fmm_adaptive_gpu_close(fmm_adaptive_gpu **gpu);

/* Reads the particles, and makes the tree (leaf_size is set) and its lists there. PS_INVALID,
 * PS_EXHAUSTED: the host is to make them, the message says why, and the device is as before. */
ps_status fmm_adaptive_gpu_grow(const fmm_run *r, fmm_adaptive_gpu *gpu, ps_adaptive_rule rule,
                                ps_adaptive_tree *tree, ps_adaptive_work *work);

void fmm_adaptive_gpu_begin(fmm_adaptive_gpu *gpu); /* times begin at 0: another attempt */
/* What is summed from now on: columns of the sources behind their places, and a pass over them. */
void fmm_adaptive_gpu_sum(fmm_adaptive_gpu *gpu, int columns, const ps_fmm_pass *pass);

/* Makes the lists, if the host made the tree, and counts the memory. PS_EXHAUSTED, with figures, if
 * the device has or is allowed less. The problem is borrowed, and its tables are in fp64. OpenMP
 * inside. */
ps_status fmm_adaptive_gpu_plan(fmm_adaptive_gpu *gpu, const ps_adaptive_problem *problem);
int64_t fmm_adaptive_gpu_host_bytes(const fmm_adaptive_gpu *gpu); /* of the lists */

/* ---- a tree that the host has, by stretches (kernels/fmm/adaptive_essential.h) ---- */

/* Method and operators for all stretches, which are in g->bytes then. */
ps_status fmm_adaptive_gpu_configure(fmm_adaptive_gpu *gpu, const ps_adaptive_problem *problem);
/* The lists of a stretch, and the bytes of the device that it takes with the operators. */
ps_status fmm_adaptive_gpu_stretch_plan(fmm_adaptive_gpu *gpu, const ps_adaptive_tree *tree,
                                        ps_adaptive_rule rule, int64_t *bytes);
/* After its plan: results [rows][particles] of its own targets from columns and multipoles; NULL:
 * multipoles alone, of what is below, added to those that vectors has. Waits. */
ps_status fmm_adaptive_gpu_stretch(fmm_adaptive_gpu *gpu, double *columns, void *vectors,
                                   ps_fmm_range own, double *results);

/* columns: [3 + columns][sources], [3][targets]; results [rows of the pass][targets] are
 * overwritten. */
ps_status fmm_adaptive_gpu_run(fmm_adaptive_gpu *gpu, double *const columns[2], double *results);
/* Of a tree that has grown there: direct sums of samples, the sums, and results to where they go.
 */
ps_status fmm_adaptive_gpu_run_grown(fmm_run *r, fmm_adaptive_gpu *gpu);
/* Results of all ranks to the device of the first one: from device to device where these reach each
 * other, else through the hosts. Collective. adaptive_gather.c */
ps_status fmm_adaptive_gpu_gather(fmm_run *r, fmm_adaptive_gpu *gpu);
/* ---- of one device: between adaptive_gpu.c and adaptive_grown.c ---- */

ps_status fmm_adaptive_gpu_room(fmm_adaptive_gpu *gpu); /* memory of results, lists and vectors */
/* Evaluates, and waits; adds to the times of this attempt. */
ps_status fmm_adaptive_gpu_evaluate(fmm_adaptive_gpu *gpu);
void fmm_adaptive_gpu_free_order(fmm_adaptive_gpu *gpu); /* memory that is of one order */
ps_status
fmm_adaptive_gpu_drop_tree(fmm_adaptive_gpu *gpu); /* all devices without what has grown */

/* Gives back what only another evaluation would need. */
void fmm_adaptive_gpu_empty(fmm_adaptive_gpu *gpu);
void fmm_adaptive_gpu_report(const fmm_adaptive_gpu *gpu, bool done, ps_report *report);

#endif
