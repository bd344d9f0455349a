#include "kernels/dgtd/energy.h"

#include <string.h>

#include "kernels/common/reals.h"

size_t ps_dgtd_energy_bytes(const ps_dgtd_system *system)
{
    return 3 * PS_DGTD_ENERGY_GROUPS * (size_t)ps_dgtd_group_bytes(system->order);
}

/* mean = (a + b)/2 of `count` groups. */
static void average(const ps_dgtd_system *system, const void *a, const void *b, int64_t count,
                    void *mean)
{
    int64_t values = count * ps_dgtd_group_bytes(system->order) / ps_real_bytes(system->precision);
    for (int64_t i = 0; i < values; ++i)
        if (system->precision == PS_SINGLE)
            ((float *)mean)[i] = (((const float *)a)[i] + ((const float *)b)[i]) / 2;
        else
            ((double *)mean)[i] = (((const double *)a)[i] + ((const double *)b)[i]) / 2;
}

/* A few groups of a half step: their field before, after and the mean of both, all as if they began
 * with group 0; and the time of the other field. */
typedef struct block {
    const ps_dgtd_energy *energy;
    const ps_dgtd_march *march;
    int64_t begin, end;
    const void *before, *after, *mean;
    const void *layer; /* j of pml.h, or NULL */
    double t;
} block;

/* What the layer takes out of the field: its j enters rows of E with a plus, of H with a minus. */
static void add_layer(const block *x, ps_dgtd_field field, const void *u, double *lost)
{
    const ps_dgtd_march *m = x->march;
    int64_t row = ps_dgtd_pml_row(m->pml, x->begin);
    for (; row < m->pml->rows && m->pml->groups[row] < x->end; ++row) {
        double work[1];
        int64_t g = m->pml->groups[row];
        ps_dgtd_inner_groups(m->system, x->energy->ones, u, x->layer, g, g + 1, work - g);
        lost[g] += (field == PS_DGTD_E ? -2 : 2) * work[0]; /* inner is half of it */
    }
}

/* The terms of border and currents, times `factor`: u' Q v lost, u' (G + j) supplied, where v is
 * what the absorbing term is made of (border.h). */
static void add_border(const block *x, ps_dgtd_field field, const void *u, double factor,
                       double *lost, double *supplied)
{
    const ps_dgtd_march *m = x->march;
    const void *v = m->border && m->border->averaged ? x->mean : x->before;
    for (int64_t g = x->begin; g < x->end; ++g) lost[g] = supplied[g] = 0;
    if (m->border)
        ps_dgtd_border_terms(m->border, m->system, field, u, v, x->t, x->begin, x->end, lost,
                             supplied);
    if (x->layer) add_layer(x, field, u, lost);
    for (int64_t k = 0; field == PS_DGTD_E && k < m->current_count; ++k)
        ps_dgtd_current_work(m->currents + k, m->system, u, x->t, x->begin, x->end, supplied);
    for (int64_t k = 0; field == PS_DGTD_E && k < m->port_count; ++k)
        ps_dgtd_port_work(m->ports + k, m->system, u, x->begin, x->end, supplied);
    for (int64_t k = 0; field == PS_DGTD_E && k < m->wire_count; ++k)
        ps_dgtd_wire_work(m->wires + k, m->system, u, x->begin, x->end, supplied);
    for (int64_t g = x->begin; g < x->end; ++g) {
        lost[g] *= factor;
        supplied[g] *= factor;
    }
}

static void electric_terms(const block *x, double *terms)
{
    const ps_dgtd_system *s = x->march->system;
    int64_t groups = s->groups;
    double *conducted = terms + PS_DGTD_CONDUCTED * groups, dt = x->march->dt;
    ps_dgtd_inner_groups(s, x->energy->eps, x->after, x->after, x->begin, x->end, terms);
    if (!x->energy->balance) return;
    ps_dgtd_inner_groups(s, x->energy->sigma, x->mean, x->mean, x->begin, x->end, conducted);
    for (int64_t g = x->begin; g < x->end; ++g) conducted[g] *= 2 * dt;
    add_border(x, PS_DGTD_E, x->mean, dt, terms + PS_DGTD_LOST * groups,
               terms + PS_DGTD_SUPPLIED * groups);
}

static void magnetic_terms(const block *x, double *terms)
{
    const ps_dgtd_system *s = x->march->system;
    int64_t groups = s->groups;
    const ps_dgtd_local *local = x->energy->local;
    ps_dgtd_inner_groups(s, x->energy->mu, x->before, x->after, x->begin, x->end, terms);
    for (int64_t g = x->begin; local && g < x->end;
         ++g) /* R_1 H^{n-1/2} in the place of H^{n-1/2} */
        if (local->inside[g])
            ps_dgtd_inner_groups(s, x->energy->mu, local->kept, x->after, g, g + 1, terms);
    if (!x->energy->balance) return;
    add_border(x, PS_DGTD_H, x->before, x->march->dt / 2, terms + PS_DGTD_LOST_X * groups,
               terms + PS_DGTD_SUPPLIED_X * groups);
    add_border(x, PS_DGTD_H, x->after, x->march->dt / 2, terms + PS_DGTD_LOST_Y * groups,
               terms + PS_DGTD_SUPPLIED_Y * groups);
}

static void half_of_block(const ps_dgtd_energy *x, const ps_dgtd_march *march, ps_dgtd_field field,
                          int64_t begin, int64_t end, double *terms)
{
    const ps_dgtd_system *system = march->system;
    size_t bytes = (size_t)ps_dgtd_group_bytes(system->order), from = (size_t)begin * bytes;
    char *target = field == PS_DGTD_E ? march->electric : march->magnetic;
    char *mean = (char *)x->former + PS_DGTD_ENERGY_GROUPS * bytes;
    if (x->balance || field == PS_DGTD_H)
        memcpy(x->former, target + from, (size_t)(end - begin) * bytes);
    ps_dgtd_march told = *march;
    ps_dgtd_pml layer;
    char *work = mean + PS_DGTD_ENERGY_GROUPS * bytes;
    if (x->balance && march->pml) {
        layer = *march->pml;
        layer.work = work;
        layer.work_group = begin;
        told.pml = &layer;
    }
    ps_dgtd_march_half(&told, field, begin, end);
    if (x->balance) average(system, x->former, target + from, end - begin, mean);
    block of = {.energy = x,
                .march = march,
                .begin = begin,
                .end = end,
                .before = (const void *)((uintptr_t)x->former - from),
                .after = target,
                .mean = (const void *)((uintptr_t)mean - from),
                .layer = x->balance && march->pml ? (const void *)((uintptr_t)work - from) : NULL,
                .t = ((double)march->step + (field == PS_DGTD_E ? 0.5 : 1)) * march->dt};
    if (field == PS_DGTD_E)
        electric_terms(&of, terms);
    else
        magnetic_terms(&of, terms);
}

void ps_dgtd_energy_half(const ps_dgtd_energy *x, const ps_dgtd_march *march, ps_dgtd_field field,
                         int64_t begin, int64_t end, double *terms)
{
    for (int64_t g = begin; g < end; g += PS_DGTD_ENERGY_GROUPS)
        half_of_block(x, march, field, g,
                      g + PS_DGTD_ENERGY_GROUPS < end ? g + PS_DGTD_ENERGY_GROUPS : end, terms);
}
