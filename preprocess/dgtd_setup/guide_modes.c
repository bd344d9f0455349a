/*
 * guide_modes: modes of a straight guide by finite elements on the triangles of its end (Silvester 1969): scalar
 * Lagrange polynomials of one order more than the fields', so that their gradients are fields of the march.
 *
 *   TE: e = n x grad u, free at metal, u = 0 at magnetic walls;  TM: e = grad u, u = 0 at metal, free at magnetic ones;
 *   -lap u = k_c^2 u.   TEM: grad phi, phi 0 and 1 on two conductors, harmonic.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/port_line.h"
#include "setup.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { MODES_MAX = TRIANGLE_MODES_MAX };

/* Modes of one cut-off to this; how well a named one has to be among those found; what part of its power the mean of a field has
 * that is told by an axis. */
static const double EQUAL = 1e-3, NAMED = .98, ALONG = .05;

typedef struct mode {
    ps_dgtd_guide guide;
    double square; /* k_c^2 */
    const double *u;
} mode;

typedef struct search {
    port_patch *p;
    guide_walls walls;
    triangle_space space;
    triangle_modes te, tm;
    mode list[2 * MODES_MAX + 1];
    int count;
    double *u; /* [nodes] of the one that is taken */
} search;

static void release(search *x)
{
    triangle_modes_release(&x->te);
    triangle_modes_release(&x->tm);
    triangle_space_release(&x->space);
    free(x->walls.edges), free(x->u);
}

/* ---- what modes there are ---- */

static int by_cutoff(const void *a, const void *b)
{
    const mode *x = a, *y = b;
    return (x->square > y->square) - (x->square < y->square);
}

/* The first `wanted` of each kind, merged; TEM is not among them. */
static ps_status list_modes(search *x, int wanted)
{
    PS_TRY(triangle_modes_find(&x->space, x->p->text, TRIANGLE_TE, wanted, &x->te));
    PS_TRY(triangle_modes_find(&x->space, x->p->text, TRIANGLE_TM, wanted, &x->tm));
    const triangle_modes *found[] = {&x->te, &x->tm};
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < found[k]->count; ++i)
            x->list[x->count++] = (mode){k ? PS_DGTD_GUIDE_TM : PS_DGTD_GUIDE_TE, found[k]->squares[i],
                                         found[k]->vectors + i * x->space.nodes};
    qsort(x->list, (size_t)x->count, sizeof *x->list, by_cutoff);
    return PS_OK;
}

/* ---- rectangles ---- */

typedef struct rectangle {
    double origin[3], along[2][3], length[2]; /* along the longer side, the shorter one */
} rectangle;

static void spans(const port_patch *p, rectangle *r)
{
    for (int k = 0; k < 2; ++k) {
        double least = INFINITY, most = -INFINITY;
        for (int32_t v = 0; v < p->vertices; ++v) {
            double at = ps_dot3(patch_point(p, v), r->along[k]);
            least = fmin(least, at), most = fmax(most, at);
        }
        r->length[k] = most - least;
        for (int c = 0; c < 3; ++c) r->origin[c] += least * r->along[k][c];
    }
}

/* Sides along the first of the edges; which of equal sides is the longer one, x before y before z tells. */
static bool find_rectangle(const search *x, rectangle *r)
{
    const port_patch *p = x->p;
    int64_t first = 0;
    *r = (rectangle){0};
    while (x->walls.edges[first].triangles == 2) ++first;
    const int32_t *v = x->walls.edges[first].vertex;
    ps_subtract3(patch_point(p, v[1]), patch_point(p, v[0]), r->along[0]);
    double length = ps_norm3(r->along[0]);
    for (int c = 0; c < 3; ++c) r->along[0][c] /= length;
    ps_cross3(x->walls.normal, r->along[0], r->along[1]);
    spans(p, r);
    double more = r->length[1] / r->length[0] - 1, a = 0, b = 0;
    for (int c = 0; c < 3; ++c) a = 4 * a + fabs(r->along[0][c]), b = 4 * b + fabs(r->along[1][c]);
    if (more > 1e-6 || (more > -1e-6 && b > a)) {
        rectangle old = *r;
        for (int k = 0; k < 2; ++k) {
            memcpy(r->along[k], old.along[1 - k], sizeof r->along[k]);
            r->length[k] = old.length[1 - k];
        }
    }
    for (int k = 0; k < 2; ++k) /* downwards axes begin at the other end */
        for (int c = 0; c < 3; ++c)
            if (fabs(r->along[k][c]) > .5 && r->along[k][c] < 0)
                for (int d = 0; d < 3; ++d) {
                    r->origin[d] += r->length[k] * r->along[k][d];
                    r->along[k][d] = -r->along[k][d];
                }
    return fabs(r->length[0] * r->length[1] / x->walls.area - 1) < 1e-6 && x->walls.metal;
}

static double named_square(const rectangle *r, int m, int n)
{
    return pow(M_PI * m / r->length[0], 2) + pow(M_PI * n / r->length[1], 2);
}

/* How many modes of the kind have a cut-off up to that of the one named, or little more. */
static int modes_below(const rectangle *r, bool tm, double square)
{
    int count = 0;
    for (int m = tm; m < 100; ++m)
        for (int n = tm; n < 100; ++n) count += m + n > 0 && named_square(r, m, n) < 1.03 * square;
    return count;
}

static void fill_named(const search *x, const rectangle *r, bool tm, const int index[2])
{
    for (int64_t i = 0; i < x->space.nodes; ++i) {
        double at[2], away[3];
        ps_subtract3(x->space.points[i], r->origin, away);
        for (int k = 0; k < 2; ++k) at[k] = M_PI * index[k] * ps_dot3(away, r->along[k]) / r->length[k];
        x->u[i] = tm ? sin(at[0]) * sin(at[1]) : cos(at[0]) * cos(at[1]);
    }
}

/* te10, tm11: the part of the exact mode in those found with its cut-off. */
static ps_status take_named(search *x, bool tm, const int index[2], mode *out)
{
    port_patch *p = x->p;
    rectangle r;
    if (!find_rectangle(x, &r))
        return ps_fail(PS_USAGE,
                       "--port %s: mode=%s: modes have such names in rectangles with metal walls; name it by its "
                       "number, in the order of cut-offs from 1",
                       p->text, p->mode);
    double square = named_square(&r, index[0], index[1]);
    int wanted = modes_below(&r, tm, square);
    if (wanted > MODES_MAX - 2)
        return ps_fail(PS_USAGE, "--port %s: mode=%s: %d modes come before it, at most %d", p->text, p->mode, wanted,
                       MODES_MAX - 2);
    PS_TRY(list_modes(x, wanted + 2)); /* and what comes next */
    const triangle_modes *found = tm ? &x->tm : &x->te;
    fill_named(x, &r, tm, index);
    double whole = triangle_space_product(&x->space, x->u, x->u), part = 0, mean = 0;
    PS_SCOPED_MEMORY double *sum = NULL;
    PS_TRY(PS_ALLOC(&sum, x->space.nodes, "a mode"));
    for (int i = 0; i < found->count; ++i) {
        const double *u = found->vectors + i * x->space.nodes;
        if (fabs(found->squares[i] / square - 1) > 10 * EQUAL) continue;
        double share = triangle_space_product(&x->space, x->u, u);
        for (int64_t k = 0; k < x->space.nodes; ++k) sum[k] += share * u[k];
        part += share * share;
        mean += share * share * found->squares[i];
    }
    if (!(part > NAMED * whole))
        return ps_fail(PS_USAGE, "--port %s: the mesh of the port does not resolve mode %s: make it finer", p->text,
                       p->mode);
    for (int64_t k = 0; k < x->space.nodes; ++k) x->u[k] = sum[k] / sqrt(part);
    *out = (mode){tm ? PS_DGTD_GUIDE_TM : PS_DGTD_GUIDE_TE, mean / part, x->u};
    return PS_OK;
}

/* ---- by number ---- */

/* int e over the port. */
static void mean_field(const search *x, const mode *m, double out[3])
{
    double gradient[3];
    triangle_space_mean(&x->space, m->u, gradient);
    if (m->guide == PS_DGTD_GUIDE_TE)
        ps_cross3(x->walls.normal, gradient, out);
    else
        memcpy(out, gradient, sizeof gradient);
}

/* Of modes of one cut-off that whose mean field is along the axis. */
static ps_status take_along(search *x, int first, int end, mode *out)
{
    const port_patch *p = x->p;
    double sum = 0;
    for (int i = first; i < end; ++i) {
        double mean[3];
        mean_field(x, x->list + i, mean);
        double share = ps_dot3(mean, p->axis) / ps_norm3(p->axis);
        for (int64_t k = 0; k < x->space.nodes; ++k) x->u[k] += share * x->list[i].u[k];
        sum += share * share;
    }
    if (!(sum > ALONG * x->walls.area * x->list[first].square))
        return ps_fail(PS_USAGE,
                       "--port %s: %d modes have this cut-off and none has a mean field along the axis: cut the port "
                       "by a plane of symmetry, or take another mode",
                       p->text, end - first);
    for (int64_t k = 0; k < x->space.nodes; ++k) x->u[k] /= sqrt(sum);
    *out = (mode){x->list[first].guide, x->list[first].square, x->u};
    return PS_OK;
}

static ps_status take_number(search *x, int number, mode *out)
{
    port_patch *p = x->p;
    PS_TRY(list_modes(x, number + 2));
    if (number >= x->count)
        return ps_fail(PS_USAGE, "--port %s: mode %s is not there: the mesh of the port has %d modes with a cut-off",
                       p->text, p->mode, x->count);
    int first = number, end = number + 1;
    double square = x->list[number].square;
    while (first > 0 && x->list[first - 1].square > (1 - EQUAL) * square) --first;
    while (end < x->count && x->list[end].square < (1 + EQUAL) * square) ++end;
    int same = 0;
    for (int i = first; i < end; ++i) same += x->list[i].guide == x->list[number].guide;
    if (same == 1) {
        *out = x->list[number];
        return PS_OK;
    }
    if (same < end - first || ps_norm3(p->axis) == 0)
        return ps_fail(PS_USAGE,
                       "--port %s: %d modes have the cut-off of mode %s: tell which of them by axis=X,Y,Z, along which "
                       "its field is, or by a name (te10)",
                       p->text, end - first, p->mode);
    return take_along(x, first, end, out);
}

/* ---- what the port gets ---- */

static void put_fields(const search *x, const mode *m, double scale)
{
    port_patch *p = x->p;
    int order = (int)p->s->header.order, nodes = (order + 1) * (order + 2) / 2;
    for (int64_t i = 0; i < p->count; ++i)
        for (int n = 0, b = 0; b <= order; ++b)
            for (int a = 0; a <= order - b; ++a, ++n) {
                const double l[3] = {(double)(order - a - b) / order, (double)a / order, (double)b / order};
                double gradient[3], *to = p->fields[i * nodes + n];
                triangle_space_gradient(&x->space, m->u, i, l, gradient);
                if (m->guide == PS_DGTD_GUIDE_TE)
                    ps_cross3(x->walls.normal, gradient, to);
                else
                    memcpy(to, gradient, sizeof gradient);
                for (int c = 0; c < 3; ++c) to[c] *= scale;
            }
}

/* Where the sign of a mode comes from: its mean field along the axis or its largest component; of fields without a mean their first
 * moment across the port. */
static double sign_of(const search *x, const mode *m)
{
    const port_patch *p = x->p;
    static const double across[3] = {1, .618, .381};
    double mean[3], moment[3];
    mean_field(x, m, mean);
    if (ps_norm3(mean) < 1e-3 * sqrt(x->walls.area * m->square)) {
        triangle_space_moment(&x->space, m->u, across, moment);
        if (m->guide == PS_DGTD_GUIDE_TE)
            ps_cross3(x->walls.normal, moment, mean);
        else
            memcpy(mean, moment, sizeof mean);
    }
    if (ps_norm3(p->axis) > 0) return ps_dot3(mean, p->axis) < 0 ? -1 : 1;
    int longest = fabs(mean[1]) > (1 + EQUAL) * fabs(mean[0]) ? 1 : 0;
    if (fabs(mean[2]) > (1 + EQUAL) * fabs(mean[longest])) longest = 2;
    return mean[longest] < 0 ? -1 : 1;
}

static ps_status take_tem(search *x, ps_dgtd_port_spec *port)
{
    double energy;
    PS_TRY(PS_ALLOC(&x->u, x->space.nodes, "a mode"));
    PS_TRY(triangle_space_potential(&x->space, x->p->text, x->u, &energy));
    const mode tem = {PS_DGTD_GUIDE_TEM, 0, x->u};
    put_fields(x, &tem, 1);
    port->norm = energy;
    port->reference = PS_DGTD_Z0 * sqrt(x->walls.mu / x->walls.eps) / energy;
    return PS_OK;
}

static ps_status check_resolved(const search *x, const mode *m)
{
    double order = (double)x->p->s->header.order;
    if (sqrt(m->square) * x->walls.longest < 1.5 * order) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--port %s: edges of the port are up to %.3g m, and its mode has waves of %.3g m across: order "
                   "%g does not resolve it; make the mesh finer there",
                   x->p->text, x->walls.longest, 2 * M_PI / sqrt(m->square), order);
}

static ps_status take_wave(search *x, ps_dgtd_port_spec *port, double *next)
{
    port_patch *p = x->p;
    mode taken;
    char rest;
    int number, index[2], tm = strncmp(p->mode, "tm", 2) == 0, named = tm || strncmp(p->mode, "te", 2) == 0;
    PS_TRY(PS_ALLOC(&x->u, x->space.nodes, "a mode"));
    if (named && sscanf(p->mode + 2, "%1d%1d%c", index, index + 1, &rest) == 2) {
        if (tm ? index[0] * index[1] == 0 : index[0] + index[1] == 0)
            return ps_fail(PS_USAGE, "--port %s: there is no mode %s", p->text, p->mode);
        PS_TRY(take_named(x, tm, index, &taken));
    } else {
        if (sscanf(p->mode, "%d%c", &number, &rest) != 1 || number < 1 || number > MODES_MAX - 2)
            return ps_fail(PS_USAGE, "--port %s: mode=%s: expected tem, a name like te10 or tm11, or a number from 1 to %d",
                           p->text, p->mode, MODES_MAX - 2);
        PS_TRY(take_number(x, number - 1 - (p->conductors == 2), &taken));
    }
    PS_TRY(check_resolved(x, &taken));
    put_fields(x, &taken, -sign_of(x, &taken) / sqrt(taken.square));
    *next = 0;
    for (int i = x->count - 1; i >= 0; --i)
        if (x->list[i].square > (1 + EQUAL) * taken.square) *next = sqrt(x->list[i].square);
    port->norm = 1;
    port->reference = PS_DGTD_Z0 * sqrt(x->walls.mu / x->walls.eps);
    port->mode.guide = (int)taken.guide;
    port->mode.cutoff = sqrt(taken.square);
    return PS_OK;
}

ps_status guide_mode_find(port_patch *p, ps_dgtd_port_spec *port, double *next)
{
    PS_SCOPED(release) search x = {.p = p};
    int order = (int)p->s->header.order;
    bool tem = strcmp(p->mode, "tem") == 0 || (strcmp(p->mode, "1") == 0 && p->conductors == 2);
    if (p->conductors > 2 || (tem && p->conductors != 2))
        return ps_fail(PS_USAGE,
                       "--port %s: its faces touch %d conductor%s: %s", p->text, p->conductors,
                       p->conductors == 1 ? "" : "s",
                       p->conductors > 2 ? "modes are found between two at most, or in one"
                                         : "a TEM wave goes between two; take te10 or a number");
    PS_TRY(guide_walls_find(p, &x.walls));
    PS_TRY(triangle_space_open(p, &x.walls, order + 1, &x.space));
    PS_TRY(PS_ALLOC(&p->fields, p->count * (order + 1) * (order + 2) / 2, "a mode"));
    port->mode = (ps_dgtd_port_mode){PS_DGTD_GUIDE_TEM, 0, x.walls.eps, x.walls.mu};
    *next = 0;
    return tem ? take_tem(&x, port) : take_wave(&x, port, next);
}
