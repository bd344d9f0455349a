#include "kernels/hbem/potentials.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

PS_ISA_SELECT(struct ps_hbem_potential_functions, ps_hbem_potentials_isa)

const struct ps_hbem_potential_functions *ps_hbem_potential_functions_here(void)
{
    return ps_hbem_potentials_isa_select();
}

/* Sources at a time: within a core's second cache for a few densities. */
enum { TILE = 256, QUARTERS = 4 };

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

/* A part of a triangle: its corners as hats of the whole, its part of the area. */
typedef struct piece {
    double corner[3][3], share;
} piece;

static const piece whole = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 1};

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

/* The rule's points on a part of triangle t; sign -1 takes them back. */
static void put_piece(const ps_hbem_potential_task *task, int64_t t, const piece *p, double sign,
                      source_buffer *to)
{
    const ps_hbem_rule *rule = task->rule;
    double scale = sign * p->share * task->space->surface->triangles[t].jacobian;
    for (int q = 0; q < rule->count; ++q, ++to->count) {
        double hat[3];
        for (int l = 0; l < 3; ++l)
            hat[l] = rule->hat[q][0] * p->corner[0][l] + rule->hat[q][1] * p->corner[1][l] +
                     rule->hat[q][2] * p->corner[2][l];
        put_point(task, t, hat, scale * rule->weight[q], to->sources + 6 * to->count,
                  to->strengths + numbers(task) * to->count);
    }
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
                                 .targets = lanes,
                                 .sums = sums};
    int wave = ps_hbem_potential_parts(task->kind, task->wavenumber) - 1;
    memset(sums, 0, (size_t)(PS_POTENTIAL_LANES * numbers(task)) * sizeof *sums);
    ps_hbem_potential_functions_here()->add[task->kind][wave](&job);
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
            put_piece(task, first + t, &whole, 1, &points);
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

typedef struct refiner {
    const ps_hbem_potential_task *task;
    const ps_hbem_refinement *how;
    int64_t target, triangle;
    source_buffer buffer;
    double *lanes;
} refiner;

static void flush(refiner *r)
{
    if (!r->buffer.count) return;
    run_job(r->task, &r->buffer, r->lanes);
    add_sums(r->task, r->target, 1, r->lanes + 3 * PS_POTENTIAL_LANES);
    r->buffer.count = 0;
}

static void put_refined(refiner *r, const piece *p, double sign)
{
    if (r->buffer.count + r->task->rule->count > r->buffer.capacity) flush(r);
    put_piece(r->task, r->triangle, p, sign, &r->buffer);
}

/* |x - centroid|^2 below (reach diameters)^2; a piece has the shape of its triangle. */
static bool is_near(const refiner *r, const piece *p, double scale)
{
    const ps_hbem_triangle *t = &r->task->space->surface->triangles[r->triangle];
    const double *x = r->task->targets + 3 * r->target;
    double hat[3], place[3], square = 0, bound = r->how->reach * t->diameter * scale;
    for (int l = 0; l < 3; ++l) hat[l] = (p->corner[0][l] + p->corner[1][l] + p->corner[2][l]) / 3;
    place_of(t, hat, place);
    for (int c = 0; c < 3; ++c) square += (x[c] - place[c]) * (x[c] - place[c]);
    return square < bound * bound;
}

/* The quarters of a piece: at its corners, and the middle one. */
static void quarter(const piece *p, piece out[QUARTERS])
{
    piece mid = {.share = p->share / 4};
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c)
            mid.corner[l][c] = .5 * (p->corner[(l + 1) % 3][c] + p->corner[(l + 2) % 3][c]);
    for (int q = 0; q < 3; ++q) {
        out[q] = mid;
        memcpy(out[q].corner[q], p->corner[q], sizeof p->corner[q]);
        memcpy(out[q].corner[(q + 1) % 3], mid.corner[(q + 2) % 3], sizeof mid.corner[0]);
        memcpy(out[q].corner[(q + 2) % 3], mid.corner[(q + 1) % 3], sizeof mid.corner[0]);
    }
    out[3] = mid;
}

static void refine(refiner *r, const piece *p, int depth)
{
    piece quarters[QUARTERS];
    quarter(p, quarters);
    for (int q = 0; q < QUARTERS; ++q)
        if (depth < r->how->depth && is_near(r, &quarters[q], ldexp(1, -depth)))
            refine(r, &quarters[q], depth + 1);
        else
            put_refined(r, &quarters[q], 1);
}

static void refine_target(refiner *r)
{
    const ps_hbem_surface *surface = r->task->space->surface;
    const double *x = r->task->targets + 3 * r->target;
    load_targets(r->task, r->target, r->lanes);
    for (int64_t t = 0; t < surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &surface->triangles[t];
        double a = x[0] - at->centroid[0], b = x[1] - at->centroid[1], c = x[2] - at->centroid[2];
        double bound = r->how->reach * at->diameter;
        if (a * a + b * b + c * c >= bound * bound) continue;
        r->triangle = t;
        put_refined(r, &whole, -1);
        refine(r, &whole, 1);
    }
    flush(r);
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

void ps_hbem_potentials_refine(const ps_hbem_potential_task *task,
                               const ps_hbem_refinement *refinement, int threads, void *workspace)
{
    double *own = (double *)workspace + buffer_doubles(task, tile_points(task)), box[2][3];
    near_box(task->space->surface, refinement->reach, box);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (int64_t i = 0; i < task->target_count; ++i) {
        double *lanes = own + omp_get_thread_num() * thread_doubles(task);
        refiner r = {.task = task, .how = refinement, .target = i, .lanes = lanes};
        r.buffer = buffer_in(task, lanes + PS_POTENTIAL_LANES * (3 + numbers(task)));
        if (in_box(box, task->targets + 3 * i)) refine_target(&r);
    }
}
