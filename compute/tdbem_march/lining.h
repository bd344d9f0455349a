/*
 * lining: parts of a sound-hard surface that give way (specs/tdbem_lining.md). With the matrices
 * G^k of a part, from a file of penstock-slice-assemble --lining, and its admittance beta,
 *
 *     sum_k M^k a^{n-k} + (beta * w)^n = l^n,     w^n = sum_k G^k a^{n-k},
 *
 * and beta in time by the recursion of kernels/tdbem/admittance.h, whose state are a few numbers an
 * unknown. w^n is summed like M's part: a sweep a group, then what the steps of the group owe each
 * other. With d what beta leaves in its own step, M^0 + d G^0 is solved.
 */
#ifndef PS_TDBEM_MARCH_LINING_H
#define PS_TDBEM_MARCH_LINING_H

#include "compute/tdbem_march/assembling.h"
#include "compute/tdbem_march/near.h"
#include "compute/tdbem_march/summation.h"
#include "formats/history.h"
#include "formats/surface_mesh.h"
#include "kernels/tdbem/admittance.h"
#include "runtime/options.h"
#include "stage/product.h"

enum { LININGS_MAX = PS_HISTORY_LININGS };

typedef struct lining {
    const char *path;       /* of the file */
    assembling *assembling; /* in memory instead; NULL: none */
    tiles tiles;
    ps_csr m0; /* G^0 */
    char where[PS_WHERE_MAX];
    ps_admittance beta;
    ps_admittance_filter filter;
    near_tally *near; /* until the matrices are made */
} lining;

typedef struct linings {
    int count;
    lining each[LININGS_MAX];
} linings;

/* Opens the files and gives each the admittance of the same part. PS_USAGE: not as many of one as
 * of the other, not the same parts; PS_INVALID: a file is no lining of this matrix. Then k_max and
 * columns of `whole` reach as far as theirs. Close them also after a failure. */
ps_status linings_open(const ps_text_list *files, const ps_text_list *walls, const char *matrix,
                       tiles *whole, linings *out);
/* Of a mesh alone: plans the assembly of a lining for every admittance, in the way of the matrix.
 * Close them also after a failure. */
ps_status linings_plan(const ps_run *run, const assembling_options *how, const ps_text_list *walls,
                       linings *out);
/* Assembles those; then k_max and columns of `whole` reach as far as theirs. */
ps_status linings_assemble(const ps_run *run, tiles *whole, linings *linings);
void linings_close(linings *linings);
/* PS_INVALID if a triangle has two linings. */
ps_status linings_check_mesh(const linings *linings, const ps_surface_mesh *mesh);
/* PS_INVALID if the matrix of a run is itself a lining. */
ps_status linings_refuse_matrix(const char *path, const ps_slice_header *header);
/* M^0 += d G^0. */
ps_status linings_add_m0(const linings *linings, ps_csr *m0);
ps_status linings_inputs(const linings *linings, ps_product *product);
void linings_describe(const linings *linings, ps_history_header *out);
/* Numbers that the recursions keep, over all unknowns. */
int64_t linings_states(const linings *linings);
/* Bytes of what lining_sums_open makes beside the near matrices and the streams. */
int64_t linings_bytes(const linings *linings, int64_t group);

/* Under way. */
typedef struct lining_sum {
    summation summation;
    near_matrices near;
    double *w; /* [unknowns] of the present step */
} lining_sum;

typedef struct lining_sums {
    const linings *of;
    lining_sum each[LININGS_MAX];
    double *state; /* [linings_states] */
    int64_t states;
} lining_sums;

/* The states, at rest, whoever makes the sums. */
ps_status lining_states_open(const linings *linings, lining_sums *out);
/* Sums on cores, after that. memory: of the near matrices, while they are made; streams[count]: of
 * each stream. */
ps_status lining_sums_open(linings *linings, const window *past, int64_t group, const void *recent,
                           int64_t memory, const int64_t *streams, lining_sums *out);
void lining_sums_close(lining_sums *sums);
/* A sweep over the tiles, before a group. */
ps_status lining_sums_sweep(lining_sums *sums);
/* Step g of the group: right[unknowns] += all of beta * w but what the step itself has. Collective.
 */
ps_status lining_sums_add(lining_sums *sums, int64_t g, double *right);
/* The step is solved: answer[unknowns], as it is kept. */
void lining_sums_advance(lining_sums *sums, const double *answer);

#endif
