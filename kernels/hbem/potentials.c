#include "kernels/hbem/potentials.h"

#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"

PS_ISA_SELECT(struct ps_hbem_potential_functions, ps_hbem_potentials_isa)

/* Sources at a time: within a core's second cache for a few densities. */
enum { TILE = 256 };

static bool is_far(ps_hbem_potential kind)
{
    return kind == PS_POTENTIAL_FAR_SINGLE || kind == PS_POTENTIAL_FAR_DOUBLE;
}

int ps_hbem_potential_parts(ps_hbem_potential kind, double wavenumber)
{
    return wavenumber > 0 || is_far(kind) ? 2 : 1;
}

static int numbers(const ps_hbem_potential_task *task)
{
    return task->columns * ps_hbem_potential_parts(task->kind, task->wavenumber);
}

/* A buffer of sources with room for `capacity`. */
typedef struct source_buffer {
    int64_t count, capacity;
    double *sources, *strengths;
} source_buffer;

static int64_t buffer_doubles(const ps_hbem_potential_task *task, int64_t capacity)
{
    return (capacity * (6 + numbers(task)) + 7) / 8 * 8;
}

static int64_t tile_points(const ps_hbem_potential_task *task)
{
    return (int64_t)TILE * task->rule->count;
}

/* A thread's lanes and, for refinement, its buffer. */
static int64_t thread_doubles(const ps_hbem_potential_task *task)
{
    return PS_POTENTIAL_LANES * (3 + numbers(task)) + buffer_doubles(task, tile_points(task));
}

int64_t ps_hbem_potentials_bytes(const ps_hbem_potential_task *task, int threads)
{
    return 8 * (buffer_doubles(task, tile_points(task)) + threads * thread_doubles(task));
}

static source_buffer buffer_in(const ps_hbem_potential_task *task, double *memory)
{
    int64_t capacity = tile_points(task);
    return (source_buffer){0, capacity, memory, memory + 6 * capacity};
}

/* ---- sources ---- */

/* Position of a point given by its hats. */
static void place_of(const ps_hbem_triangle *t, const double hat[3], double out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = hat[0] * t->corner[0][c] + hat[1] * t->corner[1][c] + hat[2] * t->corner[2][c];
}

static void put_point(const ps_hbem_potential_task *task, int64_t t, const double hat[3],
                      double weight, double *source, double *strength)
{
    const ps_hbem_space *space = task->space;
    const ps_hbem_triangle *triangle = &space->surface->triangles[t];
    place_of(triangle, hat, source);
    memcpy(source + 3, triangle->normal, sizeof triangle->normal);
    for (int e = 0; e < numbers(task); ++e) {
        const double *density = task->densities + e * space->dofs;
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += hat[l] * density[space->dof_of[3 * t + l]];
        strength[e] = weight * sum;
    }
}

/* The rule's points on triangle t; sign -1 takes them back. */
static void put_triangle(const ps_hbem_potential_task *task, int64_t t, double sign,
                         source_buffer *to)
{
    const ps_hbem_rule *rule = task->rule;
    double scale = sign * task->space->surface->triangles[t].jacobian;
    for (int q = 0; q < rule->count; ++q, ++to->count)
        put_point(task, t, rule->hat[q], scale * rule->weight[q], to->sources + 6 * to->count,
                  to->strengths + numbers(task) * to->count);
}

/* ---- lanes ---- */

static void load_targets(const ps_hbem_potential_task *task, int64_t first, double *lanes)
{
    for (int lane = 0; lane < PS_POTENTIAL_LANES; ++lane) {
        int64_t at = first + lane < task->target_count ? first + lane : task->target_count - 1;
        for (int c = 0; c < 3; ++c)
            lanes[PS_POTENTIAL_LANES * c + lane] = task->targets[3 * at + c];
    }
}

void ps_hbem_potential_scale(const ps_hbem_potential_task *task, int64_t target, const double *sums,
                             int stride)
{
    int all = numbers(task), parts = ps_hbem_potential_parts(task->kind, task->wavenumber);
    double scale = task->factor / (4 * M_PI), k = task->wavenumber;
    for (int e = 0; e < all; e += parts) {
        double *value = task->values + target * all + e;
        double re = scale * sums[stride * e];
        double im = parts == 2 ? scale * sums[stride * (e + 1)] : 0;
        bool turned = task->kind == PS_POTENTIAL_FAR_DOUBLE; /* times -ik */
        value[0] += turned ? k * im : re;
        if (parts == 2) value[1] += turned ? -k * re : im;
    }
}

/* Of the lanes, for the targets from `first` on. */
static void add_sums(const ps_hbem_potential_task *task, int64_t first, int64_t count,
                     const double *sums)
{
    for (int64_t i = 0; i < count; ++i)
        ps_hbem_potential_scale(task, first + i, sums + i, PS_POTENTIAL_LANES);
}

static void run_job(const ps_hbem_potential_task *task, const source_buffer *from, double *lanes)
{
    double *sums = lanes + 3 * PS_POTENTIAL_LANES;
    ps_hbem_potential_job job = {.count = from->count,
                                 .sources = from->sources,
                                 .strengths = from->strengths,
                                 .columns = task->columns,
                                 .wavenumber = task->wavenumber,
                                 .absorption = task->absorption,
                                 .targets = lanes,
                                 .sums = sums};
    int mode = ps_hbem_potential_parts(task->kind, task->wavenumber) - 1;
    if (mode == 1 && task->absorption > 0) mode = 2;
    memset(sums, 0, (size_t)(PS_POTENTIAL_LANES * numbers(task)) * sizeof *sums);
    ps_hbem_potentials_isa_select()->add[task->kind][mode](&job);
}

void ps_hbem_potentials(const ps_hbem_potential_task *task, int threads, void *workspace)
{
    double *memory = workspace;
    double *own = memory + buffer_doubles(task, tile_points(task));
    const source_buffer tile = buffer_in(task, memory);
    int64_t triangles = task->space->surface->triangle_count;
#pragma omp parallel num_threads(threads)
    for (int64_t first = 0; first < triangles; first += TILE) {
        int64_t count = triangles - first < TILE ? triangles - first : TILE;
        double *lanes = own + omp_get_thread_num() * thread_doubles(task);
        source_buffer points = tile;
#pragma omp for schedule(static)
        for (int64_t t = 0; t < count; ++t) {
            points.count = t * task->rule->count;
            put_triangle(task, first + t, 1, &points);
        }
        points.count = count * task->rule->count;
#pragma omp for schedule(static)
        for (int64_t at = 0; at < task->target_count; at += PS_POTENTIAL_LANES) {
            int64_t left = task->target_count - at;
            load_targets(task, at, lanes);
            run_job(task, &points, lanes);
            add_sums(task, at, left < PS_POTENTIAL_LANES ? left : PS_POTENTIAL_LANES,
                     lanes + 3 * PS_POTENTIAL_LANES);
        }
    }
}

/* ---- near the surface ---- */

/* The smooth remainders of the wave kernels, times 4 pi, q = k r:
 *
 *     e^{iq}/r         - (1/r - k^2 r/2)     = k   [(cos q - 1 + q^2/2)/q + i sin q/q]
 *     e^{iq}(1-iq)/r^3 - (1/r^3 + k^2/(2 r)) = k^3 [(cos q + q sin q - 1 - q^2/2)/q^3
 *                                                   + i (sin q - q cos q)/q^3] */
static void remainder_alone(bool twofold, double k, double r, double out[2])
{
    double q = k * r, s = q * q;
    if (!twofold) {
        out[0] = q < .3 ? q * s * (1. / 24 - s * (1. / 720 - s / 40320)) : (cos(q) - 1 + s / 2) / q;
        out[1] = q < .3 ? 1 - s * (1. / 6 - s * (1. / 120 - s / 5040)) : sin(q) / q;
    } else if (q < .3) {
        out[0] = -q * (1. / 8 - s * (1. / 144 - s / 5760));
        out[1] = 1. / 3 - s * (1. / 30 - s * (1. / 840 - s / 45360));
    } else {
        out[0] = (cos(q) + q * sin(q) - 1 - s / 2) / (q * s);
        out[1] = (sin(q) - q * cos(q)) / (q * s);
    }
    double scale = twofold ? k * k * k : k;
    out[0] *= scale;
    out[1] *= scale;
}

/* The same of a complex k, by q = i k r: the series where abs(q) is small, which the digits of the
 * terms that cancel ask for. */
static void remainder_damped(bool twofold, double complex k, double r, double out[2])
{
    double complex q = I * k * r, value = 0, term = 1;
    if (cabs(q) < .3) { /* sum over n >= 3, with q^2 where it is odd in the real series: n >= 1 */
        for (int n = 1; n <= 14; ++n) {
            term *= q / n;
            if (n != 2) value += twofold ? term * (1 - n) : term;
        }
    } else {
        value = twofold ? cexp(q) * (1 - q) - 1 + q * q / 2 : cexp(q) - 1 - q * q / 2;
    }
    value /= twofold ? r * r * r : r;
    out[0] = creal(value);
    out[1] = cimag(value);
}

static void remainder_at(const ps_hbem_potential_task *task, double r, double out[2])
{
    bool twofold = task->kind == PS_POTENTIAL_DOUBLE;
    if (task->absorption > 0)
        remainder_damped(twofold, task->wavenumber + I * task->absorption, r, out);
    else
        remainder_alone(twofold, task->wavenumber, r, out);
}

typedef struct near_sum {
    const ps_hbem_potential_task *task;
    const ps_hbem_nearness *how;
    int64_t target;
    bool anew; /* every triangle is summed, not only what differs */
    bool on;   /* the surface, whose jump has been added           */
    source_buffer buffer;
    double *lanes;
} near_sum;

/* The remainder against the hats, by the rule on parts of the triangle that waves do not turn
 * round on: weights[hat][part], added to. */
static void add_remainder(const near_sum *s, const ps_hbem_triangle *t, double height,
                          double weights[3][2])
{
    const ps_hbem_rule *rule = s->task->rule;
    const double *x = s->task->targets + 3 * s->target;
    double k = s->task->wavenumber;
    bool twofold = s->task->kind == PS_POTENTIAL_DOUBLE;
    int cuts = 1;
    while (k * t->diameter > .6 * cuts && cuts < 16) ++cuts;
    for (int a = 0; a < cuts; ++a)
        for (int b = 0; b < 2 * (cuts - a) - 1; ++b)
            for (int q = 0; q < rule->count; ++q) {
                /* Part b of row a: every other one is turned round. */
                double u = b % 2 ? 1 - rule->hat[q][1] : rule->hat[q][1];
                double v = b % 2 ? 1 - rule->hat[q][2] : rule->hat[q][2];
                double hat[3] = {0, (b / 2 + u) / cuts, (a + v) / cuts}, y[3], value[2];
                hat[0] = 1 - hat[1] - hat[2];
                place_of(t, hat, y);
                double scale = rule->weight[q] * t->jacobian / (cuts * cuts);
                remainder_at(s->task, ps_distance3(x, y), value);
                for (int l = 0; l < 6; ++l)
                    weights[l / 2][l % 2] +=
                        scale * (twofold ? height : 1) * hat[l / 2] * value[l % 2];
            }
}

/* Adds sum_l weights[l] density_l of triangle t to the target. */
static void add_weights(const near_sum *s, int64_t t, double weights[3][2])
{
    const ps_hbem_potential_task *task = s->task;
    int parts = ps_hbem_potential_parts(task->kind, task->wavenumber);
    for (int column = 0; column < task->columns; ++column) {
        const double *density = task->densities + column * parts * task->space->dofs;
        double sum[2] = {0, 0}, factor = task->factor / (4 * M_PI);
        for (int l = 0; l < 3; ++l) {
            int64_t dof = task->space->dof_of[3 * t + l];
            double re = density[dof], im = parts == 2 ? density[task->space->dofs + dof] : 0;
            sum[0] += weights[l][0] * re - weights[l][1] * im;
            sum[1] += weights[l][0] * im + weights[l][1] * re;
        }
        double *value = task->values + (s->target * task->columns + column) * parts;
        for (int part = 0; part < parts; ++part) value[part] += factor * sum[part];
    }
}

/* On the surface int d_ny g phi jumps by phi, of which `how->side` decides. */
static void add_jump(near_sum *s, int64_t t, const double hat[3])
{
    double inner, weights[3][2] = {{0}};
    ps_hbem_where(s->task->space->surface, s->task->targets + 3 * s->target, &inner);
    double share = s->how->side > 0 ? inner : s->how->side < 0 ? inner - 1 : inner - .5;
    for (int l = 0; l < 3; ++l) weights[l][0] = 4 * M_PI * share * hat[l];
    add_weights(s, t, weights);
    s->on = true;
}

static void add_closed(near_sum *s, int64_t t)
{
    const ps_hbem_triangle *at = &s->task->space->surface->triangles[t];
    double k = s->task->wavenumber, loss = s->task->absorption, weights[3][2] = {{0}};
    bool twofold = s->task->kind == PS_POTENTIAL_DOUBLE;
    ps_hbem_closed c;
    ps_hbem_closed_at(at, s->task->targets + 3 * s->target, &c);
    for (int l = 0; l < 3; ++l) {
        double half = (k * k - loss * loss) / 2;
        weights[l][0] = twofold ? c.slope[l] + half * c.height * c.inverse[l]
                                : c.inverse[l] - half * c.length[l];
        weights[l][1] = k * loss * (twofold ? c.height * c.inverse[l] : -c.length[l]);
    }
    if (k > 0) add_remainder(s, at, c.height, weights);
    add_weights(s, t, weights);
    if (twofold && c.on && !s->on) add_jump(s, t, c.hat);
}

static void flush(near_sum *s)
{
    if (!s->buffer.count) return;
    run_job(s->task, &s->buffer, s->lanes);
    add_sums(s->task, s->target, 1, s->lanes + 3 * PS_POTENTIAL_LANES);
    s->buffer.count = 0;
}

static double squared_distance(const double x[3], const double y[3])
{
    double d[3];
    ps_subtract3(x, y, d);
    return ps_dot3(d, d);
}

static bool is_near(const near_sum *s, const ps_hbem_triangle *t)
{
    double bound = s->how->reach * t->diameter;
    return squared_distance(s->task->targets + 3 * s->target, t->centroid) < bound * bound;
}

/* Whether a point of the rule is so near that its sum cannot be taken back. */
static bool loses_digits(const near_sum *s)
{
    const ps_hbem_surface *surface = s->task->space->surface;
    const ps_hbem_rule *rule = s->task->rule;
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &surface->triangles[t];
        double bound = s->how->noise * at->diameter;
        for (int q = 0; q < rule->count && is_near(s, at); ++q) {
            double y[3];
            place_of(at, rule->hat[q], y);
            if (squared_distance(s->task->targets + 3 * s->target, y) < bound * bound) return true;
        }
    }
    return false;
}

static void do_near_target(near_sum *s)
{
    const ps_hbem_potential_task *task = s->task;
    const ps_hbem_surface *surface = task->space->surface;
    load_targets(task, s->target, s->lanes);
    if (loses_digits(s)) {
        s->anew = true;
        memset(task->values + s->target * numbers(task), 0,
               (size_t)numbers(task) * sizeof *task->values);
    }
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        bool near = is_near(s, &surface->triangles[t]);
        if (near) add_closed(s, t);
        if (near == s->anew) continue;
        if (s->buffer.count + task->rule->count > s->buffer.capacity) flush(s);
        put_triangle(task, t, near ? -1 : 1, &s->buffer);
    }
    flush(s);
}

/* Where targets may be near: the box of all triangles, widened by the reach. */
static void near_box(const ps_hbem_surface *surface, double reach, double box[2][3])
{
    double widest = 0;
    for (int c = 0; c < 3; ++c) {
        box[0][c] = INFINITY;
        box[1][c] = -INFINITY;
    }
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &surface->triangles[t];
        widest = fmax(widest, at->diameter);
        for (int c = 0; c < 3; ++c) {
            box[0][c] = fmin(box[0][c], at->centroid[c]);
            box[1][c] = fmax(box[1][c], at->centroid[c]);
        }
    }
    for (int c = 0; c < 3; ++c) {
        box[0][c] -= reach * widest;
        box[1][c] += reach * widest;
    }
}

static bool in_box(double box[2][3], const double x[3])
{
    for (int c = 0; c < 3; ++c)
        if (x[c] < box[0][c] || x[c] > box[1][c]) return false;
    return true;
}

void ps_hbem_potentials_near(const ps_hbem_potential_task *task, const ps_hbem_nearness *how,
                             int threads, void *workspace)
{
    double *own = (double *)workspace + buffer_doubles(task, tile_points(task)), box[2][3];
    near_box(task->space->surface, how->reach, box);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (int64_t i = 0; i < task->target_count; ++i) {
        double *lanes = own + omp_get_thread_num() * thread_doubles(task);
        near_sum s = {.task = task, .how = how, .target = i, .lanes = lanes};
        s.buffer = buffer_in(task, lanes + PS_POTENTIAL_LANES * (3 + numbers(task)));
        if (in_box(box, task->targets + 3 * i)) do_near_target(&s);
    }
}
