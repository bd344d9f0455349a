/*
 * --periodic: the box of an adaptive tree repeats along some axes (specs/fmm_adaptive.md). Places
 * are mapped to the unit box, results back; direct sums over the box and those around it, and what
 * the lattice adds to that at order 12, are what samples are compared with.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive_parts.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- what is asked ---- */

static ps_status parse_axes(const char *text, bool along[3])
{
    for (const char *c = text; *c; ++c) {
        if (*c < 'x' || *c > 'z' || along[*c - 'x'])
            return ps_fail(PS_USAGE, "--periodic %s: axes are some of x, y, z, each once (xy, xyz)",
                           text);
        along[*c - 'x'] = true;
    }
    return PS_OK;
}

ps_status fmm_periodic_choose(const fmm_options *o, fmm_problem *p)
{
    fmm_lattice *box = &p->lattice;
    if (o->periodic) PS_TRY(parse_axes(o->periodic, box->along));
    box->axes = box->along[0] + box->along[1] + box->along[2];
    box->images = 1;
    for (int i = 0; i < box->axes; ++i) box->images *= 3;
    if (box->axes == 0 && (o->period > 0 || o->background))
        return ps_fail(PS_USAGE, "--period and --background are of --periodic AXES");
    if (box->axes == 0) return PS_OK;
    box->period = o->period;
    box->background = o->background;
    if (!(o->period > 0))
        return ps_fail(PS_USAGE,
                       "--periodic %s needs --period L, the length of the box: the "
                       "particles do not tell it",
                       o->periodic);
    if (o->background && box->axes < 3)
        return ps_fail(PS_USAGE, "--background is of --periodic xyz: with fewer axes there is none "
                                 "that has a potential");
    if (p->fmm.function.kernel != PS_FMM_INVERSE)
        return ps_fail(PS_USAGE, "--periodic is for --kernel inverse: sums over the lattice are "
                                 "known for 1/r alone");
    if (o->tree == FMM_TREE_UNIFORM)
        return ps_fail(PS_USAGE, "--periodic makes an adaptive tree: without --tree uniform");
    return PS_OK;
}

/* ---- places ---- */

ps_status fmm_periodic_origin(const double lower[3], const double upper[3], fmm_problem *p)
{
    fmm_lattice *box = &p->lattice;
    for (int d = 0; d < 3; ++d) {
        double extent = upper[d] - lower[d];
        box->origin[d] = lower[d];
        if (box->along[d]) continue;
        /* In the middle, where the box does not repeat. */
        box->origin[d] = lower[d] - 0.5 * (box->period - extent);
        if (extent < 0.999 * box->period) continue;
        return ps_fail(PS_INVALID,
                       "particles are %.6g apart along %c, where the box does not repeat; with "
                       "--period %.6g they may be %.6g apart there (take a multiple of the period, "
                       "and the particles as often along the axes that repeat)",
                       extent, 'x' + d, box->period, 0.999 * box->period);
    }
    return PS_OK;
}

void fmm_periodic_map(const fmm_problem *p, int64_t count, int64_t stride, double *positions)
{
    const fmm_lattice *box = &p->lattice;
    for (int d = 0; d < 3; ++d)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < count; ++i) {
            double at = (positions[d * stride + i] - box->origin[d]) / box->period;
            if (box->along[d]) at -= floor(at);
            positions[d * stride + i] = at < 1 ? at : 0; /* rounded up to the next box */
        }
}

/* ---- charge ---- */

ps_status fmm_periodic_charge(const ps_run *run, const fmm_problem *p, const double *columns,
                              int64_t count)
{
    static const double least = 1e-6; /* charges of single precision do not cancel better */
    for (int side = 0; side < p->fmm.sides; ++side) {
        const double *q = columns + (3 + side) * count;
        double net = 0, size = 0;
        for (int64_t i = 0; i < count; ++i) {
            net += q[i];
            size += fabs(q[i]);
        }
        if (fabs(net) <= least * size) continue;
        if (p->lattice.axes < 3)
            PS_TRY(ps_refuse(run, "charged",
                             "the box has a net charge of %.9g (charges of %.9g in all): its "
                             "potential grows without bound away from it and is known up to a "
                             "constant alone",
                             net, size));
        else if (!p->lattice.background)
            return ps_fail(PS_INVALID,
                           "the box has a net charge of %.9g (charges of %.9g in all), for which "
                           "the sum over the lattice diverges: --background adds a uniform one of "
                           "opposite sign, as for gravity in a periodic universe",
                           net, size);
    }
    return PS_OK;
}

/* ---- images ---- */

/* The box is the tree's; copies of sources in the boxes around it come behind the sources. */
ps_status fmm_periodic_images(fmm_adaptive *a, const fmm_problem *p)
{
    int64_t n = p->header->count[0], copies = 0, rows = fmm_adaptive_rows(p, 0);
    double *columns = NULL;
    PS_TRY(ps_adaptive_images_make(&a->tree, &a->problem.rule, p->lattice.along, &copies));
    PS_TRY(ps_alloc_buffer((void **)&columns, 8 * rows * (n + copies), "particles and images"));
    for (int64_t row = 0; row < rows; ++row)
        memcpy(columns + row * (n + copies), a->columns[0] + row * n, (size_t)(8 * n));
    free(a->columns[0]);
    a->columns[0] = columns;
    ps_adaptive_images_fill(&a->tree, p->fmm.sides, n + copies, columns);
    a->tree.sets[0].points.count = n + copies;
    a->images = copies;
    if (!a->periodic) PS_TRY(PS_ALLOC(&a->periodic, 1, "the lattice"));
    ps_periodic_init(p->lattice.along, a->periodic);
    return PS_OK;
}

/* ---- direct sums ---- */

/* field[S][PS_PERIODIC_GRID]: what the boxes beyond do, of moments of order 12. */
static ps_status sum_beyond(const fmm_adaptive *a, const fmm_problem *p, double *field)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_adaptive_tree *t = &a->tree;
    bool any = t->levels > PS_IMAGES_SMOOTH;
    int64_t first = any ? t->level_start[PS_IMAGES_SMOOTH] : 0,
            count = any ? t->level_start[PS_IMAGES_SMOOTH + 1] - first : 0,
            stride = count * PS_FMM_POINTS_MAX;
    ps_fmm_particles sources =
        ps_fmm_group_particles(a->columns[0], NULL, t->sets[0].points.count, p->fmm.sides);
    PS_SCOPED_MEMORY double *multipoles = NULL, *moments = NULL;
    ps_fmm_interpolation in;
    PS_TRY(ps_fmm_interpolation_init(&in, PS_FMM_ORDER_MAX));
    PS_TRY(PS_ALLOC(&multipoles, p->fmm.sides * stride + 1, "direct sums"));
    PS_TRY(PS_ALLOC(&moments, PS_PERIODIC_GRID, "direct sums"));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < count; ++c) {
        ps_fmm_leaf leaf = {.particles = &sources,
                            .range = t->cell[first + c].sources,
                            .sides = p->fmm.sides,
                            .vector_stride = stride};
        ps_adaptive_centre(&t->box, &t->cell[first + c], leaf.centre, &leaf.width);
        f->p2m(&in, &leaf, multipoles + c * PS_FMM_POINTS_MAX);
    }
    for (int side = 0; side < p->fmm.sides; ++side) {
        ps_images_beyond beyond = {.periodic = a->periodic,
                                   .tree = t,
                                   .interpolation = &in,
                                   .precision = PS_DOUBLE,
                                   .multipoles = multipoles + side * stride,
                                   .sources = &sources,
                                   .side = side};
        ps_adaptive_images_moments(&beyond, moments);
        ps_periodic_act(a->periodic, moments, field + side * PS_PERIODIC_GRID);
    }
    return PS_OK;
}

/* Adds the boxes beyond; positions [3][count] of the unit box, results [4 S][count]. */
static void add_beyond(const fmm_adaptive *a, int sides, const double *field,
                       const double *positions, int64_t count, double *results)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < count; ++i)
        for (int side = 0; side < sides; ++side) {
            const double at[3] = {positions[i], positions[count + i], positions[2 * count + i]};
            double values[4];
            ps_periodic_at(a->periodic, field + side * PS_PERIODIC_GRID, at, values);
            results[side * count + i] += values[0];
            for (int d = 0; d < 3; ++d)
                results[(sides + 3 * side + d) * count + i] += values[1 + d];
        }
}

/* Adds the box and those around it. */
static void add_around(const fmm_adaptive *a, const fmm_problem *p, const double *positions,
                       int64_t count, double *shifted, double *results)
{
    int sides = p->fmm.sides;
    ps_fmm_particles sources =
        ps_fmm_group_particles(a->columns[0], NULL, a->tree.sets[0].points.count, sides);
    ps_fmm_particles targets = ps_fmm_group_particles(NULL, results, count, sides);
    for (int n = 0; n < 27; ++n) {
        const int shift[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        bool in = true;
        for (int d = 0; d < 3; ++d) {
            in = in && (shift[d] == 0 || p->lattice.along[d]);
            for (int64_t i = 0; i < count; ++i)
                shifted[d * count + i] = positions[d * count + i] - shift[d];
            targets.position[d] = shifted + d * count;
        }
        if (in)
            ps_fmm_direct_add(&p->fmm.function, sides, 1, &targets, count, &sources,
                              p->header->count[0]);
    }
}

ps_status fmm_periodic_direct(const fmm_adaptive *a, const fmm_problem *p, fmm_check *c)
{
    int sides = c->sides;
    int64_t n = p->header->count[0];
    PS_SCOPED_MEMORY double *positions = NULL, *field = NULL;
    PS_TRY(PS_ALLOC(&positions, 6 * c->count, "direct sums"));
    PS_TRY(PS_ALLOC(&field, sides * PS_PERIODIC_GRID, "direct sums"));
    memcpy(positions, c->positions, (size_t)(3 * c->count) * sizeof *positions);
    fmm_periodic_map(p, c->count, c->count, positions);
    add_around(a, p, positions, c->count, positions + 3 * c->count, c->direct);
    PS_TRY(sum_beyond(a, p, field));
    add_beyond(a, sides, field, positions, c->count, c->direct);
    fmm_periodic_scale(p, c->count, c->count, c->direct);
    for (int side = 0; side < sides; ++side)
        for (int64_t i = 0; i < n; ++i)
            c->charge[side] +=
                fabs(a->columns[0][(3 + side) * a->tree.sets[0].points.count + i]) / (double)n;
    return PS_OK;
}

void fmm_periodic_scale(const fmm_problem *p, int64_t count, int64_t stride, double *results)
{
    int sides = p->fmm.sides;
    double length = p->lattice.period;
    if (p->lattice.axes == 0) return;
    for (int row = 0; row < 4 * sides; ++row)
        for (int64_t i = 0; i < count; ++i)
            results[row * stride + i] /= row < sides ? length : length * length;
}

/* ---- the output ---- */

ps_status fmm_periodic_put(const fmm_problem *p, ps_store *store)
{
    static const char *const surface[] = {
        "",
        "one axis: each image less its potential at the box: -2 (ln(rho/2) + gamma) / L a charge",
        "two axes: -2 pi |z| / L^2 a charge",
        "conducting (tin foil): no surface term; mean potential 0; uniform background"};
    char axes[4] = "";
    if (p->lattice.axes == 0) return PS_OK;
    for (int d = 0; d < 3; ++d)
        if (p->lattice.along[d]) axes[strlen(axes)] = (char)('x' + d);
    PS_TRY(ps_store_put_text(store, "/", "periodic", axes));
    PS_TRY(ps_store_put_real(store, "/", "period", p->lattice.period));
    return ps_store_put_text(store, "/", "surface", surface[p->lattice.axes]);
}
