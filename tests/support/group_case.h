/*
 * group_case: a group of steps to solve (kernels/tdbem/group_solve.h), made from nothing, on any
 * device.
 *
 * Unknowns sit in a line; the row-vector (i,j) starts at 1 + sqrt(|i-j| / crowd) and is 6 to 12
 * long, so that shells hold more columns the farther they are, as on a surface. M^0 has 2 `band`
 * entries around a diagonal that outweighs them, `apart` columns from one to the next.
 */
#ifndef PS_TESTS_GROUP_CASE_H
#define PS_TESTS_GROUP_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/linear/krylov_team.h"
#include "kernels/tdbem/group_solve.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/synthetic_slices.h"

#ifdef _OPENMP
#define GROUP_CASE_THREADS _Pragma("omp parallel for schedule(static)")
#else
#define GROUP_CASE_THREADS
#endif

enum { GROUP_CASE_LININGS = 2 };

typedef struct group_case {
    int64_t unknowns, group, count;
    ps_precision precision;
    double crowd; /* columns a row meets within m shells: 2 crowd m^2 */
    int64_t band, apart;
    double dominance; /* of the diagonal of M^0, above 1                  */
    double tolerance;
    int64_t limit;    /* iterations */
    int threads;      /* that pack; 0: all */
    bool unsymmetric; /* M^0: what is below the diagonal is less */
    uint64_t seed;
    ps_near near;
    ps_csr m0;
    double *scale, *weights, *loads, *last[2];
    void *sums;
    ps_packed_near packed; /* in host memory `packing`; M^0 in packing_m0 */
    ps_packed_m0 packed_m0;
    void *packing, *packing_m0;
    /* Parts that give way: each has sums, near matrices and M^0 of a case of its own, as G. */
    int linings;
    struct group_case *lining[GROUP_CASE_LININGS];
    ps_admittance_filter filter;
} group_case;

static inline double group_case_random(const group_case *c, int64_t i, int64_t j, int64_t k)
{
    return synthetic_unit(synthetic_hash(c->seed, (uint64_t)i, (uint64_t)j, (uint64_t)k));
}

/* ---- near matrices ---- */

/* Entries of row i of M^m; written to `to` on if that is not negative. */
static inline int64_t group_case_row(const group_case *c, int64_t m, int64_t i, int64_t to)
{
    int64_t reach = (int64_t)(c->crowd * (double)(m * m)) + 1, count = 0;
    int64_t inner = m > 13 ? (int64_t)(c->crowd * (double)((m - 13) * (m - 13))) : -1;
    for (int64_t j = i > reach ? i - reach : 0; j <= i + reach && j < c->unknowns; ++j) {
        int64_t apart = j < i ? i - j : j - i;
        if (apart < inner) continue;
        int64_t start = 1 + (int64_t)sqrt((double)apart / c->crowd);
        int64_t length = 6 + (int64_t)(7 * group_case_random(c, i, j, -1));
        if (m < start || m >= start + length) continue;
        if (to >= 0) {
            c->near.columns[to + count] = (int32_t)j;
            double share = 0.2 / (1 + 2 * c->crowd * (double)m);
            ps_real_put(c->precision, c->near.values, to + count,
                        share * (group_case_random(c, i, j, m) - 0.4));
        }
        ++count;
    }
    return count;
}

static inline ps_status group_case_near(group_case *c)
{
    int64_t n = c->unknowns;
    ps_near *near = &c->near;
    *near = (ps_near){.unknowns = n, .group = c->group, .precision = c->precision};
    PS_TRY(PS_ALLOC(&near->row_start, (c->group - 1) * (n + 1) + 1, "a test"));
    for (int64_t m = 1; m < c->group; ++m) GROUP_CASE_THREADS
    for (int64_t i = 0; i < n; ++i)
        near->row_start[(m - 1) * (n + 1) + i + 1] = group_case_row(c, m, i, -1);
    int64_t entries = ps_near_starts(near);
    PS_TRY(PS_ALLOC(&near->columns, entries, "a test"));
    PS_TRY(ps_alloc(&near->values, entries, 8, "a test"));
    for (int64_t m = 1; m < c->group; ++m) GROUP_CASE_THREADS
    for (int64_t i = 0; i < n; ++i) group_case_row(c, m, i, near->row_start[(m - 1) * (n + 1) + i]);
    return PS_OK;
}

static inline ps_status group_case_pack(group_case *c)
{
    int64_t warps = (c->unknowns + 31) / 32;
    PS_SCOPED_MEMORY int64_t *tally = NULL;
    PS_SCOPED_MEMORY void *scratch = NULL;
    int threads = c->threads ? c->threads : ps_processor_count();
    PS_TRY(PS_ALLOC(&tally, 2 * (warps + 1), "a test"));
    PS_TRY(ps_alloc(&scratch, threads * ps_near_packing_scratch(c->unknowns), 1, "a test"));
    ps_near_packing packing = {
        .near = &c->near, .threads = threads, .tally = tally, .scratch = scratch};
    PS_TRY(ps_near_packing_measure(&packing, &c->packed));
    PS_TRY(ps_alloc(&c->packing, ps_packed_near_bytes(&c->packed), 1, "a test"));
    ps_packed_near_attach(&c->packed, c->packing);
    ps_near_packing_fill(&packing, &c->packed);
    return PS_OK;
}

/* ---- M^0 and vectors ---- */

static inline ps_status group_case_m0(group_case *c)
{
    int64_t n = c->unknowns;
    ps_csr *m = &c->m0;
    m->rows = n;
    if (c->band == 0) c->band = 10;
    if (c->apart == 0) c->apart = 1;
    PS_TRY(PS_ALLOC(&m->row_start, n + 1, "a test"));
    PS_TRY(PS_ALLOC(&m->columns, n * (2 * c->band + 1), "a test"));
    PS_TRY(PS_ALLOC(&m->values, n * (2 * c->band + 1), "a test"));
    for (int64_t i = 0; i < n; ++i) {
        double outweigh = 0;
        int64_t diagonal = -1;
        for (int64_t b = -c->band; b <= c->band; ++b) {
            int64_t j = i + b * c->apart;
            if (j < 0 || j >= n) continue;
            double size = (1 + (double)(i % 3)) * (1 + (double)(j % 3));
            double value = size * (0.2 + group_case_random(c, i < j ? i : j, i < j ? j : i, -2));
            if (c->unsymmetric && j < i) value *= .6;
            if (i == j) diagonal = m->nnz;
            if (i != j) outweigh += value / (1 + (double)(j % 3)) * (1 + (double)(i % 3));
            m->columns[m->nnz] = (int32_t)j;
            m->values[m->nnz++] = value;
        }
        m->values[diagonal] = c->dominance * (outweigh + 0.1);
        m->row_start[i + 1] = m->nnz;
    }
    PS_SCOPED_MEMORY int32_t *scratch = NULL;
    PS_TRY(PS_ALLOC(&c->scale, n, "a test"));
    PS_TRY(ps_csr_inverse_diagonal(m, true, c->scale));
    PS_TRY(PS_ALLOC(&scratch, n, "a test"));
    PS_TRY(ps_packed_m0_measure(m, scratch, &c->packed_m0));
    PS_TRY(ps_alloc(&c->packing_m0, ps_packed_m0_bytes(&c->packed_m0), 1, "a test"));
    ps_packed_m0_attach(&c->packed_m0, c->packing_m0);
    ps_packed_m0_fill(m, scratch, &c->packed_m0);
    return PS_OK;
}

static inline ps_status group_case_vectors(group_case *c)
{
    int64_t n = c->unknowns;
    PS_TRY(PS_ALLOC(&c->weights, n, "a test"));
    PS_TRY(PS_ALLOC(&c->loads, n * c->group, "a test"));
    PS_TRY(PS_ALLOC(&c->last[0], n, "a test"));
    PS_TRY(PS_ALLOC(&c->last[1], n, "a test"));
    PS_TRY(ps_alloc(&c->sums, n * (c->group + 1), 8, "a test"));
    for (int64_t i = 0; i < n; ++i) {
        c->weights[i] = 1 / (double)n;
        c->last[0][i] = (float)(0.2 * group_case_random(c, i, 0, -3));
        c->last[1][i] = (float)(0.2 * group_case_random(c, i, 1, -3));
        for (int64_t g = 0; g < c->group; ++g) {
            c->loads[g * n + i] = 20 * group_case_random(c, i, g, -4);
            ps_real_put(c->precision, c->sums, i * (c->group + 1) + g,
                        group_case_random(c, i, g, -5));
        }
    }
    return PS_OK;
}

static inline ps_status group_case_make(group_case *c);

/* A wall of a real pole and a pair, or of b0 alone. */
static inline ps_status group_case_linings(group_case *c)
{
    static const char *const walls[] = {"all:b0=.05:pole=.2,.4:pair=.1,-.03,.2,.6", "all:b0=.1"};
    for (int q = 0; q < c->linings; ++q) {
        group_case *part;
        char where[PS_WHERE_MAX];
        ps_admittance beta;
        PS_TRY(PS_ALLOC(&part, 1, "a test"));
        c->lining[q] = part;
        *part = (group_case){.unknowns = c->unknowns,
                             .group = c->group,
                             .count = c->count,
                             .precision = c->precision,
                             .crowd = c->crowd,
                             .dominance = 1.5,
                             .seed = c->seed + 1000 * (uint64_t)(q + 1)};
        PS_TRY(group_case_make(part));
        PS_TRY(ps_admittance_parse(walls[q], where, &beta));
        ps_admittance_filter_init(&beta, .7, &part->filter);
    }
    return PS_OK;
}

static inline ps_status group_case_make(group_case *c)
{
    PS_TRY(group_case_near(c));
    PS_TRY(group_case_pack(c));
    PS_TRY(group_case_m0(c));
    PS_TRY(group_case_linings(c));
    return group_case_vectors(c);
}

/* A usual case, solved to rounding. */
static inline ps_status group_case_usual(group_case *c, int64_t unknowns, int64_t group,
                                         ps_precision precision, bool unsymmetric)
{
    *c = (group_case){.unknowns = unknowns,
                      .group = group,
                      .count = group,
                      .precision = precision,
                      .crowd = 0.9,
                      .dominance = 1.2,
                      .limit = 200,
                      .unsymmetric = unsymmetric,
                      .seed = 5,
                      .tolerance = precision == PS_SINGLE ? 1e-7 : 1e-13};
    return group_case_make(c);
}

static inline void group_case_drop(group_case *c)
{
    for (int q = 0; q < c->linings; ++q) {
        if (c->lining[q]) group_case_drop(c->lining[q]);
        free(c->lining[q]);
    }
    PS_FREE(c->near.row_start, c->near.columns, c->near.values, c->m0.row_start, c->m0.columns,
            c->m0.values, c->scale, c->weights, c->loads, c->last[0], c->last[1], c->sums,
            c->packing, c->packing_m0);
}

/* ---- on a device ---- */

enum { GROUP_CASE_BUFFERS = 16 + 8 * GROUP_CASE_LININGS };

typedef struct group_place {
    ps_device *device;
    ps_stream *stream;
    ps_group_solve solve; /* pointers of the device */
    ps_group_lining linings[GROUP_CASE_LININGS];
    void *buffers[GROUP_CASE_BUFFERS];
    int used;
} group_place;

/* A buffer that holds `from`, or 0xee bytes. */
static inline ps_status group_case_send(group_place *p, const void *from, int64_t bytes, void **out)
{
    PS_SCOPED_MEMORY void *poison = NULL;
    PS_TRY(ps_device_alloc(p->device, bytes, out));
    p->buffers[p->used++] = *out;
    if (!from) {
        PS_TRY(ps_alloc(&poison, bytes, 1, "a test"));
        memset(poison, 0xee, (size_t)bytes);
    }
    PS_TRY(ps_copy_to_device(p->stream, *out, from ? from : poison, bytes));
    return ps_stream_wait(p->stream);
}

static inline ps_status group_case_send_lining(const group_case *c, group_place *p,
                                               ps_group_lining *l)
{
    int64_t n = c->unknowns, bytes = (c->filter.states + 1) * n * 8;
    void *near;
    PS_SCOPED_MEMORY void *rest = NULL;
    const ps_csr *m = &c->m0;
    *l = (ps_group_lining){.near = c->packed, .m0 = {.rows = n}, .filter = c->filter};
    PS_TRY(group_case_send(p, c->packing, ps_packed_near_bytes(&c->packed), &near));
    ps_packed_near_attach(&l->near, near);
    PS_TRY(group_case_send(p, c->sums, n * (c->group + 1) * ps_real_bytes(c->precision),
                           (void **)&l->sums));
    PS_TRY(group_case_send(p, m->row_start, (n + 1) * 8, (void **)&l->m0.row_start));
    PS_TRY(group_case_send(p, m->columns, m->nnz * 4, (void **)&l->m0.columns));
    PS_TRY(group_case_send(p, m->values, m->nnz * 8, (void **)&l->m0.values));
    PS_TRY(group_case_send(p, NULL, ps_group_lining_workspace(n), (void **)&l->w));
    PS_TRY(ps_alloc(&rest, bytes, 1, "a test"));
    return group_case_send(p, rest, bytes, (void **)&l->state);
}

static inline ps_status group_case_place(const group_case *c, const char *device, group_place *p)
{
    int64_t n = c->unknowns, item = ps_real_bytes(c->precision),
            vector = n * (int64_t)sizeof(double);
    ps_group_solve *s = &p->solve;
    memset(p, 0, sizeof *p);
    PS_TRY(ps_device_open(device, 0, &p->device));
    PS_TRY(ps_stream_open(p->device, &p->stream));
    *s = (ps_group_solve){.unknowns = n,
                          .group = c->group,
                          .count = c->count,
                          .precision = c->precision,
                          .sums_stride = c->group + 1,
                          .near = c->packed,
                          .m0 = c->packed_m0,
                          .rows = &c->m0,
                          .unsymmetric = c->unsymmetric,
                          .tolerance = c->tolerance,
                          .limit = c->limit};
    void *near, *m0;
    PS_TRY(group_case_send(p, c->packing, ps_packed_near_bytes(&c->packed), &near));
    ps_packed_near_attach(&s->near, near);
    PS_TRY(group_case_send(p, c->sums, n * (c->group + 1) * item, (void **)&s->sums));
    PS_TRY(group_case_send(p, c->packing_m0, ps_packed_m0_bytes(&c->packed_m0), &m0));
    ps_packed_m0_attach(&s->m0, m0);
    PS_TRY(group_case_send(p, c->scale, vector, (void **)&s->scale));
    PS_TRY(group_case_send(p, c->weights, vector, (void **)&s->weights));
    PS_TRY(group_case_send(p, c->loads, c->group * vector, (void **)&s->loads));
    PS_TRY(group_case_send(p, c->last[0], vector, (void **)&s->last[0]));
    PS_TRY(group_case_send(p, c->last[1], vector, (void **)&s->last[1]));
    PS_TRY(group_case_send(p, NULL, c->group * n * item, &s->recent));
    PS_TRY(group_case_send(p, NULL, ps_group_solve_workspace(n, c->group, c->packed_m0.halo_count),
                           &s->workspace));
    for (int q = 0; q < c->linings; ++q)
        PS_TRY(group_case_send_lining(c->lining[q], p, &p->linings[q]));
    s->lining_count = c->linings;
    if (c->linings > 0)
        PS_TRY(group_case_send(p, p->linings, sizeof p->linings, (void **)&s->linings));
    return group_case_send(p, NULL, c->group * (int64_t)sizeof *s->steps, (void **)&s->steps);
}

static inline void group_case_leave(group_place *p)
{
    for (int i = 0; i < p->used; ++i) ps_device_free(p->device, p->buffers[i]);
    ps_stream_close(&p->stream);
    ps_device_close(&p->device);
}

/* What a group leaves, in host memory. */
typedef struct group_answer {
    double *recent, *last[2];          /* [count][N], [N] */
    double *state[GROUP_CASE_LININGS]; /* [states + 1][N] */
    ps_group_step steps[PS_GROUP_MAX];
} group_answer;

static inline void group_answer_free(group_answer *a)
{
    PS_FREE(a->recent, a->last[0], a->last[1]);
    for (int q = 0; q < GROUP_CASE_LININGS; ++q) free(a->state[q]);
}

static inline ps_status group_case_fetch(const group_case *c, group_place *p, group_answer *a)
{
    int64_t n = c->unknowns, items = c->count * n;
    const ps_group_solve *s = &p->solve;
    PS_TRY(PS_ALLOC(&a->recent, items, "a test"));
    for (int i = 0; i < 2; ++i) {
        PS_TRY(PS_ALLOC(&a->last[i], n, "a test"));
        PS_TRY(ps_copy_to_host(p->stream, a->last[i], s->last[i], n * 8));
    }
    for (int q = 0; q < c->linings; ++q) {
        int64_t numbers = (c->lining[q]->filter.states + 1) * n;
        PS_TRY(PS_ALLOC(&a->state[q], numbers, "a test"));
        PS_TRY(ps_copy_to_host(p->stream, a->state[q], p->linings[q].state, numbers * 8));
    }
    PS_TRY(ps_copy_to_host(p->stream, a->recent, s->recent, items * ps_real_bytes(c->precision)));
    PS_TRY(ps_copy_to_host(p->stream, a->steps, s->steps, c->group * (int64_t)sizeof *a->steps));
    PS_TRY(ps_stream_wait(p->stream));
    for (int64_t i = items - 1; i >= 0 && c->precision == PS_SINGLE; --i)
        a->recent[i] = (double)((const float *)a->recent)[i];
    return PS_OK;
}

/* Places the case on a device, solves it once, fetches what it left. */
static inline ps_status group_case_run(const group_case *c, const char *device, group_answer *out)
{
    PS_SCOPED(group_case_leave) group_place p = {0};
    memset(out, 0, sizeof *out);
    PS_TRY(group_case_place(c, device, &p));
    PS_TRY(ps_group_solve_run(&p.solve, p.stream));
    return group_case_fetch(c, &p, out);
}

#endif
