/* Optimised Schwarz without overlap over subdomains of any shape (specs/subdomains.md): matrices of
 * rows, solved by a Cholesky factor or a Krylov method; consecutive subdomains to each rank.
 *
 * An interface between subdomains i < j has two traces: its first acts on i, its second on j,
 * values at its nodes in order. Traces are numbered by the subdomain they act on, then by
 * interface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/outer.h"
#include "formats/subdomains.h"
#include "kernels/schwarz/krylov_team.h"
#include "runtime/cholesky.h"
#include "runtime/memory.h"

/* One side of an interface, seen from a subdomain. */
typedef struct side {
    int64_t interface, trace; /* number of the trace that acts here */
    int64_t beyond;           /* that of the one on the other side  */
    int32_t other;            /* the subdomain there                */
    int64_t nodes;
    int32_t *rows;   /* [nodes] of the subdomain  */
    ps_csr transfer; /* S_ij + S_ji               */
} side;

typedef struct part {
    int64_t rows, sides;
    int64_t *nodes;
    side *side;
    ps_csr matrix;   /* with the conditions, while there is no factor */
    double *inverse; /* diagonal */
    ps_cholesky *factor;
    double *load, *u; /* [rows] */
} part;

/* A side whose trace comes from another rank. */
typedef struct remote_side {
    int64_t interface, part, side;
} remote_side;

typedef struct parts {
    solve_problem *p;
    ps_subdomains file;
    int64_t first, end; /* own */
    part *part;         /* [end - first] */
    int64_t *start;     /* [own traces + 1] */
    int64_t base, all, largest;
    ps_interface problem;
    outer outer;
    double *right, *space, *faces; /* right-hand side, solver, traces that go to other ranks */
    remote_side *remote;           /* [remote_count], as neighbours have them: by interface */
    ps_comm_exchange *exchanges;
    int64_t remote_count;
} parts;

static int64_t first_of(int64_t subdomains, int64_t rank)
{
    return subdomains * rank / ps_comm_size();
}

static int owner_of(const parts *s, int64_t subdomain)
{
    int rank = 0;
    while (first_of(s->file.header.subdomains, rank + 1) <= subdomain) ++rank;
    return rank;
}

/* ---- reading ---- */

/* Sides of the interfaces: how many each subdomain has, and the first trace of each. */
typedef struct numbering {
    int32_t (*sides)[2]; /* [interfaces] */
    int64_t *first;      /* [subdomains + 1]: its first trace */
    int64_t (*trace)[2]; /* [interfaces] */
} numbering;

static void numbering_release(numbering *n)
{
    free(n->sides);
    free(n->first);
    free(n->trace);
}

static ps_status number_traces(parts *s, numbering *n)
{
    const ps_subdomains_header *h = &s->file.header;
    PS_TRY(PS_ALLOC(&n->sides, h->interfaces, "interfaces"));
    PS_TRY(PS_ALLOC(&n->trace, h->interfaces, "interfaces"));
    PS_TRY(PS_ALLOC(&n->first, h->subdomains + 2, "interfaces"));
    for (int64_t i = 0; i < h->interfaces; ++i) {
        ps_subdomain_face face;
        PS_TRY(ps_subdomains_read_face(&s->file, i, &face));
        memcpy(n->sides[i], face.sides, sizeof face.sides);
        ps_subdomain_face_release(&face);
        for (int k = 0; k < 2; ++k) ++n->first[n->sides[i][k] + 2];
    }
    for (int64_t d = 0; d < h->subdomains; ++d) n->first[d + 2] += n->first[d + 1];
    for (int64_t i = 0; i < h->interfaces; ++i)
        for (int k = 0; k < 2; ++k) n->trace[i][k] = n->first[n->sides[i][k] + 1]++;
    s->all = 2 * h->interfaces;
    return PS_OK;
}

static int64_t row_of(const part *q, int64_t node)
{
    int64_t low = 0, high = q->rows;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (q->nodes[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return q->nodes[low] == node ? low : -1;
}

/* Adds p M + q K of an interface to the matrix of a subdomain. */
static ps_status add_condition(part *q, const side *d, const ps_subdomain_face *face, double p1,
                               double q1)
{
    ps_csr *m = &q->matrix;
    for (int64_t r = 0; r < face->mass.rows; ++r) {
        int64_t row = d->rows[r], at = m->row_start[row];
        for (int64_t e = face->mass.row_start[r]; e < face->mass.row_start[r + 1]; ++e) {
            int32_t column = d->rows[face->mass.columns[e]];
            while (at < m->row_start[row + 1] && m->columns[at] < column) ++at;
            if (at == m->row_start[row + 1] || m->columns[at] != column)
                return ps_fail(PS_INVALID, "interface %lld joins nodes that its subdomain does not",
                               (long long)d->interface);
            m->values[at] += p1 * face->mass.values[e] + q1 * face->stiffness[e];
        }
    }
    return PS_OK;
}

static ps_status fill_side(parts *s, part *q, int which, const numbering *n,
                           ps_subdomain_face *face, side *d)
{
    const ps_transmission *t = &s->p->options.transmission;
    d->nodes = face->mass.rows;
    d->trace = n->trace[d->interface][which];
    d->beyond = n->trace[d->interface][1 - which];
    d->other = face->sides[1 - which];
    PS_TRY(PS_ALLOC(&d->rows, d->nodes, "an interface"));
    for (int64_t r = 0; r < d->nodes; ++r) {
        int64_t row = row_of(q, face->nodes[r]);
        if (row < 0)
            return ps_fail(PS_INVALID, "interface %lld has a node that its subdomain has not",
                           (long long)d->interface);
        d->rows[r] = (int32_t)row;
    }
    PS_TRY(add_condition(q, d, face, t->p[which], t->q[which]));
    d->transfer = face->mass; /* its entries become those of S1 + S2 */
    memset(&face->mass, 0, sizeof face->mass);
    for (int64_t e = 0; e < d->transfer.nnz; ++e)
        d->transfer.values[e] =
            (t->p[0] + t->p[1]) * d->transfer.values[e] + (t->q[0] + t->q[1]) * face->stiffness[e];
    return PS_OK;
}

static ps_status read_sides(parts *s, int64_t subdomain, const numbering *n, part *q)
{
    PS_TRY(PS_ALLOC(&q->side, n->first[subdomain + 1] - n->first[subdomain], "interfaces"));
    for (int64_t i = 0; i < s->file.header.interfaces; ++i) {
        ps_subdomain_face face;
        int which = n->sides[i][0] == subdomain ? 0 : 1;
        if (n->sides[i][which] != subdomain) continue;
        side *d = q->side + q->sides++;
        d->interface = i;
        PS_TRY(ps_subdomains_read_face(&s->file, i, &face));
        ps_status status = fill_side(s, q, which, n, &face, d);
        ps_subdomain_face_release(&face);
        PS_TRY(status);
    }
    return PS_OK;
}

static ps_status prepare_solver(parts *s, int64_t subdomain, part *q)
{
    ps_csr *m = &q->matrix;
    ps_status status;
    if (s->p->options.inner == METHOD_DIRECT) {
        status = ps_cholesky_open(
            &(ps_symmetric_rows){m->rows, m->row_start, m->columns, m->values}, &q->factor);
        ps_csr_release(m);
        if (status == PS_USAGE) return ps_context(status, "--inner cg");
    } else {
        PS_TRY(PS_ALLOC(&q->inverse, m->rows, "Jacobi scaling"));
        status = ps_csr_inverse_diagonal(m, q->inverse);
    }
    return status == PS_OK ? PS_OK : ps_context(status, "subdomain %lld", (long long)subdomain);
}

static ps_status read_part(parts *s, int64_t subdomain, const numbering *n)
{
    part *q = s->part + subdomain - s->first;
    ps_subdomain one;
    PS_TRY(ps_subdomains_read(&s->file, subdomain, &one));
    q->nodes = one.nodes;
    q->matrix = one.matrix;
    q->rows = one.matrix.rows;
    if (q->rows > s->largest) s->largest = q->rows;
    PS_TRY(PS_ALLOC(&q->load, q->rows, "loads"));
    PS_TRY(PS_ALLOC(&q->u, q->rows, "a subdomain"));
    PS_TRY(read_sides(s, subdomain, n, q));
    return prepare_solver(s, subdomain, q);
}

/* Every node's load is shared equally by the subdomains that have it; fixed nodes keep theirs. */
static ps_status share_loads(parts *s)
{
    int64_t nodes = ps_q1_grid_size(&s->p->grid), plane = s->p->load.plane;
    double *load = NULL, *owners = NULL;
    ps_status status = PS_ALLOC(&owners, nodes, "loads");
    if (status == PS_OK) status = PS_ALLOC(&load, nodes, "loads");
    for (int64_t d = 0; d < s->end - s->first && status == PS_OK; ++d)
        for (int64_t r = 0; r < s->part[d].rows; ++r) owners[s->part[d].nodes[r]] += 1;
    status = ps_comm_agree(status);
    if (status == PS_OK) status = ps_comm_sum_f64(owners, nodes);
    if (status == PS_OK) status = ps_box_field_read(&s->p->load, 0, s->p->grid.nodes[0], load);
    for (int64_t d = 0; d < s->end - s->first && status == PS_OK; ++d)
        for (int64_t r = 0; r < s->part[d].rows; ++r) {
            const int64_t *n = s->p->grid.nodes;
            int64_t node = s->part[d].nodes[r], i = node / plane, j = node / n[2] % n[1];
            int64_t k = node % n[2];
            bool fixed =
                i == 0 || i == n[0] - 1 || j == 0 || j == n[1] - 1 || k == 0 || k == n[2] - 1;
            s->part[d].load[r] = load[node] / (fixed ? 1 : owners[node]);
        }
    free(load);
    free(owners);
    return status;
}

static ps_status check_grid(const parts *s)
{
    const ps_subdomains_header *h = &s->file.header;
    const ps_q1_grid *g = &s->p->grid;
    const char *path = ps_store_path(s->file.store);
    for (int a = 0; a < 3; ++a)
        if (h->nodes[a] != g->nodes[a] ||
            fabs(h->spacing[a] - g->spacing[a]) > 1e-9 * g->spacing[a])
            return ps_fail(PS_INVALID,
                           "%s is of %lld nodes %g m apart along %c, the load of %lld nodes %g m "
                           "apart: assemble both from one model",
                           path, (long long)h->nodes[a], h->spacing[a], "xyz"[a],
                           (long long)g -> nodes[a], g -> spacing[a]);
    if (h->subdomains < ps_comm_size())
        return ps_fail(PS_USAGE, "%s has %lld subdomains; %d ranks need at least as many", path,
                       (long long)h->subdomains, ps_comm_size());
    return PS_OK;
}

/* ---- exchanges ---- */

static ps_status solve_part(parts *s, part *q)
{
    const solve_options *o = &s->p->options;
    ps_krylov_method method = (ps_krylov_method)(o->inner - METHOD_CG + PS_KRYLOV_CG);
    ps_krylov_cpu_team team;
    ps_krylov_result result;
    if (q->factor) return ps_cholesky_solve(q->factor, s->right, q->u);
    ps_krylov_system system = {
        .matrix = &q->matrix, .inverse_diagonal = q->inverse, .b = s->right, .x = q->u};
    if (o->method == METHOD_GMRES) memset(q->u, 0, (size_t)q->rows * sizeof *q->u);
    PS_TRY(ps_krylov_cpu_begin(method, &system, s->space, &team));
    ps_krylov_team control = ps_krylov_cpu_team_of(&team);
    ps_status status =
        ps_krylov_solve(method, &control, inner_tolerance_of(s->p), INNER_LIMIT, &result);
    s->p->inner_iterations += result.iterations;
    return status;
}

static bool is_own(const parts *s, int64_t subdomain)
{
    return subdomain >= s->first && subdomain < s->end;
}

/* out = (S1 + S2) u - g of a side. */
static void send(const part *q, const side *d, const double *g, double *out)
{
    for (int64_t r = 0; r < d->nodes; ++r) {
        double sum = 0;
        for (int64_t e = d->transfer.row_start[r]; e < d->transfer.row_start[r + 1]; ++e)
            sum += d->transfer.values[e] * q->u[d->rows[d->transfer.columns[e]]];
        out[r] = sum - g[r];
    }
}

static ps_status visit(parts *s, int64_t d, bool source, const double *g)
{
    part *q = s->part + d;
    if (source)
        memcpy(s->right, q->load, (size_t)q->rows * sizeof *s->right);
    else
        memset(s->right, 0, (size_t)q->rows * sizeof *s->right);
    for (int64_t k = 0; k < q->sides; ++k) {
        const double *trace = g + s->start[q->side[k].trace - s->base];
        for (int64_t r = 0; r < q->side[k].nodes; ++r) s->right[q->side[k].rows[r]] += trace[r];
    }
    ps_status status = solve_part(s, q);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "subdomain %lld", (long long)(s->first + d));
}

/* While traces travel between ranks, those between own subdomains are made. */
static ps_status pass_traces(parts *s, const double *g, double *out)
{
    ps_comm_pending *pending = NULL;
    double *face = s->faces;
    for (int64_t i = 0; i < s->remote_count; ++i) {
        const part *q = s->part + s->remote[i].part;
        const side *x = q->side + s->remote[i].side;
        int64_t at = s->start[x->trace - s->base], bytes = x->nodes * (int64_t)sizeof(double);
        send(q, x, g + at, face);
        s->exchanges[i] = (ps_comm_exchange){owner_of(s, x->other), face, out + at, bytes, bytes};
        face += x->nodes;
    }
    PS_TRY(ps_comm_exchange_start(s->exchanges, (int)s->remote_count, &pending));
    for (int64_t d = 0; d < s->end - s->first; ++d)
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            if (!is_own(s, x->other)) continue;
            send(s->part + d, x, g + s->start[x->trace - s->base],
                 out + s->start[x->beyond - s->base]);
        }
    return ps_comm_exchange_wait(&pending);
}

static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    parts *s = context;
    ps_status status = PS_OK;
    for (int64_t d = 0; d < s->end - s->first && status == PS_OK; ++d)
        status = visit(s, d, source, g);
    PS_TRY(ps_comm_agree(status));
    return pass_traces(s, g, out);
}

/* What a change of traces means to the subdomains: at a node where several meet, the loads of its
 * interfaces count by their sum. There, traces that no subdomain feels may go on changing. */
static void measure(void *context, const double *r, double *squares)
{
    parts *s = context;
    memset(squares, 0, (size_t)s->problem.traces * sizeof *squares);
    for (int64_t d = 0; d < s->end - s->first; ++d) {
        const part *q = s->part + d;
        if (q->sides == 0) continue;
        double sum = 0;
        memset(s->right, 0, (size_t)q->rows * sizeof *s->right);
        for (int64_t k = 0; k < q->sides; ++k)
            for (int64_t i = 0; i < q->side[k].nodes; ++i)
                s->right[q->side[k].rows[i]] += r[s->start[q->side[k].trace - s->base] + i];
        for (int64_t i = 0; i < q->rows; ++i) sum += s->right[i] * s->right[i];
        squares[q->side[0].trace - s->base] = sum;
    }
}

static ps_status reduce(void *context, double *sums, int64_t count)
{
    return ps_comm_sum_f64(sums, count);
}

/* ---- the plan ---- */

/* A guess at what factors hold: 12 rows^(4/3) entries of 16 bytes. */
static int64_t parts_memory(const solve_problem *p)
{
    ps_subdomains file;
    if (ps_subdomains_open(p->options.subdomains, &file) != PS_OK) return 0; /* told by open */
    const ps_subdomains_header *h = &file.header;
    int64_t own = (h->subdomains + ps_comm_size() - 1) / ps_comm_size();
    double rows = (double)h->rows_max, each = 12 * (double)h->entries_max + 40 * rows;
    if (p->options.inner == METHOD_DIRECT) each += 16 * 12 * pow(rows, 4. / 3);
    int64_t traces = 4 * h->interfaces * h->face_rows_max / ps_comm_size();
    int64_t vectors = p->options.method == METHOD_GMRES ? p->options.restart + 2 : 3;
    ps_subdomains_close(&file);
    return (int64_t)(each * (double)own) + 8 * traces * vectors + 24 * ps_q1_grid_size(&p->grid);
}

static int by_interface(const void *a, const void *b)
{
    const remote_side *x = a, *y = b;
    return (x->interface > y->interface) - (x->interface < y->interface);
}

/* Where the own traces lie, and which come from other ranks. */
static ps_status lay_out(parts *s, const numbering *n)
{
    int64_t own = n->first[s->end] - n->first[s->first], remote = 0;
    s->base = n->first[s->first];
    PS_TRY(PS_ALLOC(&s->start, own + 1, "traces"));
    PS_TRY(PS_ALLOC(&s->remote, own, "traces"));
    PS_TRY(PS_ALLOC(&s->exchanges, own, "traces"));
    for (int64_t d = 0; d < s->end - s->first; ++d)
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            s->start[x->trace - s->base + 1] = s->start[x->trace - s->base] + x->nodes;
            if (is_own(s, x->other)) continue;
            s->remote[s->remote_count++] = (remote_side){x->interface, d, k};
            remote += x->nodes;
        }
    qsort(s->remote, (size_t)s->remote_count, sizeof *s->remote, by_interface);
    PS_TRY(PS_ALLOC(&s->faces, remote, "traces"));
    s->problem = (ps_interface){.context = s,
                                .size = s->start[own],
                                .traces = own,
                                .start = s->start,
                                .first = s->base,
                                .all = s->all,
                                .exchange = make_exchange,
                                .measure = measure,
                                .reduce = reduce,
                                .source = true};
    return PS_OK;
}

static ps_status read_parts(parts *s, numbering *n)
{
    PS_TRY(number_traces(s, n));
    PS_TRY(PS_ALLOC(&s->part, s->end - s->first, "subdomains"));
    for (int64_t d = s->first; d < s->end; ++d) PS_TRY(read_part(s, d, n));
    return lay_out(s, n);
}

static ps_status open(solve_problem *p, void **state)
{
    parts *s;
    numbering n = {NULL, NULL, NULL};
    double start = ps_clock();
    PS_TRY(PS_ALLOC(&s, 1, "subdomains"));
    *state = s;
    s->p = p;
    PS_TRY(ps_subdomains_open(p->options.subdomains, &s->file));
    PS_TRY(check_grid(s));
    p->options.slabs = s->file.header.subdomains;
    s->first = first_of(s->file.header.subdomains, ps_comm_rank());
    s->end = first_of(s->file.header.subdomains, ps_comm_rank() + 1);
    ps_status status = read_parts(s, &n);
    numbering_release(&n);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_agree(share_loads(s)));
    int64_t space = 1;
    if (p->options.inner != METHOD_DIRECT) {
        ps_csr shape = {.rows = s->largest};
        space = ps_krylov_cpu_workspace((ps_krylov_method)(p->options.inner - METHOD_CG),
                                        &(ps_krylov_system){.matrix = &shape});
    }
    PS_TRY(PS_ALLOC(&s->right, s->largest, "a subdomain"));
    PS_TRY(PS_ALLOC(&s->space, space, "a subdomain"));
    p->seconds[SECONDS_READ] = ps_clock() - start;
    return outer_open(p, &s->problem, s, &s->outer);
}

static ps_status solve(void *state)
{
    parts *s = state;
    double start = ps_clock();
    ps_status status = outer_solve(&s->outer);
    s->p->seconds[SECONDS_SOLVE] = ps_clock() - start;
    return status;
}

/* ---- the field ---- */

/* A node's value is that of its lowest subdomain. */
static ps_status collect(const parts *s, double *field)
{
    int64_t nodes = ps_q1_grid_size(&s->p->grid), *lowest;
    PS_TRY(PS_ALLOC(&lowest, nodes, "the field"));
    for (int64_t i = 0; i < nodes; ++i) lowest[i] = INT64_MAX;
    for (int64_t d = s->end - 1; d >= s->first; --d)
        for (int64_t r = 0; r < s->part[d - s->first].rows; ++r)
            lowest[s->part[d - s->first].nodes[r]] = d;
    ps_status status = ps_comm_min_i64(lowest, nodes);
    for (int64_t d = s->first; d < s->end; ++d) {
        const part *q = s->part + d - s->first;
        for (int64_t r = 0; r < q->rows; ++r)
            if (lowest[q->nodes[r]] == d) field[q->nodes[r]] = q->u[r];
    }
    free(lowest);
    return status == PS_OK ? ps_comm_sum_f64(field, nodes) : status;
}

static ps_status write_field(void *state)
{
    parts *s = state;
    solve_problem *p = s->p;
    plane_writer writer;
    double *field = NULL, start = ps_clock();
    ps_status status = PS_ALLOC(&field, ps_q1_grid_size(&p->grid), "the field");
    for (int64_t d = 0; d < s->end - s->first && status == PS_OK; ++d)
        status = visit(s, d, true, s->outer.g);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = collect(s, field);
    if (status == PS_OK) {
        status = plane_writer_open(&p->out, &writer);
        for (int64_t i = p->first_plane; i < p->end_plane && status == PS_OK; ++i)
            status = plane_writer_add(&writer, field + i * p->load.plane);
        plane_writer_close(&writer);
    }
    free(field);
    p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

static void part_release(part *q)
{
    for (int64_t k = 0; k < q->sides; ++k) {
        free(q->side[k].rows);
        ps_csr_release(&q->side[k].transfer);
    }
    ps_cholesky_close(&q->factor);
    ps_csr_release(&q->matrix);
    free(q->side);
    free(q->nodes);
    free(q->inverse);
    free(q->load);
    free(q->u);
}

static void close(void *state)
{
    parts *s = state;
    if (!s) return;
    for (int64_t d = 0; s->part && d < s->end - s->first; ++d) part_release(s->part + d);
    ps_subdomains_close(&s->file);
    outer_close(&s->outer);
    free(s->part);
    free(s->start);
    free(s->remote);
    free(s->exchanges);
    free(s->right);
    free(s->space);
    free(s->faces);
    free(s);
}

const solve_way solve_parts = {parts_memory, open, solve, write_field, close};
