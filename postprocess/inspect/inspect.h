/*
 * inspect: figures out of the chunk tables; the only data read are /length_histogram (8 KB),
 * worker logs, task traces, and the tables of H-matrices.
 */
#ifndef PS_POSTPROCESS_INSPECT_H
#define PS_POSTPROCESS_INSPECT_H

#include <stdbool.h>

#include "formats/store.h"
#include "runtime/report.h"

/* All chunks of a dataset taken together. */
typedef struct inspect_summary {
    ps_dataset_info info;
    int64_t stored_bytes, raw_bytes;
    int64_t values, zeros, non_finite;
    double minimum, maximum, sum, sum_squares; /* over finite values; 0 if there are none   */
    double low[PS_STORE_EXTRAS_MAX], high[PS_STORE_EXTRAS_MAX], total[PS_STORE_EXTRAS_MAX];
} inspect_summary;

/* Adds up the table of dataset `id`. */
ps_status inspect_summarise(const ps_store *store, int id, inspect_summary *out);

/* Identity, root attributes and inputs, each as a section. */
ps_status inspect_report_file(const ps_store *store, ps_report *report);
/* One dataset as a section; with `histogram` the sizes of its chunks in powers of two. */
ps_status inspect_report_dataset(const ps_store *store, const inspect_summary *summary,
                                 bool histogram, ps_report *report);
/* What a kind of file has beyond its datasets: tiles of slice and block matrices, workers and
 * stages of worker logs. */
ps_status inspect_report_kind(ps_store *store, bool histogram, ps_report *report);

/* Of a worker log: a line a worker, the balance over all iterations, the stages (workers.c). */
ps_status inspect_report_workers(ps_store *store, ps_report *report);
/* Of a task trace: makespan and bounds, a line a worker, a line a kind of task (tasks.c). */
ps_status inspect_report_tasks(ps_store *store, ps_report *report);
/* Of an H-matrix: ranks, memory by level, estimated errors; of clusters: the block tree
 * (hmatrix.c). The tables are read. */
ps_status inspect_report_hmatrix(ps_store *store, bool histogram, ps_report *report);
ps_status inspect_report_clusters(ps_store *store, ps_report *report);
/* Media and sources of a model of dgtd (dgtd.c). */
ps_status inspect_report_model(const ps_store *store, ps_report *report);

/* All samples of a trace, a line each, to standard output: the axis, then its channels. PS_USAGE
 * for other files. */
ps_status inspect_print_csv(const char *path, const ps_store *store);

#endif
