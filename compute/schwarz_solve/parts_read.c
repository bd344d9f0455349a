/* Subdomains of any shape: reading them, their conditions, factors and traces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/parts.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

int64_t parts_first(int64_t subdomains, int64_t rank) { return subdomains * rank / ps_comm_size(); }

bool parts_own(const parts *s, int64_t subdomain)
{
    return subdomain >= s->first && subdomain < s->end;
}

/* Sides of the interfaces: how many each subdomain has, and the first trace of each. */
typedef struct numbering {
    int32_t (*sides)[2]; /* [interfaces] */
    int64_t *first;      /* [subdomains + 1]: its first trace */
    int64_t (*trace)[2]; /* [interfaces] */
} numbering;

static void numbering_release(numbering *n) { PS_FREE(n->sides, n->first, n->trace); }

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
    int64_t low = ps_range_of(q->nodes, q->rows, node);
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

/* 1 and the coordinates, times the mass matrix of the interface. */
static ps_status fill_modes(const ps_q1_grid *grid, const ps_subdomain_face *face, side *d)
{
    const int64_t *n = grid->nodes, nodes = d->nodes;
    PS_TRY(PS_ALLOC(&d->modes, PARTS_MODES * nodes, "the coarse space"));
    for (int64_t r = 0; r < nodes; ++r)
        for (int64_t e = face->mass.row_start[r]; e < face->mass.row_start[r + 1]; ++e) {
            int64_t node = face->nodes[face->mass.columns[e]];
            int64_t at[3] = {node / (n[1] * n[2]), node / n[2] % n[1], node % n[2]};
            d->modes[r] += face->mass.values[e];
            for (int a = 0; a < 3; ++a)
                d->modes[(1 + a) * nodes + r] +=
                    face->mass.values[e] * (double)at[a] * grid->spacing[a];
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
    if (s->p->options.coarse > 0) PS_TRY(fill_modes(&s->p->grid, face, d));
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
        status = ps_csr_inverse_diagonal(m, false, q->inverse);
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
    return read_sides(s, subdomain, n, q);
}

static ps_status prepare_solvers(parts *s)
{
    ps_failure failure = {.status = PS_OK};
#pragma omp parallel for schedule(dynamic) num_threads((int)s->p->run->threads)
    for (int64_t d = s->first; d < s->end; ++d)
        if (!ps_has_failed(&failure))
            ps_note_failure(&failure, prepare_solver(s, d, s->part + d - s->first));
    return ps_first_failure(&failure);
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
    if (h->lumped != g->lumped)
        return ps_fail(PS_INVALID,
                       "%s has %g of its masses lumped, the load %g: assemble both with one --mass",
                       path, h->lumped, g->lumped);
    if (h->subdomains < ps_comm_size())
        return ps_fail(PS_USAGE, "%s has %lld subdomains; %d ranks need at least as many", path,
                       (long long)h->subdomains, ps_comm_size());
    return PS_OK;
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
    s->traces = own;
    PS_TRY(PS_ALLOC(&s->start, own + 1, "traces"));
    PS_TRY(PS_ALLOC(&s->remote, own, "traces"));
    PS_TRY(PS_ALLOC(&s->exchanges, own, "traces"));
    for (int64_t d = 0; d < s->end - s->first; ++d)
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            s->start[x->trace - s->base + 1] = s->start[x->trace - s->base] + x->nodes;
            if (parts_own(s, x->other)) continue;
            s->remote[s->remote_count++] = (remote_side){x->interface, d, k};
            remote += x->nodes;
        }
    qsort(s->remote, (size_t)s->remote_count, sizeof *s->remote, by_interface);
    return PS_ALLOC(&s->faces, remote, "traces");
}

static ps_status read_all(parts *s, numbering *n)
{
    PS_TRY(number_traces(s, n));
    PS_TRY(PS_ALLOC(&s->part, s->end - s->first, "subdomains"));
    for (int64_t d = s->first; d < s->end; ++d) {
        PS_TRY(read_part(s, d, n));
        s->rows += s->part[d - s->first].rows;
    }
    PS_TRY(prepare_solvers(s));
    PS_TRY(PS_ALLOC(&s->fields, s->rows, "subdomains"));
    double *next = s->fields;
    for (int64_t d = 0; d < s->end - s->first; ++d) {
        s->part[d].u = next;
        next += s->part[d].rows;
    }
    return lay_out(s, n);
}

ps_status parts_read(parts *s)
{
    numbering n = {NULL, NULL, NULL};
    PS_TRY(ps_subdomains_open(s->p->options.subdomains, &s->file));
    PS_TRY(check_grid(s));
    s->first = parts_first(s->file.header.subdomains, ps_comm_rank());
    s->end = parts_first(s->file.header.subdomains, ps_comm_rank() + 1);
    ps_status status = read_all(s, &n);
    numbering_release(&n);
    PS_TRY(ps_comm_agree(status));
    return ps_comm_agree(share_loads(s));
}

static void part_release(part *q)
{
    for (int64_t k = 0; k < q->sides; ++k) {
        free(q->side[k].rows);
        free(q->side[k].modes);
        ps_csr_release(&q->side[k].transfer);
    }
    ps_cholesky_close(&q->factor);
    ps_csr_release(&q->matrix);
    PS_FREE(q->side, q->nodes, q->inverse, q->load);
}

void parts_release(parts *s)
{
    for (int64_t d = 0; s->part && d < s->end - s->first; ++d) part_release(s->part + d);
    ps_subdomains_close(&s->file);
    PS_FREE(s->part, s->fields, s->start, s->remote, s->exchanges, s->faces);
}
