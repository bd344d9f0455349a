#include <math.h>
#include <string.h>

#include "kernels/hbem/entries_internal.h"
#include "kernels/hbem/hard.h"
#include "kernels/hbem/narrow.h"

/* Classes of pairs that go into lanes together: the contacts, the regular rules, those of needles.
 */
enum {
    LANES = PS_HBEM_LANES_F64,
    NARROW = PS_PAIR_CONTACTS + PS_HBEM_RULES,
    CLASSES = NARROW + PS_HBEM_RULES
};

/* A triangle, its corners in the order of a rule: corner[a] is its own corner order[a]. */
typedef struct ordered {
    int32_t triangle;
    int order[3];
    double corner[3][3];
} ordered;

typedef struct pair {
    ordered side[2];
} pair;

/* Pairs of one class and order that wait for their lanes to fill. */
typedef struct queue {
    int count;
    pair pairs[LANES];
} queue;

typedef struct near {
    const ps_hbem_operator *op;
    ps_hbem_range rows, columns;
    queue (*queues)[2];   /* [CLASSES][exchanged] */
    ps_hbem_rule *narrow; /* [PS_HBEM_RULES] of needles; the first two: none */
    double *values;
    bool whole;  /* both spaces are P0: sums over hats are all that is wanted             */
    bool mirror; /* a symmetric diagonal block: a pair of triangles stands for both orders */
} near;

/* ---- results ---- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double jacobians_of(const near *n, const pair *p)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    return all[p->side[0].triangle].jacobian * all[p->side[1].triangle].jacobian;
}

/* Of a pair, by part and hats of row triangle and column triangle. */
typedef double pair_sum[2][3][3];

static int64_t block_size(const near *n)
{
    return (n->rows.end - n->rows.begin) * (n->columns.end - n->columns.begin);
}

/* sum[part][l][m] over the triangles' own hats, J J included; moments of a lane. */
static void to_own(const near *n, const pair *p, const double *moments, pair_sum sum)
{
    double scale = jacobians_of(n, p);
    for (int part = 0; part < ps_hbem_parts(n->op); ++part)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                sum[part][p->side[0].order[a]][p->side[1].order[b]] =
                    moments[(9 * part + 3 * a + b) * LANES] * scale;
}

/* The weak form of HYPS from the moments of g on triangles x and y; k^2 may be complex. */
static void by_parts(const near *n, const int32_t pair_of[2], pair_sum sum)
{
    const ps_hbem_triangle *x = &n->op->test->surface->triangles[pair_of[0]];
    const ps_hbem_triangle *y = &n->op->test->surface->triangles[pair_of[1]];
    double total[2] = {0, 0}, k = n->op->wavenumber, loss = n->op->absorption, curl[2][3][3];
    int parts = ps_hbem_parts(n->op);
    for (int part = 0; part < parts; ++part) {
        for (int e = 0; e < 9; ++e) total[part] += sum[part][e / 3][e % 3];
        total[part] /= x->jacobian * y->jacobian;
    }
    for (int l = 0; l < 3; ++l) {
        ps_hbem_curl(x, l, curl[0][l]);
        ps_hbem_curl(y, l, curl[1][l]);
    }
    double product = (k * k - loss * loss) * dot(x->normal, y->normal);
    double across = 2 * k * loss * dot(x->normal, y->normal);
    for (int l = 0; l < 3; ++l)
        for (int m = 0; m < 3; ++m) {
            double curls = dot(curl[0][l], curl[1][m]), own[2] = {sum[0][l][m], sum[1][l][m]};
            for (int part = 0; part < parts; ++part)
                sum[part][l][m] = curls * total[part] - product * own[part];
            if (loss > 0) sum[0][l][m] += across * own[1];
            if (loss > 0) sum[1][l][m] -= across * own[0];
        }
}

/* Adds sum[l][m], hats of row triangle and column triangle, to the entries they belong to. */
static void spread(const near *n, const int32_t pair_of[2], double sum[3][3], double *values)
{
    const int32_t *row = n->op->test->dof_of + 3 * (int64_t)pair_of[0];
    const int32_t *column = n->op->trial->dof_of + 3 * (int64_t)pair_of[1];
    int64_t height = n->rows.end - n->rows.begin;
    for (int m = 0; m < 3; ++m) {
        if (column[m] < n->columns.begin || column[m] >= n->columns.end) continue;
        double *to = values + (column[m] - n->columns.begin) * height - n->rows.begin;
        for (int l = 0; l < 3; ++l)
            if (row[l] >= n->rows.begin && row[l] < n->rows.end) to[row[l]] += sum[l][m];
    }
}

static void transpose(double sum[3][3], double out[3][3])
{
    for (int e = 0; e < 9; ++e) out[e % 3][e / 3] = sum[e / 3][e % 3];
}

static void finish(const near *n, const int32_t pair_of[2], pair_sum sum)
{
    double turned[3][3];
    if (n->op->kernel == PS_KERNEL_HYPS) by_parts(n, pair_of, sum);
    for (int part = 0; part < ps_hbem_parts(n->op); ++part) {
        double *values = n->values + part * block_size(n);
        spread(n, pair_of, sum[part], values);
        if (!n->mirror || pair_of[0] == pair_of[1]) continue;
        transpose(sum[part], turned);
        spread(n, (int32_t[2]){pair_of[1], pair_of[0]}, turned, values);
    }
}

/* The same of sums by hats of the first and of the second triangle of a pair. */
static void finish_ordered(const near *n, const int32_t pair_of[2], bool exchanged, pair_sum sum)
{
    double turned[3][3];
    for (int part = 0; exchanged && part < ps_hbem_parts(n->op); ++part) {
        transpose(sum[part], turned);
        memcpy(sum[part], turned, sizeof turned);
    }
    finish(n, pair_of, sum);
}

/* Adds a sum over all hats to the one entry of two triangles in P0. */
static void finish_whole(const near *n, int32_t row, int32_t column, double sum, double *values)
{
    int64_t i = n->op->test->dof_of[3 * (int64_t)row] - n->rows.begin;
    int64_t j = n->op->trial->dof_of[3 * (int64_t)column] - n->columns.begin;
    int64_t height = n->rows.end - n->rows.begin;
    values[j * height + i] += sum;
    if (n->mirror && i != j) values[i * height + j] += sum;
}

/* The moments of a lane. */
static void deliver(const near *n, const pair *p, bool exchanged, const double *moments)
{
    const int32_t of[2] = {p->side[exchanged].triangle, p->side[!exchanged].triangle};
    pair_sum sum;
    for (int part = 0; n->whole && part < ps_hbem_parts(n->op); ++part)
        finish_whole(n, of[0], of[1], moments[9 * LANES * part] * jacobians_of(n, p),
                     n->values + part * block_size(n));
    if (n->whole) return;
    to_own(n, p, moments, sum);
    finish_ordered(n, of, exchanged, sum);
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
        functions->joint[n->whole][kernel][mode](&job);
    } else {
        job.rule = class < NARROW ? &quadrature->rule[class - PS_PAIR_CONTACTS]
                                  : &n->narrow[class - NARROW];
        functions->regular[n->whole][kernel][mode](&job);
    }
    for (int lane = 0; lane < q->count; ++lane)
        deliver(n, &q->pairs[lane], exchanged, moments + lane);
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
static void add_hard(const near *n, int32_t first, int32_t second, bool exchanged)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    ps_hbem_kernel kernel = n->op->kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : n->op->kernel;
    pair_sum moments = {{{0}}};
    if (exchanged) kernel = ps_hbem_exchanged(kernel);
    ps_hbem_hard_job job = {.x = &all[first],
                            .y = &all[second],
                            .rule = &n->op->quadrature->cells,
                            .wavenumber = n->op->wavenumber,
                            .absorption = n->op->absorption,
                            .moments = moments[0][0]};
    ps_hbem_pair_functions_here()->hard[kernel](&job);
    const int32_t of[2] = {exchanged ? second : first, exchanged ? first : second};
    for (int part = 0; n->whole && part < ps_hbem_parts(n->op); ++part) {
        double sums = 0;
        for (int e = 0; e < 9; ++e) sums += moments[part][e / 3][e % 3];
        finish_whole(n, of[0], of[1], sums, n->values + part * block_size(n));
    }
    if (!n->whole) finish_ordered(n, of, exchanged, moments);
}

static void add_pair(near *n, int32_t row, int32_t column)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    const ps_hbem_quadrature *quadrature = n->op->quadrature;
    bool exchanged = row > column;
    int32_t first = exchanged ? column : row, second = exchanged ? row : column;
    int order[2][3], apex[2];
    int shared = order_shared(all[first].vertex, all[second].vertex, order);
    int rule = shared ? 0
                      : ps_hbem_rule_of(quadrature->distance, quadrature->rules, &all[first],
                                        &all[second], apex);
    bool hard = shared ? ps_hbem_is_hard(&all[first], &all[second], shared) : rule < 0;
    if (hard && quadrature->cells.n > 0) {
        add_hard(n, first, second, exchanged);
        return;
    }
    pair p;
    if (rule < 0) rule = quadrature->rules - 1;
    for (int e = 0; rule >= PS_HBEM_RULES && e < 6; ++e)
        order[e / 3][e % 3] = (apex[e / 3] + 2 + e % 3) % 3;
    set_ordered(&all[first], first, order[0], &p.side[0]);
    set_ordered(&all[second], second, order[1], &p.side[1]);
    enqueue(n, shared ? shared : PS_PAIR_CONTACTS + rule, exchanged, &p);
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

static void flush_batch(near *n, batch *b)
{
    if (b->count == 0) return;
    double y[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
    double moments[2 * 9 * LANES] __attribute__((aligned(64)));
    const ps_hbem_triangle *all = n->op->test->surface->triangles;
    int parts = ps_hbem_parts(n->op);
    for (int lane = 0; lane < LANES; ++lane)
        put_lane(&all[b->columns[lane < b->count ? lane : 0]], lane, y);
    ps_hbem_pair_job job = {.x = b->x,
                            .y = y,
                            .rule = &n->op->quadrature->rule[0],
                            .wavenumber = n->op->wavenumber,
                            .absorption = n->op->absorption,
                            .moments = moments};
    ps_hbem_kernel kernel = n->op->kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : n->op->kernel;
    ps_hbem_pair_functions_here()->regular[n->whole][kernel][ps_hbem_mode(n->op)](&job);
    for (int lane = 0; lane < b->count; ++lane) {
        pair_sum sum;
        double scale = all[b->row].jacobian * all[b->columns[lane]].jacobian;
        for (int part = 0; part < parts; ++part) {
            const double *own = moments + 9 * LANES * part + lane;
            if (n->whole)
                finish_whole(n, b->row, b->columns[lane], own[0] * scale,
                             n->values + part * block_size(n));
            for (int e = 0; e < 9 && !n->whole; ++e)
                sum[part][e / 3][e % 3] = own[e * LANES] * scale;
        }
        if (!n->whole) finish(n, (int32_t[2]){b->row, b->columns[lane]}, sum);
    }
    b->count = 0;
}

static void add_row(near *n, int32_t row, const int32_t *columns, int64_t count)
{
    const ps_hbem_triangle *all = n->op->test->surface->triangles, *x = &all[row];
    double reach = n->op->quadrature->distance[0];
    batch b = {.row = row};
    for (int lane = 0; lane < LANES; ++lane) put_lane(x, lane, b.x);
    for (int64_t c = 0; c < count; ++c) {
        const ps_hbem_triangle *y = &all[columns[c]];
        double apart = x->radius + y->radius + reach * fmax(x->diameter, y->diameter);
        if (square_between(x->centroid, y->centroid) < apart * apart) {
            add_pair(n, row, columns[c]);
            continue;
        }
        b.columns[b.count++] = columns[c];
        if (b.count == LANES) flush_batch(n, &b);
    }
    flush_batch(n, &b);
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
    ps_hbem_rule narrow[PS_HBEM_RULES];
    for (int r = 2; r < op->quadrature->rules; ++r)
        ps_hbem_rule_narrow(ps_hbem_narrow_along(r), &narrow[r]);
    near n = {.op = op,
              .rows = rows,
              .columns = columns,
              .queues = queues,
              .narrow = narrow,
              .values = values,
              .whole = op->test->kind == PS_SPACE_P0 && op->trial->kind == PS_SPACE_P0,
              .mirror = on_diagonal(op, rows, columns)};
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
        int64_t first = n.mirror ? r : 0;
        add_row(&n, row_list[r], column_list + first, column_count - first);
    }
    for (int e = 0; e < 2 * CLASSES; ++e) flush(&n, e / 2, e % 2);
    workspace->used = before;
    return PS_OK;
}
