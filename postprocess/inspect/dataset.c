#include <math.h>
#include <stdio.h>

#include "postprocess/inspect/inspect.h"

enum { SIZE_BINS = 33 }; /* powers of two up to the 4 GiB of a chunk */

static void add_chunk(const ps_chunk_info *chunk, inspect_summary *sum)
{
    int64_t finite = chunk->count - chunk->non_finite;
    bool first = sum->values - sum->non_finite == 0;
    if (finite > 0) {
        sum->minimum = first ? chunk->minimum : fmin(sum->minimum, chunk->minimum);
        sum->maximum = first ? chunk->maximum : fmax(sum->maximum, chunk->maximum);
    }
    sum->stored_bytes += chunk->stored_bytes;
    sum->raw_bytes += chunk->raw_bytes;
    sum->values += chunk->count;
    sum->zeros += chunk->zeros;
    sum->non_finite += chunk->non_finite;
    sum->sum += chunk->sum;
    sum->sum_squares += chunk->sum_squares;
}

ps_status inspect_summarise(const ps_store *store, int id, inspect_summary *out)
{
    *out = (inspect_summary){.minimum = 0};
    PS_TRY(ps_store_dataset(store, id, &out->info));
    for (int64_t c = 0; c < out->info.chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(store, id, c, &chunk));
        add_chunk(&chunk, out);
        for (int e = 0; e < out->info.extra_count; ++e) {
            double value = chunk.extras[e];
            out->low[e] = c ? fmin(out->low[e], value) : value;
            out->high[e] = c ? fmax(out->high[e], value) : value;
            out->total[e] += value;
        }
    }
    return PS_OK;
}

static const char *type_name(ps_type type)
{
    static const char *const names[] = {"u8", "u16", "u32", "i32", "i64", "f32", "f64"};
    return names[type];
}

static void report_extras(const inspect_summary *sum, ps_report *report)
{
    for (int e = 0; e < sum->info.extra_count; ++e) {
        char name[64];
        double column[3] = {sum->low[e], sum->high[e], sum->total[e]};
        snprintf(name, sizeof name, "%s_min_max_sum", sum->info.extras[e]);
        ps_report_reals(report, name, column, 3);
    }
}

/* Chunks by stored size: bin b holds sizes of 2^b up to 2^(b+1) - 1 bytes. */
static ps_status report_sizes(const ps_store *store, const ps_dataset_info *info, ps_report *report)
{
    int64_t bins[SIZE_BINS] = {0}, from[SIZE_BINS];
    int id, low = SIZE_BINS, high = -1;
    PS_TRY(ps_store_find(store, info->name, &id));
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(store, id, c, &chunk));
        int bin = 63 - __builtin_clzll((unsigned long long)chunk.stored_bytes);
        if (bin >= SIZE_BINS) bin = SIZE_BINS - 1;
        ++bins[bin];
        low = bin < low ? bin : low;
        high = bin > high ? bin : high;
    }
    for (int b = 0; b < SIZE_BINS; ++b) from[b] = INT64_C(1) << b;
    if (high < 0) return PS_OK;
    ps_report_ints(report, "chunk_bytes_from", from + low, high - low + 1);
    ps_report_ints(report, "chunks_of_size", bins + low, high - low + 1);
    return PS_OK;
}

ps_status inspect_report_dataset(const ps_store *store, const inspect_summary *sum, bool histogram,
                                 ps_report *report)
{
    const ps_dataset_info *info = &sum->info;
    int64_t finite = sum->values - sum->non_finite;
    ps_report_section(report, info->name);
    ps_report_text(report, "type", type_name(info->type));
    ps_report_ints(report, "shape", info->dims, info->rank);
    ps_report_text(report, "units", info->units);
    if (info->keep_bits) ps_report_int(report, "keep_bits", info->keep_bits);
    ps_report_int(report, "chunks", info->chunk_count);
    ps_report_int(report, "chunk_rows", info->chunk_rows);
    ps_report_int(report, "stored_bytes", sum->stored_bytes);
    ps_report_int(report, "raw_bytes", sum->raw_bytes);
    double value_bytes = (double)sum->values * (double)ps_type_size(info->type);
    if (sum->stored_bytes) /* padding of ragged chunks does not count */
        ps_report_real(report, "compression", value_bytes / (double)sum->stored_bytes);
    ps_report_int(report, "values", sum->values);
    if (finite > 0) {
        ps_report_quantity(report, "minimum", sum->minimum, info->units);
        ps_report_quantity(report, "maximum", sum->maximum, info->units);
        ps_report_quantity(report, "mean", sum->sum / (double)finite, info->units);
        ps_report_quantity(report, "norm", sqrt(sum->sum_squares), info->units);
    }
    ps_report_int(report, "zeros", sum->zeros);
    ps_report_int(report, "non_finite", sum->non_finite);
    report_extras(sum, report);
    return histogram ? report_sizes(store, info, report) : PS_OK;
}
