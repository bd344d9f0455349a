/* The equation of waves: both combined equations (kernels/hbem/burton_miller.h) for the conditions
 * of the boundary. A function's number is p, or q where a triangle of its support is soft. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/vec3.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Vectors of a side, [2][dofs] each. Rigid bodies need the first two, fluids all. */
enum {
    LEFT_A,
    LEFT_B,
    TRACE_P,
    TRACE_Q,
    SCRATCH,
    MASSLESS,
    COPY,
    OTHER,
    FLUID_A,
    FLUID_B,
    INNER_P,
    INNER_Q,
    RESULT,
    VECTORS
};

static const boundary *boundary_of(const equation *e) { return &e->p->boundary; }
static const solve_space *space_of(const equation *e) { return &e->p->spaces[PS_SPACE_P1]; }
static double wavenumber_of(const equation *e) { return e->group->wavenumber; }

/* Numbers of a trace; of a side's unknowns there are `fields` times as many. */
static int64_t trace_size(const equation *e) { return e->p->parts * problem_dofs(e->p); }

static double *vectors(const equation *e, int which, int64_t sides)
{
    return e->products + which * sides * trace_size(e);
}

int64_t waves_vectors(const solve_problem *p)
{
    return p->boundary.fluid ? VECTORS : boundary_has_flux(&p->boundary) ? FLUID_A : TRACE_P;
}

/* ---- set up ---- */

/* q is unknown where a triangle of the support is soft: p is 0 on all of it. */
static ps_status find_flux(equation *e)
{
    const ps_hbem_space *s = &space_of(e)->space;
    const boundary *b = boundary_of(e);
    PS_TRY(PS_ALLOC(&e->of_flux, s->dofs, "kinds of functions"));
    for (int64_t i = 0; i < 3 * s->surface->triangle_count; ++i)
        if (condition_table[b->condition[b->group_of[i / 3]].kind].flux_equation)
            e->of_flux[s->dof_of[i]] = true;
    return PS_OK;
}

/* A triangle of a body that is a fluid must be so itself. */
static ps_status check_fluid(const equation *e, int64_t triangle)
{
    const boundary *b = boundary_of(e);
    const double *at = e->p->triangles[triangle].centroid;
    int g = b->group_of[triangle];
    if (b->condition[g].kind == CONDITION_FLUID) return PS_OK;
    return ps_fail(PS_INVALID,
                   "--boundary: a fluid body has a triangle at (%.6g, %.6g, %.6g) of the group %d, "
                   "which is %s: a fluid goes all around, bodies that touch others are not solved",
                   at[0], at[1], at[2], b->tag[g], condition_table[b->condition[g].kind].name);
}

/* Beside a triangle there must be the medium, with nothing around it but the outside. */
static ps_status check_outside(const equation *e, int64_t triangle, double volume)
{
    const ps_hbem_triangle *t = &e->p->triangles[triangle];
    double place[3];
    for (int c = 0; c < 3; ++c) place[c] = t->centroid[c] + 1e-3 * t->diameter * t->normal[c];
    if (volume > 0 && images_where(e->p, place) >= 0) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "--boundary: a body with a triangle at (%.6g, %.6g, %.6g) lies inside of another "
        "one, or touches it: where there are fluids, that is not solved",
        t->centroid[0], t->centroid[1], t->centroid[2]);
}

/* Numbers the fluid bodies from 0 in e->body, by their parts of the surface; checks all parts.
 * volume[parts], number[parts]: 0. */
static ps_status number_bodies(equation *e, int64_t parts, double *volume, int32_t *number)
{
    const boundary *b = boundary_of(e);
    const ps_hbem_space *s = &space_of(e)->space;
    int64_t triangles = e->p->surface.triangle_count;
    for (int64_t i = 0; i < triangles; ++i) {
        const ps_hbem_triangle *t = &e->p->triangles[i];
        int32_t part = e->body[s->dof_of[3 * i]];
        volume[part] += ps_dot3(t->centroid, t->normal) * t->jacobian / 6;
        if (b->condition[b->group_of[i]].kind == CONDITION_FLUID) number[part] = 1;
    }
    for (int64_t i = 0; i < parts; ++i) number[i] = number[i] ? (int32_t)e->bodies++ : -1;
    for (int64_t i = 0; i < triangles; ++i) {
        int32_t part = e->body[s->dof_of[3 * i]];
        if (number[part] >= 0) PS_TRY(check_fluid(e, i));
        if (isnan(volume[part])) continue;
        PS_TRY(check_outside(e, i, volume[part]));
        volume[part] = NAN;
    }
    for (int64_t i = 0; i < s->dofs; ++i) e->body[i] = number[e->body[i]];
    return PS_OK;
}

static ps_status find_bodies(equation *e)
{
    int64_t parts;
    PS_SCOPED_MEMORY double *volume = NULL;
    PS_SCOPED_MEMORY int32_t *number = NULL;
    PS_TRY(PS_ALLOC(&e->body, problem_dofs(e->p), "fluid bodies"));
    PS_TRY(function_parts(e->p, &space_of(e)->space, e->body, &parts));
    PS_TRY(PS_ALLOC(&volume, parts, "fluid bodies"));
    PS_TRY(PS_ALLOC(&number, parts, "fluid bodies"));
    return number_bodies(e, parts, volume, number);
}

ps_status waves_check(solve_problem *p)
{
    equation e = {.p = p};
    ps_status status = p->boundary.fluid ? find_bodies(&e) : PS_OK;
    free(e.body);
    return status;
}

ps_status waves_open(equation *e)
{
    const boundary *b = boundary_of(e);
    if (b->fluid) PS_TRY(find_bodies(e));
    if (b->has[CONDITION_SOFT]) PS_TRY(find_flux(e));
    if (b->has[CONDITION_IMPEDANCE]) PS_TRY(impedance_open(e));
    if (b->vibrations == 0) return PS_OK;
    return PS_ALLOC(&e->velocity, 2 * e->p->surface.triangle_count, "velocities");
}

/* ---- traces ---- */

/* The first numbers of all functions to p; the second ones of fluids, q/k, to q. */
static void take_fields(const equation *e, int64_t sides, const double *x, double *p, double *q)
{
    int64_t n = problem_dofs(e->p), fields = e->p->fields;
    for (int64_t at = 0; at < 2 * sides; ++at)
        for (int64_t i = 0; i < n; ++i) {
            p[at * n + i] = x[at * fields * n + i];
            q[at * n + i] =
                e->body && e->body[i] >= 0 ? wavenumber_of(e) * x[(at * fields + 1) * n + i] : 0;
        }
}

/* p and q, projected onto the space, of unknowns x; without what is given. */
static ps_status split(equation *e, int64_t sides, const double *x, double *p, double *q)
{
    int64_t n = problem_dofs(e->p), size = trace_size(e);
    take_fields(e, sides, x, p, q);
    if (boundary_of(e)->has[CONDITION_IMPEDANCE]) {
        for (int64_t i = 0; i < sides * size && e->of_flux; ++i)
            if (e->of_flux[i % n]) p[i] = 0;
        PS_TRY(impedance_add_flux(e, sides, p, q));
    }
    for (int64_t i = 0; i < sides * size && e->of_flux; ++i) {
        if (!e->of_flux[i % n]) continue;
        q[i] += x[i / n * e->p->fields * n + i % n];
        p[i] = 0;
    }
    return PS_OK;
}

/* ---- both equations ---- */

static void add_mass(const equation *e, double factor, int64_t sides, const double *x, double *y)
{
    int64_t n = problem_dofs(e->p);
    for (int64_t at = 0; at < 2 * sides; ++at)
        ps_hbem_mass_add(&space_of(e)->sparse, factor, x + at * n, y + at * n);
}

/* y of each function outside of fluids by its own equation, of the loads a and b (overwritten) that
 * the traces leave beside their halves. p, q NULL: 0. `offset`: sides before these in the scratch
 * vectors. */
static ps_status combine_one(equation *e, int64_t all, int64_t offset, int64_t sides,
                             const double *p, const double *q, double *y)
{
    int64_t n = problem_dofs(e->p), size = trace_size(e), numbers = sides * size;
    double *v[VECTORS];
    for (int i = 0; i < VECTORS; ++i) v[i] = vectors(e, i, all) + offset * size;
    bool both = boundary_of(e)->has[CONDITION_RIGID] || boundary_of(e)->has[CONDITION_IMPEDANCE];
    if (!both && !e->of_flux) return PS_OK; /* all is fluid */
    if (e->of_flux) {
        memcpy(v[SCRATCH], v[LEFT_A], (size_t)numbers * sizeof *y);
        memcpy(v[COPY], v[LEFT_B], (size_t)numbers * sizeof *y);
        if (p) add_mass(e, .5, sides, p, v[SCRATCH]);
        PS_TRY(ps_burton_miller_flux(&e->miller, sides, q, v[SCRATCH], v[COPY], v[MASSLESS],
                                     both ? v[OTHER] : y));
        if (!both) return PS_OK;
    }
    if (q) add_mass(e, .5, sides, q, v[LEFT_B]);
    PS_TRY(ps_burton_miller_pressure(&e->miller, sides, p, v[LEFT_A], v[LEFT_B], y));
    if (boundary_of(e)->has[CONDITION_IMPEDANCE])
        PS_TRY(impedance_precondition(e, sides, y, v[LEFT_A], v[LEFT_B]));
    for (int64_t i = 0; i < numbers && e->of_flux; ++i)
        if (e->of_flux[i % n]) y[i] = v[OTHER][i];
    return PS_OK;
}

/* The weight al of the inner equation of pressures: 1, or what makes the two of the traces alike
 * inside of a gas. */
static double weight_of(const boundary *b)
{
    double ratio = b->fluid->density / b->density;
    return ratio < .5 ? 1 / ratio : 1;
}

/* Both numbers of the functions of fluids: M^-1 a / ((1 + al)/2) and M^-1 b / ((1 + g)/2) / k,
 * beside p and q/k themselves; other functions take theirs from `one` and have a second number that
 * nothing asks for. */
static ps_status combine_fluid(equation *e, int64_t all, int64_t offset, int64_t sides,
                               const double *p, const double *q, const double *one, double *y)
{
    int64_t n = problem_dofs(e->p), size = trace_size(e);
    double k = wavenumber_of(e), g = boundary_of(e)->fluid->density / boundary_of(e)->density;
    double *a = vectors(e, FLUID_A, all) + offset * size;
    double *b = vectors(e, FLUID_B, all) + offset * size;
    PS_TRY(ps_burton_miller_mass(&e->miller, sides, a));
    PS_TRY(ps_burton_miller_mass(&e->miller, sides, b));
    double of_a = 2 / (1 + weight_of(boundary_of(e))), of_b = 2 / (1 + g) / k;
    for (int64_t at = 0; at < 2 * sides; ++at)
        for (int64_t i = 0; i < n; ++i) {
            double *to = y + 2 * at * n + i;
            int64_t from = at * n + i;
            bool fluid = e->body[i] >= 0;
            to[0] = fluid ? of_a * a[from] + (p ? p[from] : 0) : one[from];
            to[n] = fluid ? of_b * b[from] + (q ? q[from] / k : 0) : 0;
        }
    return PS_OK;
}

/* y of all functions, likewise; x: what they are of, NULL on the right. */
static ps_status combine(equation *e, int64_t all, int64_t offset, int64_t sides, const double *p,
                         const double *q, const double *x, double *y)
{
    int64_t n = problem_dofs(e->p), size = trace_size(e);
    if (sides == 0) return PS_OK;
    if (!e->body) return combine_one(e, all, offset, sides, p, q, y);
    double *one = vectors(e, RESULT, all) + offset * size;
    PS_TRY(combine_one(e, all, offset, sides, p, q, one));
    PS_TRY(combine_fluid(e, all, offset, sides, p, q, one, y));
    for (int64_t i = 0; i < 4 * sides * n && x; ++i) /* second numbers outside of fluids */
        if (i / n % 2 == 1 && e->body[i % n] < 0) y[i] = x[i];
    return PS_OK;
}

/* Adds what the equations inside of fluids say: al (K1 p - g S1 q) to a, -(g K1' q + W1 p) to b, a
 * body at a time; a and b are those of the outside, to which they are copied here. */
static ps_status add_inside(equation *e, int64_t sides, const double *p, const double *q)
{
    int64_t n = problem_dofs(e->p), numbers = sides * trace_size(e);
    double g = boundary_of(e)->fluid->density / boundary_of(e)->density;
    double weight = weight_of(boundary_of(e));
    double *a = vectors(e, FLUID_A, sides), *b = vectors(e, FLUID_B, sides);
    double *own_p = vectors(e, INNER_P, sides), *own_q = vectors(e, INNER_Q, sides);
    double *kp = vectors(e, SCRATCH, sides), *wp = vectors(e, MASSLESS, sides);
    double *sq = vectors(e, COPY, sides), *kq = vectors(e, OTHER, sides);
    const multiplication list[] = {{SLOT_INNER + PS_KERNEL_DLP, own_p, kp},
                                   {SLOT_INNER + PS_KERNEL_HYPS, own_p, wp},
                                   {SLOT_INNER + PS_KERNEL_SLP, own_q, sq},
                                   {SLOT_INNER + PS_KERNEL_ADLP, own_q, kq}};
    memcpy(a, vectors(e, LEFT_A, sides), (size_t)numbers * sizeof *a);
    memcpy(b, vectors(e, LEFT_B, sides), (size_t)numbers * sizeof *b);
    for (int64_t body = 0; body < e->bodies; ++body) {
        for (int64_t i = 0; i < numbers; ++i) {
            own_p[i] = e->body[i % n] == body ? p[i] : 0;
            own_q[i] = e->body[i % n] == body ? q[i] : 0;
        }
        PS_TRY(equation_multiply(e, 4, list, sides));
        for (int64_t i = 0; i < numbers; ++i) {
            if (e->body[i % n] != body) continue;
            a[i] += weight * (kp[i] - g * sq[i]);
            b[i] -= g * kq[i] + wp[i];
        }
    }
    return PS_OK;
}

/* a = S q - K p, b = K' q + W p, of those that are there. */
static ps_status multiply_traces(equation *e, int64_t sides, const double *p, const double *q)
{
    int64_t numbers = sides * trace_size(e);
    bool of_p = boundary_unknown_pressure(boundary_of(e));
    double *a = vectors(e, LEFT_A, sides), *b = vectors(e, LEFT_B, sides);
    double *sq = of_p && q ? vectors(e, SCRATCH, sides) : a;
    double *kq = of_p && q ? vectors(e, MASSLESS, sides) : b;
    multiplication list[4];
    int count = 0;
    if (of_p) {
        list[count++] = (multiplication){PS_KERNEL_DLP, p, a};
        list[count++] = (multiplication){PS_KERNEL_HYPS, p, b};
    }
    if (q) {
        list[count++] = (multiplication){PS_KERNEL_SLP, q, sq};
        list[count++] = (multiplication){PS_KERNEL_ADLP, q, kq};
    }
    PS_TRY(equation_multiply(e, count, list, sides));
    if (!of_p) return PS_OK;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < numbers; ++i) {
        a[i] = q ? sq[i] - a[i] : -a[i];
        if (q) b[i] += kq[i];
    }
    return PS_OK;
}

ps_status waves_apply(equation *e, int64_t count, const double *x, double *y)
{
    int64_t trace = trace_size(e), size = problem_size(e->p), first, end;
    bool flux = boundary_has_flux(boundary_of(e));
    const double *p = flux ? vectors(e, TRACE_P, count) : x;
    double *q = flux ? vectors(e, TRACE_Q, count) : NULL;
    double start = ps_clock();
    if (flux) PS_TRY(split(e, count, x, vectors(e, TRACE_P, count), q));
    e->p->seconds[SECONDS_SPARSE] += ps_clock() - start;
    PS_TRY(multiply_traces(e, count, p, q));
    images_clear_rims(e->p, 2 * count, vectors(e, LEFT_A, count));
    images_clear_rims(e->p, 2 * count, vectors(e, LEFT_B, count));
    if (e->body) PS_TRY(add_inside(e, count, p, q));
    start = ps_clock();
    equation_own_sides(count, &first, &end);
    PS_TRY(
        ps_comm_agree(combine(e, count, first, end - first, p + first * trace,
                              q ? q + first * trace : NULL, x + first * size, y + first * size)));
    PS_TRY(equation_join_sides(count, size, y));
    e->p->seconds[SECONDS_SPARSE] += ps_clock() - start;
    return PS_OK;
}

/* ---- right-hand sides ---- */

/* q[2][triangles] = i k rho c v of a load, in the order of the space p0. */
static void given_flux(const equation *e, const ps_hbem_load *load, double *q)
{
    const boundary *b = boundary_of(e);
    const ps_hbem_space *s = &e->p->spaces[PS_SPACE_P0].space;
    double factor = wavenumber_of(e) * b->density * b->speed;
    boundary_velocity(b, &e->p->surface, (int)load->vector[0], e->velocity);
    for (int64_t t = 0; t < s->dofs; ++t) {
        q[s->dof_of[3 * t]] = -factor * e->velocity[s->dofs + t];
        q[s->dofs + s->dof_of[3 * t]] = factor * e->velocity[t];
    }
}

/* a -= S q, b -= K' q + 1/2 int q phi of what vibrates. */
static ps_status add_vibration(equation *e, const ps_hbem_load *load, double *a, double *b)
{
    const ps_hbem_space *from = &e->p->spaces[PS_SPACE_P0].space, *to = &space_of(e)->space;
    int64_t n = to->dofs;
    PS_SCOPED_MEMORY double *q = NULL, *y = NULL;
    PS_TRY(PS_ALLOC(&q, 2 * from->dofs, "velocities"));
    PS_TRY(PS_ALLOC(&y, 6 * n, "loads of velocities"));
    given_flux(e, load, q);
    const multiplication list[] = {{SLOT_DATA_SLP, q, y}, {SLOT_DATA_ADLP, q, y + 2 * n}};
    PS_TRY(equation_multiply(e, 2, list, 1));
    for (int part = 0; part < 2; ++part)
        ps_hbem_mass_apply(to, from, q + part * from->dofs, y + (4 + part) * n);
    for (int64_t i = 0; i < 2 * n; ++i) {
        a[i] -= y[i];
        b[i] -= y[2 * n + i] + .5 * y[4 * n + i];
    }
    return PS_OK;
}

/* Loads of the incident waves of sides [own, end) of a batch; a vibration's by all ranks. */
static ps_status load_sides(equation *e, int64_t first, int64_t sides, int64_t own, int64_t end)
{
    int64_t size = trace_size(e);
    double *a = vectors(e, LEFT_A, sides), *b = vectors(e, LEFT_B, sides);
    ps_status status = PS_OK;
    for (int64_t s = own; s < end && status == PS_OK; ++s) {
        status = equation_load(e, space_of(e), first + s, false, a + s * size);
        if (status == PS_OK) status = equation_load(e, space_of(e), first + s, true, b + s * size);
    }
    PS_TRY(ps_comm_agree(status));
    for (int64_t s = 0; s < sides; ++s)
        if (e->p->loads[first + s].kind == PS_LOAD_NONE)
            PS_TRY(add_vibration(e, &e->p->loads[first + s], a + s * size, b + s * size));
    images_clear_rims(e->p, 2 * sides, a);
    images_clear_rims(e->p, 2 * sides, b);
    return PS_OK;
}

ps_status waves_right_side(equation *e, int64_t first, int64_t sides, double *b)
{
    int64_t size = problem_size(e->p), own, end;
    equation_own_sides(sides, &own, &end);
    PS_TRY(load_sides(e, first, sides, own, end));
    for (int which = 0; which < 2 && e->body; ++which)
        memcpy(vectors(e, FLUID_A + which, sides), vectors(e, LEFT_A + which, sides),
               (size_t)(sides * trace_size(e)) * sizeof *b);
    PS_TRY(ps_comm_agree(combine(e, sides, own, end - own, NULL, NULL, NULL, b + own * size)));
    return equation_join_sides(sides, size, b);
}

/* ---- results ---- */

ps_hbem_space_kind waves_flux_space(const solve_problem *p)
{
    if (p->boundary.vibrations == 0) return PS_SPACE_P1;
    return boundary_has_flux(&p->boundary) ? PS_SPACE_DP1 : PS_SPACE_P0;
}

/* q in the order of the mesh: continuous part q[2][dofs], given part of triangles or NULL. */
static void put_flux(const equation *e, const double *q, const double *given, double *out)
{
    ps_hbem_space_kind kind = waves_flux_space(e->p);
    const ps_hbem_space *one = &space_of(e)->space, *zero = &e->p->spaces[PS_SPACE_P0].space;
    int64_t triangles = e->p->surface.triangle_count, items = 3 * triangles, n = one->dofs;
    for (int part = 0; part < 2; ++part) {
        for (int64_t i = 0; i < n && kind == PS_SPACE_P1; ++i)
            out[part * n + space_of(e)->order[i]] = q[part * n + i];
        for (int64_t t = 0; t < triangles && kind == PS_SPACE_P0; ++t)
            out[part * triangles + t] = given ? given[part * triangles + zero->dof_of[3 * t]] : 0;
        for (int64_t i = 0; i < items && kind == PS_SPACE_DP1; ++i)
            out[part * items + i] = q[part * n + one->dof_of[i]] +
                                    (given ? given[part * triangles + zero->dof_of[i]] : 0);
    }
}

ps_status waves_traces(equation *e, int64_t load, const double *x, double *pressure, double *flux)
{
    int64_t n = problem_dofs(e->p), triangles = e->p->surface.triangle_count;
    double *q;
    PS_SCOPED_MEMORY double *p = NULL, *given = NULL;
    PS_TRY(PS_ALLOC(&p, 4 * n, "traces"));
    q = p + 2 * n;
    PS_TRY(split(e, 1, x, p, q));
    for (int64_t i = 0; i < 2 * n && pressure; ++i)
        pressure[i / n * n + space_of(e)->order[i % n]] = p[i];
    if (e->p->loads[load].kind == PS_LOAD_NONE && flux) {
        PS_TRY(PS_ALLOC(&given, 2 * triangles, "velocities"));
        given_flux(e, &e->p->loads[load], given);
    }
    if (flux) put_flux(e, q, given, flux);
    return PS_OK;
}
