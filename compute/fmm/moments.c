/*
 * What is summed, of the name of the kernel and the columns of the sources; sums that are more than
 * charges, to gradients, are made by passes over an adaptive tree (kernels/fmm/moment_sum.h).
 */
#include <math.h>
#include <string.h>

#include "compute/fmm/adaptive_parts.h"
#include "kernels/fmm/order_choice.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ---- what is asked ---- */

static const char *const field_names[] = {
    [PS_FIELD_STOKESLET] = "stokeslet", [PS_FIELD_HELMHOLTZ] = "helmholtz"};
static const ps_moments field_moments[] = {
    [PS_FIELD_STOKESLET] = PS_MOMENTS_FORCES, [PS_FIELD_HELMHOLTZ] = PS_MOMENTS_COMPLEX};

const char *fmm_kernel_name(const fmm_problem *p)
{
    return p->sum.field == PS_FIELD_POTENTIAL ? ps_fmm_kernel_name(p->fmm.function.kernel)
                                              : field_names[p->sum.field];
}

/* The kernel, or what the first pass has. */
static ps_status parse_kernel(const fmm_options *o, fmm_problem *p)
{
    ps_fmm_kernel *kernel = &p->fmm.function.kernel;
    p->sum.field = PS_FIELD_POTENTIAL;
    for (int f = PS_FIELD_STOKESLET; f <= PS_FIELD_HELMHOLTZ; ++f)
        if (strcmp(o->kernel, field_names[f]) == 0) p->sum.field = (ps_fmm_field)f;
    if (p->sum.field == PS_FIELD_POTENTIAL) return ps_fmm_kernel_parse(o->kernel, kernel);
    *kernel = p->sum.field == PS_FIELD_STOKESLET ? PS_FMM_INVERSE : PS_FMM_COSINE;
    return PS_OK;
}

static ps_status check_moments(const fmm_options *o, const fmm_problem *p)
{
    ps_moments moments = p->sum.moments;
    const char *file = o->charges ? o->charges : ps_store_path(ps_octree_file_store(p->file));
    if (p->sum.field != PS_FIELD_POTENTIAL && moments != field_moments[p->sum.field])
        return ps_fail(PS_USAGE,
                       "--kernel %s sums %s, and the columns of %s are %s: give it particles of "
                       "penstock-particle-import --moments %s",
                       o->kernel, ps_moments_names[field_moments[p->sum.field]], file,
                       ps_moments_names[moments], ps_moments_names[field_moments[p->sum.field]]);
    if (p->sum.field == PS_FIELD_POTENTIAL && moments > PS_MOMENTS_CHARGES_AND_DIPOLES)
        return ps_fail(
            PS_USAGE, "the columns of %s are %s, which --kernel %s sums, not --kernel %s", file,
            ps_moments_names[moments],
            field_names[moments == PS_MOMENTS_FORCES ? PS_FIELD_STOKESLET : PS_FIELD_HELMHOLTZ],
            o->kernel);
    return PS_OK;
}

const char *fmm_sum_name(const fmm_options *o, const fmm_problem *p)
{
    return o->hessian                           ? "--hessian"
           : p->sum.field != PS_FIELD_POTENTIAL ? o->kernel
                                                : ps_moments_names[p->sum.moments];
}

/* What an adaptive tree on cores alone has. */
static ps_status check_options(const fmm_options *o, const fmm_problem *p)
{
    const char *what = fmm_sum_name(o, p);
    if (o->hessian && !o->gradient)
        return ps_fail(PS_USAGE, "--hessian is with gradients, without --no-gradient");
    if (o->hessian && p->sum.field == PS_FIELD_STOKESLET)
        return ps_fail(PS_USAGE, "--hessian is of potentials: of velocities there are gradients");
    if (!ps_fmm_has_moments(p->fmm.function.kernel))
        return ps_fail(
            PS_USAGE,
            "%s takes higher derivatives of the kernel, which are not known of --kernel %s", what,
            o->kernel);
    if (o->precision != 0)
        return ps_fail(PS_USAGE, "%s is summed in double precision alone: --precision fp64", what);
    if (o->tree == FMM_TREE_UNIFORM)
        return ps_fail(PS_USAGE, "%s makes an adaptive tree: without --tree uniform", what);
    return PS_OK;
}

ps_status fmm_sum_choose(const fmm_options *o, fmm_problem *p)
{
    ps_fmm_sum *sum = &p->sum;
    PS_TRY(parse_kernel(o, p));
    PS_TRY(check_moments(o, p));
    sum->function = p->fmm.function;
    sum->sides = p->fmm.sides / ps_moments_columns(sum->moments);
    sum->derivatives = o->hessian ? 2 : 1;
    if (sum->field == PS_FIELD_STOKESLET) sum->derivatives = o->gradient;
    return ps_fmm_sum_is_plain(sum) ? PS_OK : check_options(o, p);
}

/* ---- the order ---- */

/* Waves in the widest cells of M2L, a quarter of the tree's root, are interpolated to about
 * (e t / 4 l)^l, t = k times their width. */
static double error_of_waves(const fmm_problem *p, int order)
{
    double root = exp2(ceil(log2(p->header->box.width)));
    return pow(M_E * fabs(p->sum.function.parameter) * root / (16 * order), order);
}

ps_status fmm_sum_check_order(const fmm_problem *p, int order)
{
    static const double least = 0.1;
    double k = p->sum.function.parameter, width = p->header->box.width;
    double allowed = p->accuracy > 0 ? p->accuracy : least;
    if (p->sum.field != PS_FIELD_HELMHOLTZ || error_of_waves(p, order) <= allowed) return PS_OK;
    return ps_fail(
        PS_USAGE,
        "--parameter %g: the box is %.3g wide, k times that is %.3g, and cells a quarter as "
        "wide hold too many waves for an accuracy of %.3g at order %d: this method is for "
        "low frequencies",
        k, width, k * width, allowed, order);
}

void fmm_sum_order(const fmm_options *o, const fmm_problem *p, int *order, double *epsilon)
{
    const ps_fmm_sum *sum = &p->sum;
    bool waves = sum->field == PS_FIELD_HELMHOLTZ, stokes = sum->field == PS_FIELD_STOKESLET;
    int more =
        (sum->moments == PS_MOMENTS_DIPOLES || sum->moments == PS_MOMENTS_CHARGES_AND_DIPOLES) +
        (sum->derivatives > 1) + (stokes ? 1 + sum->derivatives : 0);
    ps_fmm_kernel kernel = waves ? PS_FMM_INVERSE : p->fmm.function.kernel;
    ps_fmm_order_for(kernel, p->accuracy, o->gradient, order, epsilon);
    *order = *order + more > PS_FMM_ORDER_MAX ? PS_FMM_ORDER_MAX : *order + more;
    *epsilon *= pow(10, -more);
    while (waves && *order < PS_FMM_ORDER_MAX && error_of_waves(p, *order) > p->accuracy) ++*order;
}

/* ---- passes ---- */

void fmm_pass_configure(fmm_adaptive *a, const fmm_problem *p, int number)
{
    ps_adaptive_problem *q = &a->problem;
    const fmm_pass_operators *own = &a->pass[number];
    ps_fmm_pass pass = ps_fmm_sum_pass(&p->sum, number);
    int64_t count = fmm_adaptive_count(a, fmm_adaptive_last(p));
    memcpy(q->tables, own->tables, sizeof q->tables);
    memcpy(q->factors, own->factors, sizeof q->factors);
    q->periodic = own->periodic;
    q->function = pass.function;
    q->sides = pass.sides;
    if (a->columns[0])
        q->sources = ps_fmm_pass_sources(&pass, a->columns[0], fmm_adaptive_count(a, 0));
    q->targets = (ps_fmm_particles){.stride = count};
    for (int d = 0; d < 3 && !p->same; ++d) q->targets.position[d] = a->columns[1] + d * count;
    double *rows = ps_fmm_sum_passes(&p->sum) > 1 ? a->found : a->results;
    if (a->gpu) fmm_adaptive_gpu_sum(a->gpu, p->fmm.sides, &pass);
    ps_fmm_particles *to = p->same ? &q->sources : &q->targets;
    if (rows) ps_fmm_pass_targets(&pass, rows, count, to);
}

/* Rows that a pass finds before they are added to the results; 0: it writes into these. */
static int64_t found_numbers(const fmm_adaptive *a, const fmm_problem *p)
{
    if (ps_fmm_sum_passes(&p->sum) == 1) return 0;
    return ps_fmm_sum_room(&p->sum, fmm_adaptive_count(a, fmm_adaptive_last(p)));
}

ps_status fmm_passes_plan(fmm_adaptive *a, const fmm_problem *p, int64_t *bytes)
{
    *bytes = 0;
    fmm_adaptive_gpu_begin(a->gpu);
    for (int i = 0; i < ps_fmm_sum_passes(&p->sum); ++i) {
        fmm_pass_configure(a, p, i);
        PS_TRY(fmm_adaptive_gpu_plan(a->gpu, &a->problem));
        *bytes = ps_larger(*bytes, a->gpu->bytes);
    }
    return PS_OK;
}

int64_t fmm_found_bytes(const fmm_adaptive *a, const fmm_problem *p)
{
    return 8 * found_numbers(a, p);
}

int64_t fmm_pass_bytes(fmm_adaptive *a, const fmm_problem *p, int threads)
{
    int64_t most = 0;
    for (int i = 0; i < ps_fmm_sum_passes(&p->sum); ++i) {
        fmm_pass_configure(a, p, i);
        most = ps_larger(most, ps_adaptive_vector_bytes(&a->problem) +
                                   ps_adaptive_workspace(&a->problem, threads));
    }
    return most + fmm_found_bytes(a, p);
}

static ps_status run_on_device(fmm_run *r, int number)
{
    fmm_adaptive *a = r->adaptive;
    const ps_fmm_sum *sum = &r->problem.sum;
    int64_t count = fmm_adaptive_count(a, fmm_adaptive_last(&r->problem));
    const ps_fmm_rows pass = {a->found, count, count}, results = {a->results, count, count};
    PS_TRY(fmm_adaptive_gpu_plan(a->gpu, &a->problem));
    PS_TRY(fmm_adaptive_gpu_run(a->gpu, a->columns, a->found ? a->found : a->results));
    if (!a->found) return PS_OK;
    if (number == 0)
        memset(a->results, 0, (size_t)(ps_fmm_sum_rows(sum) * count) * sizeof *a->results);
    ps_fmm_sum_add(sum, number, &pass, &results);
    return PS_OK;
}

static ps_status run_on_cores(fmm_run *r, int number)
{
    ps_adaptive_problem *q = &r->adaptive->problem;
    int threads = r->run->threads;
    PS_SCOPED_MEMORY void *vectors = NULL, *workspace = NULL;
    double seconds[PS_ADAPTIVE_STAGES];
    ps_adaptive_evaluation evaluation;
    PS_TRY(ps_alloc_buffer(&vectors, ps_adaptive_vector_bytes(q) + 64, "multipoles and locals"));
    PS_TRY(ps_alloc_buffer(&workspace, ps_adaptive_workspace(q, threads), "room for threads"));
    memcpy(seconds, q->seconds, sizeof seconds);
    ps_adaptive_begin(q, threads, vectors, workspace, &evaluation);
    PS_TRY(fmm_adaptive_batches(r, number, &evaluation));
    for (int s = 0; s < PS_ADAPTIVE_STAGES && number > 0; ++s) q->seconds[s] += seconds[s];
    return PS_OK;
}

ps_status fmm_passes_run(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    const fmm_problem *p = &r->problem;
    int passes = ps_fmm_sum_passes(&p->sum);
    PS_SCOPED_MEMORY double *found = NULL;
    ps_status status = PS_OK;
    if (passes > 1) PS_TRY(PS_ALLOC(&found, found_numbers(a, p), "results of a pass"));
    a->found = found;
    for (int i = 0; i < passes && status == PS_OK; ++i) {
        fmm_pass_configure(a, p, i);
        status = a->gpu ? run_on_device(r, i) : run_on_cores(r, i);
    }
    a->found = NULL;
    return status;
}
