/*
 * Generation of the airplane's matrices (cases/tdbem-airplane) on a CUDA device: the kernels alone,
 * then with the copies to the host, mirrored squares included; nothing is compressed or written.
 *
 *   bench_tdbem_generate [MESH [SQUARES]]   default: cases/tdbem-airplane/out/airplane.hdf, all
 *
 * The floor is the arithmetic of the shell integrals, PS_SHELL_HATS_FLOPS per edge and radius
 * inside a triangle, at the card's measured 32.3 TFlop/s in double precision. One JSON record a
 * line.
 */
#include <omp.h>
#include <stdio.h>

#include "formats/surface_mesh.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/sizes.h"
#include "tests/gpu/interaction_device_case.h"
#include "tests/support/record.h"

enum { SIDE = 512, SLOTS = 4, POINTS = 3, SHELLS = 339 };
static const double length = 36, fp64_peak = 32.3e12;

typedef struct generation {
    interaction_case c;
    interaction_device_case slots[SLOTS];
    ps_interaction_tile tiles[SLOTS], mirrors[SLOTS];
    int64_t blocks, squares; /* squares: on and above the diagonal */
    int64_t limit;           /* of the squares that are computed   */
    ps_device *device;
} generation;

/* Squares in the order of their distance from the start, so that few of them are a mixture. */
static void set_square(const generation *g, int64_t number, ps_interaction_tile *tile)
{
    int64_t at = g->limit < g->squares ? number * g->squares / g->limit : number, column = 0;
    for (; at > column; ++column) at -= column + 1;
    int64_t n = g->c.interaction.unknowns;
    tile->first_row = at * SIDE;
    tile->first_slice = column * SIDE;
    tile->rows = ps_smaller(SIDE, n - tile->first_row);
    tile->slices = ps_smaller(SIDE, n - tile->first_slice);
}

static void turn(const ps_interaction_tile *tile, ps_interaction_tile *mirror)
{
    mirror->first_row = tile->first_slice;
    mirror->rows = tile->slices;
    mirror->first_slice = tile->first_row;
    mirror->slices = tile->rows;
}

static ps_status tile_memory(ps_device *device, ps_interaction_tile *tile)
{
    int64_t entries = SIDE * SIDE;
    tile->value_capacity = 32 * entries;
    PS_TRY(ps_device_alloc_pinned(device, 2 * entries, (void **)&tile->starts));
    PS_TRY(ps_device_alloc_pinned(device, 2 * entries, (void **)&tile->lengths));
    PS_TRY(ps_device_alloc_pinned(device, 4 * entries, (void **)&tile->near_rows));
    PS_TRY(ps_device_alloc_pinned(device, 4 * entries, (void **)&tile->near_columns));
    PS_TRY(ps_device_alloc_pinned(device, 8 * entries, (void **)&tile->near_values));
    return ps_device_alloc_pinned(device, 4 * tile->value_capacity, (void **)&tile->singles);
}

static ps_status prepare(generation *g)
{
    const ps_interaction *interaction = &g->c.interaction;
    ps_interaction_room most = {0, 0, 0};
    g->blocks = (interaction->unknowns + SIDE - 1) / SIDE;
    g->squares = g->blocks * (g->blocks + 1) / 2;
    for (int64_t b = 0; b < g->squares; ++b) {
        ps_interaction_tile tile;
        g->limit = g->squares;
        set_square(g, b, &tile);
        ps_interaction_side rows = ps_interaction_side_of(interaction, tile.first_row, tile.rows);
        ps_interaction_side slices =
            ps_interaction_side_of(interaction, tile.first_slice, tile.slices);
        ps_interaction_room room = ps_interaction_room_of(interaction, &rows, &slices, true);
        if (room.whole > most.whole) most.whole = room.whole;
        if (room.tables > most.tables) most.tables = room.tables;
    }
    PS_TRY(ps_device_open("cuda:0", 0, &g->device));
    for (int s = 0; s < SLOTS; ++s) {
        PS_TRY(interaction_device_open(interaction, g->device, &most, 0, &g->slots[s]));
        g->slots[s].work.precision = PS_SINGLE;
        PS_TRY(tile_memory(g->device, &g->tiles[s]));
        PS_TRY(tile_memory(g->device, &g->mirrors[s]));
    }
    return PS_OK;
}

/* One square on a slot: computed, and with `fetched` brought to the host. */
static ps_status square(generation *g, int64_t number, int s, bool fetched)
{
    ps_interaction_tile *tile = &g->tiles[s], *mirror = &g->mirrors[s];
    set_square(g, number, tile);
    turn(tile, mirror);
    bool mirrored = tile->first_row != tile->first_slice;
    PS_TRY(ps_interaction_device_start(&g->slots[s].work, tile, mirrored, g->slots[s].stream));
    if (!fetched) return ps_stream_wait(g->slots[s].stream);
    return ps_interaction_device_fetch(&g->slots[s].work, tile, mirrored ? mirror : NULL,
                                       g->slots[s].stream);
}

static double run(generation *g, bool fetched, double totals[2])
{
    double start = ps_clock(), pairs = 0, values = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(SLOTS) reduction(+ : pairs, values)
    for (int64_t n = 0; n < g->limit; ++n) {
        int s = omp_get_thread_num();
        must(square(g, n, s, fetched));
        pairs += (double)g->tiles[s].pairs;
        values += (double)g->tiles[s].value_count *
                  (g->tiles[s].first_row != g->tiles[s].first_slice ? 2 : 1);
    }
    totals[0] = pairs;
    totals[1] = values;
    return ps_clock() - start;
}

/* Radii strictly inside a triangle as seen from another's centroid, on average. */
static double mean_radii(const interaction_case *c)
{
    static double values[64][PS_LANES] __attribute__((aligned(64)));
    ps_shell_values out = {.capacity = 64, .inverse = values};
    ps_shell_lanes lanes;
    uint64_t seed = 1;
    double radii = 0;
    enum { ROUNDS = 20000 };
    for (int r = 0; r < ROUNDS; ++r) {
        for (int l = 0; l < PS_LANES; ++l) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int64_t a = (int64_t)((seed >> 33) % (uint64_t)c->interaction.triangle_count);
            int64_t b = (int64_t)((seed >> 11) % (uint64_t)c->interaction.triangle_count);
            ps_shell_lanes_set(&lanes, l, c->triangles[a].centroid, &c->triangles[b]);
        }
        ps_shell_functions_here()->soft(&lanes, c->interaction.shell, &out);
        for (int l = 0; l < PS_LANES; ++l) radii += (double)out.count[l] - 1;
    }
    return radii / ROUNDS / PS_LANES;
}

static void record(const generation *g, const char *quantity, double value, const char *unit,
                   double floor)
{
    bench_record(bench_device(g->device), "airplane-generate", quantity, value, unit, floor,
                 text("%lld unknowns, %lld of %lld squares, %d points",
                      (long long)g->c.interaction.unknowns, (long long)g->limit,
                      (long long)g->squares, POINTS));
}

static ps_status bench(const char *path, int64_t limit)
{
    static generation g;
    ps_surface_mesh mesh;
    double totals[2];
    PS_TRY(ps_surface_mesh_load(path, &mesh));
    icosphere shape = {mesh.vertex_count, mesh.triangle_count, mesh.vertices, mesh.triangles};
    interaction_case_init(&g.c, &shape, PS_SOUND_HARD, POINTS, length / SHELLS);
    g.c.interaction.speed = 340;
    PS_TRY(prepare(&g));
    g.limit = ps_smaller(limit, g.squares);
    double radii = mean_radii(&g.c);
    must(square(&g, g.limit - 1, 0, true)); /* warms up */
    double alone = run(&g, false, totals), both = run(&g, true, totals);
    double flops = totals[0] * 2 * POINTS * 3 * radii * PS_SHELL_HATS_FLOPS;
    record(&g, "kernels", alone, "s", flops / fp64_peak);
    record(&g, "kernels and copies", both, "s", flops / fp64_peak);
    record(&g, "pairs of triangles", totals[0] / alone, "1/s", totals[0] / (flops / fp64_peak));
    record(&g, "values", totals[1] / both, "1/s", 55e9 / 4);
    fprintf(stderr, "%.2f radii inside a triangle\n", radii);
    return PS_OK;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "cases/tdbem-airplane/out/airplane.hdf";
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "no %s: make -C cases/tdbem-airplane mesh\n", path);
        return 0;
    }
    fclose(file);
    must(bench(path, argc > 2 ? atoll(argv[2]) : INT64_MAX));
    return 0;
}
