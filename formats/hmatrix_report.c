#include "formats/hmatrix.h"

#include <math.h>

void ps_hmatrix_report(const ps_hmatrix_file *file, ps_report *report)
{
    const ps_hmatrix_overview *o = ps_hmatrix_file_overview(file);
    ps_hmatrix_summary s = ps_hmatrix_summarise(&o->shape);
    int64_t bytes = ps_hmatrix_bytes(&o->shape), stored = 0;
    int64_t chunks = ps_hmatrix_file_chunks(file)->count;
    char hash[17];
    for (int64_t c = 0; c < chunks; ++c) stored += o->stored[c];
    ps_hmatrix_values_hash(file, hash);
    ps_report_int(report, "dense_leaves", s.dense);
    ps_report_int(report, "low_rank_leaves", s.low_rank);
    ps_report_real(report, "mean_rank", s.rank_mean);
    ps_report_int(report, "largest_rank", s.rank_max);
    ps_report_real(report, "rms_error", s.error_rms);
    ps_report_real(report, "largest_error", s.error_max);
    double row_sums = ps_hmatrix_file_header(file)->row_sum_error;
    if (isfinite(row_sums)) ps_report_real(report, "row_sum_error", row_sums);
    double entries = ps_hmatrix_file_header(file)->entry_error;
    if (isfinite(entries)) ps_report_real(report, "entry_error", entries);
    ps_report_int(report, "chunks", chunks);
    ps_report_int(report, "bytes", bytes);
    ps_report_real(report, "bytes_per_row", (double)bytes / (double)o->shape.rows);
    ps_report_int(report, "stored", stored);
    ps_report_text(report, "values_hash", hash);
}
