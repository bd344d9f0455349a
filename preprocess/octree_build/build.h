/*
 * build: what the files of penstock-octree-build share.
 *
 * Particles become runs, each sorted by leaf and then by place in the file: one run in memory if
 * all fit, otherwise several in a temporary file. The leaves of all runs together are the tree; a
 * tile of sorted particles is what each run has of it, in the order of the runs. So the output does
 * not depend on the memory, nor on the number of threads.
 */
#ifndef PS_PREPROCESS_OCTREE_BUILD_BUILD_H
#define PS_PREPROCESS_OCTREE_BUILD_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/octree.h"
#include "kernels/fmm/kernel_function.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "stage/journal.h"

/* ---- height.c ---- */

/* Estimates for levels: numbers of cells, within about 1 % by counting with the hashes of
 * keys (HyperLogLog: Flajolet, Fusy, Gandouet, Meunier 2007); sums over the cells of the squares of
 * their numbers of particles, within about 1 % by sums of random signs (Fast-AGMS). */
typedef struct tree_counts {
    double cells[PS_OCTREE_LEVELS_MAX], squares[PS_OCTREE_LEVELS_MAX];
} tree_counts;
/* Of the first `levels`. */
ps_status count_cells(ps_particle_file *file, const ps_octree_box *box, int levels,
                      tree_counts *out);
/* The least height at which leaves hold `leaf_size` particles or fewer on average. */
int height_for_leaf_size(int64_t particles, const tree_counts *counts, double leaf_size);

/* What things cost: seconds of a core, or flop. */
typedef struct work_rates {
    double pair;     /* an ordered pair of near particles         */
    double leaf;     /* of P2P                                    */
    double m2l;      /* a pair of cells                           */
    double cell;     /* M2M, L2L, encoding, decoding              */
    double particle; /* P2M and L2P                               */
} work_rates;
work_rates flop_rates(int order); /* as specs/octree.md counts */
double work_of_height(int64_t particles, const tree_counts *counts, const work_rates *rates,
                      int height);
int height_of_least_work(int64_t particles, const tree_counts *counts, const work_rates *rates);

/* ---- measure.c ---- */

/* Measures seconds on a core of this machine by evaluating some thousand particles at two heights,
 * in fp64 with a common basis. About 0.3 s. */
ps_status measure_rates(const ps_fmm_function *function, int order, double epsilon, int sides,
                        work_rates *out);

/* ---- runs.c ---- */

typedef struct leaf_list {
    int64_t count;
    uint64_t *keys; /* [count] ascending */
    int64_t *sizes; /* [count] particles */
} leaf_list;

void leaf_list_release(leaf_list *list);

/* Records in a file are key, place in the caller's order, then the columns. */
typedef struct run_set {
    int level, columns, record_words;
    int64_t particles;
    int64_t runs, *first; /* [runs + 1] record that each begins with */
    int64_t capacity;     /* particles of a run */
    /* one run in memory */
    double *memory, *column[PS_PARTICLE_COLUMNS_MAX];
    uint64_t *keys, *workspace;
    int64_t *order;
    /* several, in a file */
    int file;
    uint64_t *index;      /* keys of every RUN_STRIDE-th record of each run */
    int64_t *index_first; /* [runs + 1] */
    leaf_list leaves;
    int64_t outside;
} run_set;

enum { RUN_STRIDE = 512 };

/* A run has so many particles at least, where there are as many: each of them is searched for each
 * tile. */
enum { RUN_LEAST = 1 << 14 };

/* The arrays of runs, for particles, capacity and runs as set. A ledger counts them instead: what
 * only sorting takes in the line "sorting", what stays in memory in `kept`. */
ps_status runs_allocate(run_set *set, ps_ledger *ledger, const char *kept);
/* Bytes of what each thread has that writes runs to a file. */
int64_t runs_writer_bytes(const run_set *set);
/* Sorts the first columns of a file by leaf. beside: where a temporary file may lie. out: level,
 * columns, particles, capacity and runs are set. */
ps_status runs_make(ps_particle_file *file, const ps_octree_box *box, const char *beside,
                    run_set *out);
void runs_release(run_set *set);
/* How many records of a run have keys below `key`. Thread-safe. */
ps_status runs_below(const run_set *set, int64_t run, uint64_t key, int64_t *count);
/* Records [first, first + count) of a run: records[count][record_words]. Thread-safe. */
ps_status runs_fetch(const run_set *set, int64_t run, int64_t first, int64_t count,
                     uint64_t *records);

/* ---- tiles.c ---- */

/* Words of what a thread has for a tile of `capacity` particles. */
int64_t tile_words(const run_set *set, int64_t capacity);
/* Writes all tiles of a side, those of the journal first; finished ones are kept there, where there
 * is one. *coincident grows by the particles at the place of an earlier one of
 * their leaf (within a tile, for leaves larger than one). */
ps_status write_tiles(const run_set *set, const ps_octree *tree, ps_journal *journal,
                      ps_octree_file *file, ps_octree_side side, int64_t *coincident);

/* ---- lists.c ---- */

typedef struct tree_lists {
    ps_group_list far[PS_OCTREE_LEVELS_MAX], near, augmented;
    int64_t *far_pairs[PS_OCTREE_LEVELS_MAX], *near_pairs, *augmented_pairs; /* [groups] */
    int64_t far_histogram[190]; /* leaves by length of their interaction list */
    int64_t near_leaves;        /* entries of all near lists */
} tree_lists;

ps_status lists_make(const ps_octree *targets, const ps_octree *sources, tree_lists *out);
ps_status lists_write(const tree_lists *lists, const ps_octree *targets, bool same,
                      ps_octree_file *file);
void lists_release(tree_lists *lists);

/* ---- room.c ---- */

enum { GROUP = 2000, GROUPS_A_THREAD = 16, GROUP_LEAST = 32 };

typedef struct build {
    const ps_run *run;
    const char *output;
    ps_particle_file *files[2]; /* of the sides; [1] NULL if the targets are the sources */
    ps_octree_box box;
    int height;
    tree_counts counts[2]; /* of the sides; cells 0: not counted */
    int64_t group;         /* cells of a group; 0: enough groups for all threads */
    int64_t capacity;      /* particles of a run */
    run_set runs[2];
    ps_octree trees[2];
    tree_lists lists;
    char items[4200];
    ps_journal *journal;
} build;

/* Cells of a group, of so many leaves. */
int64_t group_for(const build *b, int64_t leaves);
/* Sets what a run of a side is for runs of `capacity` particles. */
void runs_plan(const build *b, int side, int64_t capacity, run_set *out);
/* Sets b->capacity, the most that --host-memory has room for beside what is kept and what lists and
 * writing take, once the height is known; tells it with --plan. PS_EXHAUSTED with the least that
 * would do where there is too little. */
ps_status find_room(build *b);

/* ---- report.c ---- */

void report_tree(const ps_run *run, const ps_octree *targets, const ps_octree *sources,
                 const tree_lists *lists, int order);

#endif
