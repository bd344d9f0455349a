/* Half steps with all that is recorded of them, and whole steps in memory. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"
#include "runtime/search.h"

int64_t term_count(const march_options *options, ps_dgtd_field field)
{
    return !options->balance ? 1 : field == PS_DGTD_E ? ELECTRIC_TERMS : MAGNETIC_TERMS;
}

int64_t row_values(const march_options *options, const problem *p)
{
    return 6 * p->probe_count + term_count(options, PS_DGTD_E) + term_count(options, PS_DGTD_H) +
           2 * ps_dgtd_model_ports(p->model)->count;
}

/* Steps between samples of the terms: a balance adds up all steps. */
static int64_t terms_every(const march *m)
{
    return m->options->balance ? 1 : m->problem->timing.energy_every;
}

/* ---- one range ---- */

/* Own probes, which ascend by slot, that lie before a group. */
static int64_t probes_before(const march *m, int64_t group)
{
    int64_t low;
    int64_t slot = group * ps_dgtd_lanes(m->march.system->precision);
    PS_LOWER_BOUND(low, 0, m->probe_count, at, m->probes[at].slot < slot);
    return low;
}

/* Are the fields after the step `step` -> step + 1 part of the running DFT? */
bool march_is_transformed(const march *m, int64_t step)
{
    const timing *t = &m->problem->timing;
    int64_t periods = m->options->transform_periods, after = step + 1;
    int64_t first = periods > 0 ? t->steps - periods * t->period_steps : 0;
    return m->problem->frequency_count > 0 && after > first &&
           (t->steps - after) % m->options->transform_every == 0;
}

/* Steps that the running DFT adds up. */
static double transformed_steps(const march *m)
{
    const timing *t = &m->problem->timing;
    int64_t periods = m->options->transform_periods, every = m->options->transform_every;
    int64_t window = periods > 0 ? periods * t->period_steps : t->planned;
    return (double)((window + every - 1) / every);
}

double march_transform_scale(const march *m) { return 2 / transformed_steps(m); }

/* Where the energies of a step go, or NULL: samples of the batch that began at `first`. */
static double *terms_of(const march *m, ps_dgtd_field field, int64_t step, int64_t first)
{
    int64_t every = terms_every(m);
    if ((step + 1) % every != 0) return NULL;
    int64_t sample = (step + 1) / every - first / every - 1;
    return m->terms[field] + sample * term_count(m->options, field) * m->march.system->groups;
}

/* Are probes sampled after a step: those asked for, or those of the far field? */
static bool is_sampled(const problem *p, int64_t step)
{
    return (p->probe_count > 0 && (step + 1) % p->timing.probe_every == 0) ||
           far_is_sampled(p, step);
}

bool march_is_recorded(const march *m, int64_t step)
{
    return (step + 1) % terms_every(m) == 0 || is_sampled(m->problem, step) ||
           march_is_transformed(m, step);
}

/* What is recorded of a part after its half step. */
static ps_status record_part(march *m, ps_dgtd_field field, int64_t first, const backend_part *x)
{
    const backend *b = m->backend;
    int64_t probe = probes_before(m, x->begin), probes = probes_before(m, x->end) - probe;
    if (probes > 0 && is_sampled(m->problem, x->step))
        PS_TRY(b->sample(m->state, field, x->step - first, probe, probes));
    if (!march_is_transformed(m, x->step)) return PS_OK;
    double t = ((double)x->step + (field == PS_DGTD_E ? 1 : 1.5)) * m->march.dt;
    return b->transform(m->state, field, march_transform_scale(m), t, x->begin, x->end);
}

ps_status march_parts(march *m, ps_dgtd_field field, int64_t first, backend_part *parts, int count)
{
    if (count == 0) return PS_OK;
    for (int k = 0; k < count; ++k) parts[k].terms = terms_of(m, field, parts[k].step, first);
    PS_TRY(m->backend->halves(m->state, field, parts, count));
    for (int k = 0; k < count; ++k) PS_TRY(record_part(m, field, first, parts + k));
    return PS_OK;
}

static ps_status half_range(march *m, ps_dgtd_field field, int64_t step, int64_t first,
                            int64_t begin, int64_t end)
{
    backend_part part = {.step = step, .begin = begin, .end = end};
    return march_parts(m, field, first, &part, begin < end);
}

/* ---- whole steps ---- */

/* Calls a half step of the elements of own parts that touch other ranks (border), or of the others,
 * in ranges of groups. Groups that both have a share in go with the border. */
static ps_status each_part(march *m, ps_dgtd_field field, int64_t step, int64_t first, bool border)
{
    const problem *p = m->problem;
    int lanes = ps_dgtd_lanes(p->system.precision);
    const int64_t *start = ps_dgtd_model_part_start(p->model);
    const int64_t *interior = ps_dgtd_model_interior(p->model);
    int64_t done = 0; /* groups */
    for (int64_t q = p->domain.first_part; q < p->domain.end_part; ++q) {
        bool last = q + 1 == p->domain.end_part;
        int64_t inner = (start[q] - p->domain.first + interior[q]) / lanes;
        int64_t end =
            last ? p->system.groups : (start[q + 1] - p->domain.first + lanes - 1) / lanes;
        if (inner < done) inner = done;
        if (border)
            PS_TRY(half_range(m, field, step, first, inner, end));
        else
            PS_TRY(half_range(m, field, step, first, done, inner));
        done = end > done ? end : done;
    }
    return PS_OK;
}

static ps_status half_of_all(march *m, ps_dgtd_field field, int64_t step, int64_t first)
{
    if (!m->exchange) return half_range(m, field, step, first, 0, m->march.system->groups);
    if (m->exchange->direct) {
        PS_TRY(m->backend->edge(m->state, field));
        PS_TRY(each_part(m, field, step, first, true));
        PS_TRY(m->backend->push(m->state, field));
        return each_part(m, field, step, first, false);
    }
    PS_TRY(each_part(m, field, step, first, true));
    PS_TRY(exchange_gather(m->exchange, field));
    if (!m->backend->beside) PS_TRY(exchange_send(m->exchange));
    PS_TRY(each_part(m, field, step, first, false));
    double since = ps_clock();
    if (m->backend->beside) PS_TRY(exchange_send(m->exchange));
    PS_TRY(exchange_finish(m->exchange, field));
    m->clock.waiting += ps_clock() - since;
    return PS_OK;
}

ps_status march_steps(march *m, int64_t count)
{
    for (int64_t s = m->done; s < m->done + count; ++s) {
        if (m->split) {
            PS_TRY(local_split_step(m, s, m->done));
            continue;
        }
        if (m->march.local) PS_TRY(local_begin(m));
        PS_TRY(ports_advance(m, s));
        PS_TRY(wires_advance(m, s));
        PS_TRY(half_of_all(m, PS_DGTD_E, s, m->done));
        if (m->march.local) PS_TRY(local_end(m));
        PS_TRY(half_of_all(m, PS_DGTD_H, s, m->done));
    }
    return PS_OK;
}

/* ---- rows ---- */

/* Values at probes and sums of the terms of `count` steps from the backend. */
static ps_status take(march *m, int64_t count)
{
    int64_t every = terms_every(m), samples = (m->done + count) / every - m->done / every;
    backend_sums sums;
    for (int field = 0; field < 2; ++field) {
        sums.rows[field] = samples * term_count(m->options, (ps_dgtd_field)field);
        sums.of[field] = m->term_sums[field];
    }
    return m->backend->take(m->state, count, m->values, &sums);
}

/* The terms of one sample. */
static double *put_terms(const march *m, ps_dgtd_field field, int64_t sample, double *to)
{
    int64_t count = term_count(m->options, field);
    memcpy(to, m->term_sums[field] + sample * count, (size_t)count * sizeof *to);
    return to + count;
}

ps_status march_rows(march *m, int64_t count)
{
    int64_t width = row_values(m->options, m->problem), sample = 0;
    int64_t ports = 2 * m->problem->port_count;
    memset(m->rows, 0, (size_t)(count * width) * sizeof *m->rows);
    PS_TRY(take(m, count));
    for (int64_t i = 0; i < count; ++i) {
        double *row = m->rows + i * width, *to = row + 6 * m->problem->probe_count;
        const double *values = m->values + i * m->probe_count * 6;
        for (int64_t p = 0; p < m->probe_count; ++p)
            if (m->probe_places[p] < m->problem->probe_count)
                memcpy(row + 6 * m->probe_places[p], values + p * 6, 6 * sizeof *row);
        if (far_is_sampled(m->problem, m->done + i)) far_add(m, m->done + i, values);
        ports_row(m, i, row + width - ports);
        if ((m->done + 1 + i) % terms_every(m)) continue;
        to = put_terms(m, PS_DGTD_E, sample, to);
        put_terms(m, PS_DGTD_H, sample++, to);
    }
    return ps_comm_sum_f64(m->rows, count * width);
}
