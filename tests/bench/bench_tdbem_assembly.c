/*
 * Assembly: microseconds per ordered pair (i, j) and core, and nanoseconds per edge, radius and
 * point of the shell integrals; 3 and 6 points, sound-soft and sound-hard, h/D = 1, 2, 4. One JSON
 * record a line. Times are processor time of one thread, the best of several.
 *
 * The floor of a time is the arithmetic alone: PS_SHELL_*_FLOPS per edge and radius at the rate
 * that this core reaches on independent multiply-adds.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "kernels/tdbem/interaction_internal.h"
#include "runtime/scope.h"
#include "tests/support/interaction_case.h"
#include "tests/support/peak_flops.h"
#include "tests/support/record.h"

/* Radii walked by the outer points of a tile of pairs (the number that costs). */
static double radii_of(const interaction_case *c, int64_t first_row, int64_t first_slice,
                       int64_t side)
{
    static double values[512][PS_LANES] __attribute__((aligned(64)));
    ps_shell_values out = {.capacity = 512, .inverse = values};
    ps_shell_lanes lanes;
    double radii = 0, pairs = 0;
    for (int64_t i = first_row; i < first_row + side; i += 7)
        for (int64_t j = first_slice; j + PS_LANES <= first_slice + side; j += PS_LANES) {
            for (int l = 0; l < PS_LANES; ++l)
                ps_shell_lanes_set(&lanes, l, c->triangles[i].centroid, &c->triangles[j + l]);
            ps_shell_functions_here()->soft(&lanes, c->interaction.shell, &out);
            for (int l = 0; l < PS_LANES; ++l, ++pairs) radii += (double)out.count[l] - 1;
        }
    return radii / pairs;
}

static void bench(ps_formulation formulation, int points, double courant, double flops)
{
    PS_SCOPED(icosphere_release) icosphere mesh = {0};
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    enum { SIDE = 256 };
    icosphere_init(&mesh, 4);
    icosphere_jitter(&mesh, .01);
    interaction_case_init(&c, &mesh, formulation, points, icosphere_mean_edge(&mesh) / courant);
    bool hard = formulation == PS_SOUND_HARD;
    PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0};
    interaction_tile_init(&c.interaction, 0, SIDE, 4 * SIDE, SIDE, &tile);
    int64_t bytes = ps_interaction_workspace(&c.interaction, 0, SIDE, 4 * SIDE, SIDE);
    PS_SCOPED_MEMORY void *workspace = malloc((size_t)bytes);
    double best = 1e30;
    for (int trial = 0; trial < 5; ++trial) {
        double start = thread_seconds();
        must(ps_interaction_compute(&c.interaction, &tile, workspace, bytes));
        best = fmin(best, thread_seconds() - start);
    }
    double pairs = (double)tile.pairs, radii = radii_of(&c, 0, 4 * SIDE, SIDE);
    double edges = 2.0 * points * 3 * radii; /* edge, radius and point of one pair, both orders */
    double floor = edges * (hard ? PS_SHELL_HATS_FLOPS : PS_SHELL_SOFT_FLOPS) / flops;
    char size[96];
    snprintf(size, sizeof size, "%d points, h/D = %g, %.1f radii", points, courant, radii);
    const char *name = hard ? "assembly sound-hard" : "assembly sound-soft";
    bench_record_core(name, "time per pair of triangles, both orders", 1e6 * best / pairs, "us",
                      1e6 * floor, size);
    bench_record_core(name, "time per edge, radius and point", 1e9 * best / pairs / edges, "ns",
                      1e9 * floor / edges, size);
    /* Where tiles are mirrored, as in a run of one rank, each serves two entries. */
    if (!hard)
        bench_record_core(name, "time per ordered pair, mirrored", 1e6 * best / pairs / 2, "us",
                          1e6 * floor / 2, size);
}

int main(void)
{
    double flops = peak_flops();
    omp_set_num_threads(1);
    for (int f = 0; f < 2; ++f)
        for (int points = 3; points <= 6; points += 3)
            for (double courant = 1; courant <= 4; courant *= 2)
                bench(f ? PS_SOUND_HARD : PS_SOUND_SOFT_S, points, courant, flops);
    return 0;
}
