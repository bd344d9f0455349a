/*
 * far: the two-level schedule. The matrix of the run holds the lags k < n alone, and a second file,
 * FAR, those from n on. For as many as n steps ahead all that FAR multiplies is known, so one sweep
 * over it makes the far sums of n_far <= n steps, a multiple of the group, and it takes no part in
 * radiation:
 *
 *     s_far^{m+g} = sum_{k>=n} M^k a^{m+g-k},   0 <= g < n_far <= n,   after m - 1 steps.
 *
 * A sum is one chain of additions over the same numbers whenever it is made, so a run that
 * continues between two sweeps makes the sums of its far group anew, to the same bits.
 */
#ifndef PS_TDBEM_MARCH_FAR_H
#define PS_TDBEM_MARCH_FAR_H

#include "compute/tdbem_march/summation.h"

/* The file, and n_far. Without one `group` is 0 and `tiles` empty. */
typedef struct far_matrix {
    tiles tiles;
    int64_t group;
} far_matrix;

/* PS_INVALID if `near`, read from `path`, lacks lags that only a FAR could give, or M^0. */
ps_status far_not_needed(const char *path, const tiles *near);
/* Opens FAR and finds this rank's share. PS_INVALID unless it holds the lags that `near` lacks, of
 * the same slices. Then k_max, nnz, d_max and columns of `near` become those of both together. */
ps_status far_open(const char *path, const char *near_path, tiles *near, far_matrix *out);
/* n_far = wanted; 0: the largest possible. PS_USAGE unless a multiple of the group, at most n. */
ps_status far_set_group(far_matrix *far, int64_t wanted, int64_t group);
void far_close(far_matrix *far);

/* Its sums under way. All zero without a file. */
typedef struct far_sums {
    summation summation; /* in groups of n_far */
    int64_t group;
    int64_t first; /* steps that were done when the sums were made; -1: none yet */
} far_sums;

/* Opens the stream within `memory` bytes, beside the sums. */
ps_status far_sums_open(far_matrix *far, const window *past, int64_t memory, far_sums *out);
void far_sums_close(far_sums *sums);
/* Must the sums be made before the step after `done`? */
bool far_sums_due(const far_sums *sums, int64_t done);
/* Makes those of the steps done + 1 .. done + n_far. With `stoppable` a request to stop ends the
 * sweep early, after which there are no sums: *stopped, PS_OK. */
ps_status far_sums_make(far_sums *sums, int64_t done, bool stoppable, bool *stopped);
/* sums[unknowns] += s_far of `step`, this rank's part. Nothing without a file. */
void far_sums_add(const far_sums *far, int64_t step, double *sums);

#endif
