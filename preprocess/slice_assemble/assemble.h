/*
 * The parts of penstock-slice-assemble: the plan (tiles, ranks, memory), and the assembly itself.
 * The problem (mesh and discretisation) is of stage/tdbem_assembly.
 */
#ifndef PS_PREPROCESS_SLICE_ASSEMBLE_H
#define PS_PREPROCESS_SLICE_ASSEMBLE_H

#include <stdbool.h>

#include "runtime/ledger.h"
#include "formats/surface_mesh.h"
#include "kernels/tdbem/interaction.h"
#include "kernels/tdbem/passivity.h"
#include "runtime/device.h"
#include "runtime/program.h"
#include "stage/journal.h"
#include "stage/tdbem_assembly/retarded_problem.h"

/* The command line. */
typedef struct assemble_options {
    ps_retarded_options scene;
    int precision; /* ps_precision                                               */
    int64_t keep_bits, tile_rows, tile_slices; /* 0: chosen                          */
    bool journal; /* keep squares from the start on                             */
    ps_interval checkpoint_every;
} assemble_options;

typedef ps_retarded_problem assemble_problem;

/* ---- device.c ---- */

/* The CUDA devices of this process. */
typedef struct assemble_devices assemble_devices;

typedef struct assemble_device_plan {
    int slots;                       /* tiles that a device computes at a time               */
    int64_t slot_bytes, table_bytes; /* of each: device memory, pinned memory                */
    int64_t bytes;                   /* of a device, all                                     */
} assemble_device_plan;

/* NULL for the CPU. Local. */
ps_status assemble_devices_open(const ps_run *run, assemble_devices **out);
void assemble_devices_close(assemble_devices **devices);
int assemble_devices_count(const assemble_devices *devices); /* 0 for NULL */
/* One of them, for pinned memory. */
ps_device *assemble_devices_host(const assemble_devices *devices);
/* Slots for squares of `side`, within the budget. PS_EXHAUSTED if there is no room for one. */
ps_status assemble_devices_plan(const assemble_devices *devices, const ps_interaction *interaction,
                                int64_t side, assemble_device_plan *out);
ps_status assemble_devices_prepare(assemble_devices *devices, const ps_interaction *interaction,
                                   const assemble_device_plan *plan, ps_precision precision);
/* Computes a tile, and its transpose unless NULL, in the file's precision. Waits for a slot; for
 * any number of threads. */
ps_status assemble_devices_compute(assemble_devices *devices, ps_interaction_tile *tile,
                                   ps_interaction_tile *mirror);
/* What computing the tile takes a device, s. */
ps_status assemble_devices_time(assemble_devices *devices, const ps_interaction_tile *tile,
                                double *seconds);

/* ---- plan.c ---- */

typedef struct assemble_plan {
    ps_slice_tiling tiling;   /* of this rank                                               */
    int64_t row_tiles, units; /* a unit of work: a row tile x at most tile_rows slices      */
    int threads;
    int64_t workspace_bytes, square_values; /* for any unit                                  */
    ps_ledger process, ledger; /* what is held already; all of this rank                     */
    double near_per_row;       /* k = 0 entries a row, sampled                               */
    double mean_length;        /* of row-vectors, sampled                                    */
    double filled;             /* largest part of their bound that sampled tiles reached     */
    double pair_seconds;       /* per entry (i, j), one core, sampled                        */
    int64_t disk_bytes;        /* of this rank, estimated                                    */
    assemble_devices *devices; /* borrowed; NULL: threads compute the units themselves       */
    assemble_device_plan device;
    ps_precision precision; /* of the stored values                                       */
    bool journal;           /* squares are kept for a restart                             */
    int angles;             /* of the passivity certificate; 0: none                            */
    int lanczos_steps;      /* of each                                                          */
    double seconds;         /* of this rank, estimated                                    */
} assemble_plan;

/* Chooses tiles, ranks' slices and threads within the memory budget, and prepares the devices, if
 * any. PS_EXHAUSTED with what is needed where the budget cannot do. */
ps_status assemble_plan_init(const assemble_problem *problem, const assemble_options *options,
                             const ps_run *run, assemble_devices *devices, assemble_plan *out);

/* ---- journal.c ---- */

/* Squares that were computed are kept beside the output in PATH.squares until it is complete.
 * The most bytes a record takes; `entries`: rows x slices of a square. */
int64_t assemble_journal_bytes(int64_t entries, int64_t values, ps_precision precision);
/* Writes the record of a unit's square to `out`, in the file's precision; returns its bytes. */
int64_t assemble_journal_pack(int64_t unit, const ps_interaction_tile *tile, ps_precision precision,
                              void *out);
/* The unit of a record; -1: none. */
int64_t assemble_journal_unit(const void *record, int64_t bytes);
/* Fills the tile, whose ranges are set, from a record. PS_INVALID if they do not fit. */
ps_status assemble_journal_unpack(const void *record, int64_t bytes, ps_precision precision,
                                  ps_interaction_tile *tile);

/* ---- certificate.c ---- */

/* H(theta) at a few angles, gathered from the squares (kernels/tdbem/passivity.h). All functions
 * take NULL: no certificate. */
typedef struct assemble_certificate assemble_certificate;

/* What it takes a rank. */
int64_t assemble_certificate_bytes(const assemble_plan *plan, int angles);
ps_status assemble_certificate_open(const assemble_problem *problem, const assemble_plan *plan,
                                    assemble_certificate **out);
void assemble_certificate_close(assemble_certificate **certificate);
/* The square of a unit; each once, by any thread. */
ps_status assemble_certificate_add(assemble_certificate *certificate, int64_t unit,
                                   const ps_interaction_tile *tile);
/* Collective. */
ps_status assemble_certificate_finish(assemble_certificate *certificate, ps_passivity *out);

/* ---- units.c ---- */

/* An entry of M^0. */
typedef struct near_entry {
    int32_t row, column;
    double value;
} near_entry;

/* What a thread works with. */
typedef struct assemble_buffers {
    ps_interaction_tile tile, mirror;
    int64_t *offsets;
    void *workspace;
    float *single;    /* a stored tile in fp32                                               */
    near_entry *near; /* M^0 of all units of this thread                                     */
    int64_t near_count, near_capacity;
    ps_device *pinned; /* the tiles' memory is pinned by it; NULL: plain memory              */
    int64_t pairs, entries;
    double seconds; /* computing, processor time; with devices wall time, waits included */
    double passivity_seconds; /* gathering the certificate                                   */
    double write_seconds;     /* wall time of compressing and writing                            */
} assemble_buffers;

/* Bytes of a thread's buffers, M^0 apart; allocates, frees them. */
int64_t assemble_buffer_bytes(const assemble_plan *plan);
/* Bytes of a record of the journal, if there is one; of all threads together. */
int64_t assemble_record_bytes(const assemble_plan *plan);
ps_status assemble_buffers_init(const assemble_plan *plan, assemble_buffers *out);
void assemble_buffers_release(assemble_buffers *buffers);

typedef struct assemble_result {
    ps_csr m0;            /* the rows of M^0 that belong to this rank's slices                */
    int64_t pairs;        /* pairs of triangles evaluated                                     */
    int64_t entries;      /* entries (i, j) that came of them                                 */
    double core_seconds;  /* computing them (with devices: waiting for them), over threads    */
    double write_seconds; /* compressing and writing, over threads                           */
    ps_passivity passivity;
    double passivity_seconds; /* of it: gathering over threads, then all of Lanczos' method   */
} assemble_result;

/* Computes all units of this rank that the journal (or NULL) does not hold and writes the tiles of
 * all. ps_csr_release(&out->m0). Collective. */
ps_status assemble_units(const assemble_problem *problem, const assemble_plan *plan,
                         ps_journal *journal, ps_slice_matrix *matrix, assemble_result *out);

#endif
