/*
 * tiles: a state larger than memory, marched by time-skewed tiles (kernels/dgtd/skew.h).
 *
 * The groups of the mesh lie in ranges that touch only their neighbours (kernels/dgtd/ranges.h),
 * and m steps are made while they pass through memory once. Visits go to and fro, so that what is
 * in memory at the end of one is used at the start of the next. Either the state is in a file and
 * a window of it in the host's memory (runtime/paged_arrays.h); or it is in the host's memory, or
 * a file behind that, and a window of it, with the geometry, on a device (runtime/device_window.h),
 * where half steps of different times are done at once to keep it busy. Or all is in memory, and
 * the tiles are for the caches.
 */
#ifndef PS_DGTD_MARCH_TILES_H
#define PS_DGTD_MARCH_TILES_H

#include "compute/dgtd_march/march.h"
#include "kernels/dgtd/skew.h"
#include "runtime/paged_arrays.h"

/* An order of half steps: w, q (0: twice m) and m, tiles of a device's window that are asked for
 * ahead of the one that is computed; what a step of it took. */
typedef struct tile_order {
    int64_t width, phases, visit, ahead;
    double seconds;
} tile_order;

/* Steps of a visit unless more are asked for, and half steps done at once on a device; steps of a
 * visit to the caches; orders that a run through a device's window tries, and visits of each. */
enum { TILES_VISIT_MAX = 32, TILES_CACHE_STEPS = 2, TILES_TRIED = 10, TILES_TRIALS = 3 };

typedef struct tiles {
    ps_paged *paged;         /* NULL: the host has all of the state */
    bool plain;              /* in memory of its own                */
    void *former[2];         /* copies of the fields that the upwind flux keeps, or NULL */
    ps_device *device;       /* of the pinned memory of that        */
    ps_window *window;       /* of the backend's device, or NULL    */
    ps_window_source source; /* of the window: the paged arrays     */
    backend_window request;  /* for the backend                     */
    int64_t ranges, *bounds; /* [ranges + 1] groups */
    int64_t *hashes;         /* [ranges], of the last flush */
    int64_t port_range[PS_DGTD_PORTS_MAX]; /* where all of a port is */
    /* A step's half steps, and of them those of levels below `depth` of local steps, which are
     * stages stage_ops[k] to [k + 1] of the operations (kernels/dgtd/local_steps.h). */
    int stages, depth;
    int stage_ops[PS_DGTD_LOCAL_STAGES];
    int64_t width, visit, phases, ahead; /* as in a tile_order */
    tile_order order[TILES_TRIED];       /* of a device's window, the most promising first */
    int orders, trials;                  /* visits made to try them */
    int64_t visit_most;                  /* the largest m of all    */
    bool geometry;                       /* passes through the device's window, too */
    int backwards;                       /* the direction of the next visit */
    int64_t held_begin, held_end;        /* ranges held by tiles_hold */
} tiles;

/* tile_sizes.c: bytes of a group's tangents and links, and of a field in it. */
int64_t tiles_geometry_bytes(const problem *problem);
int64_t tiles_field_bytes(const problem *problem);
/* Chooses ranges, w and m. PS_EXHAUSTED if not even m = 1 fits. */
ps_status tiles_set_sizes(const march *march, int64_t capacity, tiles *tiles);
/* The least that fields in a file take of memory, of a problem that was opened and not built. */
ps_status tiles_least_bytes(const problem *problem, int64_t visit_steps, int64_t *out);
/* Whether the window, with its geometry, fits a cache. */
bool tiles_fit_cache(const problem *problem, const tiles *tiles, int64_t bytes);
ps_dgtd_skew tiles_skew(const tiles *tiles, int64_t steps); /* of a visit */
/* A visit of `steps` steps took so long: the next one may have another order, at last the fastest
 * of those that were tried. Bits do not depend on it. */
void tiles_learn(tiles *tiles, int64_t steps, double seconds);

/* Chooses ranges, w and m, and takes the host's memory, or opens the files beside `name`, for the
 * arrays, which go to march->march and march->sums; *used becomes false, and nothing is taken, if
 * tiles were only for the last cache and are too large for it. PS_EXHAUSTED if not even m = 1 fits.
 */
ps_status tiles_open(march *march, int64_t capacity, const char *name, tiles *out, bool *used);
void tiles_close(march *march, tiles *tiles); /* and frees the arrays */

/* The fields at the start, all ranges. */
ps_status tiles_start(march *march);
/* A visit of `count` steps, at most tiles->visit. */
ps_status tiles_steps(march *march, int64_t count);
/* The host's arrays become the state, or its file does; at the end of the run sums become values at
 * nodes, where a device has other ones. */
ps_status tiles_settle(march *march, bool last);
/* All of the state in its place, for a checkpoint; after it was committed, tiles_kept. */
ps_status tiles_flush(march *march);
void tiles_kept(march *march);
/* The file of the checkpoint that was read; fails if it is damaged. For ps_state_spec. */
ps_status tiles_adopt(void *march);

/* Groups [first, end) are in memory until the next call; to be called with ascending groups. */
ps_status tiles_hold(tiles *tiles, int64_t first, int64_t end);
void tiles_release(tiles *tiles); /* after the last of them */

#endif
