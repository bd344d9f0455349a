/*
 * near: the near matrices of the radiation stage (kernels/tdbem/radiation.h), taken out of the
 * tiles that may hold some in two passes: the first counts, the second fills. For cores by warps,
 * in the order in which passes read them; for devices as compressed rows, which root.c packs.
 */
#ifndef PS_TDBEM_MARCH_NEAR_H
#define PS_TDBEM_MARCH_NEAR_H

#include "compute/tdbem_march/tiles.h"
#include "kernels/tdbem/radiation.h"
#include "kernels/tdbem/radiation_pass.h"

/* Of this rank's slices, for cores, and what passes over them work on. */
typedef struct near_matrices {
    ps_packed_near packed;
    void *memory; /* of the packing */
    ps_radiation radiation;
    int64_t bytes; /* all of it */
} near_matrices;

/* What a first pass over the tiles found, which may keep tiles in memory for the second. */
typedef struct near_tally near_tally;

/* Counts M^1 .. M^{group-1}, by warps, of this rank's tiles; or, as compressed rows, of the whole
 * matrix, opened anew where it is in a file. `memory` bounds what is kept (but a tile at a time is
 * counted whatever it is). Forget it after a failure, too. */
ps_status near_count_warps(tiles *tiles, int64_t group, int64_t memory, near_tally **out);
ps_status near_count_rows(const char *matrix, tiles *tiles, int64_t group, int64_t memory,
                          near_tally **out);
void near_forget(near_tally **tally);
/* Bytes of the matrices with what passes over them work on; the least that making them takes. */
int64_t near_bytes(const near_tally *tally);
int64_t near_least(const near_tally *tally);

/* The second pass; it takes the tally. `memory` bounds all. `recent` is borrowed:
 * [group][unknowns], the steps of the group under way. */
ps_status near_open(near_tally **tally, int64_t memory, const void *recent, near_matrices *out);
void near_close(near_matrices *near);
ps_status near_collect(near_tally **tally, int64_t memory, ps_near *out);
void near_release(ps_near *near);

#endif
