/* Optimised Schwarz without overlap over subdomains of any shape. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/parts.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

static int owner_of(const parts *s, int64_t subdomain)
{
    int rank = 0;
    while (parts_first(s->file.header.subdomains, rank + 1) <= subdomain) ++rank;
    return rank;
}

/* ---- exchanges ---- */

static ps_status solve_part(parts *s, part *q, double *right)
{
    const solve_options *o = &s->p->options;
    ps_krylov_method method = krylov_of(o->inner);
    ps_krylov_result result;
    if (q->factor) return ps_cholesky_solve(q->factor, right, q->u);
    ps_krylov_system system = {
        .matrix = &q->matrix, .inverse_diagonal = q->inverse, .b = right, .x = q->u};
    if (o->method == METHOD_GMRES) memset(q->u, 0, (size_t)q->rows * sizeof *q->u);
    ps_status status = ps_krylov_cpu_solve(method, &system, inner_tolerance_of(s->p), INNER_LIMIT,
                                           s->space, &result);
    s->p->inner_iterations += result.iterations;
    return status;
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

static ps_status visit(parts *s, int64_t d, bool source, const double *g, double *right)
{
    part *q = s->part + d;
    if (source)
        memcpy(right, q->load, (size_t)q->rows * sizeof *right);
    else
        memset(right, 0, (size_t)q->rows * sizeof *right);
    for (int64_t k = 0; k < q->sides; ++k) {
        const double *trace = g + s->start[q->side[k].trace - s->base];
        for (int64_t r = 0; r < q->side[k].nodes; ++r) right[q->side[k].rows[r]] += trace[r];
    }
    ps_status status = solve_part(s, q, right);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "subdomain %lld", (long long)(s->first + d));
}

/* All own subdomains, several at a time where they have factors. */
static ps_status visit_all(parts *s, bool source, const double *g)
{
    ps_failure failure = {.status = PS_OK};
#pragma omp parallel for schedule(dynamic) num_threads(s->workers) if (s->workers > 1)
    for (int64_t d = 0; d < s->end - s->first; ++d)
        if (!ps_has_failed(&failure))
            ps_note_failure(&failure,
                            visit(s, d, source, g, s->right + omp_get_thread_num() * s->largest));
    return ps_first_failure(&failure);
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
#pragma omp parallel for schedule(dynamic) num_threads((int)s->p->run->threads)
    for (int64_t d = 0; d < s->end - s->first; ++d)
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            if (!parts_own(s, x->other)) continue;
            send(s->part + d, x, g + s->start[x->trace - s->base],
                 out + s->start[x->beyond - s->base]);
        }
    return ps_comm_exchange_wait(&pending);
}

static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    parts *s = context;
    PS_TRY(ps_comm_agree(visit_all(s, source, g)));
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

static ps_status correct(void *context, double *r) { return parts_coarse_correct(context, r); }

/* ---- the plan ---- */

/* A guess at what factors hold: 12 rows^(4/3) entries of 16 bytes. */
static int64_t parts_memory(const solve_problem *p, int64_t *all_traces)
{
    ps_subdomains file;
    *all_traces = 0;
    if (ps_subdomains_open(p->options.subdomains, &file) != PS_OK) return 0; /* told by open */
    const ps_subdomains_header *h = &file.header;
    int64_t own = (h->subdomains + ps_comm_size() - 1) / ps_comm_size();
    double rows = (double)h->rows_max, each = 12 * (double)h->entries_max + 40 * rows;
    if (p->options.inner == METHOD_DIRECT) each += 16 * 12 * pow(rows, 4. / 3);
    *all_traces = 2 * h->interfaces * h->face_rows_max;
    int64_t traces = 2 * *all_traces / ps_comm_size();
    int64_t vectors = p->options.method == METHOD_GMRES ? p->options.restart + 2 : 3;
    int64_t coarse = p->options.coarse > 0 ? parts_coarse_doubles(h->subdomains, traces) : 0;
    ps_subdomains_close(&file);
    return (int64_t)(each * (double)own) + 8 * (traces * vectors + coarse) +
           24 * ps_q1_grid_size(&p->grid);
}

static void parts_plan(solve_problem *p, ps_ledger *ledger)
{
    int64_t traces;
    ps_ledger_add(ledger, PS_ROOM_HOST, "subdomains", parts_memory(p, &traces));
    outer_plan_states(p, traces, ledger);
}

static ps_interface interface_of(parts *s)
{
    return (ps_interface){.context = s,
                          .size = s->start[s->traces],
                          .traces = s->traces,
                          .start = s->start,
                          .first = s->base,
                          .all = s->all,
                          .exchange = make_exchange,
                          .measure = measure,
                          .reduce = reduce,
                          .source = true};
}

/* First guesses of Krylov methods. */
static int further_arrays(void *context, ps_checkpoint_array *arrays)
{
    parts *s = context;
    const solve_options *o = &s->p->options;
    if (o->inner == METHOD_DIRECT || o->method == METHOD_GMRES) return 0;
    arrays[0] = (ps_checkpoint_array){"/field", "m2/s2", PS_F64, s->rows, s->fields};
    return 1;
}

static ps_status open(solve_problem *p, void *state)
{
    parts *s = state;
    s->p = p;
    s->workers = p->options.inner == METHOD_DIRECT ? (int)p->run->threads : 1;
    PS_TRY(parts_read(s));
    p->options.slabs = s->file.header.subdomains;
    s->problem = interface_of(s);
    int64_t space = 1;
    if (p->options.inner != METHOD_DIRECT) {
        ps_csr shape = {.rows = s->largest};
        space = ps_krylov_cpu_workspace(krylov_of(p->options.inner),
                                        &(ps_krylov_system){.matrix = &shape});
    }
    PS_TRY(PS_ALLOC(&s->right, s->largest * s->workers, "a subdomain"));
    PS_TRY(PS_ALLOC(&s->space, space, "a subdomain"));
    if (p->options.coarse > 0) {
        PS_TRY(parts_coarse_open(s));
        s->problem.correct = correct;
    }
    PS_TRY(outer_open(p, &s->problem, s, &s->outer));
    s->outer.further = further_arrays;
    return PS_OK;
}

static ps_status solve(void *state) { return outer_solve(&((parts *)state)->outer); }

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

static ps_status write_field(void *state, plane_writer *writer)
{
    parts *s = state;
    const solve_problem *p = s->p;
    double *field = NULL;
    ps_status status = PS_ALLOC(&field, ps_q1_grid_size(&p->grid), "the field");
    if (status == PS_OK) status = visit_all(s, true, s->outer.g);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = collect(s, field);
    for (int64_t i = p->first_plane; i < p->end_plane && status == PS_OK; ++i)
        status = plane_writer_add(writer, field + i * p->load.plane);
    free(field);
    return status;
}

static void close(void *state)
{
    parts *s = state;
    parts_coarse_close(&s->coarse);
    parts_release(s);
    outer_close(&s->outer);
    PS_FREE(s->right, s->space);
}

const solve_way solve_parts = {sizeof(parts), parts_plan, open, solve, write_field, close};
