#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_batch_internal.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/batch_case.h"
#include "tests/support/cpu_device.h"

/* Every case through the CPU device: plan, table, run. */
static void batches_on_the_cpu_device_agree_with_the_definition(void **state)
{
    static const int64_t groups[] = {1, 7, 32};
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    for (int i = 0; i < 2 * BATCH_CASES; ++i) {
        PS_SCOPED(case_tiles_release) case_tiles tiles = {0};
        ps_precision precision = (ps_precision)(i % 2);
        check_ok(case_tiles_init(&batch_cases[i / 2], precision, &tiles));
        for (int g = 0; g < 3; ++g) {
            double worst = INFINITY;
            check_ok(case_run(&batch_cases[i / 2], &tiles, device, groups[g], &worst));
            check_at_most(worst, precision == PS_SINGLE ? 1e-6 : 1e-13);
        }
    }
}

/* ---- the rows kernel in plain C, from the table alone ---- */

typedef struct walk {
    const ps_slice_batch_plan *plan;
    const char *base;
    double *sums; /* [N], of g = 0 */
} walk;

static double value_of(const walk *w, const ps_slice_piece *p, const ps_slice_record *s, int64_t r,
                       int64_t before, int64_t column)
{
    int64_t at = (before + column) * PS_WARP_ROWS + r, row = p->row + r;
    if (w->plan->layout == PS_BLOCK_CONTIGUOUS)
        at = s->slice * p->step +
             row / w->plan->block_rows * w->plan->block_rows * w->plan->block_columns +
             row % w->plan->block_rows + (s->column + column) * w->plan->block_rows;
    if (w->plan->half) {
        const uint16_t *halves = (const void *)(w->base + p->values);
        const uint8_t *scales = (const void *)(w->base + p->scales);
        return ps_half_decode(halves[at]) * ps_half_scale(scales[s->slice * p->starts_step + r]);
    }
    return ps_real_at(w->plan->precision, w->base + p->values, at);
}

static void walk_piece(const walk *w, const ps_slice_strand *strand, const ps_slice_piece *p)
{
    const uint16_t *starts = (const uint16_t *)(w->base + p->starts);
    int64_t before = 0, first = w->plan->layout == PS_BLOCK_WARP ? 0 : p->row;
    assert_int_equal(p->rows, strand->rows);
    for (const ps_slice_record *s = p->records; s < p->records + p->segments; ++s) {
        assert_in_range(s->columns, 1, PS_SEGMENT_COLUMNS);
        for (int64_t r = 0; r < p->rows; ++r) {
            int64_t k = starts[s->slice * p->starts_step + first + r];
            assert_in_range(k, s->low, s->high);
            for (int64_t c = 0; c < s->columns; ++c)
                w->sums[strand->row + r] += value_of(w, p, s, r, before, c) *
                                            case_past(p->slice + s->slice, -k - s->column - c);
        }
        before += s->columns;
    }
}

/* Full blocks: two of a slice at most. */
static void walk_panel(const walk *w, const ps_slice_strand *strand, const ps_slice_panel *p)
{
    const float *values = (const void *)(w->base + p->values);
    assert_in_range(p->begin[0], 0, p->end[0] - 1);
    assert_in_range(p->begin[1], p->end[0], p->end[1]);
    for (int b = 0; b < 2; ++b)
        for (int64_t r = p->begin[b]; r < p->end[b]; ++r) {
            assert_in_range(r, 0, strand->rows - 1);
            for (int64_t q = 0; q < w->plan->block_columns; ++q)
                w->sums[strand->row + r] += values[r + b * p->other + q * w->plan->block_rows] *
                                            case_past(p->slice, -p->column[b] - q);
        }
}

static void walk_panels(const walk *w, const ps_slice_strand *strands, const ps_slice_panel *panels)
{
    for (int64_t s = 0; s < w->plan->strands; ++s)
        for (int32_t i = 0; i < strands[s].pieces; ++i) {
            const ps_slice_panel *panel = &panels[strands[s].first_piece + i];
            assert_true(i == 0 || panel->slice >= panel[-1].slice);
            walk_panel(w, &strands[s], panel);
        }
}

static void walk_batch(const case_batch *batch, double *sums)
{
    const char *table = batch->host_table;
    const ps_slice_strand *strands = batch->host_table;
    const ps_slice_piece *pieces = (const void *)(table + ps_slice_batch_pieces_at(&batch->plan));
    walk w = {.plan = &batch->plan, .base = batch->base, .sums = sums};
    if (ps_batch_has_panels(&batch->plan)) {
        walk_panels(&w, strands, (const void *)pieces);
        return;
    }
    for (int64_t s = 0; s < batch->plan.strands; ++s) {
        int32_t segments = 0, slice = -1;
        for (int32_t i = 0; i < strands[s].pieces; ++i) {
            const ps_slice_piece *piece = &pieces[strands[s].first_piece + i];
            assert_int_equal(piece->first_segment, segments);
            assert_true(piece->slice > slice);
            walk_piece(&w, &strands[s], piece);
            segments += piece->segments;
            slice = piece->slice + piece->count - 1;
        }
    }
}

static void tables_say_where_everything_is(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    for (int i = 0; i < BATCH_CASES; ++i) {
        const batch_case *c = &batch_cases[i];
        if (c->kernel == PS_SLICE_KERNEL_TEAMS) continue;
        if (c->layout == PS_BLOCK_CONTIGUOUS && c->block_rows % 4) continue;
        PS_SCOPED(case_tiles_release) case_tiles tiles = {0};
        PS_SCOPED(case_batch_release) case_batch batch = {0};
        PS_SCOPED_MEMORY double *sums = NULL;
        check_ok(case_tiles_init(c, PS_SINGLE, &tiles));
        check_ok(case_batch_init(&tiles, 0, tiles.count, c->kernel, 1, stream, &batch));
        check_ok(PS_ALLOC(&sums, c->unknowns, "sums"));
        walk_batch(&batch, sums);
        for (int64_t r = 0; r < c->unknowns; ++r) {
            const double *due = &tiles.exact[2 * r * PS_GROUP_MAX];
            check_at_most(fabs(sums[r] - due[0]), 1e-12 * due[1] + 1e-300);
        }
    }
}

static void what_no_kernel_takes_is_refused(void **state)
{
    ps_slice_batch_plan plan;
    ps_block_tile two[] = {{.rows = 64, .slices = 4}, {.first_row = 32, .rows = 64, .slices = 4}};
    const void *images[] = {two, two};
    int64_t offsets[] = {0, 0};
    ps_slice_batch_tiles tiles = {.count = 2, .tiles = two, .images = images, .offsets = offsets};
    ps_block_header header = {.layout = PS_BLOCK_WARP, .block_rows = 32, .block_columns = 9};
    check_fails(ps_slice_batch_plan_make(&header, 33, 1, &tiles, &plan), PS_USAGE, "1 to 32");
    check_fails(ps_slice_batch_plan_make(&header, 8, 1, &tiles, &plan), PS_INVALID, "in part");
    two[1].first_row = 0;
    check_fails(ps_slice_batch_plan_make(&header, 8, 1, &tiles, &plan), PS_INVALID, "ascend");
    tiles.kernel = PS_SLICE_KERNEL_TEAMS;
    check_fails(ps_slice_batch_plan_make(&header, 8, 1, &tiles, &plan), PS_USAGE, "teams kernel");
    header.block_columns = 600, tiles.kernel = PS_SLICE_KERNEL_ROWS;
    check_fails(ps_slice_batch_plan_make(&header, 8, 1, &tiles, &plan), PS_USAGE, "32 x 600");
    header.layout = PS_BLOCK_CONTIGUOUS, header.block_rows = 33;
    check_fails(ps_slice_batch_plan_make(&header, 8, 1, &tiles, &plan), PS_USAGE, "33 x 600");
}
