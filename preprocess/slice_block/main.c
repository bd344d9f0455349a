/* penstock-slice-block: slices cut into blocks. */
#include <stdio.h>

#include "cut.h"
#include "kernels/tdbem/blocking.h"
#include "preprocess/slice_block/figure_table.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    int layout;
    int values;   /* 0: as they are, 1: halves */
    int compress; /* 0: zstd, 1: none */
    int64_t block_rows, block_columns;
    int64_t k_from, k_below; /* k_below 0: all */
    bool table;
    ps_interval checkpoint_every;
} chosen = {.layout = PS_BLOCK_WARP, .block_rows = 128, .checkpoint_every = {.seconds = 60}};

static const ps_option options[] = {
    PS_CHOICE("layout", &chosen.layout, "full|contiguous|warp", PS_IDENTITY,
              "full: greedy b_r x b_c; contiguous: b_r rows, each with its own start; warp: 32 "
              "rows, padded to their longest"),
    PS_INT("block-rows", &chosen.block_rows, "N", 1, 1024, PS_IDENTITY, "b_r; warps have 32"),
    PS_INT("block-columns", &chosen.block_columns, "N", 0, PS_K_LIMIT, PS_IDENTITY,
           "b_c, at least d_max; 0: d_max (contiguous), the next multiple of 16 (full)"),
    PS_INT("k-from", &chosen.k_from, "K", 0, PS_K_LIMIT, PS_IDENTITY,
           "keep the lags k >= K alone; above 0 the output is a far matrix, without M^0"),
    PS_INT("k-below", &chosen.k_below, "K", 0, PS_K_LIMIT, PS_IDENTITY,
           "keep the lags k < K alone: a near matrix, with M^0; 0: all"),
    PS_CHOICE("values", &chosen.values, "same|f16", PS_IDENTITY,
              "f16: warps of IEEE halves, a power of two as scale for each row-vector, rounded to "
              "5e-4 of its largest"),
    PS_CHOICE("compress", &chosen.compress, "zstd|none", PS_IDENTITY,
              "none: values as they are, a tenth to a third more on the disk, for runs that read "
              "them in every sweep with few cores to unpack them"),
    PS_FLAG("table", &chosen.table, 0,
            "print blocks and NNZ % of full blocks of b_c x b_r = 16 .. 128, of contiguous blocks "
            "and of warps; write nothing"),
    PS_INTERVAL("checkpoint-every", &chosen.checkpoint_every, PS_EVERY, 0,
                "keep finished tiles (uncompressed) in OUTPUT.items until OUTPUT is there: from "
                "then on, as far as time and disk allow; 1step: all of them; 0: none"),
    PS_OPTION_END};

/* The lags that are wanted, and so the longest row-vector that there can be. */
static ps_status set_lags(ps_block_header *out)
{
    int64_t end = out->slices.k_max + 1, from = chosen.k_from, below = chosen.k_below;
    if (below == 0 || below > end) below = end;
    if (from >= below)
        return ps_fail(PS_USAGE, "--k-from %lld: there is no lag from there to below %lld",
                       (long long)from, (long long)below);
    out->k_from = from;
    out->k_below = below;
    out->k_end = end;
    int64_t longest = below - (from > 1 ? from : 1);
    if (out->slices.d_max > longest) out->slices.d_max = longest;
    return PS_OK;
}

static ps_status set_header(const ps_slice_header *slices, ps_block_header *out)
{
    *out = (ps_block_header){.slices = *slices,
                             .layout = (ps_block_layout)chosen.layout,
                             .block_rows = chosen.block_rows,
                             .block_columns = chosen.block_columns,
                             .half = chosen.values == 1};
    if (out->half && out->layout != PS_BLOCK_WARP)
        return ps_fail(PS_USAGE, "--values f16: only warps can have halves, not %s blocks",
                       ps_block_layout_name(out->layout));
    PS_TRY(set_lags(out));
    if (out->block_columns == 0) {
        int64_t d_max = out->slices.d_max > 0 ? out->slices.d_max : 1;
        out->block_columns = out->layout == PS_BLOCK_FULL ? (d_max + 15) / 16 * 16 : d_max;
    }
    return ps_blocking_check(out);
}

/* ---- the table ---- */

static double fill_of(const cut_shape *shape)
{
    return shape->values ? 100 * (double)shape->header.slices.nnz / (double)shape->values : 100;
}

static ps_status shape_init(const ps_slice_header *slices, ps_block_layout layout, int64_t rows,
                            int64_t columns, cut_shape *out)
{
    *out = (cut_shape){
        .header = {
            .slices = *slices, .layout = layout, .block_rows = rows, .block_columns = columns}};
    return ps_blocking_check(&out->header);
}

enum { HEIGHTS = 4, SHAPES_MAX = 32 };
static const int64_t sizes[HEIGHTS] = {16, 32, 64, 128};

/* Four heights of one width, or of contiguous blocks; one warp. */
static void report_shapes(ps_report *report, const char *name, const cut_shape *shapes, int count)
{
    int64_t blocks[HEIGHTS];
    double fills[HEIGHTS];
    for (int s = 0; s < count; ++s) {
        blocks[s] = shapes[s].blocks;
        fills[s] = fill_of(&shapes[s]);
    }
    ps_report_section(report, name);
    ps_report_int(report, "block_columns", shapes[0].header.block_columns);
    ps_report_ints(report, "blocks", blocks, count);
    ps_report_reals(report, "nnz_percent", fills, count);
}

/* Full blocks of every width that holds d_max, contiguous blocks, warps: as many as fit. */
static ps_status table_shapes(const ps_slice_header *slices, cut_shape *shapes, int *count)
{
    int64_t d_max = slices->d_max > 0 ? slices->d_max : 1;
    *count = 0;
    for (int c = 0; c < HEIGHTS; ++c)
        for (int r = 0; r < HEIGHTS && sizes[c] >= d_max; ++r)
            PS_TRY(shape_init(slices, PS_BLOCK_FULL, sizes[r], sizes[c], &shapes[(*count)++]));
    for (int r = 0; r < HEIGHTS; ++r)
        PS_TRY(shape_init(slices, PS_BLOCK_CONTIGUOUS, sizes[r], d_max, &shapes[(*count)++]));
    return shape_init(slices, PS_BLOCK_WARP, 0, 0, &shapes[(*count)++]);
}

static ps_status print_table(const ps_run *run, ps_slice_matrix *matrix)
{
    cut_shape shapes[SHAPES_MAX];
    int count;
    const ps_slice_header *slices = ps_slice_matrix_header(matrix);
    PS_TRY(table_shapes(slices, shapes, &count));
    PS_TRY(cut_count(matrix, shapes, count, (int)run->threads, NULL));
    ps_report *report = ps_report_new(run);
    ps_report_int(report, "unknowns", slices->unknowns);
    ps_report_int(report, "nnz", slices->nnz);
    ps_report_int(report, "d_max", slices->d_max);
    ps_report_real(report, "d_mean", slices->d_mean);
    ps_report_real(report, "score", slices->score);
    ps_report_ints(report, "block_rows", sizes, HEIGHTS);
    for (int s = 0; s < count; s += HEIGHTS) {
        char name[32];
        const ps_block_header *h = &shapes[s].header;
        snprintf(name, sizeof name, "%s_%lld", ps_block_layout_name(h->layout),
                 (long long)h->block_columns);
        report_shapes(report, name, shapes + s, h->layout == PS_BLOCK_WARP ? 1 : HEIGHTS);
    }
    ps_report_print(&report);
    return PS_OK;
}

/* ---- cutting ---- */

static void report_stored(ps_report *report, const cut_plan *plan, int64_t stored)
{
    ps_report_int(report, "stored", stored);
    ps_report_real(report, "compression", (double)plan->stored_bytes / (double)stored);
    if (!plan->header.half) return;
    ps_report_real(report, "rounding_max", plan->header.rounding_max);
    ps_report_real(report, "rounding_rms", plan->header.rounding_rms);
}

static ps_need need_of(const cut_plan *plan)
{
    return (ps_need){.arrays = plan->threads * plan->thread_bytes,
                     .writer = 1 << 20,
                     .writers = plan->threads,
                     .disk = plan->stored_bytes * (chosen.checkpoint_every.steps ? 2 : 1),
                     .seconds = 5e-9 * (double)plan->stored_bytes / plan->threads};
}

static ps_status report_cut(const ps_run *run, const cut_plan *plan, int64_t stored)
{
    ps_status status = PS_OK;
    const ps_block_header *h = &plan->header;
    ps_report *report = ps_report_new(run);
    ps_report_text(report, "layout", ps_block_layout_name(h->layout));
    ps_report_int(report, "block_rows", h->block_rows);
    ps_report_int(report, "block_columns", h->block_columns);
    ps_report_int(report, "unknowns", h->slices.unknowns);
    ps_report_int(report, "k_from", h->k_from);
    ps_report_int(report, "k_below", h->k_below);
    ps_report_int(report, "nnz", plan->nnz);
    ps_report_int(report, "d_max", h->slices.d_max);
    ps_report_int(report, "blocks", h->block_count);
    ps_report_real(report, "nnz_percent", h->fill);
    ps_report_int(report, "tiles", plan->tiling.tile_count);
    ps_report_int(report, "unpacked", plan->stored_bytes);
    if (stored) report_stored(report, plan, stored);
    ps_report_int(report, "threads", plan->threads);
    if (run->plan) {
        const ps_need need = need_of(plan);
        status = ps_plan_take(run, &need, report);
    }
    if (stored) ps_report_run(report, ps_memory_peak());
    ps_report_print(&report);
    return status;
}

static int64_t stored_bytes(ps_block_matrix *matrix)
{
    int64_t sum = 0, raw, unpacked;
    for (int64_t t = 0; t < ps_block_matrix_tile_count(matrix); ++t) {
        ps_block_matrix_tile_bytes(matrix, t, &raw, &unpacked);
        sum += raw;
    }
    return sum;
}

static void name_journal(const ps_product *product, char out[4200])
{
    snprintf(out, 4200, "%.4180s.items", product->path);
}

static ps_status write_blocks(const ps_product *product, cut_plan *plan, ps_journal *journal)
{
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *out = NULL;
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    bool has_m0 = plan->header.k_from == 0;
    ps_store_identity own = product->identity;
    plan->tiling.plain = chosen.compress == 1;
    own.disk_estimate = plan->stored_bytes;
    if (has_m0) PS_TRY(ps_slice_matrix_load_m0(plan->matrix, &m0));
    PS_TRY(ps_block_matrix_create(product->path, &own, &plan->tiling, &plan->header, &out));
    PS_TRY(ps_product_record(product, ps_block_matrix_store(out)));
    PS_TRY(cut_write(plan, journal, out));
    return ps_block_matrix_commit(&out, has_m0 ? &m0 : NULL, &plan->header);
}

static ps_status write_kept(const ps_product *product, cut_plan *plan)
{
    char base[4200];
    PS_SCOPED_MEMORY char *identity = NULL;
    ps_journal *journal = NULL;
    name_journal(product, base);
    PS_TRY(ps_product_identity(product, "", &identity));
    PS_TRY(ps_journal_open(product->run, base, 0, identity, chosen.checkpoint_every, &journal));
    ps_status status = write_blocks(product, plan, journal);
    ps_journal_close(&journal, status == PS_OK);
    return status;
}

static ps_status cut_slices(const ps_product *product, ps_slice_matrix *matrix)
{
    const ps_run *run = product->run;
    PS_SCOPED(cut_plan_release) cut_plan plan = {0};
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *written = NULL;
    ps_block_header header;
    PS_TRY(set_header(ps_slice_matrix_header(matrix), &header));
    PS_TRY(cut_plan_init(matrix, &header, (int)run->threads, run->host_memory, &plan));
    if (!run->plan) {
        const ps_need need = need_of(&plan);
        PS_TRY(ps_plan_take(run, &need, NULL));
        PS_TRY(write_kept(product, &plan));
        PS_TRY(ps_block_matrix_open(product->path, &written));
    }
    return report_cut(run, &plan, written ? stored_bytes(written) : 0);
}

static ps_status run_slice_block(ps_run *run)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *matrix = NULL;
    char base[4200];
    ps_product product;
    ps_product_init(run, PS_BLOCK_MATRIX_FORMAT, PS_BLOCK_MATRIX_VERSION, &product);
    if (!chosen.table && !run->output && !run->plan)
        return ps_fail(PS_USAGE, "OUTPUT is missing: penstock-slice-block SLICES OUTPUT");
    PS_TRY(ps_slice_matrix_open(run->operands[0], &matrix));
    PS_TRY(ps_product_input(&product, "slices", ps_slice_matrix_store(matrix)));
    if (chosen.table) return print_table(run, matrix);
    if (!ps_product_is_up_to_date(&product)) return cut_slices(&product, matrix);
    name_journal(&product, base);
    return ps_journal_tidy(base, &product);
}

const ps_program ps_this_program = {
    .name = "slice-block",
    .synopsis = "SLICES [OUTPUT]",
    .description =
        "Cuts the slices of SLICES into blocks, which GPUs and vector units read without branches, "
        "and writes them to OUTPUT, tile by tile in bounded memory. Blocks are padded with zeros; "
        "NNZ % is the share of stored values that is not padding. Published tables of blocks that "
        "are headed b_r x b_c mean b_c x b_r (specs/block_matrix.md). --k-from and --k-below make "
        "a near and a far matrix: penstock-tdbem-march keeps the one in memory and sweeps the "
        "other once in many steps. A run that was ended goes on from finished tiles.",
    .examples = "  penstock-slice-block slices.h5 blocks.h5\n"
                "  penstock-slice-block slices.h5 blocks.h5 --layout full --block-rows 64 "
                "--block-columns 32\n"
                "  penstock-slice-block slices.h5 near.h5 --k-below 64\n"
                "  penstock-slice-block slices.h5 far.h5 --k-from 64 --values f16\n"
                "  penstock-slice-block slices.h5 --table",
    .options = options,
    .figures = figure_table,
    .run = run_slice_block};
