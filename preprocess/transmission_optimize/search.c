/* The searches, the curves and the maps. */
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
        PS_TRY_IN(ps_transmission_optimise(&search, &t, &rho, &result), "kind %s",
                  ps_transmission_name(kind));
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

/* ---- the maps ---- */

/* The ends of an axis: as given, or those around the optimum. */
static void fill_axis(const double ends[2], const double around[2], double *out, int64_t count)
{
    double low = ends[0] > 0 ? ends[0] : around[0], high = ends[0] > 0 ? ends[1] : around[1];
    for (int64_t i = 0; i < count; ++i)
        out[i] = low * pow(high / low, (double)i / (double)(count - 1));
}

static void fill_axes(const optimize_problem *o, ps_map_kind kind, const double best[4],
                      ps_transmission_map *map)
{
    const double none[2] = {0, 0}, decade[2] = {best[0] / 10, best[0] * 10};
    const double tenfold[2] = {best[1] / 10, best[1] * 10}, both[2] = {best[2] / 4, best[0] * 4};
    const double numbers[2] = {o->k_min, o->k_max};
    bool sides = kind == PS_MAP_OO0_TWO_SIDED;
    fill_axis(o->map_p, sides ? both : decade, map->x, o->map);
    if (sides)
        fill_axis(o->map_p, both, map->y, o->map);
    else if (kind == PS_MAP_OO0)
        fill_axis(none, numbers, map->y, o->map);
    else
        fill_axis(o->map_q, tenfold, map->y, o->map);
}

/* The value of a map at (x, y): at wave number y for oo0, otherwise the largest over the samples. */
static double map_value(const ps_symbol *symbol, ps_map_kind kind, const double best[4],
                        const double at[2])
{
    double x = at[0], y = at[1];
    switch (kind) {
    case PS_MAP_OO0:
        return ps_symbol_largest(symbol, &(ps_transmission){{x, x}, {0, 0}});
    case PS_MAP_OO0_TWO_SIDED:
        return ps_symbol_largest(symbol, &(ps_transmission){{x, y}, {0, 0}});
    case PS_MAP_OO2:
        return ps_symbol_largest(symbol, &(ps_transmission){{x, x}, {y, y}});
    default:
        return ps_symbol_largest(symbol, &(ps_transmission){{x, best[2]}, {y, best[3]}});
    }
}

/* Over (p, k) the symbol is that of the map's own wave numbers, one sample a value. */
static void fill_map(const ps_symbol *symbol, int64_t n, ps_map_kind kind, const double best[4],
                     ps_transmission_map *map)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            ps_symbol one = {1, symbol->lambda + j, symbol->mu + j, symbol->decay + j};
            double at[2] = {map->x[i], map->y[j]};
            map->rate[i * n + j] = map_value(kind == PS_MAP_OO0 ? &one : symbol, kind, best, at);
        }
}

static ps_status make_map(const optimize_problem *o, const ps_symbol *symbol, int condition,
                          ps_transmission_file *out)
{
    ps_map_kind kind = PS_MAP_OO0;
    while (strcmp(ps_map_table[kind].kind, out->kinds[condition]) != 0) ++kind;
    const double *best = out->coefficients[condition];
    samples own = {.symbol = *symbol, .memory = NULL};
    PS_TRY(ps_transmission_add_map(out, kind));
    fill_axes(o, kind, best, &out->maps[kind]);
    if (kind == PS_MAP_OO0) PS_TRY(samples_make(o, o->map, &own));
    fill_map(&own.symbol, o->map, kind, best, &out->maps[kind]);
    free(own.memory);
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
    out->map = o->map;
    for (int i = 0; o->map && i < out->conditions; ++i) PS_TRY(make_map(o, symbol, i, out));
    return PS_OK;
}

ps_status optimize(const optimize_problem *problem, ps_transmission_file *out)
{
    optimize_problem own = *problem;
    samples s = {.memory = NULL};
    find_range(&own);
    int conditions = own.kind == PS_TRANSMISSION_KINDS ? PS_TRANSMISSION_KINDS : 1;
    PS_TRY(ps_transmission_file_init(out, conditions, own.samples));
    ps_status status = samples_make(&own, own.samples, &s);
    if (status == PS_OK) status = fill(&own, &s.symbol, out);
    free(s.memory);
    return status;
}
