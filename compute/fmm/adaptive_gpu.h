/*
 * adaptive_gpu: the evaluation of an adaptive tree on one CUDA device
 * (kernels/fmm/adaptive_device.h): lists by the host's threads, then particles to the device, the
 * sums, and results back, all in the tree's order.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_GPU_H
#define PS_COMPUTE_FMM_ADAPTIVE_GPU_H

#include "compute/fmm/fmm.h"
#include "kernels/fmm/adaptive_device.h"
#include "kernels/fmm/adaptive_evaluate.h"

typedef struct fmm_adaptive_gpu {
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_ADAPTIVE_DEVICE_STAGES + 1];
    ps_adaptive_device run;
    ps_adaptive_plan plan;
    ps_fmm_device_table tables[PS_ADAPTIVE_LEVELS];
    void *table_blocks[PS_ADAPTIVE_LEVELS], *rows[2], *results, *block;
    int64_t bytes;                      /* of the device's memory */
    double listing, moving, evaluation; /* seconds */
    double stages[PS_ADAPTIVE_DEVICE_STAGES];
} fmm_adaptive_gpu;

/* Opens the device; fmm_adaptive_gpu_close also after a failure. */
ps_status fmm_adaptive_gpu_open(const ps_run *run, fmm_adaptive_gpu **out);
void fmm_adaptive_gpu_close(fmm_adaptive_gpu **gpu);

/* Makes the lists and counts the memory. PS_EXHAUSTED, with figures, if the device has or is
 * allowed less. The problem is borrowed, and its tables are in fp64. OpenMP inside. */
ps_status fmm_adaptive_gpu_plan(fmm_adaptive_gpu *gpu, const ps_run *run,
                                const ps_adaptive_problem *problem);
int64_t fmm_adaptive_gpu_host_bytes(const fmm_adaptive_gpu *gpu); /* of the lists */

/* columns: [3 + S][sources], [3][targets]; results [4 S][targets] are overwritten. */
ps_status fmm_adaptive_gpu_run(fmm_adaptive_gpu *gpu, double *const columns[2], double *results);
void fmm_adaptive_gpu_report(const fmm_adaptive_gpu *gpu, bool done, ps_report *report);

#endif
