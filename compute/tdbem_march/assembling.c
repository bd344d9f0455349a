#include <math.h>
#include <stdio.h>

#include "compute/tdbem_march/team.h"
#include "compute/tdbem_march/upper.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { POINTS_FIRST = 6, POINTS_LAST = 12 };
static const int rule_points[] = {POINTS_FIRST, 3, 6, 7, 12};

ps_status assembling_not_needed(const assembling_options *options)
{
    const assembling_options usual = ASSEMBLING_DEFAULTS;
    const ps_retarded_options *a = &options->assembly.scene, *b = &usual.assembly.scene;
    if (a->formulation == b->formulation && a->dt == b->dt && a->courant == b->courant &&
        a->speed == b->speed && a->screen == b->screen && !options->combined &&
        a->mirror.count == 0 && options->rule == usual.rule && options->halves == 0 &&
        options->assembly.precision == usual.assembly.precision)
        return PS_OK;
    return ps_fail(
        PS_USAGE,
        "--formulation, --dt, --courant, --speed, --points, --precision, --values, --screen, "
        "--combined and --mirror tell how to assemble: give them with MESH OUTPUT, without a "
        "matrix");
}

/* ---- the plan ---- */

static ps_status load(const ps_run *run, assembling *a)
{
    const ps_assembly_options *o = &a->options.assembly;
    ps_slice_header slices;
    PS_TRY(ps_retarded_problem_load(run->operands[0], &o->scene, &a->problem));
    ps_assembly_header(&a->problem, o, &slices);
    PS_TRY(ps_block_sink_header(&slices, PS_BLOCK_WARP, 0, 0, &a->header));
    a->header.half = a->options.halves == 1;
    a->options.assembly.blocks = &a->header;
    return PS_OK;
}

static ps_status make_plan(const ps_run *run, assembling *a)
{
    char text[1024];
    ps_status status = upper_plan(run, a);
    if (status != PS_EXHAUSTED) return status;
    snprintf(text, sizeof text, "%s", ps_message());
    return ps_fail(status,
                   "%s; with a file the march streams what does not fit: penstock-slice-assemble "
                   "--layout warp, then penstock-tdbem-march MATRIX MESH OUTPUT",
                   text);
}

void assembling_rest(assembling *a)
{
    ps_assembly_devices_close(&a->devices);
    a->plan.devices = NULL;
}

ps_status assembling_plan_again(const ps_run *run, assembling *a) { return make_plan(run, a); }

/* Tiles as large as each other, which is all that is known. */
static ps_status expect_tiles(const assembling *a, tiles *out)
{
    const ps_interaction *interaction = &a->problem.interaction;
    int64_t count = a->plan.blocks.tile_count;
    *out = (tiles){.header = a->header.slices, .in_memory = true, .count = count};
    out->header.k_max = ps_interaction_k_bound(interaction);
    out->columns = (int64_t)ceil(4 * interaction->spread_max / interaction->shell) + 5;
    out->k_below = out->k_end = out->header.k_max + 1;
    snprintf(out->layout, sizeof out->layout, "in memory");
    out->slices_owned = out->header.unknowns;
    out->values_owned = (int64_t)(a->whole_bytes / (double)ps_block_tile_value_bytes(&a->header));
    PS_TRY(PS_ALLOC(&out->raw_bytes, count, "the sizes of the tiles"));
    PS_TRY(PS_ALLOC(&out->unpacked_bytes, count, "the sizes of the tiles"));
    for (int64_t t = 0; t < count; ++t)
        out->unpacked_bytes[t] = (int64_t)(a->whole_bytes / (double)count);
    return PS_OK;
}

ps_status assembling_open(const ps_run *run, const assembling_options *options, assembling *a,
                          tiles *out)
{
    *a = (assembling){.options = *options};
    a->options.assembly.in_memory = true;
    PS_TRY(ps_combined_parse(options->combined, &a->options.assembly.scene.combined));
    a->options.assembly.scene.points = rule_points[options->rule];
    if (ps_comm_size() > 1)
        return ps_fail(PS_USAGE, "a mesh alone is for one process: for several ranks assemble into "
                                 "a file, with penstock-slice-assemble and penstock-slice-block");
    PS_TRY(load(run, a));
    PS_TRY(make_plan(run, a));
    return expect_tiles(a, out);
}

/* ---- assembling ---- */

static void result_release(ps_assembly_result *result) { ps_csr_release(&result->m0); }

static void sink_close(ps_block_sink *sink) { ps_block_matrix_close(&sink->matrix); }

/* The blocks are on the device twice for a moment: as they came, and in the batches of the march.
 * Where it has no room for that they stay in host memory. Upper tiles have a way of their own
 * (upper.h). */
static ps_status place(const ps_run *run, assembling *a, const assembling_target *target)
{
    int64_t memory, kept = a->plan.kept_bytes + a->plan.kept_bytes / 16;
    placed_close(&a->placed);
    if (a->symmetric || !target->alone) return PS_OK;
    PS_TRY(team_device_memory(run, target->ordinal, &memory));
    if (2 * kept + target->fixed > memory) return PS_OK;
    ps_block_tile largest = {.rows = a->plan.blocks.tile_rows,
                             .slices = a->plan.blocks.tile_slices,
                             .value_count = a->plan.blocks.value_capacity};
    placed_config config = {.ordinal = target->ordinal,
                            .tiles = a->plan.blocks.tile_count,
                            .bytes = kept,
                            .image_bytes = ps_block_tile_place(&a->header, &largest, NULL),
                            .threads = a->plan.threads,
                            .group = target->group};
    return placed_open(&config, &a->header, &a->placed);
}

static ps_status choose_keeper(const ps_run *run, assembling *a, ps_block_keeper *keeper,
                               ps_block_sink *sink)
{
    if (!a->placed && !a->symmetric) return PS_OK;
    if (a->placed)
        *keeper = placed_keeper(a->placed);
    else
        PS_TRY(upper_keeper(run, a, keeper));
    sink->keeper = keeper;
    return PS_OK;
}

/* One rule; *again: it is not passive, and another one is to be tried. */
static ps_status assemble(const ps_run *run, assembling *a, tiles *out, ps_csr *m0, bool *again)
{
    ps_block_keeper keeper = {NULL};
    PS_SCOPED(result_release) ps_assembly_result result = {0};
    PS_SCOPED(sink_close) ps_block_sink sink = {.matrix = NULL};
    PS_TRY(ps_block_sink_open(NULL, NULL, &a->plan.blocks, &a->header, &sink));
    PS_TRY(choose_keeper(run, a, &keeper, &sink));
    const ps_assembly_sink taking = {&sink, ps_block_sink_take};
    PS_TRY(ps_assembly_units(&a->problem, &a->plan, NULL, &taking, &result));
    a->core_seconds += result.core_seconds;
    ps_block_header header = a->header;
    header.slices.passivity = result.passivity;
    *again = a->options.rule == ASSEMBLING_AUTO && result.passivity.angles > 0 &&
             !ps_passivity_is_good(&result.passivity) &&
             a->options.assembly.scene.points < POINTS_LAST;
    if (*again) return PS_OK;
    PS_TRY(ps_block_matrix_complete(sink.matrix, &result.m0, &header));
    if (a->placed) PS_TRY(placed_settle(a->placed));
    PS_TRY(tiles_of_blocks(&sink.matrix, &a->placed, out));
    out->held = a->held;
    return tiles_load_m0(out, m0);
}

/* Gives back what assembling holds, before the march takes its own. */
static void forget(assembling *a)
{
    ps_assembly_devices_close(&a->devices);
    ps_retarded_problem_release(&a->problem);
    ps_memory_trim();
}

ps_status assembling_run(const ps_run *run, assembling *a, const assembling_target *target,
                         tiles *out, ps_csr *m0)
{
    bool again;
    double start = ps_clock();
    PS_TRY(place(run, a, target));
    PS_TRY(assemble(run, a, out, m0, &again));
    if (again) {
        ps_info("with %d points it is not passive: once more with %d", POINTS_FIRST, POINTS_LAST);
        forget(a);
        a->options.assembly.scene.points = POINTS_LAST;
        PS_TRY(load(run, a));
        PS_TRY(make_plan(run, a));
        PS_TRY(place(run, a, target));
        PS_TRY(assemble(run, a, out, m0, &again));
    }
    forget(a);
    a->seconds = ps_clock() - start;
    return PS_OK;
}

void assembling_close(assembling *a)
{
    placed_close(&a->placed);
    held_close(&a->held);
    ps_assembly_devices_close(&a->devices);
    ps_retarded_problem_release(&a->problem);
}
