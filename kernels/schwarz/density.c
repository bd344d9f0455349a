#include "kernels/schwarz/density.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/schwarz/round_part.h"

static const double pi = 3.14159265358979323846;

/* ---- bodies ---- */

ps_status ps_body_check(const ps_body *b)
{
    static const char *const names[PS_BODY_KINDS] = {"brick", "ring", "ball"};
    const double *s = b->size;
    bool sound = isfinite(b->density);
    for (int i = 0; i < (b->kind == PS_BODY_BALL ? 4 : 6); ++i) sound = sound && isfinite(s[i]);
    if (!sound) return ps_fail(PS_INVALID, "a %s has a number that is not finite", names[b->kind]);
    if (b->kind == PS_BODY_BRICK) sound = s[0] < s[1] && s[2] < s[3] && s[4] < s[5];
    if (b->kind == PS_BODY_RING) sound = s[2] >= 0 && s[2] < s[3] && s[4] < s[5];
    if (b->kind == PS_BODY_BALL) sound = s[3] > 0;
    if (sound) return PS_OK;
    return ps_fail(PS_INVALID, "a %s is empty: its ends or radii must ascend", names[b->kind]);
}

double ps_body_mass(const ps_body *b)
{
    const double *s = b->size;
    if (b->kind == PS_BODY_BRICK) return b->density * (s[1] - s[0]) * (s[3] - s[2]) * (s[5] - s[4]);
    if (b->kind == PS_BODY_RING)
        return b->density * pi * (s[3] * s[3] - s[2] * s[2]) * (s[5] - s[4]);
    return b->density * 4 / 3 * pi * s[3] * s[3] * s[3];
}

/* ---- shares within a box ---- */

static double overlap(double low, double high, const double range[2])
{
    double length = fmin(high, range[1]) - fmax(low, range[0]);
    return length > 0 ? length : 0;
}

/* Of a ring's or a ball's volume, as a share. */
static double round_share(const ps_body *b, double box[3][2])
{
    const double *s = b->size;
    double about[3][2];
    for (int a = 0; a < 3; ++a)
        for (int end = 0; end < 2; ++end) about[a][end] = box[a][end] - s[a];
    double all = ps_body_mass(&(ps_body){b->kind, {s[0], s[1], s[2], s[3], s[4], s[5]}, 1});
    if (b->kind == PS_BODY_BALL) return ps_ball_part(s[3], about[0], about[1], about[2]) / all;
    double area = ps_disc_part(s[3], about[0], about[1]) - ps_disc_part(s[2], about[0], about[1]);
    return area * overlap(s[4], s[5], box[2]) / all;
}

/* Its extent along each axis. */
static void extent_of(const ps_body *b, double extent[3][2])
{
    const double *s = b->size;
    for (int a = 0; a < 3; ++a)
        for (int end = 0; end < 2; ++end)
            extent[a][end] = b->kind == PS_BODY_BRICK            ? s[2 * a + end]
                             : b->kind == PS_BODY_RING && a == 2 ? s[4 + end]
                                                                 : s[a] + (end ? s[3] : -s[3]);
}

double ps_body_share(const ps_body *b, double box[3][2])
{
    double extent[3][2], product = 1;
    bool inside = true;
    extent_of(b, extent);
    for (int a = 0; a < 3; ++a) {
        double length = extent[a][1] - extent[a][0], slack = 1e-12 * (box[a][1] - box[a][0]);
        inside = inside && extent[a][0] >= box[a][0] - slack && extent[a][1] <= box[a][1] + slack;
        product *= overlap(extent[a][0], extent[a][1], box[a]) / length;
    }
    if (inside) return 1;
    if (product == 0 || b->kind == PS_BODY_BRICK) return product;
    return fmin(1, round_share(b, box));
}

/* ---- onto the grid ---- */

/* The share of [low, high] in cell c of an axis. */
static double share(const ps_cells *cells, int axis, int64_t c, double low, double high)
{
    double h = cells->grid.spacing[axis], start = cells->origin[axis] + (double)c * h;
    return overlap(low, high, (const double[2]){start, start + h}) / h;
}

/* The cells of an axis that [low, high] touches: [*first, *end). */
static void touched(const ps_cells *cells, int axis, double low, double high, int64_t *first,
                    int64_t *end)
{
    double h = cells->grid.spacing[axis], n = (double)(cells->grid.nodes[axis] - 1);
    double a = floor((low - cells->origin[axis]) / h), b = ceil((high - cells->origin[axis]) / h);
    *first = (int64_t)fmin(fmax(a, 0), n);
    *end = (int64_t)fmin(fmax(b, 0), n);
}

static void add_brick(const ps_cells *cells, const ps_body *b, int64_t i, double *values)
{
    int64_t cz = cells->grid.nodes[2] - 1, j0, j1, k0, k1;
    const double *s = b->size;
    double along = b->density * share(cells, 0, i, s[0], s[1]);
    if (along == 0) return;
    touched(cells, 1, s[2], s[3], &j0, &j1);
    touched(cells, 2, s[4], s[5], &k0, &k1);
    for (int64_t j = j0; j < j1; ++j) {
        double area = along * share(cells, 1, j, s[2], s[3]);
        for (int64_t k = k0; k < k1; ++k)
            values[j * cz + k] += area * share(cells, 2, k, s[4], s[5]);
    }
}

/* ---- discs and balls: whole cells by their corners, cut ones by integrals ---- */

typedef struct round_cell {
    double end[3][2]; /* relative to the centre */
    int dimensions;   /* 2: x and y             */
} round_cell;

/* Squares of the distances of the cell's nearest and farthest points. */
static void distances(const round_cell *c, double *nearest, double *farthest)
{
    *nearest = *farthest = 0;
    for (int a = 0; a < c->dimensions; ++a) {
        double l = c->end[a][0], u = c->end[a][1];
        double gap = l > 0 ? l : u < 0 ? u : 0, reach = fmax(fabs(l), fabs(u));
        *nearest += gap * gap;
        *farthest += reach * reach;
    }
}

/* The share of the cell within `radius`, 0 .. 1. */
static double share_within(const round_cell *c, double radius)
{
    double nearest, farthest, square = radius * radius, size = 1;
    distances(c, &nearest, &farthest);
    if (nearest >= square) return 0;
    if (farthest <= square) return 1;
    for (int a = 0; a < c->dimensions; ++a) size *= c->end[a][1] - c->end[a][0];
    double part = c->dimensions == 3 ? ps_ball_part(radius, c->end[0], c->end[1], c->end[2])
                                     : ps_disc_part(radius, c->end[0], c->end[1]);
    return part / size;
}

static round_cell cell_about(const ps_cells *cells, const double *centre, const int64_t at[3],
                             int dimensions)
{
    round_cell c = {.dimensions = dimensions};
    for (int a = 0; a < dimensions; ++a)
        for (int end = 0; end < 2; ++end)
            c.end[a][end] =
                cells->origin[a] + (double)(at[a] + end) * cells->grid.spacing[a] - centre[a];
    return c;
}

static void add_ring(const ps_cells *cells, const ps_body *b, int64_t i, double *values)
{
    int64_t cz = cells->grid.nodes[2] - 1, j0, j1, k0, k1;
    const double *s = b->size;
    touched(cells, 1, s[1] - s[3], s[1] + s[3], &j0, &j1);
    touched(cells, 2, s[4], s[5], &k0, &k1);
    for (int64_t j = j0; j < j1; ++j) {
        round_cell c = cell_about(cells, s, (const int64_t[3]){i, j, 0}, 2);
        double area = share_within(&c, s[3]) - (s[2] > 0 ? share_within(&c, s[2]) : 0);
        if (area == 0) continue;
        for (int64_t k = k0; k < k1; ++k)
            values[j * cz + k] += b->density * area * share(cells, 2, k, s[4], s[5]);
    }
}

static void add_ball(const ps_cells *cells, const ps_body *b, int64_t i, double *values)
{
    int64_t cz = cells->grid.nodes[2] - 1, j0, j1, k0, k1;
    const double *s = b->size;
    touched(cells, 1, s[1] - s[3], s[1] + s[3], &j0, &j1);
    touched(cells, 2, s[2] - s[3], s[2] + s[3], &k0, &k1);
    for (int64_t j = j0; j < j1; ++j)
        for (int64_t k = k0; k < k1; ++k) {
            round_cell c = cell_about(cells, s, (const int64_t[3]){i, j, k}, 3);
            values[j * cz + k] += b->density * share_within(&c, s[3]);
        }
}

void ps_body_add(const ps_cells *cells, const ps_body *body, int64_t i, double *values)
{
    static void (*const add[PS_BODY_KINDS])(const ps_cells *, const ps_body *, int64_t,
                                            double *) = {add_brick, add_ring, add_ball};
    add[body->kind](cells, body, i, values);
}

/* ---- rectilinear models ---- */

int64_t ps_rectilinear_workspace(const ps_rectilinear *model, const ps_cells *cells)
{
    return model->count[1] * model->count[2] + model->count[2];
}

/* The bricks of an axis that overlap [low, high]: [*first, *end). */
static void overlapping(const ps_rectilinear *m, int axis, double low, double high, int64_t *first,
                        int64_t *end)
{
    const double *edges = m->edges[axis];
    int64_t n = m->count[axis], a = 0;
    for (int64_t step = n; step > 0; step /= 2)
        while (a + step <= n && edges[a + step] <= low) a += step;
    *first = a;
    while (a < n && edges[a] < high) ++a;
    *end = a;
}

/* out[c] = sum of shares of brick layers x in[a][c]: one axis at a time. */
static void mean_over(const ps_rectilinear *m, const ps_cells *cells, int axis, int64_t cell,
                      const double *in, int64_t size, double *out)
{
    double h = cells->grid.spacing[axis], low = cells->origin[axis] + (double)cell * h;
    int64_t first, end;
    memset(out, 0, (size_t)size * sizeof *out);
    overlapping(m, axis, low, low + h, &first, &end);
    for (int64_t a = first; a < end; ++a) {
        const double *e = m->edges[axis];
        double weight = (fmin(e[a + 1], low + h) - fmax(e[a], low)) / h;
        if (weight <= 0) continue;
        for (int64_t c = 0; c < size; ++c) out[c] += weight * in[a * size + c];
    }
}

void ps_rectilinear_add(const ps_cells *cells, const ps_rectilinear *model, int64_t i,
                        double *values, double *workspace)
{
    int64_t layer = model->count[1] * model->count[2], cz = cells->grid.nodes[2] - 1;
    double *line = workspace + layer;
    mean_over(model, cells, 0, i, model->density, layer, workspace);
    for (int64_t j = 0; j < cells->grid.nodes[1] - 1; ++j) {
        mean_over(model, cells, 1, j, workspace, model->count[2], line);
        for (int64_t k = 0; k < cz; ++k) {
            double value;
            mean_over(model, cells, 2, k, line, 1, &value);
            values[j * cz + k] += value;
        }
    }
}

double ps_rectilinear_mass(const ps_rectilinear *m)
{
    double mass = 0;
    for (int64_t a = 0; a < m->count[0]; ++a)
        for (int64_t b = 0; b < m->count[1]; ++b) {
            double area =
                (m->edges[0][a + 1] - m->edges[0][a]) * (m->edges[1][b + 1] - m->edges[1][b]);
            const double *line = m->density + (a * m->count[1] + b) * m->count[2];
            for (int64_t c = 0; c < m->count[2]; ++c)
                mass += area * (m->edges[2][c + 1] - m->edges[2][c]) * line[c];
        }
    return mass;
}

void ps_rectilinear_sizes(const ps_rectilinear *m, double box[3][2], double *all, double *within)
{
    const double *const *e = m->edges;
    *all = *within = 0;
    for (int64_t a = 0; a < m->count[0]; ++a)
        for (int64_t b = 0; b < m->count[1]; ++b) {
            const double *line = m->density + (a * m->count[1] + b) * m->count[2];
            double area = (e[0][a + 1] - e[0][a]) * (e[1][b + 1] - e[1][b]);
            double part =
                overlap(e[0][a], e[0][a + 1], box[0]) * overlap(e[1][b], e[1][b + 1], box[1]);
            for (int64_t c = 0; c < m->count[2]; ++c) {
                *all += area * (e[2][c + 1] - e[2][c]) * fabs(line[c]);
                *within += part * overlap(e[2][c], e[2][c + 1], box[2]) * fabs(line[c]);
            }
        }
}
