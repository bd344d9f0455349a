#include "compute/hbem_solve/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/blas_threads.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Measured on bodies of 115,000 vertices: 71 to 73 bytes a row and doubling. */
int64_t factors_estimate(int64_t dofs, int count)
{
    return (int64_t)(80 * log2((double)dofs + 2) * (double)dofs) * count;
}

int64_t factors_bytes(const factors *f) { return f->bytes; }

/* ---- dissections ---- */

ps_status dissected_open(const ps_pencil *matrix, dissected *out)
{
    ps_dissection *d = &out->d;
    *out = (dissected){.memory = NULL};
    PS_TRY(PS_ALLOC((char **)&out->memory, ps_dissection_bytes(matrix->dofs), "a dissection"));
    PS_TRY(ps_dissection_cut(matrix, out->memory, d));
    PS_TRY(PS_ALLOC(&d->row, d->rows, "a dissection"));
    PS_TRY(PS_ALLOC(&d->gather, 2 * (d->dofs + d->rows), "a dissection"));
    PS_TRY(PS_ALLOC(&d->entry, d->nnz, "a dissection"));
    ps_dissection_fill(matrix, d);
    return PS_OK;
}

void dissected_close(dissected *d)
{
    PS_FREE(d->d.row, d->d.gather, d->d.entry, d->memory);
    *d = (dissected){.memory = NULL};
}

/* ---- factors ---- */

static ps_status open_numbers(factors *f)
{
    PS_TRY(dissected_open(f->matrix, &f->dissected));
    int64_t numbers = f->dissected.d.numbers;
    for (int j = 0; j < f->count; ++j)
        PS_TRY(PS_ALLOC(&f->numbers[j], 2 * numbers, "sparse factors"));
    f->bytes = f->count * numbers * 16;
    return PS_OK;
}

/* The front of a node from those below, which are no longer needed. */
static ps_status make_front(factors *f, int j, int64_t node, double *const child[2], double **front)
{
    const ps_dissection *d = &f->dissected.d;
    PS_SCOPED_MEMORY double *scratch = NULL;
    PS_TRY(PS_ALLOC(front, 2 * ps_factor_front_size(d, node), "a front"));
    PS_TRY(PS_ALLOC(&scratch, ps_factor_scratch(d, node), "a front"));
    return ps_factor_front(d, f->matrix, f->shift[j], node, (const double *[]){child[0], child[1]},
                           *front, f->numbers[j], scratch);
}

/* Factorises the nodes from here down; *front is left, or NULL after a failure. */
static void factorise(factors *f, int j, int64_t node, ps_failure *failure, double **front)
{
    const int32_t *below = f->dissected.d.child + 2 * node;
    double *child[2] = {NULL, NULL};
    *front = NULL;
    if (below[0] >= 0) {
#pragma omp task shared(child)
        factorise(f, j, below[0], failure, &child[0]);
        factorise(f, j, below[1], failure, &child[1]);
#pragma omp taskwait
    }
    if (below[0] < 0 || (child[0] && child[1])) {
        ps_status status = make_front(f, j, node, child, front);
        ps_note_failure(failure, status);
        if (status != PS_OK) {
            free(*front);
            *front = NULL;
        }
    }
    PS_FREE(child[0], child[1]);
}

static ps_status factorise_all(factors *f)
{
    ps_failure failure = {0};
    int threads = ps_blas_threads_single();
#pragma omp parallel
#pragma omp single
    for (int j = 0; j < f->count; ++j) {
#pragma omp task
        {
            double *front;
            factorise(f, j, f->dissected.d.nodes - 1, &failure, &front);
            free(front);
        }
    }
    ps_blas_threads_restore(threads);
    return ps_first_failure(&failure);
}

ps_status factors_open(const ps_pencil *matrix, int count, double (*shifts)[2], factors **out)
{
    factors *f;
    *out = NULL;
    PS_TRY(PS_ALLOC(&f, 1, "sparse factors"));
    f->matrix = matrix;
    f->count = count;
    memcpy(f->shift, shifts, (size_t)count * sizeof *shifts);
    ps_status status = open_numbers(f);
    if (status == PS_OK) status = factorise_all(f);
    if (status != PS_OK) factors_close(&f);
    *out = f;
    return status;
}

void factors_close(factors **handle)
{
    factors *f = *handle;
    if (!f) return;
    *handle = NULL;
    for (int j = 0; j < f->count; ++j) free(f->numbers[j]);
    dissected_close(&f->dissected);
    PS_FREE(f->vectors, f);
}

/* ---- solutions ---- */

/* The systems of a shift: which ones, and their vectors. */
typedef struct share {
    int64_t first; /* into `system` */
    ps_factor_vectors vectors;
} share;

typedef struct work {
    const ps_dissection *d;
    const ps_shifted_system *systems;
    int64_t count;
    int64_t system[PS_OSRC_GROUP]; /* by shifts */
    share shares[1 + PS_OSRC_TERMS_MAX];
} work;

static ps_status sort_systems(const factors *f, work *w)
{
    int64_t found = 0;
    for (int j = 0; j < f->count; ++j) {
        w->shares[j].first = found;
        for (int64_t s = 0; s < w->count; ++s)
            if (memcmp(f->shift[j], w->systems[s].shift, sizeof f->shift[j]) == 0)
                w->system[found++] = s;
        w->shares[j].vectors.sides = found - w->shares[j].first;
    }
    return found == w->count ? PS_OK
                             : ps_fail(PS_FAILED, "there is no factor of the shift of a system");
}

/* Vectors of the shares, in the memory that is kept for them. */
static ps_status place_vectors(factors *f, work *w)
{
    const ps_dissection *d = w->d;
    int64_t size = 2 * (2 * d->dofs + d->rows);
    if (w->count > f->systems) {
        free(f->vectors);
        f->vectors = NULL;
        f->systems = 0;
        PS_TRY(PS_ALLOC(&f->vectors, w->count * size, "sparse systems"));
        f->systems = w->count;
    }
    for (int j = 0; j < f->count; ++j) {
        ps_factor_vectors *v = &w->shares[j].vectors;
        v->b = f->vectors + w->shares[j].first * size;
        v->x = v->b + v->sides * 2 * d->dofs;
        v->left = v->x + v->sides * 2 * d->dofs;
    }
    return PS_OK;
}

/* Right-hand sides into places, or solutions out of them. */
static void move_vectors(const factors *f, const work *w, bool out)
{
    const ps_dissection *d = w->d;
    for (int j = 0; j < f->count; ++j)
        for (int64_t s = 0; s < w->shares[j].vectors.sides; ++s) {
            const ps_shifted_system *system = &w->systems[w->system[w->shares[j].first + s]];
            double *b = w->shares[j].vectors.b + 2 * s * d->dofs;
            const double *x = w->shares[j].vectors.x + 2 * s * d->dofs;
#pragma omp parallel for schedule(static)
            for (int64_t at = 0; at < d->dofs; ++at)
                for (int part = 0; part < 2; ++part) {
                    int64_t i = part * d->dofs + d->dof[at];
                    if (out)
                        system->x[i] = x[2 * at + part];
                    else
                        b[2 * at + part] = system->b[i];
                }
        }
}

/* All nodes of a depth, of all shifts. */
static void sweep(const factors *f, const work *w, int64_t depth, bool up)
{
    const ps_dissection *d = w->d;
    int64_t first = d->depth_first[depth], nodes = d->depth_first[depth + 1] - first;
#pragma omp parallel for schedule(dynamic) collapse(2)
    for (int64_t at = 0; at < nodes; ++at)
        for (int j = 0; j < f->count; ++j) {
            int64_t node = d->by_depth[first + at];
            const ps_factor_vectors *v = &w->shares[j].vectors;
            up ? ps_factor_up(d, f->numbers[j], v, node)
               : ps_factor_down(d, f->numbers[j], v, node);
        }
}

static ps_status solve_some(factors *f, int64_t count, const ps_shifted_system *systems)
{
    work w = {.d = &f->dissected.d, .systems = systems, .count = count};
    PS_TRY(sort_systems(f, &w));
    PS_TRY(place_vectors(f, &w));
    move_vectors(f, &w, false);
    for (int64_t depth = 0; depth < w.d->depth; ++depth) sweep(f, &w, depth, false);
    for (int64_t depth = w.d->depth - 1; depth >= 0; --depth) sweep(f, &w, depth, true);
    move_vectors(f, &w, true);
    return PS_OK;
}

ps_status factors_solve(void *context, int64_t count, const ps_shifted_system *systems)
{
    for (int64_t first = 0; first < count; first += PS_OSRC_GROUP)
        PS_TRY(solve_some(context, count - first < PS_OSRC_GROUP ? count - first : PS_OSRC_GROUP,
                          systems + first));
    return PS_OK;
}
