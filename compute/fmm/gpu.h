/*
 * gpu: what the files with the tasks of GPU workers share (gpu.c, gpu_far.c, gpu_near.c).
 */
#ifndef PS_COMPUTE_FMM_GPU_H
#define PS_COMPUTE_FMM_GPU_H

#include "compute/fmm/fmm.h"
#include "kernels/fmm/device_ops.h"

enum { GPUS_MAX = 16 };

typedef struct gpu {
    ps_device *device;
    char *rooms; /* one for each lane: tables of sources, then what P2P needs */
    void *blocks[PS_OCTREE_LEVELS_MAX];
    ps_fmm_device_table tables[PS_OCTREE_LEVELS_MAX];
} gpu;

struct fmm_gpus {
    int count;
    ps_device *devices[GPUS_MAX];
    gpu gpus[GPUS_MAX];
    ps_fmm_device_method method;
    int64_t table_bytes, room_bytes; /* of a lane; the table is the first part of its room */
};

/* What every task begins with. */
typedef struct gpu_scene {
    const ps_task_call *call;
    const fmm_gpus *gpus;
    const fmm_problem *p;
    const gpu *own;
    char *room; /* of the lane */
    int level;
    int64_t group;
} gpu_scene;

gpu_scene gpu_scene_of(const ps_task_call *call);

#endif
