/* penstock-slice-assemble: the interaction matrices of a surface as slices on disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/slice_assemble/figure_table.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/product.h"
#include "stage/tdbem_assembly/block_sink.h"

static ps_assembly_options chosen = {.scene = {.formulation = PS_SOUND_SOFT_S, .speed = 343},
                                     .checkpoint_every = {.seconds = 60}};
/* --points: an outer rule, or the first of 6 and 12 points that is passive. */
static int rule;
static const int rule_points[] = {0, 3, 6, 7, 12};
enum { RULE_AUTO = 0, POINTS_FIRST = 6, POINTS_LAST = 12 };
static const char *combined;
/* --layout: slices, or blocks at once. */
static int layout;
static int64_t block_rows = 128, block_columns;
static ps_block_header blocks;

static const ps_option options[] = {
    PS_CHOICE("formulation", &chosen.scene.formulation, "sound-soft-s|sound-soft-m|sound-hard",
              PS_IDENTITY,
              "sound-soft: P0 triangles, single layer (S: its time sum, M: energetic); sound-hard: "
              "P1 vertices, hypersingular"),
    PS_REAL("dt", &chosen.scene.dt, "SECONDS", 0, 1e30, PS_IDENTITY,
            "time step; or give --courant"),
    PS_REAL("courant", &chosen.scene.courant, "H_OVER_D", 0, 1e30, PS_IDENTITY,
            "mean edge / (speed dt), sets the time step; 1 to 8, 2 to 4 is usual"),
    PS_REAL("speed", &chosen.scene.speed, "M/S", 1e-30, 1e30, PS_IDENTITY, "speed of sound c"),
    PS_CHOICE("points", &rule, "auto|3|6|7|12", PS_IDENTITY,
              "points of the outer rule on a triangle; auto: 6, and once more with 12 if the "
              "passivity certificate of that is bad"),
    PS_CHOICE("precision", &chosen.precision, PS_FP32 "|" PS_FP64, PS_IDENTITY,
              "of the stored values, k >= 1 (M^0 is always fp64)"),
    PS_INT("keep-bits", &chosen.keep_bits, "N", 0, 52, PS_IDENTITY,
           "mantissa bits kept of the values, for smaller files; 0: all"),
    PS_FLAG("screen", &chosen.scene.screen, PS_IDENTITY,
            "sound-hard: the surface may be open, a thin rigid screen; the jump of the pressure is "
            "zero on its rim"),
    PS_TEXT(
        "combined", &combined, "ALPHA|auto", PS_IDENTITY,
        "sound-hard closed bodies: the combined field equation (Burton-Miller), without interior "
        "resonances; .25 is usual, .1 for thin bodies (auto); 0: none"),
    PS_LIST("mirror", &chosen.scene.mirror, "X,Y,Z:NX,NY,NZ:KIND", PS_IDENTITY,
            "a rigid or soft plane through a point with a normal (a ground, a sea surface), beyond "
            "which there is no fluid: all sound is heard with its image, too; twice for two that "
            "are perpendicular; on cores alone"),
    PS_TEXT("lining", &chosen.scene.lining, "TAG|all", PS_IDENTITY,
            "sound-hard closed bodies: instead of the matrices of the surface those that its part "
            "TAG, by number or name, adds where it gives way, for penstock-tdbem-march --lining; "
            "all else as for these; on cores alone"),
    PS_INT("tile-rows", &chosen.tile_rows, "N", 0, 1 << 20, PS_IDENTITY,
           "rows of a tile, a multiple of 256; 0: chosen"),
    PS_INT("tile-slices", &chosen.tile_slices, "N", 0, 1 << 20, PS_IDENTITY,
           "slices of a tile, divides its rows; 0: chosen"),
    PS_CHOICE(
        "layout", &layout, "slices|warp|full|contiguous", PS_IDENTITY,
        "slices, or the blocks that penstock-slice-block would cut of them, at once; near and "
        "far lags, and halves, are cut of slices"),
    PS_INT("block-rows", &block_rows, "N", 1, 1024, PS_IDENTITY,
           "b_r of such blocks; warps have 32"),
    PS_INT("block-columns", &block_columns, "N", 0, PS_K_LIMIT, PS_IDENTITY,
           "b_c of full and contiguous ones, no less than the longest row-vector has values"),
    PS_INTERVAL("checkpoint-every", &chosen.checkpoint_every, PS_EVERY, 0,
                "on cores, keep finished squares (as large as the values, uncompressed) in "
                "OUTPUT.squares, until OUTPUT is there: in runs that will take longer from 60s, "
                "5min on, as far as memory, disk and time allow; 1step: all of them; 0: none"),
    PS_FLAG("journal", &chosen.journal, 0, NULL), /* as 1step */
    PS_OPTION_END};

static void report_plan(const ps_retarded_problem *problem, const ps_assembly_plan *plan,
                        const ps_run *run)
{
    if (ps_comm_rank() != 0) return;
    const ps_interaction *interaction = &problem->interaction;
    ps_report *report = ps_report_new(run);
    ps_report_int(report, "unknowns", interaction->unknowns);
    ps_report_real(report, "dt", problem->dt);
    ps_report_real(report, "h_over_D", problem->mean_edge / interaction->shell);
    ps_report_int(report, "k_max_bound", ps_interaction_k_bound(interaction));
    ps_report_real(report, "mean_length_sampled", plan->mean_length);
    ps_report_int(report, "tile_rows", plan->tiling.tile_rows);
    ps_report_int(report, "tile_slices", plan->tiling.tile_slices);
    ps_report_int(report, "chunks", ps_slice_tiling_count(&plan->tiling));
    ps_report_int(report, "threads", plan->threads);
    ps_report_int(report, "passivity_angles", plan->angles);
    ps_report_int(report, "devices", ps_assembly_devices_count(plan->devices));
    ps_ledger_report(&plan->ledger, run, report);
    ps_report_real(report, "time", plan->seconds);
    ps_report_print(&report);
}

/* What took how long. With devices, threads wait for them where they would compute. */
static void report_times(ps_report *report, const ps_assembly_plan *plan, const double sums[4])
{
    ps_report_real(report, "pairs", sums[0]);
    ps_report_int(report, "devices", ps_assembly_devices_count(plan->devices));
    ps_report_real(report, plan->devices ? "wait_for_devices" : "compute", sums[1]);
    ps_report_real(report, "write", sums[3]);
    if (plan->devices || !(sums[0] > 0)) return; /* all was kept by an earlier run */
    ps_report_real(report, "per_triangle_pair", sums[1] / sums[0]);
}

/* What is told of the finished file. */
typedef struct finished {
    ps_slice_header header;
    int64_t tiles, stored;
    double fill; /* NNZ % of blocks; 0: slices */
} finished;

static ps_status look_at_slices(const char *path, finished *out)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *matrix = NULL;
    PS_TRY(ps_slice_matrix_open(path, &matrix));
    *out = (finished){.header = *ps_slice_matrix_header(matrix),
                      .tiles = ps_slice_matrix_tile_count(matrix)};
    for (int64_t t = 0; t < out->tiles; ++t) {
        int64_t raw, unpacked;
        ps_slice_matrix_tile_bytes(matrix, t, &raw, &unpacked);
        out->stored += raw;
    }
    return PS_OK;
}

static ps_status look_at_blocks(const char *path, finished *out)
{
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *matrix = NULL;
    PS_TRY(ps_block_matrix_open(path, &matrix));
    *out = (finished){.header = ps_block_matrix_header(matrix)->slices,
                      .tiles = ps_block_matrix_tile_count(matrix),
                      .fill = ps_block_matrix_header(matrix)->fill};
    for (int64_t t = 0; t < out->tiles; ++t) {
        int64_t raw, unpacked;
        ps_block_matrix_tile_bytes(matrix, t, &raw, &unpacked);
        out->stored += raw;
    }
    return PS_OK;
}

/* Figures of all ranks, from the finished file. */
static ps_status report_result(const char *path, const ps_retarded_problem *problem,
                               const ps_assembly_plan *plan, const ps_assembly_result *result,
                               const ps_run *run)
{
    double sums[4] = {(double)result->pairs, result->core_seconds, (double)result->m0.nnz,
                      result->write_seconds};
    double entries = (double)result->entries, peak = (double)ps_memory_peak();
    PS_TRY(ps_comm_sum_f64(sums, 4));
    PS_TRY(ps_comm_sum_f64(&entries, 1));
    PS_TRY(ps_comm_max_f64(&peak, 1));
    if (ps_comm_rank() != 0) return PS_OK;
    finished file;
    PS_TRY(layout ? look_at_blocks(path, &file) : look_at_slices(path, &file));
    const ps_slice_header *header = &file.header;
    ps_report *report = ps_report_new(run);
    ps_report_text(report, "formulation", ps_equation_name(header->formulation, header->combined));
    if (header->lining[0]) ps_report_text(report, "lining", header->lining);
    if (header->combined > 0) ps_report_real(report, "combined", header->combined);
    ps_report_int(report, "unknowns", header->unknowns);
    ps_report_real(report, "dt", header->dt);
    ps_report_real(report, "h_over_D", problem->mean_edge / problem->interaction.shell);
    ps_report_int(report, "k_max", header->k_max);
    ps_report_int(report, "nnz", header->nnz);
    ps_report_int(report, "m0_nnz", (int64_t)sums[2]);
    ps_report_int(report, "d_max", header->d_max);
    ps_report_real(report, "d_mean", header->d_mean);
    ps_report_real(report, "score", header->score);
    if (problem->fixed) ps_report_int(report, "rim_vertices", problem->fixed_count);
    ps_report_int(report, "tiles", file.tiles);
    if (layout) ps_report_real(report, "nnz_percent", file.fill);
    ps_report_int(report, "stored", file.stored);
    ps_report_real(report, "compression",
                   (double)header->nnz * (header->precision ? 8 : 4) / (double)file.stored);
    report_times(report, plan, sums);
    if (header->passivity.angles) {
        ps_report_real(report, "passivity_least", header->passivity.least);
        ps_report_real(report, "passivity_at", header->passivity.angle);
        ps_report_int(report, "passivity_unknown", header->passivity.unknown);
        ps_report_real(report, "passivity_time", result->passivity_seconds);
    }
    if (!plan->devices && entries > 0) ps_report_real(report, "per_entry", sums[1] / entries);
    ps_report_run(report, (int64_t)peak);
    ps_report_print(&report);
    return PS_OK;
}

static void name_journal(const char *path, char out[4200])
{
    snprintf(out, 4200, "%.4096s.squares", path);
}

/* What a journal must agree in: options, mesh and tiles. */
static ps_status open_journal(const char *path, const ps_assembly_plan *plan,
                              const ps_product *product, ps_journal **out)
{
    PS_SCOPED_MEMORY char *identity = NULL;
    char base[4200], more[256];
    const ps_slice_tiling *tiling = &plan->tiling;
    if (!plan->journal) return PS_OK;
    snprintf(more, sizeof more, "rule=%d\ntiles=%lld,%lld\nslices=%lld,%lld\n", chosen.scene.points,
             (long long)tiling->tile_rows, (long long)tiling->tile_slices,
             (long long)tiling->first_slice, (long long)tiling->end_slice);
    PS_TRY(ps_product_identity(product, more, &identity));
    name_journal(path, base);
    return ps_journal_open(product->run, base, 0, identity, chosen.checkpoint_every, out);
}

/* Another rule is to be tried: `auto`, and this one is not passive. Says what the certificate says.
 */
static bool may_refine(const ps_passivity *passivity)
{
    if (passivity->angles == 0 || ps_passivity_is_good(passivity)) return false;
    bool refine = rule == RULE_AUTO && chosen.scene.points < POINTS_LAST;
    if (ps_comm_rank() != 0) return refine;
    if (refine)
        ps_info("with %d points it is not passive (least eigenvalue %.3g, unknown %lld): once more "
                "with %d",
                chosen.scene.points, passivity->least, (long long)passivity->unknown, POINTS_LAST);
    else
        ps_warning("the matrices are not passive (least eigenvalue %.3g, at unknown %lld): marches "
                   "with them may grow by exp(%.2g) a step; use more --points than %d, or improve "
                   "the triangles there",
                   passivity->least, (long long)passivity->unknown, -passivity->least,
                   chosen.scene.points);
    return refine;
}

/* What is written: a file of slices or of blocks. */
typedef struct output {
    ps_slice_matrix *slices;
    ps_block_sink blocks;
} output;

static void output_close(output *out)
{
    ps_slice_matrix_close(&out->slices);
    ps_block_matrix_close(&out->blocks.matrix);
}

static ps_status take_slices(void *context, int64_t index, ps_slice_tile *tile)
{
    return ps_slice_matrix_write_tile(context, index, tile);
}

static ps_status create_output(const char *path, const ps_assembly_plan *plan,
                               const ps_product *product, output *out, ps_assembly_sink *sink)
{
    ps_store_identity identity = product->identity;
    identity.disk_estimate = plan->disk_bytes;
    if (layout) {
        PS_TRY(ps_block_sink_open(path, &identity, &plan->blocks, &blocks, &out->blocks));
        *sink = (ps_assembly_sink){&out->blocks, ps_block_sink_take};
        return ps_product_record(product, ps_block_matrix_store(out->blocks.matrix));
    }
    PS_TRY(ps_slice_matrix_create(path, &identity, &plan->tiling, (ps_precision)chosen.precision,
                                  (int)chosen.keep_bits, &out->slices));
    *sink = (ps_assembly_sink){out->slices, take_slices};
    return ps_product_record(product, ps_slice_matrix_store(out->slices));
}

static ps_status commit_output(output *out, const ps_assembly_result *result,
                               ps_slice_header *header)
{
    header->passivity = result->passivity;
    if (!layout) return ps_slice_matrix_commit(&out->slices, &result->m0, header);
    blocks.slices = *header;
    return ps_block_matrix_commit(&out->blocks.matrix, &result->m0, &blocks);
}

/* Creates this rank's file (the output itself if there is one rank), fills and commits it, unless
 * it is to be made *again by another rule. */
static ps_status write_part(const char *path, const ps_retarded_problem *problem,
                            const ps_assembly_plan *plan, const ps_product *product,
                            ps_assembly_result *result, bool *again)
{
    PS_SCOPED(output_close) output out = {0};
    ps_journal *journal = NULL;
    ps_assembly_sink sink = {0};
    ps_slice_header header;
    ps_assembly_header(problem, &chosen, &header);
    ps_status status = ps_comm_agree(create_output(path, plan, product, &out, &sink));
    if (status == PS_OK) status = open_journal(path, plan, product, &journal);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = ps_assembly_units(problem, plan, journal, &sink, result);
    status = ps_comm_agree(status);
    *again = status == PS_OK && may_refine(&result->passivity);
    if (status == PS_OK && !*again) status = commit_output(&out, result, &header);
    status = ps_comm_agree(status);
    ps_journal_close(&journal, status == PS_OK);
    return status;
}

static void result_release(ps_assembly_result *result) { ps_csr_release(&result->m0); }

static ps_status assemble(const ps_retarded_problem *problem, const ps_assembly_plan *plan,
                          const ps_product *product, bool *again)
{
    const char *path = product->path;
    char part[4096];
    PS_SCOPED(result_release) ps_assembly_result result = {0};
    PS_SCOPED(ps_store_set_release) ps_store_set set = {0};
    bool several = ps_comm_size() > 1;
    if (several) PS_TRY(ps_store_set_begin(path, &set));
    if (several) ps_store_part_path(path, set.generation, ps_comm_rank(), part);
    PS_TRY(write_part(several ? part : path, problem, plan, product, &result, again));
    if (*again) return PS_OK;
    ps_status status = PS_OK;
    if (several && ps_comm_rank() == 0)
        status = ps_store_write_master(path, &product->identity, set.generation, ps_comm_size());
    PS_TRY(ps_comm_agree(status));
    return ps_comm_agree(report_result(path, problem, plan, &result, product->run));
}

static ps_status meet_other(const ps_run *run, const char *base)
{
    if (!ps_journal_is_there(base)) return PS_OK;
    if (run->fresh && ps_comm_rank() == 0) ps_journal_remove(base);
    if (run->fresh) return PS_OK;
    return ps_fail(PS_USAGE,
                   "the unfinished run %s is of other ranks than these %d: continue with as many "
                   "as it had, or begin anew with --fresh",
                   base, ps_comm_size());
}

/* Journals of one rank and of several have names of their own, and so may lie beside these. */
static ps_status meet_other_ranks(const ps_run *run)
{
    char base[4200], part[4096];
    int64_t generation;
    if (run->plan || !run->output) return PS_OK;
    PS_TRY(ps_store_next_generation(run->output, &generation));
    int size = ps_comm_size(), rank = size > 1 ? size : 0;
    for (bool there = true; there; ++rank) {
        ps_store_part_path(run->output, generation, rank, part);
        name_journal(part, base);
        there = ps_journal_is_there(base);
        PS_TRY(meet_other(run, base));
    }
    name_journal(run->output, base);
    return size > 1 ? meet_other(run, base) : PS_OK;
}

/* Whether there is a journal to go on from; then with the rule that it has come to. Collective. */
static bool find_journal(const ps_run *run)
{
    char base[4200], part[4096], points[64];
    int64_t generation;
    name_journal(run->output, base);
    if (ps_comm_size() > 1) {
        if (ps_store_next_generation(run->output, &generation) != PS_OK) return false;
        ps_store_part_path(run->output, generation, ps_comm_rank(), part);
        name_journal(part, base);
    }
    bool there = !run->fresh && ps_journal_is_there(base);
    bool last = there && rule == RULE_AUTO && ps_journal_value(base, "rule", points) &&
                strtol(points, NULL, 10) == POINTS_LAST;
    if (ps_comm_any(last)) chosen.scene.points = POINTS_LAST;
    there = ps_comm_any(there);
    if (run->restart && !there) ps_info("there is no %s to continue from: beginning", base);
    return there;
}

/* Ranks make the certificate together. */
static ps_status agree_on_angles(ps_assembly_plan *plan)
{
    int64_t angles = plan->angles;
    PS_TRY(ps_comm_min_i64(&angles, 1));
    plan->angles = (int)angles;
    return PS_OK;
}

static ps_status plan_and_assemble(const ps_product *product, bool *again)
{
    const ps_run *run = product->run;
    PS_SCOPED(ps_retarded_problem_release) ps_retarded_problem problem = {0};
    PS_SCOPED(ps_assembly_devices_close) ps_assembly_devices *devices = NULL;
    ps_assembly_plan plan;
    *again = false;
    PS_TRY(ps_comm_agree(meet_other_ranks(run)));
    chosen.journal = (run->output && find_journal(run)) || chosen.checkpoint_every.steps > 0;
    PS_TRY(ps_comm_agree(ps_retarded_problem_load(run->operands[0], &chosen.scene, &problem)));
    PS_TRY(ps_comm_agree(ps_assembly_devices_open(run, &problem.interaction, &devices)));
    if (devices && chosen.journal)
        return ps_fail(PS_USAGE, "squares are kept, and gone on from, on processors: a device "
                                 "computes them faster than a disk takes them; add --device cpu");
    PS_TRY(ps_comm_agree(ps_assembly_plan_init(&problem, &chosen, run, devices, &plan)));
    PS_TRY(agree_on_angles(&plan));
    if (!run->plan) return assemble(&problem, &plan, product, again);
    report_plan(&problem, &plan, run);
    return PS_OK;
}

/* With several ranks each has a journal beside its part, of the generation that is there. */
static ps_status tidy(const ps_product *product)
{
    char base[4200], part[4096];
    int64_t next;
    name_journal(product->path, base);
    if (ps_comm_size() > 1) PS_TRY(ps_store_next_generation(product->path, &next));
    for (int rank = 0; ps_comm_size() > 1 && rank < ps_comm_size(); ++rank) {
        char other[4200];
        ps_store_part_path(product->path, next - 1, rank, part);
        name_journal(part, other);
        PS_TRY(ps_journal_tidy(other, product));
    }
    return ps_journal_tidy(base, product);
}

/* --layout, and what does not go with it. */
static ps_status choose_layout(void)
{
    static const ps_block_layout layouts[] = {PS_BLOCK_WARP, PS_BLOCK_WARP, PS_BLOCK_FULL,
                                              PS_BLOCK_CONTIGUOUS};
    const ps_slice_header slices = {.precision = (ps_precision)chosen.precision};
    if (layout == 0) return PS_OK;
    if (chosen.keep_bits)
        return ps_fail(PS_USAGE, "--keep-bits is for slices, not for --layout %s",
                       ps_block_layout_name(layouts[layout]));
    if (ps_comm_size() > 1)
        return ps_fail(PS_USAGE,
                       "--layout %s is for one process: several ranks write slices, "
                       "which penstock-slice-block cuts",
                       ps_block_layout_name(layouts[layout]));
    chosen.blocks = &blocks;
    return ps_block_sink_header(&slices, layouts[layout], block_rows, block_columns, &blocks);
}

static ps_status run_slice_assemble(ps_run *run)
{
    PS_SCOPED(ps_store_close) ps_store *mesh = NULL;
    ps_product product;
    bool again;
    if (chosen.precision == PS_SINGLE && chosen.keep_bits > 23)
        return ps_fail(PS_USAGE,
                       "--keep-bits %lld: f32 values have 23 mantissa bits; choose fewer, or "
                       "--precision fp64",
                       (long long)chosen.keep_bits);
    if (chosen.scene.mirror.count > 0 && strncmp(run->device, "cuda", 4) == 0)
        return ps_fail(PS_USAGE,
                       "--device %s: devices do not assemble the images of --mirror; leave "
                       "it out, or give --device cpu",
                       run->device);
    PS_TRY(choose_layout());
    PS_TRY(ps_combined_parse(combined, &chosen.scene.combined));
    ps_product_init(run, layout ? PS_BLOCK_MATRIX_FORMAT : PS_SLICE_MATRIX_FORMAT,
                    layout ? PS_BLOCK_MATRIX_VERSION : PS_SLICE_MATRIX_VERSION, &product);
    PS_TRY(ps_comm_agree(
        ps_store_open(run->operands[0], PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &mesh)));
    PS_TRY(ps_product_input(&product, "mesh", mesh));
    if (ps_product_is_up_to_date(&product)) return tidy(&product);
    chosen.scene.points = rule == RULE_AUTO ? POINTS_FIRST : rule_points[rule];
    if (chosen.journal) chosen.checkpoint_every = (ps_interval){.steps = 1};
    PS_TRY(plan_and_assemble(&product, &again));
    if (!again) return PS_OK;
    chosen.scene.points = POINTS_LAST;
    return plan_and_assemble(&product, &again);
}

const ps_program ps_this_program = {
    .name = "slice-assemble",
    .results = 3,
    .synopsis = "MESH OUTPUT",
    .description =
        "Assembles the interaction matrices M^k of the retarded potentials on a triangulated "
        "surface as slices, tile by tile, straight into the chunks of OUTPUT; M^0 apart. Memory "
        "stays within --host-memory whatever the mesh. A passivity certificate tells whether "
        "marches with them decay. Under mpirun each rank writes a part file with its interval of "
        "slices, and OUTPUT joins them. After an end of any kind the same command goes on from a "
        "journal, if there is one, or begins again.",
    .examples = "  penstock-slice-assemble sphere.h5 slices.h5 --courant 4 --speed 343\n"
                "  penstock-slice-assemble hull.h5 slices.h5 --formulation sound-hard --dt 2e-6\n"
                "  penstock-slice-assemble hull.h5 blocks.h5 --courant 2 --layout warp\n"
                "  mpirun -n 4 penstock-slice-assemble hull.h5 slices.h5 --courant 2 --plan",
    .options = options,
    .figures = figure_table,
    .run = run_slice_assemble,
    .parallel = true};
