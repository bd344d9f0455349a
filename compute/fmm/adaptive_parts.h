/*
 * adaptive_parts: what adaptive.c, which decides and plans, adaptive_build.c and adaptive_run.c
 * share. Private to them.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_PARTS_H
#define PS_COMPUTE_FMM_ADAPTIVE_PARTS_H

#include "compute/fmm/adaptive.h"
#include "compute/fmm/adaptive_gpu.h"
#include "kernels/fmm/adaptive_evaluate.h"

enum { FMM_ADAPTIVE_PIECE = 1 << 16 /* targets whose energy and momentum are summed at a time */ };

/* Operators of a pass (moments.c), by level. */
typedef struct fmm_pass_operators {
    const ps_fmm_m2l_table *tables[PS_ADAPTIVE_LEVELS];
    double factors[PS_ADAPTIVE_LEVELS], ranks[PS_ADAPTIVE_LEVELS]; /* mean ranks */
    ps_fmm_m2l_table own[PS_ADAPTIVE_LEVELS];
    void *blocks[PS_ADAPTIVE_LEVELS];
    ps_periodic *periodic; /* NULL: the box does not repeat */
} fmm_pass_operators;

/* What each of some ranks has: portions [first[k], first[k + 1]), and their work in ordered pairs.
 */
typedef struct fmm_adaptive_shares {
    int64_t *first;
    double *work;
} fmm_adaptive_shares;

typedef struct fmm_stretches fmm_stretches;

struct fmm_adaptive {
    ps_adaptive_tree tree;
    ps_adaptive_work work;
    ps_adaptive_problem problem;
    double *columns[2]; /* sorted: [3 + S][sources], targets apart: [3][targets]          */
    double *results;    /* of the targets, sorted: [rows][targets]                        */
    double *found;      /* of a pass, while it runs; NULL: it writes into the results     */
    int64_t *inverse;   /* of each target of the file its place among the sorted ones     */
    fmm_pass_operators pass[PS_FMM_PASSES_MAX];
    fmm_adaptive_shares shares; /* on cores */
    double building;
    int64_t images; /* copies of sources behind them, of a box that repeats */
    int64_t least;  /* memory that the octree's tree takes at least, for a plan; 0: not asked */
    fmm_adaptive_gpu *gpu;    /* NULL: on cores */
    fmm_stretches *stretches; /* NULL: all is in memory (adaptive_stretch.h) */
};

/* Rows of a set of particles, the set of the targets, and which side of the file a set is. */
static inline int fmm_adaptive_rows(const fmm_problem *p, int set)
{
    return set ? 3 : 3 + p->fmm.sides;
}
static inline int fmm_adaptive_last(const fmm_problem *p) { return p->same ? 0 : 1; }
static inline ps_octree_side fmm_adaptive_side(int set)
{
    return set ? PS_OCTREE_TARGETS : PS_OCTREE_SOURCES;
}

/* Particles of a set that are in the tree, images with them. */
static inline int64_t fmm_adaptive_count(const fmm_adaptive *a, int set)
{
    return a->tree.sets[set].points.count;
}

/* Targets whose results are taken at a time: pieces, and where they are written, or come from a
 * scratch file, by chunks of the output a chunk. */
int64_t fmm_adaptive_taken(const fmm_run *r);
/* Bytes of all threads for them. */
int64_t fmm_adaptive_pieces_bytes(const fmm_run *r);

/* ---- portions of targets: adaptive_share.c ---- */

/* In ordered pairs of particles, and seconds on these threads. */
ps_adaptive_costs fmm_adaptive_costs(const fmm_run *r);
double fmm_adaptive_forecast(const fmm_run *r);
/* Cuts portions by counted work, less what is done. Release also after a failure. OpenMP inside. */
ps_status fmm_adaptive_cut(const fmm_run *r, int ranks, fmm_adaptive_shares *out);
void fmm_adaptive_shares_release(fmm_adaptive_shares *shares);
ps_status fmm_adaptive_room(fmm_run *r); /* for results, once */
/* Portions of this rank that a pass has not done yet; adds to the results, and keeps them. Without
 * an evaluation by stretches. OpenMP inside. */
ps_status fmm_adaptive_batches(fmm_run *r, int pass, ps_adaptive_evaluation *evaluation);
/* Evaluates portions from `first` on up to *end, which becomes where it has come to, and keeps
 * their results. adaptive_stretch.c */
ps_status fmm_stretches_evaluate(fmm_run *r, int64_t first, int64_t *end);
/* Keeps results of portions [first, end) after a pass in the journal, where there is one. */
ps_status fmm_adaptive_keep(fmm_run *r, int pass, int64_t first, int64_t end,
                            const fmm_values *results);
/* Results of all ranks to the first one; collective. */
ps_status fmm_adaptive_gather(fmm_run *r);

/* ---- making it: adaptive_build.c ---- */

/* Bytes while particles are sorted: as read and as sorted, keys, order, workspace of one set. */
int64_t fmm_adaptive_sorting_bytes(const fmm_problem *p);
ps_adaptive_rule fmm_adaptive_rule(const fmm_adaptive *a, const fmm_problem *p);
/* Reads the particles, and makes the tree whose leaf size is set; counts its work. OpenMP inside.
 */
ps_status fmm_adaptive_build(fmm_run *r);

/* ---- a box that repeats: periodic.c ---- */

/* The corner of the box, from where the particles lie. PS_INVALID if they lie wider than a period
 * along an axis that does not repeat. */
ps_status fmm_periodic_origin(const double lower[3], const double upper[3], fmm_problem *p);
/* Refuses particles of made[sets][3][count], as they were read, that are at one place but for whole
 * periods (PS_INVALID); of `sets` 2 the second one's are targets. */
ps_status fmm_periodic_places(const fmm_problem *p, double *const made[2], int sets);
/* Positions [3][stride] to the unit box. OpenMP inside. */
void fmm_periodic_map(const fmm_problem *p, int64_t count, int64_t stride, double *positions);
/* PS_INVALID if columns[3 + S][count] have a net charge that was not asked for. */
ps_status fmm_periodic_charge(const ps_run *run, const fmm_problem *p, const double *columns,
                              int64_t count);
ps_status fmm_periodic_images(fmm_adaptive *a, const fmm_problem *p);
/* Dipoles of columns[3 + S][stride] to those of the unit box. */
void fmm_periodic_shrink(const fmm_problem *p, int64_t count, double *columns);
/* What fmm_check_add does for one box. OpenMP inside. */
ps_status fmm_periodic_direct(const fmm_adaptive *a, const fmm_problem *p, fmm_check *check);

/* ---- passes of a sum: moments.c ---- */

/* The problem becomes that of a pass. */
void fmm_pass_configure(fmm_adaptive *a, const fmm_problem *p, int number);
/* Of vectors, workspace and what a pass finds, of the one that takes most. */
int64_t fmm_pass_bytes(fmm_adaptive *a, const fmm_problem *p, int threads);
int64_t fmm_found_bytes(const fmm_adaptive *a, const fmm_problem *p); /* of the latter alone */
/* Plans all of them on the device: the most bytes of its memory. */
ps_status fmm_passes_plan(fmm_adaptive *a, const fmm_problem *p, int64_t *bytes);
/* All of them into the results, on the device or the cores, of what this rank has. OpenMP inside.
 */
ps_status fmm_passes_run(fmm_run *r);

#endif
