/*
 * fmm: what the files of penstock-fmm share (specs/fmm_run.md).
 *
 * The octree's groups are the pieces of work: flow.c lists the tasks in an order in which they
 * could be run one after the other, each with the pieces of data it accesses; pool.c keeps pieces
 * in memory within a budget, or on the disk; run.c hands the tasks to the task queue; tasks.c does
 * them; sink.c brings results into the caller's order.
 */
#ifndef PS_COMPUTE_FMM_FMM_H
#define PS_COMPUTE_FMM_FMM_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/fmm_result.h"
#include "formats/octree.h"
#include "formats/particles.h"
#include "formats/task_trace.h"
#include "kernels/fmm/device_ops.h"
#include "kernels/fmm/group_far.h"
#include "kernels/fmm/group_near.h"
#include "kernels/fmm/moment_sum.h"
#include "kernels/fmm/sample_errors.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/task_queue.h"
#include "stage/journal.h"
#include "stage/particle_sum/level_tables.h"
#include "stage/product.h"

enum { FMM_DEVICES_MAX = 16 };                                 /* fmm_options.devices */
enum { FMM_TREE_AUTO, FMM_TREE_UNIFORM, FMM_TREE_ADAPTIVE };   /* fmm_options.tree */
enum { FMM_RESIDENT_AUTO, FMM_RESIDENT_YES, FMM_RESIDENT_NO }; /* fmm_options.resident */

typedef struct fmm_options {
    const char *kernel;
    double parameter, epsilon, accuracy;
    int64_t order, workers, check, devices;
    int precision, basis, scheduler, termination, gpu_kinds, pairs, resident, tree;
    bool gradient, hessian, journal; /* a journal from the start on */
    ps_interval checkpoint_every;
    const char *trace, *mapping, *charges, *periodic;
    double period;
    bool background;
} fmm_options;

/* ---- the problem: problem.c, lists.c, operators.c ---- */

typedef struct fmm_lists {
    ps_group_list far[PS_OCTREE_LEVELS_MAX]; /* source groups of M2L, of target groups         */
    ps_group_list near;                      /* source groups of P2P                           */
    ps_group_list augmented;                 /* leaves                                         */
    ps_group_list owners; /* of each group: the groups whose leaves it has as augmented     */
    ps_group_list copied; /* of each group: the groups that have leaves of it as augmented  */
    int64_t *far_pairs[PS_OCTREE_LEVELS_MAX], *near_pairs, *augmented_pairs; /* [groups] */
    double *near_flop;                                     /* [groups] of P2P tasks       */
    double median_flop;                                    /* P2P tasks above it are large */
    int64_t augmented_particles_max, augmented_leaves_max; /* of a group */
    int64_t copied_max, groups_max;                        /* of a list in `copied`; on a level */
} fmm_lists;

/* A box that repeats, --periodic. axes 0: it does not. */
typedef struct fmm_lattice {
    bool along[3], background;
    int axes, images; /* images: boxes that a direct sum goes over, 3^axes */
    double period, origin[3];
} fmm_lattice;

typedef struct fmm_problem {
    ps_octree_file *file;
    const ps_octree_header *header;
    ps_octree trees[2]; /* [1] only if the targets are not the sources */
    ps_fmm_problem fmm; /* trees, kernel, operators: no particles, no vectors; sides: columns */
    ps_fmm_sum sum;     /* what is summed: moments.c */
    fmm_lists lists;
    int leaf;        /* level of the leaves       */
    bool same, far;  /* is there a far field?     */
    bool mutual;     /* P2P of a group computes pairs with later groups from both sides: copies */
    bool near_first; /* P2P is inserted before the far field, as all is in memory */
    bool by_groups;  /* leaf groups are brought to their ends one after the other: a journal */
    bool leaves_at_once; /* L2L to the leaves is part of L2P, which adds to the near results */
    int reductions;      /* tasks that share the reduction of a group: 1 or FMM_PARTS */
    void *blocks[PS_OCTREE_LEVELS_MAX];
    ps_fmm_m2l_table tables[PS_OCTREE_LEVELS_MAX];
    double operator_seconds, epsilon;
    double pairs; /* of particles: the work of an adaptive tree that is used instead; 0: none is */
    double accuracy;                        /* a bound for errors; 0: none is asked */
    double mean_rank[PS_OCTREE_LEVELS_MAX]; /* over the offsets of a full interaction list */
    int rank, ranks, gpus, workers;         /* GPU workers, CPU workers of this rank */
    uint64_t *boundaries; /* [ranks] keys of the first leaf of each; UINT64_MAX: it has none */
    ps_particle_file *charge_file; /* of --charges; NULL: none */
    double *charges;               /* [S][sources] in the caller's order; NULL: the octree's own */
    fmm_lattice lattice;
} fmm_problem;

#define FMM_ACCURACY_USUAL 3e-4 /* where nothing is said: order 5 as a rule */
enum { FMM_PAIRS_AUTO, FMM_PAIRS_MUTUAL, FMM_PAIRS_ONE_SIDED }; /* fmm_options.pairs */
ps_status fmm_problem_open(const ps_run *run, const fmm_options *options, fmm_problem *p);
/* PS_INVALID unless the lists are those of the trees: tasks rely on them. OpenMP inside; each rank
 * checks some groups; collective. */
ps_status fmm_lists_check(const fmm_problem *p);
/* After the GPUs are known: whether pairs of two groups are computed from both sides at once, and
 * so the work of P2P tasks. OpenMP inside; collective. */
ps_status fmm_pairs_choose(const fmm_options *options, fmm_problem *p);
/* --charges: charges.c. Opening takes sides and units (path NULL: the octree's); loading, as all
 * that reads particles needs it, compares the places. PS_INVALID if they are others. OpenMP inside.
 */
ps_status fmm_charges_open(const char *path, fmm_problem *p);
/* PS_INVALID for charges that single precision, where it is asked for, does not hold. */
ps_status fmm_charges_check(const fmm_problem *p);
ps_status fmm_charges_load(const ps_run *run, fmm_problem *p);
const char *fmm_charge_units(const fmm_problem *p);
/* Kernel and columns make a sum: moments.c. PS_USAGE for those that do not fit each other, or for
 * options that only sums of charges have. */
ps_status fmm_sum_choose(const fmm_options *options, fmm_problem *p);
/* The order that an accuracy is tried with first, and its epsilon. */
void fmm_sum_order(const fmm_options *options, const fmm_problem *p, int *order, double *epsilon);
/* PS_USAGE where cells hold more waves than an order does. */
ps_status fmm_sum_check_order(const fmm_problem *p, int order);
const char *fmm_kernel_name(const fmm_problem *p);
/* What of it takes more than charges to gradients. */
const char *fmm_sum_name(const fmm_options *options, const fmm_problem *p);
/* --periodic: periodic.c, as adaptive_parts.h has more of it. */
ps_status fmm_periodic_choose(const fmm_options *options, fmm_problem *p);
/* Results [rows][stride] of the unit box to those of the lattice; nothing without one. */
void fmm_periodic_scale(const fmm_problem *p, int64_t count, int64_t stride, double *results);
ps_status fmm_periodic_put(const fmm_problem *p, ps_store *store);
/* Forgets how an attempt was to be done: on what devices, in which order. */
void fmm_problem_forget(fmm_problem *p);
void fmm_problem_release(fmm_problem *p);
/* Tables of all levels in a precision: operators or a common basis. */
ps_status fmm_operators_build(const fmm_options *options, ps_precision precision, fmm_problem *p);
/* The same for other levels than those of the octree, and of a pass. */
ps_status fmm_operators_of(const fmm_options *options, const ps_fmm_pass *pass,
                           ps_precision precision, fmm_problem *p, ps_fmm_level_set *set);
/* Operators of a level into memory of a device that the caller frees, if *block, even on failure.
 * PS_USAGE: vectors too long for the kernels there. */
ps_status fmm_operators_upload(const ps_fmm_m2l_table *table, ps_stream *stream, void **block,
                               ps_fmm_device_table *out);

/* ---- pieces of data: pool.c ---- */

typedef enum fmm_what {
    FMM_SOURCES,    /* positions and charges of a leaf group: f64 [3 + S][n]                  */
    FMM_TARGETS,    /* positions of a leaf group of targets that are not sources: f64 [3][n]   */
    FMM_PLACES,     /* places in the caller's order: i64 [n]                                  */
    FMM_PACKED,     /* for GPUs: particles of augmented leaves, f64 [3 + S][n of these]    */
    FMM_NEAR_LISTS, /* for GPUs: gpu_lists.c                                               */
    FMM_FAR_LISTS,  /* for GPUs, by level, as are the next two                             */
    FMM_UP_LISTS,
    FMM_DOWN_LISTS,
    FMM_SOURCE_LEAVES, /* for GPUs: keys and first particles of a group of leaves          */
    FMM_TARGET_LEAVES, /* likewise, where targets are not the sources                      */
    FMM_NEAR,          /* f64 [4 S][n]                                                           */
    FMM_COPIES,        /* results of augmented leaves: f64 [4 S][n of these]                     */
    FMM_FAR,           /* f64 [4 S][n]                                                           */
    FMM_MULTIPOLES,    /* real [S][cells][l^3], as are locals                                 */
    FMM_CODED,         /* real [S][cells][length]                                             */
    FMM_LOCALS,
    FMM_WHATS
} fmm_what;

typedef struct fmm_pool fmm_pool;

/* Numbers of pieces: one for each kind, level and group. Kinds without levels: level 0. */
int64_t fmm_piece(const fmm_pool *pool, fmm_what what, int level, int64_t group);
/* Sizes and numbers of all pieces; nothing is in memory. */
ps_status fmm_pool_open(const fmm_problem *p, fmm_pool **out);
/* Gives the memory of all pieces back, when no task is left. */
void fmm_pool_empty(fmm_pool *pool);
void fmm_pool_close(fmm_pool **pool);
int64_t fmm_pool_bytes(const fmm_pool *pool, int64_t piece);
int64_t fmm_pool_whole(const fmm_pool *pool); /* of all that some task accesses, together */
/* One task more will access the piece. */
void fmm_pool_expect(fmm_pool *pool, int64_t piece);
void fmm_pool_expect_none(fmm_pool *pool); /* counting begins anew */
/* Before fmm_pool_start, where all pieces fit the budget: takes memory for all of them (pinned, for
 * transfers to GPUs, with a device), reads what comes from the octree. OpenMP inside. */
ps_status fmm_pool_load(fmm_pool *pool, ps_device *device);
/* From here on pieces are in memory, at most `budget` bytes of them; others lie in a scratch file
 * beside `beside`, or where they came from. */
ps_status fmm_pool_start(fmm_pool *pool, ps_task_queue *queue, int64_t budget, const char *beside);
/* The pieces of a task that is to be inserted next: in memory, filled unless they are to be
 * written whole. Waits for tasks under way where room is needed. out[count] for the task. */
ps_status fmm_pool_acquire(fmm_pool *pool, const int64_t *pieces, const ps_access_mode *modes,
                           int count, ps_task_access *out);
/* After an acquisition: the memory of a piece, its tasks done. */
ps_status fmm_pool_settle(fmm_pool *pool, int64_t piece, void **memory);
typedef struct fmm_pool_figures {
    int64_t peak_bytes, read_bytes, written_bytes, evictions;
    double wait_seconds, move_seconds, load_seconds;
} fmm_pool_figures;
fmm_pool_figures fmm_pool_measure(const fmm_pool *pool);
/* Sources of a group of leaves, [3 + S][n], if fmm_pool_load has read them; else NULL. */
const double *fmm_pool_sources(const fmm_pool *pool, int64_t group);

/* ---- GPUs: gpu.c, gpu_far.c, gpu_near.c, gpu_lists.c ---- */

/* Where the parts of a group's lists lie: bytes from their beginning. Codes of sources are slot <<
 * shift | cell (kernels/fmm/device_ops.h). */
typedef struct fmm_near_layout {
    /* Slots: of one tree the group itself first; then the owners of its augmented leaves if P2P is
     * mutual, else the groups of its near list. */
    int64_t cells, particles, augmented, augmented_particles, slots;
    int64_t keys, augmented_keys;               /* u64 [cells], [augmented]            */
    int64_t start, augmented_start, slot_start; /* i32 [cells + 1], [augmented + 1]; of all slots
                                                   one after the other, each [cells of it + 1]   */
    int64_t near, augmented_near; /* i32 [..][27]; codes of slot 0 alone in the second one  */
    int64_t bytes;
} fmm_near_layout;
fmm_near_layout fmm_near_layout_of(const fmm_problem *p, int64_t group);
/* The group in a slot. */
int64_t fmm_near_slot(const fmm_problem *p, int64_t group, int64_t slot);

typedef struct fmm_far_layout {
    int64_t cells, blocks;
    int64_t order, octant_start, block, sources; /* i32 [cells], [9], [cells], [blocks][216] */
    int64_t bytes;
} fmm_far_layout;
/* Slots are the groups of far_groups. */
fmm_far_layout fmm_far_layout_of(const fmm_problem *p, int level, int64_t group);
int fmm_code_shift(const fmm_problem *p); /* bits of a cell within a group */
/* Of a group of leaves: u64 keys[cells], then i32 start[cells + 1]. */
typedef struct fmm_leaf_layout {
    int64_t cells, particles, start, bytes; /* keys are at 0 */
} fmm_leaf_layout;
fmm_leaf_layout fmm_leaf_layout_of(const ps_octree *tree, int64_t group);
void fmm_leaf_lists(const ps_octree *tree, int64_t group, void *out);
/* Families: i32 [parents][8] by octant. Up: parents are the cells of the group, and codes have
 * the groups of children that it accesses as slots. Down: parents of the group's cells, first to
 * last, children the numbers of these cells. */
int64_t fmm_up_bytes(const ps_octree *tree, int level, int64_t group);
int64_t fmm_down_bytes(const ps_octree *tree, int level, int64_t group);
void fmm_up_lists(const fmm_problem *p, int level, int64_t group, void *out);
void fmm_down_lists(const fmm_problem *p, int level, int64_t group, void *out);
void fmm_near_lists(const fmm_problem *p, int64_t group, void *out);
void fmm_far_lists(const fmm_problem *p, int level, int64_t group, void *out);

typedef struct fmm_gpus fmm_gpus;
/* Opens the devices that --device names, at most `most` (none if there are none, or on a CPU). */
ps_status fmm_gpus_open(const ps_run *run, fmm_gpus **out, int *count);
void fmm_gpus_close(fmm_gpus **gpus);
/* PS_USAGE, saying why, if the kernels for GPUs do not take these operators. */
ps_status fmm_gpus_can(const fmm_problem *p);
/* Operators and room on each device. */
ps_status fmm_gpus_prepare(fmm_gpus *gpus, const fmm_problem *p);
ps_device *const *fmm_gpus_devices(const fmm_gpus *gpus);
/* For copies of so many bytes of pieces on each device: all of them, if --device-memory or what is
 * free allows. */
int64_t fmm_gpus_memory(const fmm_gpus *gpus, const ps_run *run, int64_t pieces);
/* Codelets; the order of data is that of flow.c. */
ps_status fmm_gpu_p2m(const ps_task_call *call);
ps_status fmm_gpu_m2m(const ps_task_call *call);
ps_status fmm_gpu_encode(const ps_task_call *call);
ps_status fmm_gpu_m2l(const ps_task_call *call);
ps_status fmm_gpu_l2l(const ps_task_call *call);
ps_status fmm_gpu_l2p(const ps_task_call *call);
ps_status fmm_gpu_p2p(const ps_task_call *call);

/* ---- particles: source.c ---- */

/* PS_INVALID for particles outside their leaf, where there is a far field, and for places that are
 * none. Reads sorted particles [first, first + count) of a side: columns[column_count] and places,
 * either may be 0 or NULL. Keeps the tile read last, so that ascending ranges cost one reading of
 * each; `memory` is for fmm_source_release. One thread. */
typedef struct fmm_source {
    const fmm_problem *problem;
    ps_octree_file *file;
    double *columns[2][PS_PARTICLE_COLUMNS_MAX];
    int64_t *places[2];
    int64_t tile[2], capacity[2]; /* tile held; -1: none */
    bool held_columns[2], held_places[2];
} fmm_source;
void fmm_source_init(fmm_source *source, const fmm_problem *problem);
void fmm_source_release(fmm_source *source);
int64_t fmm_source_bytes(const fmm_problem *p);
/* The leaf that holds a sorted particle. */
int64_t fmm_leaf_of(const ps_octree *tree, int64_t particle);
ps_status fmm_source_read(fmm_source *source, ps_octree_side side, int64_t first, int64_t count,
                          double *const *columns, int column_count, int64_t *places);

/* ---- results: sink.c ---- */

typedef struct fmm_sink fmm_sink;
/* Results in memory (8 bytes a row of the sum and target) if they fit `budget`, otherwise in a
 * scratch file, sorted by chunks of the output. */
ps_status fmm_sink_open(int64_t targets, const ps_fmm_sum *sum, int64_t budget, const char *beside,
                        fmm_sink **out);
/* Each put is a whole chunk of the file, which is borrowed, in the file's order: it is written. */
ps_status fmm_sink_open_straight(int64_t targets, const ps_fmm_sum *sum, ps_fmm_result *file,
                                 fmm_sink **out);
void fmm_sink_close(fmm_sink **sink);
int64_t fmm_sink_bytes(int64_t targets, const ps_fmm_sum *sum); /* to be in memory */
bool fmm_sink_in_memory(const fmm_sink *sink);
/* Results of some targets: the rows of the sum (kernels/fmm/moment_sum.h), `stride` numbers apart.
 */
typedef struct fmm_values {
    const double *rows;
    int64_t stride, count;
} fmm_values;
/* Results of targets with these places. Thread-safe for different targets. In memory any number
 * will do; a call on the scratch file costs a write for each chunk of the output that it meets. */
ps_status fmm_sink_put(fmm_sink *sink, const int64_t *places, const fmm_values *values);
/* Results of the first few of these places come soon: into the cache with what they overwrite. */
void fmm_sink_expect(const fmm_sink *sink, const int64_t *places, int64_t count);
/* When all is put: PS_INVALID unless each place was met once. OpenMP inside. */
ps_status fmm_sink_check(const fmm_sink *sink);
/* Results of a chunk of the output in order, values[rows][count], from the scratch file; room[1 +
 * rows][count]. Thread-safe. */
ps_status fmm_sink_read(const fmm_sink *sink, int64_t chunk, double *room, double *values);
/* By as many threads as `memory` has room for, at least one. */
ps_status fmm_sink_write(fmm_sink *sink, int64_t memory, ps_fmm_result *file);
/* Where results are until they are written. */
typedef enum fmm_sink_way { FMM_SINK_FILE, FMM_SINK_MEMORY, FMM_SINK_STRAIGHT } fmm_sink_way;
/* Bytes of a thread that writes, of several (the last chunk may be short), and how many have room.
 */
int64_t fmm_sink_writer_bytes(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way);
int64_t fmm_sink_writing_bytes(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way,
                               int64_t writers);
int fmm_sink_writers(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way, int64_t memory);

/* ---- tasks: flow.c, tasks.c ---- */

typedef enum fmm_kind {
    FMM_P2M,
    FMM_M2M,
    FMM_ENCODE,
    FMM_M2L,
    FMM_L2L,
    FMM_L2P,
    FMM_P2P,
    FMM_REDUCE,
    FMM_KINDS
} fmm_kind;

typedef struct fmm_task {
    fmm_kind kind;
    int level, part; /* part: of a reduction */
    int64_t group;
    int count, capacity; /* accesses, the one that is written first */
    int64_t *pieces;
    ps_access_mode *modes;
    double flop;
} fmm_task;

/* A piece that one rank has made and another one wants. */
typedef struct fmm_transfer {
    int64_t piece;
    int from, to;
    int64_t group; /* of leaves, of results that rank 0 takes; -1: other pieces */
} fmm_transfer;

typedef struct fmm_visit {
    ps_status (*task)(void *context, const fmm_task *task);
    /* Several ranks: what this one sends or receives now; all have the same calls in the same
     * order, some without transfers. */
    ps_status (*transfers)(void *context, const fmm_transfer *list, int64_t count);
    /* Several ranks: from here on none waits for tasks of another one, but for results. */
    void (*alone)(void *context);
} fmm_visit;
/* All tasks (of this rank) in order. done[groups of leaves]: groups whose results are there already
 * (NULL: none): their tasks are left out, P2P unless another group wants its copies. */
ps_status fmm_flow(const fmm_problem *p, const fmm_pool *pool, const uint8_t *done,
                   const fmm_visit *visit, void *context);
/* The rank that a group belongs to: that of its first leaf. */
int fmm_owner(const fmm_problem *p, const ps_octree *tree, int level, int64_t group);
/* Each GPU has an interval of so many of the groups of a level, the last one what is left. */
int64_t fmm_place_groups(const fmm_problem *p, int64_t groups);
/* Intervals of leaf groups of targets of about equal forecasts. */
ps_status fmm_share_groups(fmm_problem *p);
/* What so many ranks would send each other in a run, and the work of each: its forecast. */
ps_status fmm_rank_traffic(const fmm_problem *p, const fmm_pool *pool, int64_t ranks,
                           ps_rank_traffic *out);

enum { FMM_PARTS = 4 /* of the targets of a group, for sums and reductions */ };
/* Sums over part of the targets of a group, by right-hand side (targets are the sources): q phi,
 * q g and |q g|. Added up in the order of groups and parts. */
typedef struct fmm_sums {
    double energy, force[3], magnitude;
} fmm_sums;

typedef struct fmm_check fmm_check;

/* What tasks share. */
typedef struct fmm_work {
    const fmm_problem *problem;
    fmm_sink *sink;      /* NULL: another rank has it */
    fmm_check *check;    /* of --check; NULL: none */
    fmm_check *samples;  /* of --accuracy; NULL: none */
    ps_journal *journal; /* NULL: none */
    fmm_gpus *gpus;      /* NULL: none */
    fmm_sums *sums;      /* [groups][FMM_PARTS][sides] */
    int workers;
    char **scratch;   /* [workers] */
    int64_t finished; /* groups whose results are in the sink; atomic */
} fmm_work;

typedef struct fmm_arguments {
    fmm_work *work;
    int level, part;
    int64_t group;
} fmm_arguments;

extern const ps_codelet fmm_codelets[FMM_KINDS];
int64_t fmm_scratch_bytes(const fmm_problem *p); /* of a worker */
/* Takes results values[4 S][targets] and sums[FMM_PARTS][S] of a group: into the sink, the check,
 * the sums. */
ps_status fmm_take_results(fmm_work *work, int64_t group, const int64_t *places,
                           const double *values, const fmm_sums *sums);
/* The latter alone: of `parts` parts from `part` on, sums[parts][S], of a group or a portion. */
void fmm_take_sums(fmm_work *work, int64_t group, int part, int parts, const fmm_sums *sums);
/* The same without the sums: of sorted targets from `first` on, into the sink and the check. */
ps_status fmm_pass_results(fmm_work *work, int64_t first, const int64_t *places,
                           const fmm_values *values);

/* ---- the reduction: reduction.c ---- */

/* Sums of a group, sums[FMM_PARTS][S], from charges[S][stride] and results. */
void fmm_group_sums(const double *charges, const fmm_values *values, int sides, fmm_sums *sums);

/* What another group has computed for leaves of this one. */
typedef struct fmm_copies {
    const double *values;      /* [4 S][all]                                                   */
    int64_t all;               /* particles of all its augmented leaves                        */
    const int64_t *leaf, *end; /* of these the ones of this group that are yet to come        */
    int64_t offset;            /* particles before `leaf`                                      */
} fmm_copies;

typedef struct fmm_reduction {
    fmm_work *work;
    int64_t begin, count;        /* sorted targets of the group */
    double *near;                /* [4 S][count]; becomes the sum with `keep` */
    const double *far, *charges; /* NULL: none */
    const int64_t *places;
    fmm_copies *copies; /* ascending by the groups that made them */
    int copied;
    int part, parts; /* the first one, of FMM_PARTS, and how many */
    bool keep;       /* the sum is wanted whole: it goes nowhere else */
} fmm_reduction;
/* far + near + copies, to the caller's order unless `keep`; sums[parts][S], 0 without charges. */
ps_status fmm_reduce(const fmm_reduction *reduction, fmm_sums *sums);

/* ---- direct sums: check.c ---- */

/* Some targets, their direct sums and their results. Numbers of sorted targets; the first `even`
 * of them are spread evenly over all targets, the others are where errors are largest. */
struct fmm_check {
    int64_t count, even;
    int sides, rows; /* columns of charges; rows of the sum */
    ps_fmm_sum sum;
    bool summed;
    double charge[PS_RIGHT_HAND_SIDES_MAX]; /* mean magnitude of the sources */
    int64_t *targets, *order;               /* [count]; order: of ascending targets  */
    double *positions, *direct, *taken;     /* [3][count], [rows][count] both         */
};

/* Evenly spaced targets, for --check. OpenMP inside, as in all of these. */
ps_status fmm_check_open(const fmm_problem *p, int64_t samples, fmm_check **out);
/* Random targets of even strata of some tiles of particles; a quarter more that are the outermost
 * of their leaves, the densest leaf's among them. The same whatever the ranks and the memory. */
ps_status fmm_samples_open(const fmm_problem *p, int64_t samples, fmm_check **out);
/* What samples take, and what summing them takes beside. */
int64_t fmm_check_bytes(const fmm_problem *p, int64_t samples);
int64_t fmm_check_summing_bytes(const fmm_problem *p, int64_t samples);
void fmm_check_close(fmm_check **check);
/* Direct sums over all sources, once: of the pool if that holds them, else of the file, by as many
 * threads as have room in `memory`. Collective: each rank sums its part; the bits are the same
 * whatever the ranks, threads and memory. */
ps_status fmm_check_sum(const fmm_problem *p, const fmm_pool *pool, int64_t memory,
                        fmm_check *check);
/* Or piece by piece: adds what sources columns[3 + S][stride] do. Local. */
ps_status fmm_check_add(const fmm_problem *p, fmm_check *check, const double *columns,
                        int64_t stride, int64_t count);
/* The same, collective: all ranks have all sources, and each sums some. */
ps_status fmm_check_share(const fmm_problem *p, fmm_check *check, const double *columns,
                          int64_t stride, int64_t count);
/* Sources [first, first + count) to columns[3 + S][count]. Thread-safe. */
typedef ps_status (*fmm_span_reader)(void *context, int64_t first, int64_t count, double *columns);
/* The same of so many sources that a function reads. */
ps_status fmm_check_share_from(const fmm_problem *p, fmm_check *check, int64_t count,
                               fmm_span_reader read, void *context);
/* Keeps results of sorted targets from `first` on. Thread-safe. */
void fmm_check_take(fmm_check *check, int64_t first, const fmm_values *values);
int64_t fmm_check_samples(const fmm_check *check);
/* Relative L2 errors by side of the sum; hessian: 0 without second derivatives. */
void fmm_check_errors(const fmm_check *check, double *potential, double *gradient, double *hessian);

/* ---- --accuracy as a bound: accuracy.c ---- */

typedef ps_fmm_reached fmm_reached;

/* The samples that cost at most a twentieth of the run, by the work that the octree's forecasts
 * tell. The same for all attempts, ranks and devices. */
int64_t fmm_samples_wanted(const fmm_problem *p);
fmm_reached fmm_samples_errors(const fmm_problem *p, const fmm_check *samples, bool gradient);
/* Order and epsilon for the next attempt; PS_INACCURATE where that is no use. */
ps_status fmm_accuracy_raise(const fmm_reached *reached, const fmm_reached *before, fmm_problem *p);

/* ---- journal: journal.c ---- */

/* Appends the results and sums[FMM_PARTS][S] of a group. Thread-safe. */
ps_status fmm_journal_add(ps_journal *journal, int64_t group, const fmm_sums *sums, int sides,
                          const double *values, int64_t count);
typedef ps_status (*fmm_journal_take)(void *context, int64_t group, const fmm_sums *sums,
                                      const double *values, int64_t values_count);
/* Rank 0, while no other rank has its journal open: what the journals of all ranks hold, whatever
 * their number was. */
ps_status fmm_journal_replay(ps_journal *journal, int sides, fmm_journal_take take, void *context);

#endif
