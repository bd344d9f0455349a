#include "compute/tdbem_march/upper.h"

#include <math.h>
#include <stdlib.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

/* ---- the plan ---- */

/* Part of all tiles with lags below the group: of some row tiles, by some of their rows, whether
 * any slice of a slice tile is that near. */
static double near_share(const ps_interaction *interaction, int64_t side, int64_t group)
{
    enum { ROW_TILES = 6, ROWS = 4 };
    int64_t n = interaction->unknowns, across = (n + side - 1) / side, near = 0, first;
    for (int64_t q = 0; q < ROW_TILES; ++q) {
        int64_t row = ps_smaller((2 * q + 1) * across / (2 * ROW_TILES) * side, n - 1);
        for (int64_t b = 0; b < across; ++b) {
            bool found = false;
            for (int64_t r = 0; r < ROWS && !found; ++r) {
                int64_t i = ps_smaller(row + r * side / ROWS, n - 1);
                for (int64_t j = b * side; j < ps_smaller((b + 1) * side, n) && !found; j += 8)
                    found = ps_interval_bound(interaction, i, j, &first) > 0 && first < group;
            }
            near += found;
        }
    }
    return fmin(1, 1.3 * (double)near / (double)(ROW_TILES * across));
}

/* Upper tiles' part of all, the diagonal whole. */
static double upper_share(int64_t unknowns, int64_t side)
{
    return fmin(1, 0.5 + 0.5 * (double)side / (double)unknowns);
}

static ps_status plan(const ps_run *run, assembling *a, double kept)
{
    a->options.assembly.kept = kept;
    ps_assembly_devices_close(&a->devices);
    PS_TRY(ps_assembly_devices_open(run, &a->problem.interaction, &a->devices));
    ps_status status =
        ps_assembly_plan_init(&a->problem, &a->options.assembly, run, a->devices, &a->plan);
    a->whole_bytes = (double)a->plan.kept_bytes / (kept > 0 ? kept : 1);
    return status;
}

static ps_status find_devices(const ps_run *run, int *count, int *first, int64_t *memory)
{
    const problem blocks = {.tiles = {.in_memory = true}};
    int ordinals[TEAM_DEVICES];
    PS_TRY(team_devices(run, &blocks, ordinals, count));
    *memory = INT64_MAX;
    *first = ordinals[0];
    for (int d = 0; d < *count; ++d) {
        int64_t own;
        PS_TRY(team_device_memory(run, ordinals[d], &own));
        *memory = ps_smaller(*memory, own);
    }
    return PS_OK;
}

/* What a device that holds the upper tiles has of them. */
static double expected_bytes(const assembling *a)
{
    double share = upper_share(a->header.slices.unknowns, a->plan.tiling.tile_rows);
    return share * a->whole_bytes + 512 * (double)a->plan.blocks.tile_count;
}

static ps_status check_room(const assembling *a, int64_t memory)
{
    double needed = expected_bytes(a);
    if (needed <= (double)memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "the device has %.1f MB for the tiles that it shall hold, %.1f MB are "
                   "expected: give %s, or --device cpu, or a file of the matrix, which is streamed",
                   (double)memory / 1e6, needed / 1e6,
                   a->header.half ? "a larger --device-memory" : "--values f16");
}

static ps_status plan_upper(const ps_run *run, assembling *a, int devices, int64_t memory)
{
    int64_t n = a->problem.interaction.unknowns, side = n < 16384 ? 256 : 512;
    double near = near_share(&a->problem.interaction, side, a->options.group);
    a->symmetric = true;
    a->holds = devices == 1 && !a->options.host_too;
    double kept = a->holds ? near : fmin(1, upper_share(n, side) + near / 2);
    PS_TRY(plan(run, a, kept));
    return a->holds ? check_room(a, memory) : PS_OK;
}

ps_status upper_plan(const ps_run *run, assembling *a)
{
    int devices, wanted = a->options.symmetric;
    int64_t memory;
    bool unsymmetric = a->problem.interaction.combined > 0 || a->problem.interaction.lined;
    bool may = wanted != SYMMETRIC_OFF && !unsymmetric;
    if (wanted == SYMMETRIC_ON && !may)
        return ps_fail(PS_USAGE, "--symmetric on: the matrices of the combined field equation and "
                                 "of linings are not symmetric");
    PS_TRY(find_devices(run, &devices, &a->ordinal, &memory));
    if (a->symmetric || (may && wanted == SYMMETRIC_ON)) return plan_upper(run, a, devices, memory);
    ps_status status = plan(run, a, 0);
    bool fits =
        status == PS_OK && (devices == 0 || a->whole_bytes / devices <= 0.95 * (double)memory);
    if (fits || !may || (status != PS_OK && status != PS_EXHAUSTED)) return status;
    return plan_upper(run, a, devices, memory);
}

/* ---- what the host keeps ---- */

static int64_t block_of(const assembling *a, int64_t unknown)
{
    return unknown / a->plan.tiling.tile_rows;
}

static bool is_upper(const assembling *a, int64_t first_row, int64_t first_slice)
{
    return block_of(a, first_row) <= block_of(a, first_slice);
}

static bool is_near(const assembling *a, double k_min, double filled)
{
    return filled > 0 && k_min < (double)a->options.group;
}

static bool wants(void *context, const ps_slice_tile *tile)
{
    const assembling *a = context;
    return is_upper(a, tile->first_row, tile->first_slice) || is_near(a, tile->k_min, tile->filled);
}

/* Upper tiles to the device that holds them; what is not near goes from the host then. */
static ps_status keep(void *context, ps_block_matrix *matrix, int64_t index,
                      const ps_block_tile *tile, void *image, int64_t bytes)
{
    const assembling *a = context;
    ps_status status = PS_OK;
    (void)bytes;
    if (a->held && is_upper(a, tile->first_row, tile->first_slice))
        status = held_take(a->held, index, &a->header, tile, image);
    if (status == PS_OK && (!a->held || is_near(a, tile->k_min, tile->filled)))
        return ps_block_matrix_keep_tile(matrix, index, tile, image);
    if (status == PS_OK) status = ps_block_tile_check(&a->header, tile);
    free(image);
    return status == PS_OK ? ps_block_matrix_keep_tile(matrix, index, tile, NULL) : status;
}

/* As much as is expected and some more, as far as the device has it. */
static ps_status open_held(const ps_run *run, assembling *a)
{
    enum { SPARED = 256 << 20 };
    int64_t memory;
    PS_TRY(team_device_memory(run, a->ordinal, &memory));
    PS_TRY(check_room(a, memory));
    double bytes = 1.06 * expected_bytes(a) + (32 << 20);
    if (a->ordinal >= 0) bytes = fmin(bytes, fmax(expected_bytes(a), (double)memory - SPARED));
    return held_open(a->ordinal, (int64_t)bytes, a->plan.blocks.tile_count, &a->held);
}

ps_status upper_keeper(const ps_run *run, assembling *a, ps_block_keeper *out)
{
    held_close(&a->held);
    *out = (ps_block_keeper){.context = a, .wants = wants, .keep = keep};
    return a->holds ? open_held(run, a) : PS_OK;
}

/* ---- afterwards ---- */

/* Bytes that the images in host memory take. */
static int64_t bytes_of(const ps_block_matrix *blocks)
{
    int64_t sum = 0, raw, unpacked;
    for (int64_t t = 0; t < ps_block_matrix_tile_count(blocks); ++t) {
        if (!ps_block_matrix_image(blocks, t)) continue;
        ps_block_matrix_tile_bytes(blocks, t, &raw, &unpacked);
        sum += ps_padded(unpacked);
    }
    return sum;
}

int64_t assembling_kept(const assembling *a, const tiles *t)
{
    if (t->placed) return placed_host_bytes(t->placed);
    return t->blocks ? bytes_of(t->blocks) : a->plan.kept_bytes;
}

void assembling_forget_near(assembling *a, tiles *t)
{
    if (!a->symmetric || !t->blocks) return;
    for (int64_t k = 0; k < t->count; ++k) {
        tile_range tile;
        bool swept = tiles_range(t, k, &tile) == PS_OK && !a->held &&
                     is_upper(a, tile.first_row, tile.first_slice);
        if (!swept) ps_block_matrix_forget_image(t->blocks, tiles_index(t, k));
    }
    ps_memory_trim();
}
