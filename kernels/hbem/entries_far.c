#include <math.h>
#include <string.h>

#include "kernels/hbem/entries_internal.h"

static int lanes_of(const ps_hbem_operator *op)
{
    return op->far_precision == PS_SINGLE ? PS_HBEM_LANES_F32 : PS_HBEM_LANES_F64;
}

static void include_corner(ps_hbem_panel *panel, const double corner[3])
{
    for (int c = 0; c < 3; ++c) {
        if (corner[c] < panel->low[c]) panel->low[c] = corner[c];
        if (corner[c] > panel->high[c]) panel->high[c] = corner[c];
    }
}

static void include_triangle(ps_hbem_panel *panel, const ps_hbem_triangle *t)
{
    for (int l = 0; l < 3; ++l) include_corner(panel, t->corner[l]);
    if (t->diameter > panel->diameter) panel->diameter = t->diameter;
    if (t->jacobian > panel->jacobian) panel->jacobian = t->jacobian;
}

static void start_box(ps_hbem_panel *panel)
{
    for (int c = 0; c < 3; ++c) {
        panel->low[c] = INFINITY;
        panel->high[c] = -INFINITY;
    }
    panel->diameter = panel->jacobian = 0;
}

static void measure(ps_hbem_panel *panel)
{
    start_box(panel);
    for (int64_t n = 0; n < panel->triangle_count; ++n)
        include_triangle(panel, &panel->space->surface->triangles[panel->triangles[n]]);
    for (int c = 0; c < 3; ++c) panel->centre[c] = (panel->low[c] + panel->high[c]) / 2;
}

static ps_status list_side(ps_hbem_panel *panel, const ps_hbem_space *space, ps_hbem_range range,
                           ps_hbem_workspace *workspace)
{
    int64_t items = ps_hbem_items(space, range);
    *panel = (ps_hbem_panel){.range = range, .space = space, .items = items};
    PS_TRY(ps_hbem_take(workspace, items * 4, &panel->triangles));
    panel->triangle_count = ps_hbem_triangles_of(space, range, panel->triangles);
    measure(panel);
    return PS_OK;
}

/* Boxes of the functions' supports. */
static ps_status find_extents(ps_hbem_panel *panel, ps_hbem_workspace *workspace)
{
    const ps_hbem_space *space = panel->space;
    int64_t count = panel->range.end - panel->range.begin;
    PS_TRY(ps_hbem_take(workspace, count * (int64_t)sizeof *panel->extents, &panel->extents));
    for (int64_t i = 0; i < count; ++i) {
        ps_hbem_panel own = {.space = space};
        int64_t dof = panel->range.begin + i;
        start_box(&own);
        for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e)
            include_triangle(&own, &space->surface->triangles[space->item[e] / 3]);
        memcpy(panel->extents[i].low, own.low, sizeof own.low);
        memcpy(panel->extents[i].high, own.high, sizeof own.high);
        panel->extents[i].diameter = own.diameter;
    }
    return PS_OK;
}

static void put(void *lanes, ps_precision precision, int64_t index, double value)
{
    if (precision == PS_SINGLE)
        ((float *)lanes)[index] = (float)value;
    else
        ((double *)lanes)[index] = value;
}

/* Idle lanes of the last block repeat its last triangle. */
static ps_status pack(ps_hbem_panel *panel, const ps_hbem_far *far, ps_hbem_workspace *workspace)
{
    ps_precision precision = far->op->far_precision;
    int lanes = lanes_of(far->op);
    panel->blocks = (panel->triangle_count + lanes - 1) / lanes;
    int64_t slots = panel->blocks * lanes;
    PS_TRY(ps_hbem_take(workspace, slots * PS_HBEM_PANEL_ROWS * (precision == PS_SINGLE ? 4 : 8),
                        &panel->lanes));
    PS_TRY(ps_hbem_take(workspace, 12 * panel->triangle_count, &panel->target));
    for (int64_t n = 0; n < slots; ++n) {
        int64_t at = n < panel->triangle_count ? n : panel->triangle_count - 1;
        int64_t first = n / lanes * PS_HBEM_PANEL_ROWS * lanes + n % lanes;
        const ps_hbem_triangle *t = &panel->space->surface->triangles[panel->triangles[at]];
        for (int e = 0; e < 9; ++e)
            put(panel->lanes, precision, first + e * lanes,
                t->corner[e / 3][e % 3] - far->origin[e % 3]);
        for (int c = 0; c < 3; ++c)
            put(panel->lanes, precision, first + (9 + c) * lanes, t->normal[c]);
    }
    for (int64_t e = 0; e < 3 * panel->triangle_count; ++e) {
        int64_t dof = panel->space->dof_of[3 * (int64_t)panel->triangles[e / 3] + e % 3];
        bool inside = dof >= panel->range.begin && dof < panel->range.end;
        panel->target[e] = inside ? (int32_t)(dof - panel->range.begin) : -1;
    }
    return PS_OK;
}

/* The square of the distance of two boxes. */
static double square_between(const double low[3], const double high[3], const double other_low[3],
                             const double other_high[3])
{
    double square = 0;
    for (int c = 0; c < 3; ++c) {
        double before = low[c] - other_high[c], after = other_low[c] - high[c];
        double gap = before > after ? before : after;
        if (gap > 0) square += gap * gap;
    }
    return square;
}

/* The cheapest rule that does at the distance of the two boxes. */
static ps_status choose_rule(ps_hbem_far *far)
{
    const ps_hbem_quadrature *quadrature = far->op->quadrature;
    double square = square_between(far->row.low, far->row.high, far->column.low, far->column.high);
    if (square == 0)
        return ps_fail(PS_FAILED, "a far block was asked for whose supports may touch");
    double distance = sqrt(square) / fmax(far->row.diameter, far->column.diameter);
    int r = 0;
    while (r + 1 < quadrature->rules && distance < quadrature->distance[r]) ++r;
    far->rule = &quadrature->rule[r];
    return PS_OK;
}

static int64_t most_items(const ps_hbem_panel *panel)
{
    int64_t most = 0;
    for (int64_t i = panel->range.begin; i < panel->range.end; ++i) {
        int64_t items = panel->space->start[i + 1] - panel->space->start[i];
        most = items > most ? items : most;
    }
    return most;
}

/* What rows and columns with several rules need. */
static ps_status prepare_rules(ps_hbem_far *far, int64_t blocks, ps_hbem_workspace *workspace)
{
    int64_t m = far->row.range.end - far->row.range.begin;
    int64_t n = far->column.range.end - far->column.range.begin;
    PS_TRY(find_extents(&far->row, workspace));
    PS_TRY(find_extents(&far->column, workspace));
    PS_TRY(ps_hbem_take(workspace, m > n ? m : n, &far->rule_of));
    PS_TRY(ps_hbem_take(workspace, blocks * lanes_of(far->op) * 4, &far->some));
    return ps_hbem_take(workspace, blocks * PS_HBEM_PANEL_ROWS * 64, &far->some_lanes);
}

ps_status ps_hbem_far_open(ps_hbem_far *far, const ps_hbem_operator *op, ps_hbem_range rows,
                           ps_hbem_range columns, ps_hbem_workspace *workspace)
{
    memset(far, 0, sizeof *far);
    far->op = op;
    PS_TRY(list_side(&far->row, op->test, rows, workspace));
    PS_TRY(list_side(&far->column, op->trial, columns, workspace));
    PS_TRY(choose_rule(far));
    for (int c = 0; c < 3; ++c) far->origin[c] = (far->row.centre[c] + far->column.centre[c]) / 2;
    PS_TRY(pack(&far->row, far, workspace));
    PS_TRY(pack(&far->column, far, workspace));
    int64_t blocks = far->row.blocks > far->column.blocks ? far->row.blocks : far->column.blocks;
    int64_t row_items = most_items(&far->row), column_items = most_items(&far->column);
    int64_t items = row_items > column_items ? row_items : column_items;
    if (far->rule > op->quadrature->rule && !op->one_rule)
        PS_TRY(prepare_rules(far, blocks, workspace));
    PS_TRY(ps_hbem_take(workspace, blocks * 3 * ps_hbem_parts(op) * 64, &far->sums));
    return ps_hbem_take(workspace, items * far->rule->count * (int64_t)sizeof(ps_hbem_source_f64),
                        &far->sources);
}

/* Points of triangle t with the hats' factors alpha. */
static void put_sources(const ps_hbem_far *far, const ps_hbem_triangle *t, const double alpha[3],
                        int64_t first)
{
    for (int q = 0; q < far->rule->count; ++q) {
        const double *hat = far->rule->hat[q];
        double factor = alpha[0] * hat[0] + alpha[1] * hat[1] + alpha[2] * hat[2];
        ps_hbem_source_f64 s = {.coefficient =
                                    factor * far->rule->weight[q] * t->jacobian / (4 * M_PI)};
        for (int c = 0; c < 3; ++c) {
            s.x[c] = hat[0] * t->corner[0][c] + hat[1] * t->corner[1][c] +
                     hat[2] * t->corner[2][c] - far->origin[c];
            s.normal[c] = t->normal[c];
        }
        if (far->op->far_precision == PS_DOUBLE) {
            ((ps_hbem_source_f64 *)far->sources)[first + q] = s;
            continue;
        }
        ps_hbem_source_f32 *single = (ps_hbem_source_f32 *)far->sources + first + q;
        for (int c = 0; c < 3; ++c) {
            single->x[c] = (float)s.x[c];
            single->normal[c] = (float)s.normal[c];
        }
        single->coefficient = (float)s.coefficient;
    }
}

/* sum_c int int (curl psi)_c g (curl phi)_c and -k^2 sum_c int int psi n_c g n_c phi: one component
 * of one of them. */
typedef struct weak_term {
    bool curl;
    int component;
} weak_term;

/* Component of J times the surface curl of hat l. */
static double curl_of(const ps_hbem_triangle *t, int l, int component)
{
    return t->corner[(l + 2) % 3][component] - t->corner[(l + 1) % 3][component];
}

/* The factors of the hats at the points of a term, for those of a function. */
static void weigh(const ps_hbem_triangle *t, weak_term term, const double hats[3], double alpha[3])
{
    double curl = 0;
    for (int l = 0; l < 3; ++l) curl += hats[l] * curl_of(t, l, term.component) / t->jacobian;
    for (int l = 0; l < 3; ++l) alpha[l] = term.curl ? curl : hats[l] * t->normal[term.component];
}

/* The points of function i of a side, of a term of its weak form unless NULL; items of one triangle
 * together. Returns how many. */
static int64_t list_sources(const ps_hbem_far *far, const ps_hbem_panel *side, int64_t i,
                            const weak_term *term)
{
    const ps_hbem_space *space = side->space;
    int64_t dof = side->range.begin + i, count = 0;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1];) {
        int64_t t = space->item[e] / 3;
        const ps_hbem_triangle *triangle = &space->surface->triangles[t];
        double hats[3] = {0}, alpha[3];
        for (; e < space->start[dof + 1] && space->item[e] / 3 == t; ++e)
            hats[space->item[e] % 3] = 1;
        if (term)
            weigh(triangle, *term, hats, alpha);
        else
            memcpy(alpha, hats, sizeof alpha);
        put_sources(far, triangle, alpha, count);
        count += far->rule->count;
    }
    return count;
}

static double sum_at(const ps_hbem_far *far, int64_t index)
{
    return far->op->far_precision == PS_SINGLE ? (double)((const float *)far->sums)[index]
                                               : ((const double *)far->sums)[index];
}

/* values[part][stride] from the sums of the lanes. */
static void gather(const ps_hbem_far *far, const ps_hbem_panel *side, int64_t stride,
                   double *values)
{
    int parts = ps_hbem_parts(far->op), lanes = lanes_of(far->op);
    size_t bytes = (size_t)(side->range.end - side->range.begin) * sizeof *values;
    for (int part = 0; part < parts; ++part) memset(values + part * stride, 0, bytes);
    for (int64_t s = 0; s < side->triangle_count; ++s) {
        double jacobian = side->space->surface->triangles[side->triangles[s]].jacobian;
        int64_t first = s / lanes * 3 * parts * lanes + s % lanes;
        for (int e = 0; e < 3 * parts; ++e) {
            int32_t to = side->target[3 * s + e % 3];
            if (to >= 0) values[e / 3 * stride + to] += jacobian * sum_at(far, first + e * lanes);
        }
    }
}

static void run(const ps_hbem_far *far, ps_hbem_row_job *job, const ps_hbem_panel *side,
                ps_hbem_kernel kernel)
{
    job->sources = far->sources;
    job->panel = side->lanes;
    job->blocks = side->blocks;
    job->wavenumber = far->op->wavenumber;
    job->absorption = far->op->absorption;
    job->sums = far->sums;
    ps_hbem_pair_functions_here()->row[far->op->far_precision][kernel][ps_hbem_mode(far->op)](job);
}

/* The rule of each function of a side with function i of the other one: of the distance of their
 * boxes, the block's at most. Which is row and which is column does not matter, so an entry is the
 * same by both. Returns which rules there are, a bit each. */
static unsigned choose_rules(const ps_hbem_far *far, const ps_hbem_panel *fixed,
                             const ps_hbem_panel *side, int64_t i)
{
    /* Some of the many pairs of a block err alike: less than at the least distance of a rule. */
    const double margin = 2;
    const ps_hbem_quadrature *quadrature = far->op->quadrature;
    const ps_hbem_extent *own = &fixed->extents[i];
    const int most = (int)(far->rule - quadrature->rule);
    unsigned there = 0;
    for (int64_t j = 0; j < side->range.end - side->range.begin; ++j) {
        const ps_hbem_extent *other = &side->extents[j];
        double square = square_between(own->low, own->high, other->low, other->high);
        double unit = margin * (own->diameter > other->diameter ? own->diameter : other->diameter);
        int r = 0;
        while (r < most && square < quadrature->distance[r] * quadrature->distance[r] * unit * unit)
            ++r;
        far->rule_of[j] = (uint8_t)r;
        there |= 1u << r;
    }
    return there;
}

/* Whether hat l of triangle s of a panel is of a function that has this rule. */
static bool has_rule(const ps_hbem_far *far, const ps_hbem_panel *side, int64_t item, int rule)
{
    return side->target[item] >= 0 && far->rule_of[side->target[item]] == rule;
}

/* The triangles of a side that have a function of this rule, as a panel. */
static void select_triangles(const ps_hbem_far *far, const ps_hbem_panel *side, int rule,
                             ps_hbem_panel *some)
{
    const size_t size = far->op->far_precision == PS_SINGLE ? 4 : 8;
    const int64_t lanes = lanes_of(far->op), lane_block = PS_HBEM_PANEL_ROWS * lanes;
    *some = *side;
    some->triangle_count = 0;
    some->triangles = far->some;
    some->lanes = far->some_lanes;
    for (int64_t s = 0; s < side->triangle_count; ++s)
        if (has_rule(far, side, 3 * s, rule) || has_rule(far, side, 3 * s + 1, rule) ||
            has_rule(far, side, 3 * s + 2, rule))
            some->triangles[some->triangle_count++] = (int32_t)s;
    some->blocks = (some->triangle_count + lanes - 1) / lanes;
    for (int64_t n = 0; n < some->blocks * lanes; ++n) {
        int64_t s = some->triangles[n < some->triangle_count ? n : some->triangle_count - 1];
        const char *from =
            (const char *)side->lanes + (size_t)(s / lanes * lane_block + s % lanes) * size;
        char *to = (char *)some->lanes + (size_t)(n / lanes * lane_block + n % lanes) * size;
        for (size_t e = 0; e < PS_HBEM_PANEL_ROWS; ++e)
            memcpy(to + e * (size_t)lanes * size, from + e * (size_t)lanes * size, size);
    }
}

/* Values of the functions of this rule, from the sums of the lanes of their triangles. */
static void gather_some(const ps_hbem_far *far, const ps_hbem_panel *side,
                        const ps_hbem_panel *some, int rule, double *values)
{
    int parts = ps_hbem_parts(far->op), lanes = lanes_of(far->op);
    int64_t stride = side->range.end - side->range.begin;
    for (int64_t n = 0; n < some->triangle_count; ++n) {
        int64_t s = some->triangles[n];
        double jacobian = side->space->surface->triangles[side->triangles[s]].jacobian;
        int64_t first = n / lanes * 3 * parts * lanes + n % lanes;
        for (int e = 0; e < 3 * parts; ++e)
            if (has_rule(far, side, 3 * s + e % 3, rule))
                values[e / 3 * stride + side->target[3 * s + e % 3]] +=
                    jacobian * sum_at(far, first + e * lanes);
    }
}

static void evaluate(const ps_hbem_far *far, const ps_hbem_panel *fixed, const ps_hbem_panel *side,
                     ps_hbem_kernel kernel, int64_t i, double *values)
{
    const int most = (int)(far->rule - far->op->quadrature->rule);
    const bool chooses = most > 0 && !far->op->one_rule;
    const unsigned there = chooses ? choose_rules(far, fixed, side, i) : 1u << most;
    int64_t stride = side->range.end - side->range.begin;
    ps_hbem_far own = *far;
    if (there & (there - 1))
        memset(values, 0, (size_t)(ps_hbem_parts(far->op) * stride) * sizeof *values);
    for (int rule = 0; rule <= most; ++rule) {
        ps_hbem_panel some = *side;
        if (!(there >> rule & 1)) continue;
        own.rule = &far->op->quadrature->rule[rule];
        ps_hbem_row_job job = {.source_count = list_sources(&own, fixed, i, NULL),
                               .together = own.rule->count,
                               .rule = own.rule};
        if (there & (there - 1)) select_triangles(far, side, rule, &some);
        run(&own, &job, &some, kernel);
        if (there & (there - 1))
            gather_some(far, side, &some, rule, values);
        else
            gather(far, side, stride, values);
    }
}

/* Adds values[part][stride] from the sums of the lanes; the hats of a triangle add up to 1. */
static void gather_weak(const ps_hbem_far *far, const ps_hbem_panel *side, weak_term term,
                        double *values)
{
    int parts = ps_hbem_parts(far->op), lanes = lanes_of(far->op);
    int64_t stride = side->range.end - side->range.begin;
    double k2 = far->op->wavenumber * far->op->wavenumber;
    for (int64_t s = 0; s < side->triangle_count; ++s) {
        const ps_hbem_triangle *t = &side->space->surface->triangles[side->triangles[s]];
        int64_t first = s / lanes * 3 * parts * lanes + s % lanes;
        for (int e = 0; e < 3 * parts; ++e) {
            int32_t to = side->target[3 * s + e % 3];
            int64_t at = first + e / 3 * 3 * lanes;
            if (to < 0) continue;
            double all = sum_at(far, at) + sum_at(far, at + lanes) + sum_at(far, at + 2 * lanes);
            values[e / 3 * stride + to] += term.curl
                                               ? curl_of(t, e % 3, term.component) * all
                                               : -k2 * t->normal[term.component] * t->jacobian *
                                                     sum_at(far, at + e % 3 * lanes);
        }
    }
}

static void evaluate_weak(const ps_hbem_far *far, const ps_hbem_panel *fixed,
                          const ps_hbem_panel *side, int64_t i, double *values)
{
    int terms = far->op->wavenumber != 0 ? 6 : 3;
    int64_t count = ps_hbem_parts(far->op) * (side->range.end - side->range.begin);
    memset(values, 0, (size_t)count * sizeof *values);
    for (int n = 0; n < terms; ++n) {
        weak_term term = {n < 3, n % 3};
        ps_hbem_row_job job = {.source_count = list_sources(far, fixed, i, &term),
                               .together = far->rule->count,
                               .rule = far->rule};
        run(far, &job, side, PS_KERNEL_SLP);
        gather_weak(far, side, term, values);
    }
}

static bool is_weak(const ps_hbem_operator *op)
{
    return op->kernel == PS_KERNEL_HYPS && op->weak_far;
}

void ps_hbem_far_row(const ps_hbem_far *far, int64_t i, double *values)
{
    if (is_weak(far->op)) {
        evaluate_weak(far, &far->row, &far->column, i, values);
        return;
    }
    evaluate(far, &far->row, &far->column, far->op->kernel, i, values);
}

void ps_hbem_far_column(const ps_hbem_far *far, int64_t j, double *values)
{
    if (is_weak(far->op)) {
        evaluate_weak(far, &far->column, &far->row, j, values);
        return;
    }
    evaluate(far, &far->column, &far->row, ps_hbem_exchanged(far->op->kernel), j, values);
}

/* ---- points ---- */

/* The centroid, with the area's weight. */
static const ps_hbem_rule centroid = {
    .count = 1, .hat = {{1. / 3, 1. / 3, 1. / 3}}, .weight = {.5}};

static void put_point(const ps_hbem_far *far, const ps_hbem_triangle *t)
{
    ps_hbem_far one = *far;
    one.rule = &centroid;
    put_sources(&one, t, (double[3]){1, 1, 1}, 0);
}

/* values[part][stride] at the centroids, of the sums of hat 0, a third. */
static void gather_points(const ps_hbem_far *far, const ps_hbem_panel *side, int64_t stride,
                          double *values)
{
    int parts = ps_hbem_parts(far->op), lanes = lanes_of(far->op);
    for (int64_t s = 0; s < side->triangle_count; ++s) {
        double jacobian = side->space->surface->triangles[side->triangles[s]].jacobian;
        int64_t first = s / lanes * 3 * parts * lanes + s % lanes;
        for (int part = 0; part < parts; ++part)
            values[part * stride + s] = 3 * jacobian * sum_at(far, first + 3 * part * lanes);
    }
}

static void evaluate_point(const ps_hbem_far *far, const ps_hbem_panel *fixed,
                           const ps_hbem_panel *side, ps_hbem_kernel kernel, int64_t t,
                           double *values)
{
    int64_t stride = side->triangle_count + side->range.end - side->range.begin;
    ps_hbem_row_job points = {.source_count = 1, .together = 1, .rule = &centroid};
    ps_hbem_row_job functions = {.source_count = 1, .together = 1, .rule = far->rule};
    put_point(far, &fixed->space->surface->triangles[fixed->triangles[t]]);
    run(far, &points, side, kernel);
    gather_points(far, side, stride, values);
    run(far, &functions, side, kernel);
    gather(far, side, stride, values + side->triangle_count);
}

void ps_hbem_far_point_row(const ps_hbem_far *far, int64_t t, double *values)
{
    evaluate_point(far, &far->row, &far->column, far->op->kernel, t, values);
}

void ps_hbem_far_point_column(const ps_hbem_far *far, int64_t t, double *values)
{
    evaluate_point(far, &far->column, &far->row, ps_hbem_exchanged(far->op->kernel), t, values);
}
