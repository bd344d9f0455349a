/* The equation of a batch: its right-hand sides, products with what goes with them,
 * preconditioning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

enum { INNER_LIMIT = 20000 }; /* iterations of a sparse system */

static bool direct(const solve_problem *p)
{
    return p->options.problem != PROBLEM_HARD && !p->options.indirect;
}

/* +1 inside, -1 outside. */
static double sign_of(const solve_problem *p) { return p->options.interior ? 1 : -1; }

static const solve_space *unknowns(const equation *e) { return &e->p->spaces[e->p->unknown]; }

/* That of a copy of a slot; NULL: none. */
static matrix *matrix_of(const equation *e, int own, int copy)
{
    int at = slot_of_copy(own, copy);
    return at < 0 ? NULL : &e->p->matrices[e->group->matrix[at]];
}

int64_t equation_data_size(const solve_problem *p)
{
    return direct(p) ? p->spaces[p->data].space.dofs : 0;
}

ps_status equation_method(const solve_problem *p, ps_lockstep_method *out)
{
    const solve_options *o = &p->options;
    bool definite =
        o->problem == PROBLEM_DIRICHLET || (o->problem == PROBLEM_NEUMANN && !o->indirect);
    *out = o->solver == SOLVER_BLOCK                                          ? PS_LOCKSTEP_BLOCK
           : o->solver == SOLVER_CG || (o->solver == SOLVER_AUTO && definite) ? PS_LOCKSTEP_CG
                                                                              : PS_LOCKSTEP_GMRES;
    if (*out == PS_LOCKSTEP_CG && !definite)
        return ps_fail(PS_USAGE, "--solver cg is for matrices S and W of Laplace's equation; this "
                                 "problem is solved by gmres or block");
    return PS_OK;
}

/* ---- sharing sparse work by sides ---- */

/* The sides of this rank among `count`. */
void equation_own_sides(int64_t count, int64_t *first, int64_t *end)
{
    *first = count * ps_comm_rank() / ps_comm_size();
    *end = count * (ps_comm_rank() + 1) / ps_comm_size();
}

/* All ranks get what each has of its own sides: the rest is set to 0 and added. */
ps_status equation_join_sides(int64_t count, int64_t size, double *y)
{
    int64_t first, end;
    if (ps_comm_size() == 1) return PS_OK;
    equation_own_sides(count, &first, &end);
    memset(y, 0, (size_t)(first * size) * sizeof *y);
    memset(y + end * size, 0, (size_t)((count - end) * size) * sizeof *y);
    return ps_comm_sum_f64(y, count * size);
}

/* x = M^-1 b on the space of `s`; parts of p; x may be b. Local. */
static ps_status solve_mass(equation *e, const solve_space *s, int64_t count, const double *b,
                            double *x)
{
    ps_shifted_system systems[PS_SHIFTED_LANES];
    int64_t size = e->p->parts * s->space.dofs;
    ps_shifted_iterative method = e->iterative;
    method.matrix = &s->sparse;
    for (int64_t first = 0; first < count; first += PS_SHIFTED_LANES) {
        int64_t group = count - first < PS_SHIFTED_LANES ? count - first : PS_SHIFTED_LANES;
        for (int64_t i = 0; i < group; ++i)
            systems[i] =
                (ps_shifted_system){.b = b + (first + i) * size, .x = x + (first + i) * size};
        PS_TRY(ps_shifted_iterate(&method, group, systems));
    }
    e->iterative.iterations = method.iterations;
    return PS_OK;
}

ps_status equation_precondition(void *context, int64_t count, const double *r, double *z)
{
    equation *e = context;
    int64_t size = problem_size(e->p), first, end;
    double start = ps_clock();
    if (e->scale) {
        for (int64_t i = 0; i < count * size; ++i) z[i] = e->scale[i % size] * r[i];
        return PS_OK;
    }
    equation_own_sides(count, &first, &end);
    ps_status status = solve_mass(e, unknowns(e), end - first, r + first * size, z + first * size);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(equation_join_sides(count, size, z));
    e->p->seconds[SECONDS_SPARSE] += ps_clock() - start;
    return PS_OK;
}

ps_status equation_reduce(void *context, double *sums, int64_t count)
{
    return ps_comm_broadcast(sums, count * (int64_t)sizeof *sums, 0);
}

/* ---- products ---- */

/* y += sign A x of an image */
static ps_status add_image(equation *e, matrix *m, int copy, int64_t numbers, double *y)
{
    double sign = ps_reflectors_sign(&e->p->options.mirrors, copy);
    PS_TRY(matrix_finish_product(m, e->image));
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < numbers; ++i) y[i] += sign * e->image[i];
    return PS_OK;
}

/* Of this rank's leaves. Devices are at all of them together. */
static ps_status multiply_own(equation *e, int count, const multiplication *list, int64_t sides)
{
    int copies = ps_reflectors_images(&e->p->options.mirrors);
    for (int at = 0; at < count * copies; ++at) {
        matrix *m = matrix_of(e, list[at / copies].slot, at % copies);
        if (m) PS_TRY(matrix_start_product(m, sides, list[at / copies].x));
    }
    for (int at = 0; at < count * copies; ++at) {
        const multiplication *of = &list[at / copies];
        matrix *m = matrix_of(e, of->slot, at % copies);
        if (at % copies == 0)
            PS_TRY(matrix_finish_product(m, of->y));
        else if (m)
            PS_TRY(add_image(e, m, at % copies, e->p->parts * m->shape->rows * sides, of->y));
    }
    return PS_OK;
}

ps_status equation_multiply(equation *e, int count, const multiplication *list, int64_t sides)
{
    double start = ps_clock();
    PS_TRY(ps_comm_agree(multiply_own(e, count, list, sides)));
    for (int i = 0; i < count && ps_comm_size() > 1; ++i)
        PS_TRY(ps_comm_sum_f64(list[i].y,
                               e->p->parts * matrix_of(e, list[i].slot, 0)->shape->rows * sides));
    e->p->seconds[SECONDS_PRODUCTS] += ps_clock() - start;
    return PS_OK;
}

/* y = A x, over all ranks. */
static ps_status multiply(equation *e, int at, int64_t count, const double *x, double *y)
{
    return equation_multiply(e, 1, &(multiplication){at, x, y}, count);
}

/* y += a m (m . x) of each closed part */
static void add_bordering(const equation *e, const double *x, double *y)
{
    int64_t n = problem_dofs(e->p);
    memset(e->sums, 0, (size_t)e->parts * sizeof *e->sums);
    for (int64_t i = 0; i < n; ++i) e->sums[e->part[i]] += e->integral[i] * x[i];
    for (int64_t i = 0; i < n; ++i) y[i] += e->bordering * e->sums[e->part[i]] * e->integral[i];
}

static ps_status apply_real(equation *e, int64_t count, const double *x, double *y)
{
    int64_t n = problem_dofs(e->p);
    PS_TRY(multiply(e, e->main, count, x, y));
    for (int64_t s = 0; s < count; ++s) {
        if (e->half != 0) ps_hbem_mass_add(&unknowns(e)->sparse, e->half, x + s * n, y + s * n);
        if (e->bordering != 0) add_bordering(e, x + s * n, y + s * n);
    }
    return e->p->options.krylov.method == PS_LOCKSTEP_CG ? PS_OK
                                                         : equation_precondition(e, count, y, y);
}

ps_status equation_apply(void *context, int64_t count, const double *x, double *y)
{
    equation *e = context;
    return e->p->options.problem == PROBLEM_HARD ? waves_apply(e, count, x, y)
                                                 : apply_real(e, count, x, y);
}

/* ---- right-hand sides ---- */

/* Loads of f or d_n f; `items` is as ps_hbem_load_vector wants it. */
ps_status equation_load(equation *e, const solve_space *s, int64_t load, bool derivative,
                        double *out)
{
    ps_hbem_load own = e->p->loads[load];
    int64_t size = e->p->parts * s->space.dofs;
    double *items;
    own.wavenumber = e->group->wavenumber;
    own.absorption = e->p->options.absorption;
    own.derivative = derivative;
    own.mirrors = &e->p->options.mirrors;
    PS_TRY(PS_ALLOC(&items, 3 * e->p->parts * e->p->surface.triangle_count, "loads"));
    ps_hbem_load_vector(&own, &s->space, e->p->parts, items, out);
    free(items);
    for (int64_t i = 0; i < size; ++i)
        if (!isfinite(out[i]))
            return ps_fail(PS_INVALID,
                           "data %lld are not finite on the surface: does a source lie "
                           "on it?",
                           (long long)load);
    return PS_OK;
}

/* b = K c + h M c, or K' instead, from data c. Where the data are no functions of the unknown's
 * space, h int t phi is taken of the derivative itself: K' smooths what is left out of c, M does
 * not. */
static ps_status direct_right_side(equation *e, int64_t first, int64_t sides, const double *data,
                                   double *b)
{
    bool dirichlet = e->p->options.problem == PROBLEM_DIRICHLET;
    const solve_space *from = &e->p->spaces[e->p->data];
    int64_t n = problem_dofs(e->p);
    /* t = S^-1 (s/2 M + K) g;  W u = 1/2 M t - K' t inside, -(1/2 M t + K' t) outside */
    double product = dirichlet ? 1 : -1, mass = .5 * sign_of(e->p), *mc = e->products;
    PS_TRY(multiply(e, dirichlet ? PS_KERNEL_DLP : PS_KERNEL_ADLP, sides, data, b));
    for (int64_t s = 0; s < sides; ++s) {
        if (dirichlet || from == unknowns(e))
            ps_hbem_mass_apply(&unknowns(e)->space, &from->space, data + s * from->space.dofs, mc);
        else
            PS_TRY(equation_load(e, unknowns(e), first + s, true, mc));
        for (int64_t i = 0; i < n; ++i) b[s * n + i] = product * b[s * n + i] + mass * mc[i];
    }
    return PS_OK;
}

/* Makes b orthogonal to the constants of each closed part, and asks for a mean. PS_INVALID where
 * too much was along them. */
static ps_status fix_mean(equation *e, int64_t load, double *b)
{
    int64_t n = problem_dofs(e->p), parts = e->parts;
    double *along = e->sums, *area = along + parts, *size = area + parts, all = 0;
    double mean = e->p->options.indirect ? 0 : e->p->options.mean;
    memset(e->sums, 0, (size_t)(3 * parts) * sizeof *e->sums);
    for (int64_t i = 0; i < n; ++i) {
        along[e->part[i]] += b[i];
        area[e->part[i]] += e->integral[i];
        size[e->part[i]] += fabs(b[i]);
        all += fabs(b[i]);
    }
    for (int64_t k = 0; k < parts; ++k) {
        double beside = fmax(size[k], 1e-3 * all); /* a part without data has rounding alone */
        if (fabs(along[k]) > 1e-2 * beside)
            return ps_fail(PS_INVALID,
                           "data %lld: on part %lld of the surface their integral is %.3g of that "
                           "of their magnitude; a flux through a closed surface from inside must "
                           "vanish (--side exterior?)",
                           (long long)load, (long long)k, fabs(along[k]) / beside);
    }
    for (int64_t i = 0; i < n; ++i) {
        int64_t k = e->part[i];
        b[i] += e->integral[i] * (e->bordering * mean * area[k] - along[k] / area[k]);
    }
    return PS_OK;
}

static ps_status real_right_side(equation *e, int64_t first, int64_t sides, double *b, double *data)
{
    const solve_problem *p = e->p;
    bool neumann = p->options.problem == PROBLEM_NEUMANN;
    int64_t n = problem_dofs(p), size = equation_data_size(p);
    const solve_space *from = &p->spaces[p->data];
    for (int64_t s = 0; s < sides && size == 0; ++s)
        PS_TRY(equation_load(e, unknowns(e), first + s, neumann, b + s * n));
    for (int64_t s = 0; s < sides && size > 0; ++s)
        PS_TRY(equation_load(e, from, first + s, neumann, data + s * size));
    if (size > 0) {
        PS_TRY(solve_mass(e, from, sides, data, data));
        PS_TRY(direct_right_side(e, first, sides, data, b));
    }
    for (int64_t s = 0; s < sides && e->bordering != 0; ++s)
        PS_TRY(fix_mean(e, first + s, b + s * n));
    return p->options.krylov.method == PS_LOCKSTEP_CG ? PS_OK
                                                      : equation_precondition(e, sides, b, b);
}

ps_status equation_right_side(equation *e, int64_t first, int64_t sides, double *b, double *data)
{
    return e->p->options.problem == PROBLEM_HARD ? waves_right_side(e, first, sides, b)
                                                 : real_right_side(e, first, sides, b, data);
}

/* ---- set up ---- */

/* Functions of the largest space in use. */
static int64_t largest_dofs(const solve_problem *p)
{
    int64_t a = problem_dofs(p), b = p->spaces[p->data].space.dofs;
    return a > b ? a : b;
}

/* Whether V is applied by factors: the same in any memory, as the bits differ. */
static bool wants_factors(const solve_problem *p)
{
    if (p->options.problem != PROBLEM_HARD || p->options.coupling != PS_COUPLING_OSRC) return false;
    return p->options.sparse != SPARSE_ITERATIVE;
}

int64_t equation_doubles(const solve_problem *p, int64_t sides)
{
    bool hard = p->options.problem == PROBLEM_HARD;
    int64_t n = problem_dofs(p);
    int64_t products = hard ? waves_vectors(p) * sides * p->parts * n : n;
    if (hard && p->boundary.vibrations > 0) products += 6 * p->surface.triangle_count;
    if (p->options.mirrors.count > 0) products += sides * p->parts * n;
    int64_t own = ps_shifted_workspace(largest_dofs(p)) + (hard ? ps_osrc_workspace(n) : 0);
    if (wants_factors(p) && !p->device) own += factors_estimate(n, (int)p->options.pade + 1) / 8;
    return own + products + 2 * n;
}

/* The matrix that is solved with, the M beside it, and what is added for constants. */
static ps_status choose_terms(equation *e)
{
    const solve_problem *p = e->p;
    if (p->options.problem == PROBLEM_DIRICHLET) {
        e->main = PS_KERNEL_SLP;
        return PS_OK;
    }
    e->main = p->options.indirect ? PS_KERNEL_ADLP : PS_KERNEL_HYPS;
    e->half = p->options.indirect ? .5 * sign_of(p) : 0;
    if (p->options.indirect && !p->options.interior) return PS_OK;
    e->bordering = 1 / p->area / (p->options.indirect ? 1 : sqrt(p->area / (4 * M_PI)));
    PS_TRY(PS_ALLOC(&e->integral, problem_dofs(p), "integrals of functions"));
    ps_hbem_space_integrals(&unknowns(e)->space, e->integral);
    PS_TRY(PS_ALLOC(&e->part, problem_dofs(p), "closed parts"));
    PS_TRY(function_parts(p, &unknowns(e)->space, e->part, &e->parts));
    return PS_ALLOC(&e->sums, 3 * e->parts, "closed parts");
}

/* Whether S or W is preconditioned by numbers that grow as its diagonal does. */
static bool scales(const solve_problem *p)
{
    const solve_options *o = &p->options;
    bool own = o->problem == PROBLEM_DIRICHLET || (o->problem == PROBLEM_NEUMANN && !o->indirect);
    return own && (o->scaling == SCALING_DIAGONAL ||
                   (o->scaling == SCALING_AUTO && o->problem == PROBLEM_NEUMANN));
}

/* 1/d_i: with h = sqrt(M_ii) d is h^3 for S and, with the shape of the triangles by L_ii, about h
 * for W. */
static ps_status open_scale(equation *e)
{
    const ps_pencil *s = &unknowns(e)->sparse;
    PS_TRY(PS_ALLOC(&e->scale, s->dofs, "a preconditioner"));
    for (int64_t i = 0; i < s->dofs; ++i)
        for (int64_t at = s->start[i]; at < s->start[i + 1]; ++at)
            if (s->column[at] == i)
                e->scale[i] = e->p->options.problem == PROBLEM_DIRICHLET
                                  ? pow(s->mass[at], -1.5)
                                  : 1 / sqrt(s->mass[at] * s->stiffness[at]);
    return PS_OK;
}

/* Sparse systems go to the device; V by factors for `count` shifts, 0: by iterations. */
static ps_status use_device(equation *e, int count, const double (*shifts)[2])
{
    solve_problem *p = e->p;
    PS_TRY(
        device_systems_open(p->device, &unknowns(e)->sparse, &e->iterative.options, &e->on_device));
    e->miller.mass = e->miller.shifted = device_systems_solver(e->on_device);
    if (count > 0) {
        PS_TRY(device_systems_factorise(e->on_device, count, shifts));
        e->miller.shifted = device_systems_factors(e->on_device);
        p->factor_bytes = device_systems_factor_bytes(e->on_device);
    }
    p->systems_bytes = device_systems_bytes(e->on_device);
    return PS_OK;
}

static ps_status use_factors(equation *e, int count, double (*shifts)[2])
{
    PS_TRY(factors_open(&unknowns(e)->sparse, count, shifts, &e->factors));
    e->p->factor_bytes = factors_bytes(e->factors);
    e->miller.shifted = (ps_shifted_solver){.context = e->factors, .solve = factors_solve};
    return PS_OK;
}

static ps_status open_hard(equation *e)
{
    solve_problem *p = e->p;
    double shifts[1 + PS_OSRC_TERMS_MAX][2], start = ps_clock();
    PS_TRY(ps_osrc_init(&e->osrc, p->options.coupling, e->group->wavenumber, p->radius,
                        (int)p->options.pade));
    PS_TRY(PS_ALLOC(&e->groups, ps_osrc_workspace(problem_dofs(p)), "sparse systems"));
    ps_shifted_solver iterative = {.context = &e->iterative, .solve = ps_shifted_iterate};
    e->miller = (ps_burton_miller){.matrix = &unknowns(e)->sparse,
                                   .osrc = &e->osrc,
                                   .mass = iterative,
                                   .shifted = iterative,
                                   .workspace = e->groups};
    p->direct = wants_factors(p);
    int count = p->direct ? ps_osrc_shifts(&e->osrc, shifts) : 0;
    if (p->device) PS_TRY(use_device(e, count, shifts));
    if (!p->device && p->direct) PS_TRY(use_factors(e, count, shifts));
    p->seconds[SECONDS_FACTORS] += ps_clock() - start;
    return waves_open(e);
}

ps_status equation_open(solve_problem *p, const solve_group *group, int64_t sides, equation *out)
{
    bool hard = p->options.problem == PROBLEM_HARD;
    *out = (equation){.p = p, .group = group};
    out->iterative =
        (ps_shifted_iterative){.matrix = &unknowns(out)->sparse,
                               .options = {p->parts,
                                           weak_tolerance(p, group->wavenumber,
                                                           p->options.inner_tolerance),
                                           INNER_LIMIT}};
    PS_TRY(PS_ALLOC(&out->iterative.workspace, ps_shifted_workspace(largest_dofs(p)),
                    "sparse systems"));
    PS_TRY(PS_ALLOC(&out->products,
                    hard ? waves_vectors(p) * sides * p->parts * problem_dofs(p) : problem_dofs(p),
                    "products"));
    if (p->options.mirrors.count > 0)
        PS_TRY(PS_ALLOC(&out->image, sides * p->parts * problem_dofs(p), "products with images"));
    if (scales(p)) PS_TRY(open_scale(out));
    return hard ? open_hard(out) : choose_terms(out);
}

void equation_close(equation *e)
{
    if (e->p) e->p->inner_iterations += e->iterative.iterations;
    if (e->on_device) e->p->inner_iterations += device_systems_iterations(e->on_device);
    device_systems_close(&e->on_device);
    factors_close(&e->factors);
    PS_FREE(e->iterative.workspace, e->groups, e->products, e->image, e->velocity);
    impedance_close(e);
    PS_FREE(e->of_flux, e->body, e->integral, e->part, e->sums, e->scale);
}
