#include <math.h>
#include <string.h>

#include "kernels/hbem/distances.h"
#include "kernels/hbem/entries_add.h"
#include "kernels/hbem/entries_internal.h"
#include "kernels/hbem/hard.h"
#include "kernels/hbem/narrow.h"

/* Classes of pairs that go into lanes together: the contacts, the regular rules, those of needles.
 */
enum {
    LANES = PS_HBEM_LANES_F64,
    TOGETHER = 256,
    NARROW = PS_PAIR_CONTACTS + PS_HBEM_RULES,
    CLASSES = NARROW + PS_HBEM_RULES
};

/* A triangle, its corners in the order of a rule: corner[a] is its own corner order[a]. */
typedef struct ordered {
    int32_t triangle;
    int order[3];
    double corner[3][3];
} ordered;

/* place: in the list of close pairs. */
typedef struct pair {
    int place;
    ordered side[2];
} pair;

/* Pairs of one class and order that wait for their lanes to fill. */
typedef struct queue {
    int count;
    pair pairs[LANES];
} queue;

/* Triangles first <= second, of (row, column) or exchanged, whose moments are not those of lanes of
 * a row: by hats of the first and of the second. */
typedef struct close_pair {
    int32_t first, second;
    bool exchanged;
    ps_hbem_pair_sum sum;
} close_pair;

typedef struct near {
    const ps_hbem_operator *op;
    ps_hbem_near_target to;
    /* Added in the order in which they were found, wherever their moments come from. */
    close_pair *close; /* [TOGETHER] */
    int close_count;
    const ps_hbem_pair_table *known; /* or NULL */
    queue (*queues)[2];              /* [CLASSES][exchanged] */
    ps_hbem_rule *narrow;            /* [PS_HBEM_RULES] of needles; the first two: none */
} near;

/* ---- results ---- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool is_layer(const near *n)
{
    return n->op->kernel == PS_KERNEL_DLP || n->op->kernel == PS_KERNEL_ADLP;
}

static double jacobians_of(const near *n, const pair *p)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    return all[p->side[0].triangle].jacobian * all[p->side[1].triangle].jacobian;
}

/* sum[part][l][m] over the triangles' own hats, J J included; moments of a lane. */
static void to_own(const near *n, const pair *p, const double *moments, ps_hbem_pair_sum sum)
{
    double scale = jacobians_of(n, p);
    for (int part = 0; part < ps_hbem_parts(n->op); ++part)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                sum[part][p->side[0].order[a]][p->side[1].order[b]] =
                    moments[(9 * part + 3 * a + b) * LANES] * scale;
}

/* Row and column; first and second where both orders are alike. */
static void key_of(const near *n, const close_pair *c, int32_t key[2])
{
    bool turned = c->exchanged && is_layer(n);
    key[0] = turned ? c->second : c->first;
    key[1] = turned ? c->first : c->second;
}

static bool get_known(const near *n, close_pair *c)
{
    int32_t key[2];
    key_of(n, c, key);
    return n->known && ps_hbem_pair_table_get(n->known, key[0], key[1], c->sum[0][0]);
}

static void keep_known(const near *n, const close_pair *c)
{
    int32_t key[2];
    key_of(n, c, key);
    if (n->known) ps_hbem_pair_table_put(n->known, key[0], key[1], c->sum[0][0]);
}

/* The moments of a lane. */
static void deliver(const near *n, int class, const pair *p, const double *moments)
{
    close_pair *c = &n->close[p->place];
    for (int part = 0; n->to.sums && part < ps_hbem_parts(n->op); ++part)
        c->sum[part][0][0] = moments[9 * LANES * part] * jacobians_of(n, p);
    if (!n->to.sums) to_own(n, p, moments, c->sum);
    if (class < PS_PAIR_CONTACTS) keep_known(n, c);
}

/* ---- lanes ---- */

static void pack(const near *n, const queue *q, int side, double *lanes)
{
    for (int lane = 0; lane < LANES; ++lane) {
        const ordered *p = &q->pairs[lane < q->count ? lane : 0].side[side];
        for (int e = 0; e < 9; ++e) lanes[e * LANES + lane] = p->corner[e / 3][e % 3];
        for (int c = 0; c < 3; ++c)
            lanes[(9 + c) * LANES + lane] = n->op->test->surface->triangles[p->triangle].normal[c];
    }
}

static void flush(near *n, int class, bool exchanged)
{
    queue *q = &n->queues[class][exchanged];
    if (q->count == 0) return;
    double lanes[2][PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
    double moments[2 * 9 * LANES] __attribute__((aligned(64)));
    const ps_hbem_quadrature *quadrature = n->op->quadrature;
    const struct ps_hbem_pair_functions *functions = ps_hbem_pair_functions_here();
    ps_hbem_kernel kernel = n->op->kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : n->op->kernel;
    if (exchanged) kernel = ps_hbem_exchanged(kernel);
    int mode = ps_hbem_mode(n->op);
    for (int side = 0; side < 2; ++side) pack(n, q, side, lanes[side]);
    ps_hbem_pair_job job = {.x = lanes[0],
                            .y = lanes[1],
                            .moments = moments,
                            .wavenumber = n->op->wavenumber,
                            .absorption = n->op->absorption};
    if (class < PS_PAIR_CONTACTS) {
        job.joint = quadrature->joint[class];
        job.joint_count = quadrature->joint_count[class];
        functions->joint[n->to.sums][kernel][mode](&job);
    } else {
        job.rule = class < NARROW ? &quadrature->rule[class - PS_PAIR_CONTACTS]
                                  : &n->narrow[class - NARROW];
        functions->regular[n->to.sums][kernel][mode](&job);
    }
    for (int lane = 0; lane < q->count; ++lane) deliver(n, class, &q->pairs[lane], moments + lane);
    q->count = 0;
}

static void enqueue(near *n, int class, bool exchanged, const pair *p)
{
    queue *q = &n->queues[class][exchanged];
    q->pairs[q->count++] = *p;
    if (q->count == LANES) flush(n, class, exchanged);
}

/* ---- classes ---- */

static void set_ordered(const ps_hbem_triangle *t, int32_t triangle, const int order[3],
                        ordered *out)
{
    out->triangle = triangle;
    for (int a = 0; a < 3; ++a) {
        out->order[a] = order[a];
        memcpy(out->corner[a], t->corner[order[a]], sizeof out->corner[a]);
    }
}

static double square_between(const double a[3], const double b[3])
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return dot(d, d);
}

/* Shared vertices first, in the same order in both. Returns their number. */
static int order_shared(const int32_t a[3], const int32_t b[3], int order[2][3])
{
    bool used[2][3] = {{false}};
    int shared = 0;
    for (int l = 0; l < 3; ++l)
        for (int m = 0; m < 3; ++m)
            if (a[l] == b[m]) {
                order[0][shared] = l;
                order[1][shared++] = m;
                used[0][l] = used[1][m] = true;
            }
    for (int s = 0; s < 2; ++s)
        for (int l = 0, next = shared; l < 3; ++l)
            if (!used[s][l]) order[s][next++] = l;
    return shared;
}

/* The pair by closed inner integrals. */
static void take_hard(const near *n, close_pair *c)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    ps_hbem_kernel kernel = n->op->kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : n->op->kernel;
    if (c->exchanged) kernel = ps_hbem_exchanged(kernel);
    ps_hbem_hard_job job = {.x = &all[c->first],
                            .y = &all[c->second],
                            .rule = &n->op->quadrature->cells,
                            .wavenumber = n->op->wavenumber,
                            .absorption = n->op->absorption,
                            .moments = c->sum[0][0]};
    ps_hbem_pair_functions_here()->hard[kernel](&job);
    for (int part = 0; n->to.sums && part < ps_hbem_parts(n->op); ++part)
        for (int e = 1; e < 9; ++e) c->sum[part][0][0] += c->sum[part][e / 3][e % 3];
    keep_known(n, c);
}

/* Moments of a pair in the list that touches or is so far apart: known ones, or at once, or when
 * the lanes of its class are full. */
static void take_moments(near *n, close_pair *c, double distance)
{
    const ps_hbem_triangle *first = &n->op->test->surface->triangles[c->first];
    const ps_hbem_triangle *second = &n->op->test->surface->triangles[c->second];
    const ps_hbem_quadrature *quadrature = n->op->quadrature;
    double diameter = fmax(first->diameter, second->diameter);
    int order[2][3], apex[2], rule = 0, shared = order_shared(first->vertex, second->vertex, order);
    while (!shared && rule < quadrature->rules && distance < quadrature->distance[rule] * diameter)
        ++rule;
    bool hard = quadrature->cells.n > 0 &&
                (shared ? ps_hbem_is_hard(first, second, shared) : rule == quadrature->rules);
    if ((hard || shared) && get_known(n, c)) return;
    if (hard) {
        take_hard(n, c);
        return;
    }
    pair p = {.place = (int)(c - n->close)};
    if (rule == quadrature->rules) --rule;
    if (!shared && ps_hbem_narrow_along(rule) &&
        narrow_are_needles(first, second, distance, quadrature->distance[0], apex)) {
        for (int e = 0; e < 6; ++e) order[e / 3][e % 3] = (apex[e / 3] + 2 + e % 3) % 3;
        rule += PS_HBEM_RULES;
    }
    set_ordered(first, c->first, order[0], &p.side[0]);
    set_ordered(second, c->second, order[1], &p.side[1]);
    enqueue(n, shared ? shared : PS_PAIR_CONTACTS + rule, c->exchanged, &p);
}

/* What is in the list, when all its moments are there. */
static void add_list(near *n)
{
    for (int e = 0; e < 2 * CLASSES; ++e) flush(n, e / 2, e % 2);
    for (close_pair *c = n->close; c < n->close + n->close_count; ++c) {
        const int32_t of[2] = {c->exchanged ? c->second : c->first,
                               c->exchanged ? c->first : c->second};
        if (c->exchanged && !n->to.sums)
            ps_hbem_near_add_turned(&n->to, of, c->sum);
        else
            ps_hbem_near_add(&n->to, of, c->sum);
    }
    n->close_count = 0;
}

static void add_close(near *n, int32_t row, int32_t column, double distance)
{
    close_pair *c = &n->close[n->close_count++];
    c->exchanged = row > column;
    c->first = c->exchanged ? column : row;
    c->second = c->exchanged ? row : column;
    take_moments(n, c, distance);
    if (n->close_count == TOGETHER) add_list(n);
}

/* ---- pairs far enough apart for the first rule: one row triangle, columns in lanes ---- */

/* What waits for one row triangle. */
typedef struct batch {
    int32_t row, columns[LANES];
    int count;
    double x[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
} batch;

/* Corners and normal are the first 12 numbers of a triangle. */
static void put_lane(const ps_hbem_triangle *t, int lane, double *lanes)
{
    for (int e = 0; e < 9; ++e) lanes[e * LANES + lane] = t->corner[e / 3][e % 3];
    for (int c = 0; c < 3; ++c) lanes[(9 + c) * LANES + lane] = t->normal[c];
}

/* Idle lanes repeat the first column. */
static void put_columns(const near *n, const batch *b, double *lanes)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    for (int lane = 0; lane < LANES; ++lane)
        put_lane(&all[b->columns[lane < b->count ? lane : 0]], lane, lanes);
}

static void flush_batch(near *n, batch *b)
{
    if (b->count == 0) return;
    double y[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
    double moments[2 * 9 * LANES] __attribute__((aligned(64)));
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    int parts = ps_hbem_parts(n->op);
    put_columns(n, b, y);
    ps_hbem_pair_job job = {.x = b->x,
                            .y = y,
                            .rule = &n->op->quadrature->rule[0],
                            .wavenumber = n->op->wavenumber,
                            .absorption = n->op->absorption,
                            .moments = moments};
    ps_hbem_kernel kernel = n->op->kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : n->op->kernel;
    ps_hbem_pair_functions_here()->regular[n->to.sums][kernel][ps_hbem_mode(n->op)](&job);
    for (int lane = 0; lane < b->count; ++lane) {
        ps_hbem_pair_sum sum;
        double scale = all[b->row].jacobian * all[b->columns[lane]].jacobian;
        for (int part = 0; part < parts; ++part) {
            const double *own = moments + 9 * LANES * part + lane;
            for (int e = 0; e < (n->to.sums ? 1 : 9); ++e)
                sum[part][e / 3][e % 3] = own[e * LANES] * scale;
        }
        ps_hbem_near_add(&n->to, (int32_t[2]){b->row, b->columns[lane]}, sum);
    }
    b->count = 0;
}

/* Whether a double layer of two triangles is 0, as x is in the plane of y, whose normal counts. */
static bool in_plane_of(const ps_hbem_triangle *x, const ps_hbem_triangle *y)
{
    if (fabs(dot(x->normal, y->normal)) < 1 - 1e-9) return false;
    bool all = true;
    for (int l = 0; l < 3; ++l) {
        double d[3] = {x->corner[l][0] - y->corner[0][0], x->corner[l][1] - y->corner[0][1],
                       x->corner[l][2] - y->corner[0][2]};
        all = all && fabs(dot(d, y->normal)) <= 1e-10 * y->diameter;
    }
    return all;
}

static bool is_zero(const near *n, const ps_hbem_triangle *row, const ps_hbem_triangle *column)
{
    return n->op->kernel == PS_KERNEL_DLP    ? in_plane_of(row, column)
           : n->op->kernel == PS_KERNEL_ADLP ? in_plane_of(column, row)
                                             : false;
}

static bool touch(const ps_hbem_triangle *x, const ps_hbem_triangle *y)
{
    bool any = false;
    for (int e = 0; e < 9; ++e) any |= x->vertex[e / 3] == y->vertex[e % 3];
    return any;
}

static void add_regular(near *n, batch *b, int32_t column)
{
    b->columns[b->count++] = column;
    if (b->count == LANES) flush_batch(n, b);
}

/* Pairs that may be nearer than the first rule allows: to the batch, or the list. */
static void sort_doubtful(near *n, batch *doubtful, batch *regular)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles, *x = &all[doubtful->row];
    double y[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64))),
        distance[LANES] __attribute__((aligned(64)));
    if (doubtful->count == 0) return;
    put_columns(n, doubtful, y);
    ps_hbem_distances(doubtful->x, y, distance);
    for (int lane = 0; lane < doubtful->count; ++lane) {
        int32_t column = doubtful->columns[lane];
        double diameter = fmax(x->diameter, all[column].diameter);
        if (distance[lane] >= n->op->quadrature->distance[0] * diameter)
            add_regular(n, regular, column);
        else
            add_close(n, doubtful->row, column, distance[lane]);
    }
    doubtful->count = 0;
}

static void add_row(near *n, int32_t row, const int32_t *columns, int64_t count)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles, *x = &all[row];
    double reach = n->op->quadrature->distance[0];
    batch regular = {.row = row}, doubtful = {.row = row};
    for (int lane = 0; lane < LANES; ++lane) put_lane(x, lane, regular.x);
    memcpy(doubtful.x, regular.x, sizeof doubtful.x);
    for (int64_t c = 0; c < count; ++c) {
        const ps_hbem_triangle *y = &all[columns[c]];
        if (is_zero(n, x, y)) continue;
        double apart = x->radius + y->radius + reach * fmax(x->diameter, y->diameter);
        if (square_between(x->centroid, y->centroid) >= apart * apart)
            add_regular(n, &regular, columns[c]);
        else if (touch(x, y))
            add_close(n, row, columns[c], 0);
        else
            doubtful.columns[doubtful.count++] = columns[c];
        if (doubtful.count == LANES) sort_doubtful(n, &doubtful, &regular);
    }
    sort_doubtful(n, &doubtful, &regular);
    flush_batch(n, &regular);
}

/* Rows and columns are the same functions and the operator is symmetric. */
static bool on_diagonal(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns)
{
    return (op->kernel == PS_KERNEL_SLP || op->kernel == PS_KERNEL_HYPS) &&
           op->test->dof_of == op->trial->dof_of && rows.begin == columns.begin &&
           rows.end == columns.end;
}

ps_status ps_hbem_near_block(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns,
                             ps_hbem_workspace *workspace, double *values)
{
    queue queues[CLASSES][2];
    close_pair close[TOGETHER];
    ps_hbem_rule narrow[PS_HBEM_RULES];
    for (int r = 2; r < op->quadrature->rules; ++r)
        ps_hbem_rule_narrow(ps_hbem_narrow_along(r), &narrow[r]);
    near n = {.op = op,
              .to = {.op = op,
                     .rows = rows,
                     .columns = columns,
                     .values = values,
                     .mirror = on_diagonal(op, rows, columns),
                     .sums = ps_hbem_wants_sums(op)},
              .close = close,
              .known = ps_hbem_pair_numbers(op) > 0 ? workspace->pairs : NULL,
              .queues = queues,
              .narrow = narrow};
    for (int e = 0; e < 2 * CLASSES; ++e) queues[e / 2][e % 2].count = 0;
    int32_t *row_list, *column_list;
    int64_t before = workspace->used;
    PS_TRY(ps_hbem_take(workspace, ps_hbem_items(op->test, rows) * 4, &row_list));
    PS_TRY(ps_hbem_take(workspace, ps_hbem_items(op->trial, columns) * 4, &column_list));
    int64_t row_count = ps_hbem_triangles_of(op->test, rows, row_list);
    int64_t column_count = ps_hbem_triangles_of(op->trial, columns, column_list);
    int64_t size = (rows.end - rows.begin) * (columns.end - columns.begin) * ps_hbem_parts(op);
    memset(values, 0, (size_t)size * sizeof *values);
    for (int64_t r = 0; r < row_count; ++r) {
        int64_t first = n.to.mirror ? r : 0;
        add_row(&n, row_list[r], column_list + first, column_count - first);
    }
    add_list(&n);
    workspace->used = before;
    return PS_OK;
}
