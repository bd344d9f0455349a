/*
 * tiles: a state larger than memory, marched by time-skewed tiles (numerics guide 4, "Out of
 * core").
 *
 * The groups of the mesh lie in ranges that touch only their neighbours (kernels/dgtd/ranges.h). A
 * visit makes m steps, half steps s = 1 .. 2m (odd E, even H): tile c of w ranges makes half step s
 * on ranges cw-(s-1) .. (c+1)w-s, which have all they need from the tiles before. No work is done
 * twice, all is done in place, and the arithmetic is that of a march in memory, to the bit. Visits
 * go to and fro, so that what is in memory at the end of one is used at the start of the next.
 */
#ifndef PS_DGTD_MARCH_TILES_H
#define PS_DGTD_MARCH_TILES_H

#include "compute/dgtd_march/march.h"
#include "runtime/paged_arrays.h"

typedef struct tiles {
    ps_paged *paged;
    int64_t ranges, *bounds;      /* [ranges + 1] groups */
    int64_t *hashes;              /* [ranges], of the last flush */
    int64_t width, visit;         /* w, and the largest m */
    int backwards;                /* the direction of the next visit */
    int64_t held_begin, held_end; /* ranges held by tiles_hold */
} tiles;

/* Opens the files beside `name`; the arrays go to march->march and march->sums. */
ps_status tiles_open(march *march, int64_t capacity, const char *name, tiles *out);
void tiles_close(tiles *tiles);

/* The fields at the start, all ranges. */
ps_status tiles_start(march *march);
/* A visit of `count` steps, at most tiles->visit. */
ps_status tiles_steps(march *march, int64_t count);
/* All of the state in its file, for a checkpoint; after it was committed, tiles_kept. */
ps_status tiles_flush(march *march);
void tiles_kept(march *march);
/* A checkpoint's file; fails if it is damaged. A record_verify. */
ps_status tiles_adopt(void *march, const figures *f);

/* Groups [first, end) are in memory until the next call; to be called with ascending groups. */
ps_status tiles_hold(tiles *tiles, int64_t first, int64_t end);
void tiles_release(tiles *tiles); /* after the last of them */

#endif
