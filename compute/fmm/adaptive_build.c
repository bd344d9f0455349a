/* The adaptive tree by the host's threads: its particles in memory, sorted. */
#include <math.h>
#include <stdlib.h>

#include "compute/fmm/adaptive_parts.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

int64_t fmm_adaptive_sorting_bytes(const fmm_problem *p)
{
    int64_t bytes = 0;
    for (int set = 0; set <= fmm_adaptive_last(p); ++set)
        bytes += 8 * p->header->count[set] * (2 * fmm_adaptive_rows(p, set) + 2) +
                 8 * ps_adaptive_sort_workspace(p->header->count[set]);
    return bytes;
}

/* Reads all particles of a set, tile by tile, into rows of `count` numbers. */
static ps_status read_set(const fmm_problem *p, int set, double *to)
{
    int64_t tiles, count = p->header->count[set];
    const int64_t *start = ps_octree_tile_start(p->file, fmm_adaptive_side(set), &tiles);
    ps_failure failure = {0};
#pragma omp parallel
    {
        fmm_source source;
        fmm_source_init(&source, p);
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < tiles; ++t) {
            double *columns[PS_PARTICLE_COLUMNS_MAX];
            for (int c = 0; c < fmm_adaptive_rows(p, set); ++c)
                columns[c] = to + c * count + start[t];
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, fmm_source_read(&source, fmm_adaptive_side(set), start[t],
                                                          start[t + 1] - start[t], columns,
                                                          fmm_adaptive_rows(p, set), NULL));
        }
        fmm_source_release(&source);
    }
    return ps_first_failure(&failure);
}

static void widen(const double *row, int64_t count, double *lower, double *upper)
{
    for (int64_t i = 0; i < count; ++i) {
        *lower = row[i] < *lower ? row[i] : *lower;
        *upper = row[i] > *upper ? row[i] : *upper;
    }
}

static ps_status sort_set(fmm_adaptive *a, const fmm_problem *p, int set)
{
    ps_adaptive_set *s = &a->tree.sets[set];
    int64_t count = p->header->count[set];
    uint64_t *workspace;
    PS_TRY(ps_alloc_buffer((void **)&s->keys, 8 * count, "keys"));
    PS_TRY(ps_alloc_buffer((void **)&s->order, 8 * count, "the order of particles"));
    PS_TRY(ps_alloc_buffer((void **)&workspace, 8 * ps_adaptive_sort_workspace(count),
                           "sorting of particles"));
    ps_adaptive_sort(&a->tree.box, workspace, s);
    free(workspace);
    return PS_OK;
}

/* Around the particles; or the box of a lattice, to which they are mapped. */
static ps_status make_root(fmm_adaptive *a, fmm_problem *p, double *const made[2],
                           const double lower[3], const double upper[3])
{
    if (p->lattice.axes == 0) return ps_adaptive_root(lower, upper, &a->tree.box, &a->tree.deepest);
    PS_TRY(fmm_periodic_origin(lower, upper, p));
    PS_TRY(fmm_periodic_places(p, made, 1 + fmm_adaptive_last(p)));
    for (int set = 0; set <= fmm_adaptive_last(p); ++set)
        fmm_periodic_map(p, p->header->count[set], p->header->count[set], made[set]);
    fmm_periodic_shrink(p, p->header->count[0], made[0]);
    ps_adaptive_images_root(&a->tree, a->gpu != NULL || !ps_fmm_sum_is_plain(&p->sum));
    return PS_OK;
}

/* The tree of particles as they were read, which then are brought into its order. */
static ps_status build_tree(fmm_adaptive *a, fmm_problem *p, double *const made[2])
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int set = 0; set <= fmm_adaptive_last(p); ++set) {
        int64_t count = p->header->count[set];
        PS_TRY(read_set(p, set, made[set]));
        for (int d = 0; d < 3; ++d) widen(made[set] + d * count, count, &lower[d], &upper[d]);
        a->tree.sets[set].points =
            (ps_tree_points){count, made[set], made[set] + count, made[set] + 2 * count};
    }
    PS_TRY(make_root(a, p, made, lower, upper));
    for (int set = 0; set <= fmm_adaptive_last(p); ++set) PS_TRY(sort_set(a, p, set));
    PS_TRY(ps_adaptive_divide(&a->tree));
    for (int set = 0; set <= fmm_adaptive_last(p); ++set) {
        int64_t count = p->header->count[set];
        free(a->tree.sets[set].keys);
        a->tree.sets[set].keys = NULL;
        PS_TRY(ps_alloc_buffer((void **)&a->columns[set], 8 * fmm_adaptive_rows(p, set) * count,
                               "sorted particles"));
        for (int row = 0; row < fmm_adaptive_rows(p, set); ++row)
            ps_tree_gather(made[set] + row * count, a->tree.sets[set].order, count,
                           a->columns[set] + row * count);
    }
    return PS_OK;
}

static ps_status invert(fmm_adaptive *a, const fmm_problem *p)
{
    int set = fmm_adaptive_last(p);
    int64_t count = p->header->count[set], *order = a->tree.sets[set].order;
    PS_TRY(ps_alloc_buffer((void **)&a->inverse, 8 * count, "the order of particles"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) a->inverse[order[i]] = i;
    for (int s = 0; s < 2; ++s) {
        free(a->tree.sets[s].order);
        a->tree.sets[s].order = NULL;
    }
    return PS_OK;
}

ps_adaptive_rule fmm_adaptive_rule(const fmm_adaptive *a, const fmm_problem *p)
{
    int order = p->fmm.interpolation.order;
    return a->gpu ? ps_adaptive_device_rule(order) : ps_adaptive_rule_of(order);
}

ps_status fmm_adaptive_build(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    fmm_problem *p = &r->problem;
    double *made[2] = {NULL, NULL}, start = ps_clock();
    ps_status status = PS_OK;
    for (int set = 0; set <= fmm_adaptive_last(p) && status == PS_OK; ++set)
        status =
            ps_alloc_buffer((void **)&made[set],
                            8 * fmm_adaptive_rows(p, set) * p->header->count[set], "particles");
    if (status == PS_OK) status = build_tree(a, p, made);
    PS_FREE(made[0], made[1]);
    PS_TRY(status);
    PS_TRY(invert(a, p));
    a->problem.rule = fmm_adaptive_rule(a, p);
    if (p->lattice.axes) {
        PS_TRY(fmm_periodic_charge(r->run, p, a->columns[0], p->header->count[0]));
        PS_TRY(fmm_periodic_images(a, p));
    }
    status = ps_adaptive_count(&a->tree, &a->problem.rule, &a->work);
    a->building = ps_clock() - start;
    return status;
}
