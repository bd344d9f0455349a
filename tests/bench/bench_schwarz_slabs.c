/*
 * Interface iterations to 1e-6 at the paper's full size, 264 x 264 x 286 nodes (19,933,056), by
 * kind of transmission, number of slabs and acceleration, with exact slab solves in sine modes.
 * The floor of a record is the paper's count (table 12: 41, 45, 92 at 32, 64, 128 subdomains), 0
 * where it has none. SIZE=small takes 66 x 66 x 72 nodes.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/schwarz/slab_box.h"
#include "runtime/memory.h"
#include "runtime/program.h"

enum { COARSE = PS_TRANSMISSION_KINDS, CASES, LIMIT = 120, STEPS = 60 };
enum { FIXED_POINT, GMRES, SWEEPS, WAYS };
static const char *const way_names[WAYS] = {"fixed point", "GMRES", "double sweeps"};
static const char *const case_names[CASES] = {"oo0 symmetric", "oo0 unsymmetric",
                                              "oo2 symmetric", "oo2 unsymmetric",
                                              "oo2 unsymmetric, coarse k < 0.5"};

typedef struct study {
    ps_q1_grid grid;
    ps_transmission best[PS_TRANSMISSION_KINDS];
    double *load;
} study;

static ps_status find_transmissions(study *s)
{
    static double memory[3][500];
    ps_symbol symbol = {500, memory[0], memory[1], memory[2]};
    double least, largest;
    ps_face_range(&s->grid, &least, &largest);
    ps_symbol_fill(&(ps_symbol_range){sqrt(least), sqrt(largest), 0, s->grid.spacing[0]},
                   &symbol);
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        ps_transmission_search search = {
            kind, &symbol, {log(.2), log(s->grid.spacing[0] / sqrt(12))}, 1};
        ps_cmaes_result result;
        double rho;
        PS_TRY(ps_transmission_optimise(&search, s->best + kind, &rho, &result));
        fprintf(stderr, "%-16s p %.4f %.4f q %.4f %.4f  rho %.4f\n", case_names[kind],
                s->best[kind].p[0], s->best[kind].p[1], s->best[kind].q[0], s->best[kind].q[1],
                rho);
    }
    return PS_OK;
}

/* f = 1 in modes: one plane transformed, the same on all planes inside. */
static ps_status make_load(study *s)
{
    ps_slab slab = ps_slab_whole(&s->grid);
    ps_fast_solver solver;
    const int64_t *n = s->grid.nodes;
    double *tables, *nodes, *scratch;
    double volume = s->grid.spacing[0] * s->grid.spacing[1] * s->grid.spacing[2];
    PS_TRY(PS_ALLOC(&tables, ps_fast_solver_size(&slab), "tables"));
    PS_TRY(ps_fast_solver_make(&slab, tables, &solver));
    int64_t plane = solver.my * solver.stride;
    PS_TRY(PS_ALLOC(&nodes, n[1] * n[2], "plane"));
    PS_TRY(PS_ALLOC(&scratch, plane, "plane"));
    PS_TRY(PS_ALLOC(&s->load, n[0] * plane, "load"));
    for (int64_t i = 0; i < n[1] * n[2]; ++i) nodes[i] = volume;
    ps_fast_to_modes(&solver, nodes, s->load + plane, scratch);
    for (int64_t i = 2; i < n[0] - 1; ++i)
        memcpy(s->load + i * plane, s->load + plane, (size_t)plane * sizeof(double));
    free(tables);
    free(nodes);
    free(scratch);
    return PS_OK;
}

/* Iterations, or -1 where the limit is not enough. */
static ps_status count(const study *s, int which, int64_t slabs, int way, int64_t *out)
{
    bool coarse = which == COARSE;
    ps_slab_box_plan plan = {.grid = s->grid,
                             .slabs = slabs,
                             .transmission = s->best[coarse ? PS_OO2_UNSYMMETRIC : which],
                             .modes = true,
                             .threads = omp_get_max_threads(),
                             .load = s->load,
                             .coarse = coarse ? .5 : 0};
    double *memory, *g, *space;
    ps_slab_box box;
    ps_krylov_result result;
    PS_TRY(PS_ALLOC(&memory, ps_slab_box_size(&plan), "box"));
    PS_TRY(ps_slab_box_make(&plan, memory, &box));
    int64_t n = ps_slab_box_traces(&box);
    PS_TRY(PS_ALLOC(&g, n, "traces"));
    PS_TRY(ps_alloc_untouched((void **)&space,
                              way == GMRES ? 8 * ps_interface_gmres_workspace(n, STEPS) : 8 * n,
                              "workspace"));
    ps_interface problem = ps_slab_box_interface(&box, true);
    ps_status status =
        way == SWEEPS ? ps_slab_box_sweeps(&box, 1e-6, LIMIT, g, &result)
        : way == GMRES
            ? ps_interface_gmres(&problem, &(ps_gmres){1e-6, STEPS, STEPS}, g, space, &result)
            : ps_interface_fixed_point(&problem, 1e-6, LIMIT, g, space, &result);
    free(memory);
    free(g);
    free(space);
    *out = result.converged ? result.iterations : -1;
    return status == PS_FAILED ? PS_OK : status;
}

static ps_status show(const study *s, int which, int64_t slabs, int way)
{
    if (which == COARSE && way == SWEEPS) return PS_OK;
    int64_t iterations, paper = slabs == 32 ? 41 : slabs == 64 ? 45 : slabs == 128 ? 92 : 0;
    double start = ps_clock();
    PS_TRY(count(s, which, slabs, way, &iterations));
    fprintf(stderr, "%3lld slabs  %-32s %-14s %4lld  (%.1f s)\n", (long long)slabs,
            case_names[which], way_names[way], (long long)iterations, ps_clock() - start);
    printf("{\"case\": \"gravity-19m9-interface\", \"quantity\": \"%s, %s\", \"value\": %lld, "
           "\"unit\": \"iterations\", \"floor\": %lld, \"fraction\": %.3f, "
           "\"size\": \"%lld x %lld x %lld nodes, %lld slabs\", \"device\": \"cpu\", "
           "\"revision\": \"%s\"}\n",
           case_names[which], way_names[way], (long long)iterations, (long long)paper,
           iterations > 0 ? (double)paper / (double)iterations : 0, (long long)s->grid.nodes[0],
           (long long)s->grid.nodes[1], (long long)s->grid.nodes[2], (long long)slabs,
           ps_revision());
    fflush(stdout);
    return PS_OK;
}

static ps_status run(study *s)
{
    const char *size = getenv("SIZE");
    bool small = size && strcmp(size, "small") == 0;
    const int64_t nodes[3] = {small ? 66 : 264, small ? 66 : 264, small ? 72 : 286};
    PS_TRY(ps_q1_grid_make(nodes, (const double[3]){250, 250, 15}, &s->grid));
    PS_TRY(find_transmissions(s));
    PS_TRY(make_load(s));
    for (int64_t slabs = 2; slabs <= (small ? 32 : 128); slabs *= 2)
        for (int which = PS_OO0_UNSYMMETRIC; which < CASES; ++which)
            for (int way = 0; way < WAYS; ++way)
                if (which >= PS_OO2_SYMMETRIC || slabs == 2)
                    PS_TRY(show(s, which, slabs, way));
    return PS_OK;
}

int main(void)
{
    study s = {0};
    ps_status status = run(&s);
    if (status != PS_OK) fprintf(stderr, "bench_schwarz_slabs: %s\n", ps_message());
    free(s.load);
    return status;
}
