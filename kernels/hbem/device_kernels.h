/* What device_assembly.c and the *_cuda.cu files share. Private to them. */
#ifndef PS_KERNELS_HBEM_DEVICE_KERNELS_H
#define PS_KERNELS_HBEM_DEVICE_KERNELS_H

#include "kernels/hbem/device_assembly.h"
#include "formats/hmatrix_blocks.h"

/* Whether rows and columns are the same functions of the same body. Hard pairs are shared, and
 * small far leaves integrated whole, where they are: elsewhere it is not checked on a device. */
static inline bool ps_hbem_one_side(const ps_hbem_device_operator *op)
{
    return op->test.slot_triangle == op->trial.slot_triangle;
}

/* Far leaves of one size class. */
typedef struct ps_hbem_far_launch {
    ps_hbem_device_operator op;
    ps_hbem_device_far_options options;
    const ps_hbem_device_leaf *leaves;
    ps_hbem_device_block *blocks;
    const int32_t *list;
    int64_t count;  /* of the list                                                         */
    unsigned *next; /* leaves taken                                                        */
    ps_hbem_device_arena arena;
    ps_hbem_device_far_report *report;
    char *workspace;
    int64_t stride, bytes;           /* of workspace, of a team of threads and of all         */
    int32_t most, most_slots, limit; /* rows + columns, slots of a side, rank             */
    int size;
} ps_hbem_far_launch;

/* Bytes of workspace of a team of threads. */
int64_t ps_hbem_far_stride(const ps_hbem_far_launch *launch);
/* One launch a size, with workspaces of their own where they are to run side by side. */
ps_status ps_hbem_far_launch_cuda(const ps_hbem_far_launch *launches, int count, bool aside,
                                  ps_stream *stream);
/* On a cudaStream_t of the current device. */
ps_status ps_hbem_far_slp_cuda(const ps_hbem_far_launch *launch, void *stream);
ps_status ps_hbem_far_dlp_cuda(const ps_hbem_far_launch *launch, void *stream);
ps_status ps_hbem_far_adlp_cuda(const ps_hbem_far_launch *launch, void *stream);
/* Those of the smallest size, whatever the kernel. */
ps_status ps_hbem_far_small_cuda(const ps_hbem_far_launch *launch, void *stream);
ps_status ps_hbem_far_hyps_cuda(const ps_hbem_far_launch *launch, void *stream);

/* A pair too close for the first rule. The triangle of the lower number comes first in rules. A
 * hard pair that another leaf has, too, is integrated once: kind is then -1 less the place of that
 * one. */
typedef struct ps_hbem_close_pair {
    int32_t row, column; /* slots */
    int32_t kind;
} ps_hbem_close_pair;

/* Classes: vertex, edge, identical (as ps_hbem_contact), the regular rules, what is hard
 * (hard_body.h). */
enum { PS_HBEM_CLOSE_HARD = PS_PAIR_CONTACTS + PS_HBEM_RULES, PS_HBEM_CLOSE_CLASSES };

/* Near leaves. */
typedef struct ps_hbem_near_launch {
    ps_hbem_device_operator op;
    ps_hbem_device_near near;
    int32_t *counts; /* [count], for counting                                            */
    const int64_t *first;
    ps_hbem_close_pair *pairs; /* a leaf's together, by row and column                    */
    int32_t *list;             /* [pairs] class by class                                  */
    int32_t *seen;             /* [seen_size], a power of 2: places of hard pairs, or -1  */
    int64_t seen_size;
    int32_t *left; /* [pairs] hard pairs to be integrated: [left_count]                    */
    unsigned *class_count, *class_start, *class_cursor, *left_count; /* [classes]; one     */
    void *moments; /* [pairs][part][row hat][column hat] */
    int64_t pair_count;
} ps_hbem_near_launch;

/* Without a leaf, these load their functions and no more: otherwise the first launch does so. */
ps_status ps_hbem_near_count_cuda(const ps_hbem_near_launch *launch, ps_stream *stream);
ps_status ps_hbem_near_list_cuda(const ps_hbem_near_launch *launch, ps_stream *stream);
/* Regular pairs; then, by another call, moments of the listed ones and their sums. */
ps_status ps_hbem_near_regular_cuda(const ps_hbem_near_launch *launch, ps_stream *stream);
ps_status ps_hbem_near_close_cuda(const ps_hbem_near_launch *launch, ps_stream *stream);

#endif
