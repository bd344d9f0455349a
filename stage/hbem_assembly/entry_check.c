#include "stage/hbem_assembly/entry_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hbem/pair_reference.h"
#include "runtime/scope.h"
#include "stage/hbem_assembly/row_sums.h"
#include "stage/hbem_assembly/suspects.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

double ps_hbem_entry_check_limit(double tolerance, double rules)
{
    return 10 * fmax(fmax(tolerance, rules), 1e-6);
}

/* What all pairs share. */
typedef struct examination {
    const ps_hbem_operator *op;
    const ps_hbem_surface *surface;
    bool whole;          /* the sum over hats is all that is wanted */
    bool layer;          /* double: DLP, ADLP */
    double limit, least; /* least: area that counts, m^2 */
} examination;

/* ---- by the program's rules ---- */

/* The pair as a surface of its own: what touches shares vertices, the first one is the one with the
 * lower number, as in the whole. */
typedef struct couple {
    ps_hbem_surface surface;
    ps_hbem_triangle triangles[2];
    ps_hbem_space space;
    int64_t start[7], item[6];
    int32_t dof_of[6];
} couple;

static void set_couple(const ps_hbem_surface *surface, const int32_t pair[2], couple *c)
{
    int64_t count = pair[0] == pair[1] ? 1 : 2;
    memset(c, 0, sizeof *c);
    c->surface = (ps_hbem_surface){.vertex_count = surface->vertex_count,
                                   .triangle_count = count,
                                   .vertices = surface->vertices,
                                   .triangles = c->triangles};
    for (int s = 0; s < count; ++s) c->triangles[s] = surface->triangles[pair[s]];
    ps_hbem_space_init(&c->space, PS_SPACE_DP1, &c->surface, c->start, c->item, c->dof_of);
}

static ps_status by_rules(const examination *e, const couple *c, const int side[2],
                          double moments[9])
{
    ps_hbem_operator op = *e->op;
    op.kernel = e->layer ? PS_KERNEL_DLP : PS_KERNEL_SLP;
    op.wavenumber = 0;
    op.test = op.trial = &c->space;
    ps_hbem_range rows = {3 * side[0], 3 * side[0] + 3}, columns = {3 * side[1], 3 * side[1] + 3};
    char bytes[4096] __attribute__((aligned(64)));
    ps_hbem_workspace workspace = {.base = bytes, .bytes = sizeof bytes};
    return ps_hbem_near_block(&op, rows, columns, &workspace, moments);
}

/* ---- the error of a pair ---- */

/* What the error is measured with. */
static double norm_of(const examination *e, const ps_hbem_triangle *x, const ps_hbem_triangle *y)
{
    double least = e->op->kernel == PS_KERNEL_HYPS ? 0 : e->least;
    if (e->layer) return fmax(x->jacobian / 2, least) / 2;
    double near = 2; /* what a row has next to its diagonal */
    double floor = .23 * least * sqrt(least);
    return near * sqrt(fmax(ps_hbem_self_entry(x), floor) * fmax(ps_hbem_self_entry(y), floor));
}

static ps_status error_of_order(const examination *e, const couple *c, const int side[2],
                                double *error)
{
    const ps_hbem_triangle *x = &c->triangles[side[0]], *y = &c->triangles[side[1]];
    double moments[9], exact[9], sum = 0, total = 0, norm = norm_of(e, x, y);
    PS_TRY(by_rules(e, c, side, moments));
    ps_hbem_pair_reference(x, y, e->layer, 5e-4 * e->limit * norm, exact);
    for (int l = 0; l < 3; ++l)
        for (int m = 0; m < 3; ++m) {
            double difference = moments[3 * m + l] - exact[3 * l + m];
            sum += difference;
            total += fabs(difference);
        }
    *error = fmax(*error, (e->whole ? fabs(sum) : total) / norm);
    return PS_OK;
}

/* Of a triangle alone, whose sum over all hats is known in closed form. */
static ps_status error_alone(const examination *e, const couple *c, double *error)
{
    double moments[9], sum = 0;
    const ps_hbem_triangle *x = &c->triangles[0];
    PS_TRY(by_rules(e, c, (int[2]){0, 0}, moments));
    for (int m = 0; m < 9; ++m) sum += moments[m];
    *error = fabs(sum - ps_hbem_self_entry(x)) / norm_of(e, x, x);
    return PS_OK;
}

/* In both orders where the kernel tells them apart. */
static ps_status error_of(const examination *e, const int32_t pair[2], double *error)
{
    couple c;
    *error = 0;
    set_couple(e->surface, pair, &c);
    if (pair[0] == pair[1] && e->layer) return PS_OK; /* 0 on a flat triangle */
    if (pair[0] == pair[1]) return error_alone(e, &c, error);
    PS_TRY(error_of_order(e, &c, (int[2]){0, 1}, error));
    if (!e->layer) return PS_OK;
    return error_of_order(e, &c, (int[2]){1, 0}, error);
}

/* ---- all ---- */

static void describe(const examination *e, const ps_hbem_suspect *worst, ps_hbem_entry_check *out)
{
    const ps_hbem_triangle *a = &e->surface->triangles[worst->pair[0]];
    const ps_hbem_triangle *b = &e->surface->triangles[worst->pair[1]];
    memcpy(out->worst, worst->pair, sizeof out->worst);
    memcpy(out->place, a->centroid, sizeof out->place);
    out->aspect = fmax(ps_hbem_aspect(a), ps_hbem_aspect(b));
    out->angle = a == b ? 180 : ps_hbem_face_angle(a, b);
    out->gap = worst->gap;
}

static ps_status examine(const examination *e, const ps_hbem_suspects *list, double *errors,
                         ps_hbem_entry_check *out)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t s = 0; s < list->count; ++s)
        ps_note_failure(&failure, error_of(e, list->suspect[s].pair, &errors[s]));
    PS_TRY(ps_first_failure(&failure));
    int64_t worst = -1;
    for (int64_t s = 0; s < list->count; ++s) {
        out->above += !(errors[s] <= e->limit);
        if (worst < 0 || !(errors[s] <= errors[worst])) worst = s;
        if (isnan(errors[s])) break;
    }
    out->pairs = list->count;
    if (worst < 0) return PS_OK;
    describe(e, &list->suspect[worst], out);
    out->error = ps_hbem_two_digits(errors[worst]);
    return PS_OK;
}

ps_status ps_hbem_entry_check_run(const ps_hbem_operator *op, double limit,
                                  ps_hbem_entry_check *out)
{
    const ps_hbem_surface *surface = op->test->surface;
    ps_hbem_kernel kernel = op->kernel;
    examination e = {.op = op,
                     .surface = surface,
                     .whole = kernel == PS_KERNEL_HYPS ||
                              (op->test->kind == PS_SPACE_P0 && op->trial->kind == PS_SPACE_P0),
                     .layer = kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP,
                     .limit = limit};
    double area = 0;
    PS_SCOPED_MEMORY double *errors = NULL;
    PS_SCOPED(ps_hbem_suspects_release) ps_hbem_suspects list = {0};
    memset(out, 0, sizeof *out);
    for (int64_t t = 0; t < surface->triangle_count; ++t)
        area += surface->triangles[t].jacobian / 2;
    e.least = area / (30 * (double)surface->triangle_count);
    PS_TRY(ps_hbem_suspects_find(surface, &list));
    PS_TRY(PS_ALLOC(&errors, list.count, "errors of entries"));
    return examine(&e, &list, errors, out);
}
