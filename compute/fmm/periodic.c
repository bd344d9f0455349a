/*
 * --periodic: the box of an adaptive tree repeats along some axes (specs/fmm_adaptive.md). Places
 * are mapped to the unit box, results back; direct sums over the box and those around it, and what
 * the lattice adds to that at order 12, are what samples are compared with.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive_parts.h"
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
    if (p->sum.derivatives > (p->sum.field == PS_FIELD_STOKESLET ? 0 : 1))
        return ps_fail(PS_USAGE,
                       "--periodic knows values and gradients of potentials, and velocities: "
                       "without --hessian, of stokeslet with --no-gradient");
    if (p->sum.field == PS_FIELD_STOKESLET && box->axes < 3)
        return ps_fail(PS_USAGE,
                       "--periodic %s: the lattice of Stokeslets is known along all three "
                       "axes alone, without a mean flow: xyz",
                       o->periodic);
    if (p->fmm.function.kernel != PS_FMM_INVERSE)
        return ps_fail(PS_USAGE, "--periodic is for --kernel inverse and stokeslet: other "
                                 "sums over the lattice are not known");
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

void fmm_periodic_shrink(const fmm_problem *p, int64_t count, double *columns)
{
    const ps_fmm_sum *sum = &p->sum;
    int first = sum->moments == PS_MOMENTS_CHARGES_AND_DIPOLES ? sum->sides : 0;
    if (sum->moments != PS_MOMENTS_DIPOLES && sum->moments != PS_MOMENTS_CHARGES_AND_DIPOLES)
        return;
    for (int64_t i = (3 + first) * count; i < (3 + p->fmm.sides) * count; ++i)
        columns[i] /= p->lattice.period;
}

/* ---- charge ---- */

ps_status fmm_periodic_charge(const ps_run *run, const fmm_problem *p, const double *columns,
                              int64_t count)
{
    static const double least = 1e-6; /* charges of single precision do not cancel better */
    bool charges =
        p->sum.moments == PS_MOMENTS_CHARGES || p->sum.moments == PS_MOMENTS_CHARGES_AND_DIPOLES;
    for (int side = 0; side < p->sum.sides && charges; ++side) {
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
    for (int i = 0; i < ps_fmm_sum_passes(&p->sum); ++i) {
        ps_periodic **own = &a->pass[i].periodic;
        ps_fmm_pass pass = ps_fmm_sum_pass(&p->sum, i);
        if (!*own) PS_TRY(PS_ALLOC(own, 1, "the lattice"));
        if (pass.function.kernel == PS_FMM_DISTANCE)
            ps_periodic_init_distance(*own);
        else
            ps_periodic_init(p->lattice.along, *own);
    }
    return PS_OK;
}

/* ---- direct sums ---- */

/* A pass over the sources of the box, and what it finds at `count` targets. */
typedef struct direct_pass {
    const fmm_adaptive *a;
    const fmm_problem *p;
    const ps_periodic *periodic;
    ps_fmm_pass pass;
    ps_fmm_particles sources;
    const double *positions; /* [3][count] of the unit box */
    double *shifted, *found; /* [3][count], [rows][count]  */
    int64_t count;
} direct_pass;

/* field[sides][PS_PERIODIC_GRID]: what the boxes beyond do, of moments of order 12. */
static ps_status sum_beyond(const direct_pass *d, double *field)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_adaptive_tree *t = &d->a->tree;
    bool any = t->levels > PS_IMAGES_SMOOTH;
    int64_t first = any ? t->level_start[PS_IMAGES_SMOOTH] : 0,
            count = any ? t->level_start[PS_IMAGES_SMOOTH + 1] - first : 0,
            stride = count * PS_FMM_POINTS_MAX;
    PS_SCOPED_MEMORY double *multipoles = NULL, *moments = NULL;
    ps_fmm_interpolation in;
    PS_TRY(ps_fmm_interpolation_init(&in, PS_FMM_ORDER_MAX));
    PS_TRY(PS_ALLOC(&multipoles, d->pass.sides * stride + 1, "direct sums"));
    PS_TRY(PS_ALLOC(&moments, PS_PERIODIC_GRID, "direct sums"));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < count; ++c) {
        ps_fmm_leaf leaf = {.particles = &d->sources,
                            .range = t->cell[first + c].sources,
                            .sides = d->pass.sides,
                            .vector_stride = stride};
        ps_adaptive_centre(&t->box, &t->cell[first + c], leaf.centre, &leaf.width);
        if (d->sources.charges) f->p2m(&in, &leaf, multipoles + c * PS_FMM_POINTS_MAX);
        if (d->sources.dipoles) f->p2m_dipoles(&in, &leaf, multipoles + c * PS_FMM_POINTS_MAX);
    }
    for (int side = 0; side < d->pass.sides; ++side) {
        ps_images_beyond beyond = {.periodic = d->periodic,
                                   .tree = t,
                                   .interpolation = &in,
                                   .precision = PS_DOUBLE,
                                   .multipoles = multipoles + side * stride,
                                   .sources = &d->sources,
                                   .side = side};
        ps_adaptive_images_moments(&beyond, moments);
        ps_periodic_act(d->periodic, moments, field + side * PS_PERIODIC_GRID);
    }
    return PS_OK;
}

/* Adds the boxes beyond. */
static void add_beyond(const direct_pass *d, const double *field)
{
    int64_t count = d->count;
    int sides = d->pass.sides;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < count; ++i)
        for (int side = 0; side < sides; ++side) {
            const double at[3] = {d->positions[i], d->positions[count + i],
                                  d->positions[2 * count + i]};
            double values[4];
            ps_periodic_at(d->periodic, field + side * PS_PERIODIC_GRID, at, values);
            d->found[side * count + i] += values[0];
            for (int e = 0; e < 3; ++e)
                d->found[(sides + 3 * side + e) * count + i] += values[1 + e];
        }
}

/* Adds the box and those around it. */
static void add_around(const direct_pass *d)
{
    int64_t count = d->count;
    ps_fmm_particles targets = {.stride = count};
    ps_fmm_pass_targets(&d->pass, d->found, count, &targets);
    for (int n = 0; n < 27; ++n) {
        const int shift[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        bool in = true;
        for (int e = 0; e < 3; ++e) {
            in = in && (shift[e] == 0 || d->p->lattice.along[e]);
            for (int64_t i = 0; i < count; ++i)
                d->shifted[e * count + i] = d->positions[e * count + i] - shift[e];
            targets.position[e] = d->shifted + e * count;
        }
        if (in)
            ps_fmm_direct_add(&d->pass.function, d->pass.sides, 1, &targets, count, &d->sources,
                              d->p->header->count[0]);
    }
}

static ps_status sum_pass(direct_pass *d, int number, fmm_check *c)
{
    PS_SCOPED_MEMORY double *field = NULL;
    const ps_fmm_rows found = {d->found, c->count, c->count},
                      sums = {c->direct, c->count, c->count};
    d->pass = ps_fmm_sum_pass(&d->p->sum, number);
    d->periodic = d->a->pass[number].periodic;
    d->sources = ps_fmm_pass_sources(&d->pass, d->a->columns[0], fmm_adaptive_count(d->a, 0));
    memset(d->found, 0, (size_t)(ps_fmm_pass_rows(&d->pass) * c->count) * sizeof *d->found);
    add_around(d);
    PS_TRY(PS_ALLOC(&field, d->pass.sides * PS_PERIODIC_GRID, "direct sums"));
    PS_TRY(sum_beyond(d, field));
    add_beyond(d, field);
    ps_fmm_sum_add(&d->p->sum, number, &found, &sums);
    return PS_OK;
}

ps_status fmm_periodic_direct(const fmm_adaptive *a, const fmm_problem *p, fmm_check *c)
{
    int64_t n = p->header->count[0];
    PS_SCOPED_MEMORY double *positions = NULL, *found = NULL;
    PS_TRY(PS_ALLOC(&positions, 6 * c->count, "direct sums"));
    PS_TRY(PS_ALLOC(&found, ps_fmm_sum_room(&p->sum, c->count), "direct sums"));
    memcpy(positions, c->positions, (size_t)(3 * c->count) * sizeof *positions);
    fmm_periodic_map(p, c->count, c->count, positions);
    direct_pass d = {.a = a,
                     .p = p,
                     .positions = positions,
                     .shifted = positions + 3 * c->count,
                     .found = found,
                     .count = c->count};
    for (int i = 0; i < ps_fmm_sum_passes(&p->sum); ++i) PS_TRY(sum_pass(&d, i, c));
    fmm_periodic_scale(p, c->count, c->count, c->direct);
    for (int side = 0; side < c->sides; ++side)
        for (int64_t i = 0; i < n; ++i)
            c->charge[side] +=
                fabs(a->columns[0][(3 + side) * fmm_adaptive_count(a, 0) + i]) / (double)n;
    return PS_OK;
}

void fmm_periodic_scale(const fmm_problem *p, int64_t count, int64_t stride, double *results)
{
    int values = p->sum.sides * ps_fmm_sum_components(&p->sum);
    double length = p->lattice.period;
    if (p->lattice.axes == 0) return;
    for (int row = 0; row < 4 * values; ++row)
        for (int64_t i = 0; i < count; ++i)
            results[row * stride + i] /= row < values ? length : length * length;
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
    if (p->sum.field == PS_FIELD_STOKESLET)
        return ps_store_put_text(store, "/", "surface",
                                 "no mean flow: a mean pressure gradient balances the forces");
    return ps_store_put_text(store, "/", "surface", surface[p->lattice.axes]);
}
