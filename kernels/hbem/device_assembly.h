/*
 * device_assembly: the leaves of an H-matrix on a CUDA device (specs/hbem_device.md).
 *
 * Far leaves: a block of threads, or a cluster of blocks, has a leaf for itself, from the first row
 * to the recompressed factors. Near leaves: a block of threads a leaf for pairs of triangles that
 * the first regular rule is good enough for; the closer ones are listed by class, integrated each
 * by a thread and added up in a fixed order. Bits do not depend on what else is in a launch.
 *
 * Memory is the caller's. Everything is enqueued on a stream of the device and nothing waits unless
 * said; pointers inside the structs are memory of the device unless said otherwise. Without CUDA
 * everything fails with PS_FAILED.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_ASSEMBLY_H
#define PS_KERNELS_HBEM_DEVICE_ASSEMBLY_H

#include "kernels/hbem/device_side.h"
#include "kernels/hbem/entries.h"
#include "runtime/device.h"

/* ---- what is integrated ---- */

/* Rules in both precisions. */
typedef struct ps_hbem_device_rules {
    int rules, count[PS_HBEM_RULES], joint_count[PS_PAIR_CONTACTS];
    double distance[PS_HBEM_RULES];
    void *point[PS_PRECISION_COUNT][PS_HBEM_RULES];    /* real [count][4]: hats, weight      */
    void *joint[PS_PRECISION_COUNT][PS_PAIR_CONTACTS]; /* real [count][8]: hats of x, of y,
                                                          weight, 0                          */
    ps_hbem_cell_rule *cells;                          /* of hard pairs; NULL: none is hard  */
} ps_hbem_device_rules;

/* Bytes of all arrays. */
int64_t ps_hbem_device_rules_bytes(const ps_hbem_quadrature *quadrature);
/* Counts and pointers into `memory`, of the host or of a device. */
void ps_hbem_device_rules_place(ps_hbem_device_rules *rules, const ps_hbem_quadrature *quadrature,
                                void *memory);
/* Fills rules that are placed in the host's memory. */
void ps_hbem_device_rules_fill(const ps_hbem_device_rules *rules,
                               const ps_hbem_quadrature *quadrature);

typedef struct ps_hbem_device_operator {
    ps_hbem_kernel kernel;
    double wavenumber;      /* rad/m; 0: Laplace                                      */
    double absorption;      /* the imaginary part of k, Np/m                          */
    ps_precision precision; /* of values and of the arithmetic; HYPS near is fp64     */
    ps_hbem_device_side test, trial;
    const ps_hbem_triangle *triangles; /* as on the host                               */
    ps_hbem_device_rules rules;
} ps_hbem_device_operator;

/* ---- leaves ---- */

/* Functions of a leaf; rows and columns begin and end with leaf clusters. */
typedef struct ps_hbem_device_leaf {
    int32_t row_begin, row_end, column_begin, column_end;
} ps_hbem_device_leaf;

/* Where its values are, in numbers from the begin of an arena, laid out as hmatrix_blocks says. */
typedef struct ps_hbem_device_block {
    int64_t offset;
    int32_t rank; /* PS_RANK_DENSE: dense                                              */
    float error;  /* as in ps_hmatrix_block                                            */
} ps_hbem_device_block;

typedef struct ps_hbem_device_arena {
    void *values;     /* of the operator's precision, 16-byte aligned                  */
    int64_t capacity; /* numbers                                                       */
} ps_hbem_device_arena;

/* ---- near leaves ---- */

typedef struct ps_hbem_device_near {
    const ps_hbem_device_leaf *leaves;
    const ps_hbem_device_block *blocks; /* offsets are set, rank is dense               */
    int64_t count;                      /* leaves                                       */
    ps_hbem_device_arena arena;
} ps_hbem_device_near;

/* Pairs of triangles of each leaf too close for the first regular rule: counts[leaf], overwritten.
 * PS_USAGE, here and below, where that rule has not 6 points. */
ps_status ps_hbem_device_near_count(const ps_hbem_device_operator *op,
                                    const ps_hbem_device_near *near, int32_t *counts,
                                    ps_stream *stream);

/* All regular pairs of the first rule: overwrites the blocks. */
ps_status ps_hbem_device_near_regular(const ps_hbem_device_operator *op,
                                      const ps_hbem_device_near *near, ps_stream *stream);

/* Adds the close pairs. first[count + 1]: sums of the counts from 0; pairs = first[count]. */
typedef struct ps_hbem_device_close {
    const int64_t *first;
    int64_t pairs;
    void *workspace;  /* ps_hbem_device_close_bytes, 256-byte aligned                    */
    ps_event *listed; /* recorded when all are listed, before they are integrated, or NULL */
} ps_hbem_device_close;

/* Bytes of workspace for so many close pairs at once. */
int64_t ps_hbem_device_close_bytes(const ps_hbem_device_operator *op, int64_t pairs);
ps_status ps_hbem_device_near_close(const ps_hbem_device_operator *op,
                                    const ps_hbem_device_near *near,
                                    const ps_hbem_device_close *close, ps_stream *stream);

/* ---- far leaves ---- */

/* Sizes of far leaves: by the larger of rows and columns. */
enum {
    PS_HBEM_FAR_SIZES = 4,
    PS_HBEM_FAR_SMALL = PS_HBEM_FAR_SIZES - 1,
    PS_HBEM_DEVICE_RANK_MAX = 160
};

typedef struct ps_hbem_device_far_options {
    double tolerance; /* of recompression                                            */
    int check_rows; /* as in aca.h; 8                                                 */
    int max_rank;   /* <= PS_HBEM_DEVICE_RANK_MAX                                     */
    bool recompress;
    bool skeleton; /* crosses of the kernel at points, factors by integration; entries are for
                      checks, and for leaves where the checks fail                     */
    double crosses; /* tolerance of crosses and of their checks; 0: the same         */
} ps_hbem_device_far_options;

/* What far leaves report; on the device. */
typedef struct ps_hbem_device_far_report {
    unsigned long long cursor;        /* numbers of the arena in use, set before the first call */
    unsigned long long pairs;         /* of triangles integrated for rows and columns of entries  */
    unsigned next[PS_HBEM_FAR_SIZES]; /* at work                                          */
    unsigned by_entries, dense;       /* leaves that ended so, so far                          */
    unsigned over_rank;               /* leaves that need a higher rank: results are void      */
    unsigned over_arena;              /* leaves that found no room: results are void           */
} ps_hbem_device_far_report;

typedef struct ps_hbem_device_far {
    ps_hbem_device_far_options options;
    const ps_hbem_device_leaf *leaves; /* [count]                                       */
    ps_hbem_device_block *blocks;      /* [count] set                                   */
    const int32_t *list;               /* leaves to do, size by size, large ones first  */
    int64_t list_count[PS_HBEM_FAR_SIZES];
    int32_t most[PS_HBEM_FAR_SIZES];       /* rows + columns of a leaf of each size        */
    int32_t most_slots[PS_HBEM_FAR_SIZES]; /* slots of a side of a leaf                    */
    ps_hbem_device_arena arena;
    ps_hbem_device_far_report *report;
    void *workspace; /* 256-byte aligned; the more, the more leaves are at work at once; from
                        ps_hbem_device_far_useful on, all sizes are                         */
    int64_t workspace_bytes;
} ps_hbem_device_far;

/* The size class of a leaf, 0: the largest. */
int ps_hbem_device_far_size(int64_t rows, int64_t columns);

/* Bytes of workspace of one leaf of a size class, for the least that suffices. */
int64_t ps_hbem_device_far_bytes(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                 int size);

/* Bytes of workspace that a device of so many multiprocessors makes use of. */
int64_t ps_hbem_device_far_useful(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                  int64_t processors);

/* Blocks of all leaves of the list. report->cursor goes on; where report->over_rank or over_arena
 * is not 0 afterwards, the results are void. PS_EXHAUSTED where the workspace does not suffice. */
ps_status ps_hbem_device_far_run(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                 ps_stream *stream);

/* Loads the functions that leaves of an operator take, ahead of their first launch, which keeps the
 * device waiting otherwise (near ones 7 ms, far ones 20). Returns errors of CUDA. */
ps_status ps_hbem_device_load(const ps_hbem_device_operator *op, ps_stream *stream);

/* ---- leaves of a matrix in the order of the device ---- */

/* On the host, arrays the caller's: near leaves first, then far ones from large to small. */
typedef struct ps_hbem_device_batch {
    int64_t count, near_count;
    int32_t *leaf;                /* [count] number of the leaf                            */
    int32_t *list;                /* [count] 0, 1, ..: for ps_hbem_device_far              */
    ps_hbem_device_leaf *at;      /* [count]                                               */
    ps_hbem_device_block *blocks; /* [count] near: offsets from 0; far: rank PS_HBEM_UNSET */
    int64_t near_numbers;         /* of the arena that near leaves take                    */
    int64_t most_numbers;         /* that all leaves may take at most                      */
    int64_t list_count[PS_HBEM_FAR_SIZES];
    int32_t most[PS_HBEM_FAR_SIZES], most_slots[PS_HBEM_FAR_SIZES];
} ps_hbem_device_batch;

/* The rank of a far leaf that is not done. */
enum { PS_HBEM_UNSET = -2 };

/* Numbers of an arena that a leaf takes at most. op: kernel and wavenumber are read. */
int64_t ps_hbem_device_leaf_numbers(const ps_hbem_device_operator *op, const ps_hmatrix_leaf *leaf,
                                    int max_rank);

/* Fills batch from leaves[batch->count]; op: kernel, wavenumber, sides (counts alone are read). */
void ps_hbem_device_batch_fill(ps_hbem_device_batch *batch, const ps_hmatrix_leaf *leaves,
                               const ps_hbem_device_operator *op, int max_rank);

#endif
