#include "kernels/hbem/device_assembly.h"

#include <math.h>
#include <string.h>

#include "kernels/hbem/device_kernels.h"
#include "kernels/hbem/narrow.h"

enum { ALIGNMENT = 256 };

static int64_t padded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int64_t real_size(ps_precision precision) { return precision == PS_SINGLE ? 4 : 8; }

/* ---- rules ---- */

/* Places the arrays; returns the bytes. */
static int64_t place_rules(ps_hbem_device_rules *rules, const ps_hbem_quadrature *quadrature,
                           char *base)
{
    int64_t at = 0;
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision) {
        int64_t size = real_size((ps_precision)precision);
        for (int r = 0; r < quadrature->rules; ++r) {
            rules->point[precision][r] = base + at;
            at += padded(4 * size * quadrature->rule[r].count);
        }
        for (int contact = PS_PAIR_VERTEX; contact < PS_PAIR_CONTACTS; ++contact) {
            rules->joint[precision][contact] = base + at;
            at += padded(8 * size * quadrature->joint_count[contact]);
        }
    }
    rules->cells = quadrature->cells.n ? (ps_hbem_cell_rule *)(void *)(base + at) : NULL;
    if (quadrature->cells.n) at += padded((int64_t)sizeof quadrature->cells);
    return at;
}

int64_t ps_hbem_device_rules_bytes(const ps_hbem_quadrature *quadrature)
{
    ps_hbem_device_rules unused;
    return place_rules(&unused, quadrature, NULL);
}

void ps_hbem_device_rules_place(ps_hbem_device_rules *rules, const ps_hbem_quadrature *quadrature,
                                void *memory)
{
    memset(rules, 0, sizeof *rules);
    rules->rules = quadrature->rules;
    for (int r = 0; r < quadrature->rules; ++r) {
        rules->count[r] = quadrature->rule[r].count;
        rules->distance[r] = quadrature->distance[r];
    }
    for (int contact = PS_PAIR_VERTEX; contact < PS_PAIR_CONTACTS; ++contact)
        rules->joint_count[contact] = quadrature->joint_count[contact];
    place_rules(rules, quadrature, memory);
}

static void put(void *array, ps_precision precision, int64_t index, double value)
{
    if (precision == PS_SINGLE)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

void ps_hbem_device_rules_fill(const ps_hbem_device_rules *rules,
                               const ps_hbem_quadrature *quadrature)
{
    if (rules->cells) *rules->cells = quadrature->cells;
    for (int e = 0; e < PS_PRECISION_COUNT; ++e) {
        ps_precision precision = (ps_precision)e;
        for (int r = 0; r < rules->rules; ++r)
            for (int q = 0; q < rules->count[r]; ++q) {
                const ps_hbem_rule *rule = &quadrature->rule[r];
                for (int c = 0; c < 4; ++c)
                    put(rules->point[e][r], precision, 4 * q + c,
                        c < 3 ? rule->hat[q][c] : rule->weight[q]);
            }
        for (int contact = PS_PAIR_VERTEX; contact < PS_PAIR_CONTACTS; ++contact)
            for (int64_t q = 0; q < rules->joint_count[contact]; ++q) {
                const ps_hbem_joint_point *point = &quadrature->joint[contact][q];
                for (int c = 0; c < 8; ++c)
                    put(rules->joint[e][contact], precision, 8 * q + c,
                        c < 3    ? point->x[c]
                        : c < 6  ? point->y[c - 3]
                        : c == 6 ? point->weight
                                 : 0);
            }
    }
}

/* ---- leaves ---- */

int ps_hbem_device_far_size(int64_t rows, int64_t columns)
{
    static const int64_t below[PS_HBEM_FAR_SIZES] = {INT64_MAX, 8192, 2048, PS_HBEM_CLUSTER_MAX};
    int64_t larger = rows > columns ? rows : columns;
    int size = 0;
    while (size + 1 < PS_HBEM_FAR_SIZES && larger <= below[size + 1]) ++size;
    return size;
}

static int64_t larger_side(const ps_hmatrix_leaf *leaf)
{
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    return m > n ? m : n;
}

/* Near leaves as they come, then far ones by falling size: bins of an eighth of a power of 2. */
static void sort_leaves(ps_hbem_device_batch *batch, const ps_hmatrix_leaf *leaves)
{
    enum { BINS = 512 };
    int64_t start[BINS + 2] = {0};
    int32_t *bin = batch->list; /* overwritten afterwards */
#pragma omp parallel for
    for (int64_t l = 0; l < batch->count; ++l)
        bin[l] = leaves[l].far ? BINS - (int)(8 * log2((double)larger_side(&leaves[l]))) : 0;
    for (int64_t l = 0; l < batch->count; ++l) ++start[bin[l] + 1];
    for (int b = 0; b <= BINS; ++b) start[b + 1] += start[b];
    batch->near_count = start[1];
    for (int64_t l = 0; l < batch->count; ++l) batch->leaf[start[bin[l]]++] = (int32_t)l;
}

/* A bound of the slots of a side: most clusters have an eighth of the largest one's functions. */
static int64_t slots_of(const ps_hbem_device_side *side, int64_t dofs)
{
    int64_t clusters = 1 + 8 * dofs / (side->most_dofs > 0 ? side->most_dofs : 1);
    int64_t slots = clusters * side->most_slots;
    return slots < side->slots ? slots : side->slots;
}

static void add_far(ps_hbem_device_batch *batch, const ps_hmatrix_leaf *leaf,
                    const ps_hbem_device_operator *op)
{
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    int64_t rows = slots_of(&op->test, m), columns = slots_of(&op->trial, n);
    int64_t slots = rows > columns ? rows : columns;
    int size = ps_hbem_device_far_size(m, n);
    ++batch->list_count[size];
    if (m + n > batch->most[size]) batch->most[size] = (int32_t)(m + n);
    if (slots > batch->most_slots[size]) batch->most_slots[size] = (int32_t)slots;
}

int64_t ps_hbem_device_leaf_numbers(const ps_hbem_device_operator *op, const ps_hmatrix_leaf *leaf,
                                    int max_rank)
{
    int64_t parts = op->wavenumber != 0 ? 2 : 1;
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    int64_t dense = m * n, factors = max_rank * (m + n);
    return ((!leaf->far || dense < factors ? dense : factors) * parts + 3) / 4 * 4;
}

/* Where leaf e of the batch is; batch->leaf is there. */
static void place_leaf(ps_hbem_device_batch *batch, const ps_hmatrix_leaf *leaves, int64_t e)
{
    const ps_hmatrix_leaf *leaf = &leaves[batch->leaf[e]];
    batch->at[e] = (ps_hbem_device_leaf){(int32_t)leaf->row_begin, (int32_t)leaf->row_end,
                                         (int32_t)leaf->column_begin, (int32_t)leaf->column_end};
    batch->list[e] = (int32_t)e;
}

void ps_hbem_device_batch_fill(ps_hbem_device_batch *batch, const ps_hmatrix_leaf *leaves,
                               const ps_hbem_device_operator *op, int max_rank)
{
    int64_t offset = 0;
    sort_leaves(batch, leaves);
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size)
        batch->list_count[size] = batch->most[size] = batch->most_slots[size] = 0;
#pragma omp parallel for
    for (int64_t e = 0; e < batch->count; ++e) place_leaf(batch, leaves, e);
    for (int64_t e = 0; e < batch->count; ++e) {
        const ps_hmatrix_leaf *leaf = &leaves[batch->leaf[e]];
        bool far = e >= batch->near_count;
        batch->blocks[e] =
            (ps_hbem_device_block){far ? 0 : offset, far ? PS_HBEM_UNSET : PS_RANK_DENSE, 0};
        if (e == batch->near_count) batch->near_numbers = offset;
        offset += ps_hbem_device_leaf_numbers(op, leaf, max_rank);
        if (far) add_far(batch, leaf, op);
    }
    if (batch->near_count == batch->count) batch->near_numbers = offset;
    batch->most_numbers = offset;
}

/* ---- near leaves ---- */

static ps_status check_near(const ps_hbem_device_operator *op)
{
    if (op->rules.rules < 1 || op->rules.count[0] != 6)
        return ps_fail(PS_USAGE, "the device takes rules whose first one has 6 points");
    return PS_OK;
}

ps_status ps_hbem_device_near_count(const ps_hbem_device_operator *op,
                                    const ps_hbem_device_near *near, int32_t *counts,
                                    ps_stream *stream)
{
    PS_TRY(check_near(op));
    ps_hbem_near_launch launch = {.op = *op, .near = *near, .counts = counts};
    return ps_hbem_near_count_cuda(&launch, stream);
}

ps_status ps_hbem_device_near_regular(const ps_hbem_device_operator *op,
                                      const ps_hbem_device_near *near, ps_stream *stream)
{
    PS_TRY(check_near(op));
    ps_hbem_near_launch launch = {.op = *op, .near = *near};
    return ps_hbem_near_regular_cuda(&launch, stream);
}

/* Cuts the workspace up; returns its size. */
static int64_t cut_close(ps_hbem_near_launch *launch, char *base)
{
    const ps_hbem_device_operator *op = &launch->op;
    ps_precision precision = op->kernel == PS_KERNEL_HYPS ? PS_DOUBLE : op->precision;
    int64_t pairs = launch->pair_count, at = 0, classes = padded(PS_HBEM_CLOSE_KINDS * 4);
    launch->class_count = (void *)(base + at);
    launch->class_start = (void *)(base + (at += classes));
    launch->class_cursor = (void *)(base + (at += classes));
    launch->left_count = (void *)(base + (at += classes));
    launch->pairs = (void *)(base + (at += padded(4)));
    launch->list = (void *)(base + (at += padded(pairs * (int64_t)sizeof *launch->pairs)));
    launch->left = (void *)(base + (at += padded(pairs * 4)));
    launch->seen = (void *)(base + (at += padded(pairs * 4)));
    launch->seen_size = 64;
    while (launch->seen_size < pairs + pairs / 2) launch->seen_size *= 2;
    launch->moments = base + (at += padded(launch->seen_size * 4));
    return at + padded(pairs * 9 * (op->wavenumber != 0 ? 2 : 1) * real_size(precision));
}

int64_t ps_hbem_device_close_bytes(const ps_hbem_device_operator *op, int64_t pairs)
{
    ps_hbem_near_launch launch = {.op = *op, .pair_count = pairs};
    return cut_close(&launch, NULL);
}

ps_status ps_hbem_device_near_close(const ps_hbem_device_operator *op,
                                    const ps_hbem_device_near *near,
                                    const ps_hbem_device_close *close, ps_stream *stream)
{
    PS_TRY(check_near(op));
    if (close->pairs == 0) return PS_OK;
    if (close->pairs > INT32_MAX)
        return ps_fail(PS_USAGE, "%lld close pairs at once are too many: take fewer leaves",
                       (long long)close->pairs);
    ps_hbem_near_launch launch = {
        .op = *op, .near = *near, .first = close->first, .pair_count = close->pairs};
    cut_close(&launch, close->workspace);
    PS_TRY(ps_hbem_near_list_cuda(&launch, stream));
    if (close->listed) PS_TRY(ps_event_record(close->listed, stream));
    return ps_hbem_near_close_cuda(&launch, stream);
}

/* ---- far leaves ---- */

static ps_hbem_far_launch launch_of(const ps_hbem_device_operator *op,
                                    const ps_hbem_device_far *far, int size)
{
    int64_t most = far->most[size], dense = most / 4 + 1; /* where rows equal columns */
    ps_hbem_far_launch launch = {.op = *op,
                                 .options = far->options,
                                 .leaves = far->leaves,
                                 .blocks = far->blocks,
                                 .list = far->list,
                                 .count = far->list_count[size],
                                 .next = &far->report->next[size],
                                 .arena = far->arena,
                                 .report = far->report,
                                 .workspace = far->workspace,
                                 .bytes = far->workspace_bytes,
                                 .most = (int32_t)most,
                                 .most_slots = far->most_slots[size],
                                 .limit = dense < far->options.max_rank ? (int32_t)dense
                                                                        : far->options.max_rank,
                                 .size = size};
    if (!(launch.options.crosses > 0)) launch.options.crosses = launch.options.tolerance;
    launch.stride = ps_hbem_far_stride(&launch);
    return launch;
}

int64_t ps_hbem_device_far_bytes(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                 int size)
{
    return launch_of(op, far, size).stride;
}

/* Workspace that a size makes use of: of as many teams as a device has room for. */
static int64_t useful_bytes(const ps_hbem_far_launch *launch, int64_t processors)
{
    static const double teams[PS_HBEM_FAR_SIZES] = {1. / 8, .5, 2, 12}; /* a processor */
    int64_t most = (int64_t)(teams[launch->size] * (double)processors) + 1;
    return launch->stride * (launch->count < most ? launch->count : most);
}

int64_t ps_hbem_device_far_useful(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                  int64_t processors)
{
    int64_t sum = 0;
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        ps_hbem_far_launch launch = launch_of(op, far, size);
        if (launch.count > 0) sum += useful_bytes(&launch, processors);
    }
    return sum;
}

static ps_status check_far(const ps_hbem_device_far *far)
{
    int rank = far->options.max_rank;
    if (rank < 1 || rank > PS_HBEM_DEVICE_RANK_MAX)
        return ps_fail(PS_USAGE, "a rank of 1 to %d at most is possible on the device, not %d",
                       PS_HBEM_DEVICE_RANK_MAX, rank);
    if (far->options.check_rows < 0 || far->options.check_rows > 32)
        return ps_fail(PS_USAGE, "0 to 32 rows can be checked, not %d", far->options.check_rows);
    return PS_OK;
}

ps_status ps_hbem_device_load(const ps_hbem_device_operator *op, ps_stream *stream)
{
    const ps_hbem_near_launch near = {.op = *op};
    ps_hbem_far_launch launches[PS_HBEM_FAR_SIZES] = {0};
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        launches[size].op = *op;
        launches[size].size = size;
    }
    PS_TRY(ps_hbem_near_count_cuda(&near, stream));
    PS_TRY(ps_hbem_near_regular_cuda(&near, stream));
    PS_TRY(ps_hbem_near_list_cuda(&near, stream));
    PS_TRY(ps_hbem_near_close_cuda(&near, stream));
    return ps_hbem_far_launch_cuda(launches, PS_HBEM_FAR_SIZES, false, stream);
}

ps_status ps_hbem_device_far_run(const ps_hbem_device_operator *op, const ps_hbem_device_far *far,
                                 ps_stream *stream)
{
    ps_hbem_far_launch launches[PS_HBEM_FAR_SIZES];
    int64_t processors = ps_device_describe(ps_stream_device(stream)).multiprocessors;
    int64_t first = 0, used = 0;
    int count = 0;
    PS_TRY(check_far(far));
    PS_TRY(ps_fill_zero(stream, far->report->next, sizeof far->report->next));
    bool aside = ps_hbem_device_far_useful(op, far, processors) <= far->workspace_bytes;
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        ps_hbem_far_launch launch = launch_of(op, far, size);
        launch.list += first;
        first += launch.count;
        if (launch.count == 0) continue;
        if (aside) {
            launch.workspace += used;
            launch.bytes = useful_bytes(&launch, processors);
            used += launch.bytes;
        }
        launches[count++] = launch;
    }
    return ps_hbem_far_launch_cuda(launches, count, aside, stream);
}
