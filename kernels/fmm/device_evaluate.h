/*
 * device_evaluate: the whole method on one CUDA device: particles come and results go in the
 * caller's order, in the memory of the device; sorting, tree, lists, far field and near field
 * happen in between (specs/fmm_device.md).
 *
 *   ps_fmm_resident_init    from what the caller has set
 *   ps_fmm_resident_sort    sorts, and waits for the numbers of cells: then the plan is known
 *   ps_fmm_resident_run     enqueues all else: nobody waits
 *
 * The far field is a chain on one stream, P2P goes on another one meanwhile (or the same):
 *
 *     far   sort gather tree lists | invert P2M M2M encode M2L L2L ---> L2P (adds) scatter
 *     near                         | P2P (overwrites) ----------------/
 *
 * The memory, the streams and the events are the caller's. Results depend on the operators alone
 * (kernels/fmm/device_ops.h): they repeat bit by bit.
 */
#ifndef PS_KERNELS_FMM_DEVICE_EVALUATE_H
#define PS_KERNELS_FMM_DEVICE_EVALUATE_H

#include "kernels/fmm/device_lists.h"
#include "kernels/fmm/device_ops.h"

/* What is timed: the time of a stage lies between its mark and the next one's on the far stream;
 * P2P lies between two marks of its own. */
typedef enum ps_fmm_resident_stage {
    PS_FMM_RESIDENT_SORT,   /* keys, radix sort, numbers of cells */
    PS_FMM_RESIDENT_GATHER, /* particles to sorted order          */
    PS_FMM_RESIDENT_TREE,
    PS_FMM_RESIDENT_LISTS,
    PS_FMM_RESIDENT_INVERT, /* the order, for results             */
    PS_FMM_RESIDENT_P2M,
    PS_FMM_RESIDENT_M2M,
    PS_FMM_RESIDENT_ENCODE,
    PS_FMM_RESIDENT_M2L,
    PS_FMM_RESIDENT_L2L,
    PS_FMM_RESIDENT_MEET, /* the far stream waits for P2P       */
    PS_FMM_RESIDENT_L2P,
    PS_FMM_RESIDENT_SCATTER, /* results to the caller's order      */
    PS_FMM_RESIDENT_P2P,
    PS_FMM_RESIDENT_STAGES
} ps_fmm_resident_stage;
extern const char *const ps_fmm_resident_stage_names[PS_FMM_RESIDENT_STAGES];

/* Streams and events of one CUDA device. near may be far: then all is one chain. */
typedef struct ps_fmm_resident_lanes {
    ps_stream *far, *near;
    ps_event *forked, *met;
    /* [PS_FMM_RESIDENT_MARKS]: ends of the stages, of which each begins where the last one ended,
     * then two of P2P. NULL: not timed. */
    ps_event **marks;
} ps_fmm_resident_lanes;
enum { PS_FMM_RESIDENT_MARKS = PS_FMM_RESIDENT_STAGES + 2 };

/* Bytes of device memory, part by part. */
typedef struct ps_fmm_resident_plan {
    int64_t sorting;   /* keys, order, workspace of the sort                                   */
    int64_t particles; /* sorted, and their results                                            */
    int64_t first;     /* these two: the first block                                           */
    int64_t tree, lists;
    int64_t vectors;   /* multipoles, locals, coded                                            */
    int64_t workspace; /* of P2P                                                               */
    int64_t second;    /* these four: the second block                                         */
} ps_fmm_resident_plan;

/* Sources and targets; for each the caller's arrays on the device as ps_fmm_particles has them:
 * positions and charges of the sources, positions and results of the targets. Results are
 * overwritten. */
enum { PS_FMM_SOURCES, PS_FMM_TARGETS };

typedef struct ps_fmm_resident {
    /* ---- the caller's ---- */
    ps_fmm_device_method method;
    int height;
    ps_octree_box box;
    int64_t count[2]; /* [PS_FMM_TARGETS] 0: the targets are the sources                      */
    bool gradient;    /* whether it is wanted                                                  */
    int near_blocks;  /* of P2P beside the far field (ps_fmm_device_p2p.blocks); 0: no limit    */
    const ps_fmm_device_table *tables[PS_OCTREE_LEVELS_MAX]; /* levels 2 .. height - 1          */
    ps_fmm_resident_lanes lanes;
    /* ---- ours ---- */
    int sets; /* 1 or 2 */
    ps_fmm_resident_plan plan;
    int64_t outside; /* particles outside the box, taken to its border                      */
    ps_device_sort sort[2];
    ps_device_tree tree[2];
    ps_device_lists lists;
    double *rows[2]; /* sorted: [3 + sides][count], targets apart: [3][count]                 */
    double *results; /* of the targets, sorted: [sides][count], then [sides][3][count]        */
    void *multipoles[PS_OCTREE_LEVELS_MAX], *coded[PS_OCTREE_LEVELS_MAX];
    void *locals[PS_OCTREE_LEVELS_MAX];
    void *workspace;
} ps_fmm_resident;

/* near_blocks that was best on an H200: up to l = 4 kernels of the far field are small enough to
 * run beside P2P that leaves them some room (1 to 9 % faster in single trials); above, P2P does
 * better alone. */
static inline int ps_fmm_resident_near_blocks(int order) { return order <= 4 ? 10 : 0; }

/* Checks what the caller has set, and tells the bytes of the first block. PS_USAGE if something is
 * out of range, PS_FAILED without a CUDA device. */
ps_status ps_fmm_resident_init(ps_fmm_resident *resident, int64_t *bytes);

/* Makes the rest of the plan for numbers of cells that are known beforehand: cells[set][level]. */
ps_status ps_fmm_resident_expect(ps_fmm_resident *resident, const int64_t *const cells[2]);

/* Sorts into the first block and waits for the numbers of cells, from which the rest of the plan is
 * made, while particles are brought into order. Blocks serve any number of evaluations, one after
 * the other. */
ps_status ps_fmm_resident_sort(ps_fmm_resident *resident, const ps_fmm_particles *sources,
                               const ps_fmm_particles *targets, void *block);

/* Enqueues the rest in the second block (plan.second bytes); the far stream is done when the
 * results are there, in the arrays of `results` (the sources' or the targets' own). */
ps_status ps_fmm_resident_run(ps_fmm_resident *resident, const ps_fmm_particles *results,
                              void *block);

/* Seconds of the stages of the last run, which is done; needs marks. */
ps_status ps_fmm_resident_seconds(const ps_fmm_resident *resident,
                                  double seconds[PS_FMM_RESIDENT_STAGES]);

#endif
