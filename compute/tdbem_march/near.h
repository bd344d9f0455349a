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

/* M^1 .. M^{group-1}; `recent` is borrowed: [group][unknowns], the steps of the group under way.
 * `memory` bounds buffers, matrices and what building them takes. */
ps_status near_open(tiles *tiles, int64_t group, int64_t memory, const void *recent,
                    near_matrices *out);
void near_close(near_matrices *near);
/* Of matrices not built yet, from the share of shells nearer than the group over a surface of this
 * area: a guess for plans. */
int64_t near_guess(const tiles *tiles, int64_t group, double area);

/* The same as compressed rows; `memory` bounds the buffers and, with them, the matrices. */
ps_status near_collect(tiles *tiles, int64_t group, int64_t memory, ps_near *out);
void near_release(ps_near *near);

#endif
