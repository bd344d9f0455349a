/* The searches, the curves and the map. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/transmission_optimize/optimize.h"
#include "runtime/memory.h"

/* ---- samples of the symbol ---- */

typedef struct samples {
    ps_symbol symbol;
    double *memory;
} samples;

static ps_status samples_make(const optimize_problem *o, int64_t count, samples *out)
{
    double hx = o->discrete ? ps_symbol_length(&o->grid) : 0;
    PS_TRY(PS_ALLOC(&out->memory, 3 * count, "samples of the symbol"));
    out->symbol = (ps_symbol){count, out->memory, out->memory + count, out->memory + 2 * count};
    ps_symbol_fill(&(ps_symbol_range){o->k_min, o->k_max, o->overlap, hx}, &out->symbol);
    return PS_OK;
}

/* The range: as given, or that of the face's eigenvalues. */
static void find_range(optimize_problem *o)
{
    static const double pi = 3.14159265358979323846;
    const ps_q1_grid *g = &o->grid;
    double least, largest;
    if (g->nodes[1] < 3 || o->k_min > 0) return;
    ps_face_range(g, &least, &largest);
    o->k_min = sqrt(least);
    o->k_max = sqrt(largest);
    if (o->discrete) return;
    /* What S does: the lowest mode of the face and the highest that the grid can carry. */
    double ly = g->spacing[1] * (double)(g->nodes[1] - 1);
    double lz = g->spacing[2] * (double)(g->nodes[2] - 1);
    o->k_min = pi * sqrt(1 / (ly * ly) + 1 / (lz * lz));
    o->k_max = pi * sqrt(1 / (g->spacing[1] * g->spacing[1]) + 1 / (g->spacing[2] * g->spacing[2]));
}

/* ---- one condition ---- */

static ps_status search_kind(const optimize_problem *o, ps_transmission_kind kind,
                             const ps_symbol *symbol, int64_t index, ps_transmission_file *out)
{
    ps_transmission t;
    ps_cmaes_result result = {.evaluations = 0};
    double rho, hx = o->discrete ? ps_symbol_length(&o->grid) : 0;
    /* as schwarz-solve, which optimises for the discrete symbol */
    double p_start = hx > 0 ? log(.2) : -1, q_start = hx > 0 ? log(hx / sqrt(12.0)) : -1;
    if (o->closed) {
        t = ps_transmission_closed(kind, o->k_min, o->k_max, &rho);
        rho = ps_symbol_largest(symbol, &t);
    } else {
        ps_transmission_search search = {kind, symbol, {p_start, q_start}, (uint64_t)o->seed};
        ps_status status = ps_transmission_optimise(&search, &t, &rho, &result);
        if (status != PS_OK) return ps_context(status, "kind %s", ps_transmission_name(kind));
    }
    strcpy(out->kinds[index], ps_transmission_name(kind));
    for (int s = 0; s < 2; ++s) {
        out->coefficients[index][2 * s] = t.p[s];
        out->coefficients[index][2 * s + 1] = t.q[s];
    }
    out->factor[index] = rho;
    out->evaluations[index] = result.evaluations;
    for (int64_t i = 0; i < symbol->count; ++i)
        out->rate[index * symbol->count + i] =
            ps_symbol_rate(&t, symbol->lambda[i], symbol->mu[i]) * symbol->decay[i];
    return PS_OK;
}

/* ---- the map ---- */

/* The ends of an axis: as given, or two decades around the one-sided optimum. */
static void fill_axis(const double ends[2], double middle, int64_t count, double *out)
{
    double low = ends[0] > 0 ? ends[0] : middle / 10, high = ends[0] > 0 ? ends[1] : middle * 10;
    for (int64_t i = 0; i < count; ++i)
        out[i] = low * pow(high / low, (double)i / (double)(count - 1));
}

static ps_status make_map(const optimize_problem *o, const ps_symbol *symbol,
                          ps_transmission_file *out)
{
    ps_transmission middle = {{0}, {0}};
    double rho, hx = o->discrete ? ps_symbol_length(&o->grid) : 0;
    ps_cmaes_result result;
    ps_transmission_search search = {
        PS_OO2_SYMMETRIC, symbol, {-1, hx > 0 ? log(hx / sqrt(12.0)) : -1}, (uint64_t)o->seed};
    PS_TRY(ps_transmission_optimise(&search, &middle, &rho, &result));
    fill_axis(o->map_p, middle.p[0], o->map, out->map_p);
    fill_axis(o->map_q, middle.q[0], o->map, out->map_q);
#pragma omp parallel for
    for (int64_t i = 0; i < o->map; ++i)
        for (int64_t j = 0; j < o->map; ++j) {
            double p = out->map_p[i], q = out->map_q[j];
            out->map_rate[i * o->map + j] =
                ps_symbol_largest(symbol, &(ps_transmission){{p, p}, {q, q}});
        }
    return PS_OK;
}

/* ---- all ---- */

static ps_status fill(const optimize_problem *o, const ps_symbol *symbol, ps_transmission_file *out)
{
    int first = o->kind == PS_TRANSMISSION_KINDS ? 0 : o->kind;
    snprintf(out->length_unit, sizeof out->length_unit, "%s", o->length_unit);
    out->discrete = o->discrete;
    out->k_min = o->k_min;
    out->k_max = o->k_max;
    out->overlap = o->overlap;
    out->hx = o->discrete ? ps_symbol_length(&o->grid) : 0;
    out->seed = o->seed;
    for (int64_t i = 0; i < symbol->count; ++i) out->k[i] = sqrt(symbol->mu[i]);
    for (int i = 0; i < out->conditions; ++i)
        PS_TRY(search_kind(o, (ps_transmission_kind)(first + i), symbol, i, out));
    return o->map ? make_map(o, symbol, out) : PS_OK;
}

ps_status optimize(const optimize_problem *problem, ps_transmission_file *out)
{
    optimize_problem own = *problem;
    samples s = {.memory = NULL};
    find_range(&own);
    int conditions = own.kind == PS_TRANSMISSION_KINDS ? PS_TRANSMISSION_KINDS : 1;
    PS_TRY(ps_transmission_file_init(out, conditions, own.samples, own.map));
    ps_status status = samples_make(&own, own.samples, &s);
    if (status == PS_OK) status = fill(&own, &s.symbol, out);
    free(s.memory);
    return status;
}
