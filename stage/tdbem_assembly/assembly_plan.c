/* The plan: tiles, the slices of each rank, threads within the memory budget, and estimates. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage/tdbem_assembly/slice_assembly.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/sizes.h"
#include "formats/tile_set.h"
#include "stage/tdbem_assembly/block_sink.h"

enum { ROWS_SMALL = 256, ROWS_LARGE = 512, LARGE_FROM = 16384 };
static const double chunk_bytes = 4 << 20;
static const double write_seconds_a_byte = 3e-9;    /* of a core: compression      */
static const double single_seconds_a_byte = 0.6e-9; /* one thread at a time: HDF5 */

/* ---- sampling ---- */

/* k = 0 entries a row: neighbours within D, by bounding spheres, of some rows. */
static double sample_near(const ps_interaction *interaction)
{
    enum { ROWS = 32 };
    int64_t n = interaction->unknowns, near = 0, first;
    for (int64_t q = 0; q < ROWS; ++q)
        for (int64_t j = 0; j < n; ++j) {
            ps_interval_bound(interaction, (2 * q + 1) * n / (2 * ROWS), j, &first);
            near += first == 0;
        }
    return (double)near / ROWS;
}

/* Values of the tile as warps. */
static double count_warps(const ps_interaction_tile *tile)
{
    double values = 0;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t begin = 0; begin < tile->rows; begin += PS_WARP_ROWS) {
            uint16_t widest = 0;
            for (int64_t r = begin; r < begin + PS_WARP_ROWS && r < tile->rows; ++r)
                if (tile->lengths[s * tile->rows + r] > widest)
                    widest = tile->lengths[s * tile->rows + r];
            values += PS_WARP_ROWS * widest;
        }
    return values;
}

/* Computes a small tile; adds its time, entries, and lengths of row-vectors; [3]: the largest part
 * of their bound that these reached; values of its warps, and their bound. */
static ps_status sample_tile(const ps_retarded_problem *problem, int64_t first_row,
                             int64_t first_slice, int64_t side, double totals[6])
{
    ps_assembly_plan small = {.tiling = {.tile_rows = side, .value_capacity = 1}, .threads = 1};
    const ps_interaction *interaction = &problem->interaction;
    small.square_values =
        ps_interaction_value_bound(interaction, first_row, side, first_slice, side);
    small.workspace_bytes =
        ps_interaction_workspace(interaction, first_row, side, first_slice, side);
    ps_assembly_buffers buffers = {.near = NULL};
    ps_status status = ps_assembly_buffers_init(&small, &buffers);
    ps_interaction_tile *tile = &buffers.tile;
    tile->first_row = first_row;
    tile->first_slice = first_slice;
    tile->rows = tile->slices = side;
    double start = ps_clock();
    if (status == PS_OK)
        status =
            ps_interaction_compute(interaction, tile, buffers.workspace, small.workspace_bytes);
    totals[0] += ps_clock() - start;
    totals[1] += (double)(side * side);
    totals[2] += (double)tile->value_count;
    totals[3] = fmax(totals[3], (double)tile->value_count / (double)small.square_values);
    totals[4] += status == PS_OK ? count_warps(tile) : 0;
    totals[5] += ps_block_sink_warp_bound(interaction, first_row, side, first_slice, side);
    ps_assembly_buffers_release(&buffers);
    return status;
}

/* On a device: the time of a square, as they will be computed. */
static ps_status sample_device(const ps_retarded_problem *problem, ps_assembly_plan *plan)
{
    int64_t n = plan->tiling.unknowns, side = plan->tiling.tile_rows;
    ps_interaction_tile tile = {.rows = side, .slices = side, .first_slice = (n - side) / 2};
    double seconds;
    PS_TRY(ps_assembly_devices_prepare(plan->devices, &problem->interaction, &plan->device,
                                       plan->precision));
    PS_TRY(ps_assembly_devices_time(plan->devices, &tile, &seconds));
    plan->pair_seconds = seconds / (double)(side * side) / ps_assembly_devices_count(plan->devices);
    return PS_OK;
}

/* Side by side where a device waits for it: the time of a tile on a core is then not asked. */
static ps_status sample(const ps_retarded_problem *problem, ps_assembly_plan *plan)
{
    enum { TILES = 5, SIDE = 96, TOTALS = 6 };
    int64_t n = problem->interaction.unknowns, side = ps_smaller(n, SIDE);
    double each[TILES][TOTALS] = {{0}}, totals[TOTALS] = {0};
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1) if (plan->devices != NULL)
    for (int64_t q = 0; q < TILES; ++q)
        ps_note_failure(&failure, sample_tile(problem, (n - side) * q / (TILES - 1),
                                              (n - side) * ((2 * q + 1) % TILES) / (TILES - 1),
                                              side, each[q]));
    PS_TRY(ps_first_failure(&failure));
    for (int64_t q = 0; q < TILES; ++q)
        for (int f = 0; f < TOTALS; ++f)
            totals[f] = f == 3 ? fmax(totals[f], each[q][f]) : totals[f] + each[q][f];
    plan->pair_seconds = totals[0] / totals[1];
    plan->mean_length = totals[2] / totals[1];
    plan->filled = totals[3];
    plan->warp_filled = totals[4] / totals[5];
    plan->near_per_row = sample_near(&problem->interaction);
    return PS_OK;
}

/* ---- tiles ---- */

static ps_status choose_tiles(const ps_retarded_problem *problem,
                              const ps_assembly_options *options, int64_t rows,
                              ps_assembly_plan *plan)
{
    int64_t n = problem->interaction.unknowns, width = options->precision == PS_SINGLE ? 4 : 8;
    ps_slice_tiling *tiling = &plan->tiling;
    tiling->unknowns = n;
    tiling->tile_rows = ps_smaller(rows, n);
    if (tiling->tile_rows % 256 && tiling->tile_rows != n)
        return ps_fail(PS_USAGE, "--tile-rows %lld: a multiple of 256 is needed, or %lld, all rows",
                       (long long)rows, (long long)n);
    int64_t slices = options->tile_slices, ranks = ps_comm_size();
    if (!slices) {
        double bytes = (plan->mean_length + 1) * (double)(width * tiling->tile_rows);
        for (slices = tiling->tile_rows; slices > 16; slices /= 2)
            if ((double)slices * bytes <= chunk_bytes && (ranks == 1 || slices * 8 * ranks <= n))
                break;
        if (tiling->tile_rows % slices) slices = tiling->tile_rows;
        while (ranks > 1 && slices > 1 && slices * ranks > n) slices /= 2;
    }
    tiling->tile_slices = ps_smaller(slices, tiling->tile_rows);
    if (tiling->tile_rows < n && tiling->tile_rows % tiling->tile_slices)
        return ps_fail(PS_USAGE, "--tile-slices %lld must divide the %lld rows of a tile",
                       (long long)slices, (long long)tiling->tile_rows);
    if ((n + tiling->tile_slices - 1) / tiling->tile_slices < ranks)
        return ps_fail(PS_USAGE,
                       "%lld slices in tiles of %lld cannot feed %lld ranks; use fewer ranks or a "
                       "smaller --tile-slices",
                       (long long)n, (long long)tiling->tile_slices, (long long)ranks);
    plan->row_tiles = (n + tiling->tile_rows - 1) / tiling->tile_rows;
    return PS_OK;
}

/* Sum of spreads of [first, first + count). */
static double spread_sum(const ps_interaction *interaction, int64_t first, int64_t count)
{
    double sum = 0;
    for (int64_t i = first; i < first + count; ++i) sum += interaction->spread[i];
    return sum;
}

/* Slices of this rank: equal data, cut between tiles. A slice's data grow linearly with the
 * radius of its own support. */
static void choose_slices(const ps_interaction *interaction, ps_slice_tiling *tiling)
{
    int64_t n = interaction->unknowns, step = tiling->tile_slices, ranks = ps_comm_size();
    int64_t tiles = (n + step - 1) / step, cut = 0;
    double total = 2 * spread_sum(interaction, 0, n) + interaction->shell * (double)n, seen = 0;
    double others = spread_sum(interaction, 0, n) / (double)n;
    tiling->first_slice = tiling->end_slice = 0;
    for (int64_t rank = 0; rank <= ps_comm_rank(); ++rank) {
        tiling->first_slice = cut * step;
        double target = total * (double)(rank + 1) / (double)ranks;
        int64_t last = tiles - (ranks - 1 - rank), begin = cut;
        while (cut < last) {
            int64_t count = ps_smaller(step, n - cut * step);
            double more = spread_sum(interaction, cut * step, count) +
                          (others + interaction->shell) * (double)count;
            if (cut > begin && rank + 1 < ranks && seen + more / 2 > target) break;
            seen += more;
            ++cut;
        }
        tiling->end_slice = ps_smaller(cut * step, n);
    }
}

/* Bounds that hold for every tile and unit. */
static void choose_capacities(const ps_interaction *interaction, ps_assembly_plan *plan)
{
    ps_slice_tiling *tiling = &plan->tiling;
    int64_t n = tiling->unknowns, rows = tiling->tile_rows, slices = tiling->tile_slices;
    ps_interaction_square_bounds(interaction, rows, &plan->square_values, &plan->workspace_bytes);
    double row_sum = 0, slice_sum = 0;
    for (int64_t first = 0; first < n; first += rows)
        row_sum = fmax(row_sum, spread_sum(interaction, first, ps_smaller(rows, n - first)));
    for (int64_t first = 0; first < n; first += slices)
        slice_sum = fmax(slice_sum, spread_sum(interaction, first, ps_smaller(slices, n - first)));
    double wide = 2 * (row_sum * (double)slices + slice_sum * (double)rows) / interaction->shell;
    tiling->value_capacity = (int64_t)(wide * (1 + 1e-9)) + 5 * rows * slices;
}

/* What cutting tiles into blocks takes a thread: a tile of them, and what its chunk is more than
 * one of slices where it is written; and all of them, where they stay. */
static void choose_blocks(const ps_interaction *interaction, const ps_assembly_options *options,
                          ps_assembly_plan *plan)
{
    const ps_slice_tiling *t = &plan->tiling;
    int64_t n = t->unknowns;
    if (!options->blocks) return;
    ps_block_sink_tiling(interaction, t, options->blocks, &plan->blocks);
    int64_t width = ps_block_tile_value_bytes(options->blocks);
    int64_t values = plan->blocks.value_capacity * width;
    plan->sink_bytes = 4 * t->tile_rows * t->tile_slices; /* offsets */
    if (!options->in_memory)
        plan->sink_bytes += values + ps_larger(0, 2 * (values - t->value_capacity * width));
    double all = ps_block_sink_warp_bound(interaction, 0, n, 0, n) * plan->warp_filled;
    double vectors = (double)n * (double)n;
    if (options->in_memory)
        plan->kept_bytes =
            (int64_t)((options->kept > 0 ? options->kept : 1) *
                      (all * (double)width + (options->blocks->half ? 3.2 : 2.2) * vectors +
                       (double)(plan->blocks.tile_count * 3 * PS_TILE_SLACK * 2)));
}

/* ---- memory and time ---- */

/* What a thread touches of its buffers, and of those of writing, which shuffles and compresses each
 * dataset of a tile. Their sizes are bounds for all tiles, of which the fullest sampled tile tells
 * how much is filled. */
static int64_t thread_bytes(const ps_assembly_plan *plan, int64_t width)
{
    const ps_slice_tiling *t = &plan->tiling;
    int64_t written = plan->kept_bytes > 0 ? 0 : 2 * t->value_capacity * width;
    int64_t all = ps_assembly_buffer_bytes(plan) + written + 8 * t->tile_rows * t->tile_slices;
    int64_t values = 2 * plan->square_values * (plan->devices ? width : 8) +
                     (plan->devices ? 0 : 4 * t->value_capacity) + written;
    int64_t entries = t->tile_rows * t->tile_rows;
    double near = fmin((double)entries, 2 * plan->near_per_row * (double)t->tile_rows);
    if (!plan->devices) all -= 2 * 16 * (entries - (int64_t)near); /* entries of M^0 in two tiles */
    return all - (values < all ? (int64_t)((1 - plan->filled) * (double)values) : 0);
}

static void estimate(const ps_assembly_options *options, ps_assembly_plan *plan)
{
    const ps_slice_tiling *tiling = &plan->tiling;
    int64_t width = options->precision == PS_SINGLE ? 4 : 8;
    double n = (double)tiling->unknowns, mine = (double)(tiling->end_slice - tiling->first_slice);
    double values = plan->mean_length * n * mine;
    int64_t first = tiling->first_slice / tiling->tile_rows;
    int64_t last = (tiling->end_slice - 1) / tiling->tile_rows;
    plan->units = (last - first + 1) * plan->row_tiles;
    ps_ledger *l = &plan->ledger;
    *l = plan->process;
    ps_ledger_add(l, PS_ROOM_HOST, "near_entries",
                  (int64_t)(plan->near_per_row * mine * (16 * 2 + 16 + 12)));
    ps_ledger_add(l, PS_ROOM_HOST, "tables", ps_slice_tiling_count(tiling) * 3 * 256);
    ps_ledger_add(l, PS_ROOM_HOST, "tiles", plan->threads * thread_bytes(plan, width));
    if (options->blocks)
        ps_ledger_add(l, PS_ROOM_HOST, "cutting", plan->threads * plan->sink_bytes);
    if (options->in_memory) ps_ledger_add(l, PS_ROOM_HOST, "blocks", plan->kept_bytes);
    ps_ledger_add(l, PS_ROOM_HOST, "record", ps_assembly_record_bytes(plan));
    ps_ledger_add(l, PS_ROOM_HOST, "certificate",
                  ps_assembly_certificate_bytes(plan, plan->angles));
    plan->disk_bytes = (int64_t)(values * (double)width + n * mine + plan->near_per_row * mine * 8);
    if (options->in_memory) plan->disk_bytes = 0;
    if (plan->journal) plan->disk_bytes += (int64_t)(values * (double)width + 4 * n * mine);
}

/* Squares and their mirrors are computed once; writing goes on beside a device. */
static void estimate_time(ps_assembly_plan *plan)
{
    const ps_slice_tiling *tiling = &plan->tiling;
    double n = (double)tiling->unknowns, mine = (double)(tiling->end_slice - tiling->first_slice);
    double computed = mine * (n - mine) + mine * (mine + (double)tiling->tile_rows) / 2;
    if (plan->unsymmetric && plan->journal) computed = mine * n;
    double write = (double)plan->disk_bytes * write_seconds_a_byte;
    double compute = computed * plan->pair_seconds;
    plan->seconds =
        plan->devices ? fmax(compute, write / plan->threads) : (compute + write) / plan->threads;
    plan->seconds = fmax(plan->seconds, (double)plan->disk_bytes * single_seconds_a_byte);
}

/* The largest number of threads that the host memory can do. */
static ps_status fit_threads(const ps_assembly_options *options, const ps_run *run,
                             ps_assembly_plan *plan)
{
    for (plan->threads = (int)run->threads; plan->threads >= 1; --plan->threads) {
        estimate(options, plan);
        if (plan->ledger.most[PS_ROOM_HOST] <= run->host_memory) return PS_OK;
        if (plan->angles && plan->threads < run->threads) return PS_EXHAUSTED;
    }
    plan->threads = 1;
    estimate(options, plan);
    return ps_ledger_check(&plan->ledger, run->host_memory, "or spread over ranks");
}

/* The passivity certificate has as many angles as fit beside all threads; linings, a part of an
 * operator that depends on the wall, have none. Devices assemble so fast
 * that the products of Lanczos' method, which processors make, must be fewer to stay beside it. */
static ps_status choose_threads(const ps_assembly_options *options, const ps_run *run,
                                ps_assembly_plan *plan)
{
    enum { STEPS = 100, STEPS_WITH_DEVICES = 32 };
    ps_status status = PS_EXHAUSTED;
    plan->lanczos_steps = plan->devices ? STEPS_WITH_DEVICES : STEPS;
    for (plan->angles = options->scene.lining ? 0 : PS_PASSIVITY_ANGLES / (plan->devices ? 2 : 1);
         plan->angles >= 0 && status == PS_EXHAUSTED; --plan->angles) {
        status = fit_threads(options, run, plan);
        if (status != PS_EXHAUSTED) return status;
    }
    plan->angles = 0;
    return status;
}

/* Assemblies on cores that will take long keep their squares, unless that would cost threads or
 * angles. The same tiles. */
static void choose_journal(const ps_assembly_options *options, const ps_run *run,
                           ps_assembly_plan *plan)
{
    ps_assembly_plan with = *plan;
    double every = options->checkpoint_every.seconds;
    if (plan->journal || plan->devices || every == 0 || plan->seconds < every) return;
    with.journal = true;
    if (choose_threads(options, run, &with) != PS_OK || with.threads < plan->threads ||
        with.angles < plan->angles || with.disk_bytes > ps_path_room(run->output))
        ps_info("there is no room to keep what is finished: a stop would lose it");
    else
        *plan = with;
}

/* With one thread and without a certificate. */
static void find_least(const ps_assembly_options *options, ps_assembly_plan *plan)
{
    ps_assembly_plan least = *plan;
    least.threads = 1;
    least.angles = 0;
    least.journal = options->journal;
    estimate(options, &least);
    plan->ledger.least = least.ledger.most[PS_ROOM_HOST];
    if (plan->devices) ps_ledger_add(&plan->ledger, PS_ROOM_DEVICE, "device", plan->device.bytes);
    ps_ledger_add(&plan->ledger, PS_ROOM_DISK, "files", plan->disk_bytes);
}

ps_status ps_assembly_plan_init(const ps_retarded_problem *problem,
                                const ps_assembly_options *options, const ps_run *run,
                                ps_assembly_devices *devices, ps_assembly_plan *out)
{
    memset(out, 0, sizeof *out);
    out->devices = devices;
    out->precision = (ps_precision)options->precision;
    out->journal = options->journal;
    out->unsymmetric = problem->interaction.combined > 0 || problem->interaction.lined;
    PS_TRY(sample(problem, out));
    ps_ledger_open(&out->process, run);
    int64_t n = problem->interaction.unknowns;
    int64_t rows =
        options->tile_rows ? options->tile_rows : (n < LARGE_FROM ? ROWS_SMALL : ROWS_LARGE);
    ps_status status;
    for (;; rows = ROWS_SMALL) {
        PS_TRY(choose_tiles(problem, options, rows, out));
        choose_slices(&problem->interaction, &out->tiling);
        choose_capacities(&problem->interaction, out);
        choose_blocks(&problem->interaction, options, out);
        status = PS_OK;
        if (devices)
            status = ps_assembly_devices_plan(devices, &problem->interaction, out->tiling.tile_rows,
                                              &out->device);
        if (status == PS_OK) status = choose_threads(options, run, out);
        if (status != PS_EXHAUSTED || options->tile_rows || rows == ROWS_SMALL) break;
    }
    if (status == PS_OK && devices) status = sample_device(problem, out);
    estimate_time(out);
    if (status == PS_OK) choose_journal(options, run, out);
    find_least(options, out);
    return status;
}

void ps_assembly_header(const ps_retarded_problem *problem, const ps_assembly_options *options,
                        ps_slice_header *out)
{
    *out = (ps_slice_header){.formulation = (ps_formulation)options->scene.formulation,
                             .combined = problem->interaction.combined,
                             .precision = (ps_precision)options->precision,
                             .unknowns = problem->interaction.unknowns,
                             .dt = problem->dt,
                             .speed = options->scene.speed,
                             .mirrors = problem->interaction.mirrors,
                             .outer_points = options->scene.points};
    if (options->scene.lining)
        snprintf(out->lining, sizeof out->lining, "%s", options->scene.lining);
    memcpy(out->mesh_uuid, problem->mesh.uuid, sizeof out->mesh_uuid);
    memcpy(out->mesh_hash, problem->mesh.content_hash, sizeof out->mesh_hash);
}
