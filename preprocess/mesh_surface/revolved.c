#include <math.h>
#include <stdlib.h>

#include "preprocess/mesh_surface/shapes.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* The meridian as a table: x over arc length. Points crowd at the ends, where the slope has no
 * bound. */
typedef struct meridian {
    int64_t count;
    double *x, *length;
} meridian;

static ps_status meridian_open(meridian *m, const revolved_shape *shape)
{
    double steps = 8 * shape->length / shape->edge;
    *m = (meridian){.count = steps > 20000 ? (int64_t)steps : 20000};
    PS_TRY(PS_ALLOC(&m->x, m->count + 1, "meridian"));
    PS_TRY(PS_ALLOC(&m->length, m->count + 1, "meridian"));
    for (int64_t i = 1; i <= m->count; ++i) {
        m->x[i] = .5 * shape->length * (1 - cos(M_PI * (double)i / (double)m->count));
        m->length[i] =
            m->length[i - 1] +
            hypot(m->x[i] - m->x[i - 1], shape->radius(m->x[i]) - shape->radius(m->x[i - 1]));
    }
    return PS_OK;
}

static void meridian_close(meridian *m)
{
    free(m->x);
    free(m->length);
}

/* x at an arc length; *at goes along with it. */
static double meridian_x(const meridian *m, double length, int64_t *at)
{
    while (*at + 1 < m->count && m->length[*at + 1] < length) ++*at;
    double part = (length - m->length[*at]) / (m->length[*at + 1] - m->length[*at]);
    return m->x[*at] + part * (m->x[*at + 1] - m->x[*at]);
}

static void lay_rings(revolved_shape *shape, const meridian *m, shape_size *size)
{
    int64_t at = 0, last = shape->ring_count - 1;
    *size = (shape_size){0, 0};
    for (int64_t j = 0; j <= last; ++j) {
        ring *r = &shape->rings[j];
        double length = m->length[m->count] * (double)j / (double)last;
        r->x = j == 0 ? 0 : j == last ? shape->length : meridian_x(m, length, &at);
        r->radius = j == 0 || j == last ? 0 : shape->radius(r->x);
        r->points = j == 0 || j == last ? 1 : llround(2 * M_PI * r->radius / shape->edge);
        if (j > 0 && j < last && r->points < 3) r->points = 3;
        r->shift = j % 2 ? .5 : 0;
        r->vertex = size->vertices;
        size->vertices += r->points;
    }
    for (int64_t j = 0; j < last; ++j) {
        const int64_t pair[2] = {shape->rings[j].points, shape->rings[j + 1].points};
        shape->rings[j].triangle = size->triangles;
        size->triangles += (pair[0] > 1 ? pair[0] : 0) + (pair[1] > 1 ? pair[1] : 0);
    }
}

ps_status revolved_plan(revolved_shape *shape, shape_size *size)
{
    PS_SCOPED(meridian_close) meridian m = {0};
    PS_TRY(meridian_open(&m, shape));
    double strips = m.length[m.count] / (sqrt(.75) * shape->edge);
    if (strips < 4)
        return ps_fail(PS_USAGE, "--edge %g m is too long for a body of %g m", shape->edge,
                       shape->length);
    if (strips > 1e8)
        return ps_fail(PS_USAGE, "--edge %g m is too short for a body of %g m", shape->edge,
                       shape->length);
    shape->ring_count = llround(strips) + 1;
    PS_TRY(PS_ALLOC(&shape->rings, shape->ring_count, "rings"));
    lay_rings(shape, &m, size);
    return PS_OK;
}

void revolved_release(revolved_shape *shape)
{
    free(shape->rings);
    shape->rings = NULL;
}

/* In turns, of point i of a ring. */
static double turn_of(const ring *r, int64_t i)
{
    return ((double)i + r->shift) / (double)r->points;
}

static int32_t vertex_of(const ring *r, int64_t i) { return (int32_t)(r->vertex + i % r->points); }

/* Goes round both rings at once, each time across the shorter diagonal. */
static void fill_strip(const ring *a, const ring *b, int32_t *to)
{
    int64_t i = 0, j = 0, a_end = a->points > 1 ? a->points : 0,
            b_end = b->points > 1 ? b->points : 0;
    while (i < a_end || j < b_end) {
        double after_a = fabs(turn_of(a, i + 1) - turn_of(b, j));
        double after_b = fabs(turn_of(a, i) - turn_of(b, j + 1));
        bool step_a = j == b_end || (i < a_end && after_a < after_b);
        to[0] = vertex_of(a, i);
        to[1] = step_a ? vertex_of(a, i + 1) : vertex_of(b, j + 1);
        to[2] = vertex_of(b, j);
        step_a ? ++i : ++j;
        to += 3;
    }
}

void revolved_fill(const revolved_shape *shape, ps_surface_mesh *mesh)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t k = 0; k < shape->ring_count; ++k) {
        const ring *r = &shape->rings[k];
        for (int64_t i = 0; i < r->points; ++i) {
            double angle = 2 * M_PI * turn_of(r, i), *out = mesh->vertices + 3 * (r->vertex + i);
            out[0] = r->x;
            out[1] = r->radius * cos(angle);
            out[2] = r->radius * sin(angle);
        }
        if (k + 1 < shape->ring_count) fill_strip(r, r + 1, mesh->triangles + 3 * r->triangle);
    }
}
