/* Slice and block matrices: what their tiles have in common is in the columns of /values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dgtd_model.h"
#include "formats/hmatrix.h"
#include "formats/slice_matrix.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { LENGTH_BINS_SHOWN = 32 };

/* Number of a column of a chunk table; -1 if there is none of that name. */
static int column(const ps_dataset_info *info, const char *name)
{
    for (int e = 0; e < info->extra_count; ++e)
        if (strcmp(info->extras[e], name) == 0) return e;
    return -1;
}

static double total(const inspect_summary *sum, const char *name)
{
    int e = column(&sum->info, name);
    return e < 0 ? 0 : sum->total[e];
}

/* Ordering score over all tiles, weighted by their pairs of consecutive rows; and the k of the
 * tiles that are not empty. */
typedef struct tile_figures {
    double score, k_min, k_max, d_max;
} tile_figures;

static ps_status gather_tiles(const ps_store *store, int id, const ps_dataset_info *info,
                              tile_figures *out)
{
    int score = column(info, "score"), rows = column(info, "rows"), slices = column(info, "slices");
    int k_min = column(info, "k_min"), k_max = column(info, "k_max"), d_max = column(info, "d_max");
    double pairs = 0, squares = 0;
    *out = (tile_figures){.k_min = INFINITY};
    if (score < 0 || rows < 0 || slices < 0 || k_min < 0 || k_max < 0 || d_max < 0) return PS_OK;
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(store, id, c, &chunk));
        double weight = chunk.extras[slices] * (chunk.extras[rows] - 1);
        pairs += weight;
        squares += weight * chunk.extras[score];
        if (chunk.extras[k_min] > 0) out->k_min = fmin(out->k_min, chunk.extras[k_min]);
        out->k_max = fmax(out->k_max, chunk.extras[k_max]);
        out->d_max = fmax(out->d_max, chunk.extras[d_max]);
    }
    out->score = pairs > 0 ? squares / pairs : 0;
    return PS_OK;
}

/* Does the march with these matrices decay? */
static ps_status report_passivity(ps_store *store, ps_report *report)
{
    ps_slice_header header;
    PS_TRY(ps_slice_header_get(store, &header));
    const ps_passivity *p = &header.passivity;
    ps_report_section(report, "passivity");
    ps_report_int(report, "angles", p->angles);
    if (p->angles == 0) {
        ps_report_text(report, "verdict", "not computed");
        return PS_OK;
    }
    ps_report_real(report, "least", p->least);
    ps_report_real(report, "at", p->angle);
    ps_report_int(report, "unknown", p->unknown);
    ps_report_real(report, "share", p->share);
    ps_report_text(report, "verdict", ps_passivity_is_good(p) ? "passive" : "not passive");
    return PS_OK;
}

static ps_status report_tiles(ps_store *store, bool blocks, ps_report *report)
{
    int id;
    inspect_summary sum;
    tile_figures tiles;
    PS_TRY(ps_store_find(store, "/values", &id));
    PS_TRY(inspect_summarise(store, id, &sum));
    PS_TRY(gather_tiles(store, id, &sum.info, &tiles));
    double values = (double)sum.values, filled = total(&sum, "filled");
    double nnz = blocks ? total(&sum, "nnz") : values;
    ps_report_section(report, "tiles");
    ps_report_int(report, "tiles", sum.info.chunk_count);
    ps_report_int(report, "row_vectors", (int64_t)filled);
    ps_report_int(report, "nnz", (int64_t)nnz);
    if (filled > 0) ps_report_real(report, "d_mean", nnz / filled);
    ps_report_int(report, "d_max", (int64_t)tiles.d_max);
    if (isfinite(tiles.k_min)) ps_report_int(report, "k_min", (int64_t)tiles.k_min);
    ps_report_int(report, "k_max", (int64_t)tiles.k_max);
    ps_report_real(report, "score", tiles.score);
    if (!blocks) return PS_OK;
    double count = total(&sum, "blocks");
    ps_report_int(report, "blocks", (int64_t)count);
    if (count > 0) ps_report_real(report, "values_per_block", values / count);
    if (values > 0) ps_report_real(report, "nnz_percent", 100 * nnz / values);
    return PS_OK;
}

/* Row-vectors by length, parts added; in at most 32 bins of equal width. */
static ps_status report_lengths(ps_store *store, ps_report *report)
{
    int id;
    ps_dataset_info info;
    if (!ps_store_has(store, "/length_histogram", NULL)) return PS_OK;
    PS_TRY(ps_store_find(store, "/length_histogram", &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    int64_t count = info.chunk_bytes / 8, last = 0;
    PS_SCOPED_MEMORY int64_t *sum = NULL;
    if (info.type != PS_I64) return PS_OK;
    PS_TRY(PS_ALLOC(&sum, 2 * count, "a histogram"));
    int64_t *part = sum + count;
    for (int64_t c = 0; c < info.chunk_count; ++c) {
        PS_TRY(ps_store_read_chunk(store, id, c, PS_ROOM(part, count), part));
        for (int64_t b = 0; b < count; ++b) sum[b] += part[b];
    }
    for (int64_t b = 0; b < count; ++b)
        if (sum[b]) last = b;
    int64_t width = last / LENGTH_BINS_SHOWN + 1, bins = last / width + 1;
    int64_t from[LENGTH_BINS_SHOWN] = {0}, shown[LENGTH_BINS_SHOWN] = {0};
    for (int64_t b = 0; b <= last; ++b) shown[b / width] += sum[b];
    for (int64_t b = 0; b < bins; ++b) from[b] = b * width;
    ps_report_section(report, "row_vector_lengths");
    ps_report_ints(report, "length_from", from, bins);
    ps_report_ints(report, "row_vectors", shown, bins);
    return PS_OK;
}

ps_status inspect_report_kind(ps_store *store, bool histogram, ps_report *report)
{
    bool slices = strcmp(ps_store_format(store), "penstock-slice-matrix") == 0;
    bool blocks = strcmp(ps_store_format(store), "penstock-block-matrix") == 0;
    if (strcmp(ps_store_format(store), "penstock-worker-log") == 0)
        return inspect_report_workers(store, report);
    if (strcmp(ps_store_format(store), "penstock-task-trace") == 0)
        return inspect_report_tasks(store, report);
    if (strcmp(ps_store_format(store), PS_DGTD_MODEL_FORMAT) == 0)
        return inspect_report_model(store, report);
    if (strcmp(ps_store_format(store), PS_HMATRIX_FORMAT) == 0)
        return inspect_report_hmatrix(store, histogram, report);
    if (strcmp(ps_store_format(store), PS_CLUSTER_FORMAT) == 0)
        return inspect_report_clusters(store, report);
    if (!slices && !blocks) return PS_OK;
    PS_TRY(report_tiles(store, blocks, report));
    PS_TRY(report_passivity(store, report));
    return histogram ? report_lengths(store, report) : PS_OK;
}
