/*
 * slice_assembly: the interaction matrices of a surface, tile by tile: the plan (tiles, ranks,
 * memory), and the assembly itself, which hands its tiles to a sink: a file of slices or of blocks
 * (penstock-slice-assemble), or blocks in memory (penstock-tdbem-march).
 */
#ifndef PS_TDBEM_ASSEMBLY_SLICE_ASSEMBLY_H
#define PS_TDBEM_ASSEMBLY_SLICE_ASSEMBLY_H

#include <stdbool.h>

#include "formats/block_matrix.h"
#include "formats/surface_mesh.h"
#include "kernels/tdbem/interaction.h"
#include "kernels/tdbem/passivity.h"
#include "runtime/device.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "stage/journal.h"
#include "stage/tdbem_assembly/retarded_problem.h"

/* The command line. */
typedef struct ps_assembly_options {
    ps_retarded_options scene;
    int precision; /* ps_precision                                               */
    int64_t keep_bits, tile_rows, tile_slices; /* 0: chosen                          */
    bool journal; /* keep squares from the start on                             */
    ps_interval checkpoint_every;
    const ps_block_header *blocks; /* tiles are cut into such blocks at once; NULL: slices    */
    bool in_memory;                /* and stay in memory                                      */
    double kept; /* as large a part of them; 0: all                              */
} ps_assembly_options;

/* What a matrix says of the problem; counts come from its tiles. */
void ps_assembly_header(const ps_retarded_problem *problem, const ps_assembly_options *options,
                        ps_slice_header *out);

/* ---- assembly_device.c ---- */

/* The CUDA devices of this process. */
typedef struct ps_assembly_devices ps_assembly_devices;

typedef struct ps_assembly_device_plan {
    int slots;                       /* tiles that a device computes at a time               */
    int64_t slot_bytes, table_bytes; /* of each: device memory, pinned memory                */
    int64_t bytes;                   /* of a device, all                                     */
} ps_assembly_device_plan;

/* NULL for the CPU, and for planes that mirror, which cores assemble. Local. */
ps_status ps_assembly_devices_open(const ps_run *run, const ps_interaction *interaction,
                                   ps_assembly_devices **out);
void ps_assembly_devices_close(ps_assembly_devices **devices);
int ps_assembly_devices_count(const ps_assembly_devices *devices); /* 0 for NULL */
/* One of them, for pinned memory. */
ps_device *ps_assembly_devices_host(const ps_assembly_devices *devices);
/* Slots for squares of `side`, within the budget. PS_EXHAUSTED if there is no room for one. */
ps_status ps_assembly_devices_plan(const ps_assembly_devices *devices,
                                   const ps_interaction *interaction, int64_t side,
                                   ps_assembly_device_plan *out);
ps_status ps_assembly_devices_prepare(ps_assembly_devices *devices,
                                      const ps_interaction *interaction,
                                      const ps_assembly_device_plan *plan, ps_precision precision);
/* Bytes of each device that the plan leaves of what may be taken. */
int64_t ps_assembly_devices_room(const ps_assembly_devices *devices,
                                 const ps_assembly_device_plan *plan);
/* Computes a tile, and its transpose unless NULL, in the file's precision. Waits for a slot; for
 * any number of threads. */
ps_status ps_assembly_devices_compute(ps_assembly_devices *devices, ps_interaction_tile *tile,
                                      ps_interaction_tile *mirror);
/* What computing the tile takes a device, s. */
ps_status ps_assembly_devices_time(ps_assembly_devices *devices, const ps_interaction_tile *tile,
                                   double *seconds);

/* ---- assembly_plan.c ---- */

typedef struct ps_assembly_plan {
    ps_slice_tiling tiling;   /* of this rank                                               */
    int64_t row_tiles, units; /* a unit of work: a row tile x at most tile_rows slices      */
    int threads;
    int64_t workspace_bytes, square_values; /* for any unit                                  */
    ps_ledger process, ledger;    /* what is held already; all of this rank                     */
    double near_per_row;          /* k = 0 entries a row, sampled                               */
    double mean_length;           /* of row-vectors, sampled                                    */
    double filled;                /* largest part of their bound that sampled tiles reached     */
    double pair_seconds;          /* per entry (i, j), one core, sampled                        */
    int64_t disk_bytes;           /* of this rank, estimated                                    */
    ps_assembly_devices *devices; /* borrowed; NULL: threads compute the units themselves       */
    ps_assembly_device_plan device;
    ps_precision precision; /* of the stored values                                       */
    bool journal;           /* squares are kept for a restart                             */
    bool unsymmetric;       /* M^k(i,j) and M^k(j,i) differ                               */
    ps_block_tiling blocks; /* where tiles are cut into blocks                               */
    int64_t sink_bytes;     /* of a thread that does so                                      */
    double warp_filled;     /* part of the bound of warps that sampled tiles reached         */
    int64_t kept_bytes;     /* of blocks in memory, estimated                                */
    int angles;             /* of the passivity certificate; 0: none                            */
    int lanczos_steps;      /* of each                                                          */
    double seconds;         /* of this rank, estimated                                    */
} ps_assembly_plan;

/* Chooses tiles, ranks' slices and threads within the memory budget, and prepares the devices, if
 * any. PS_EXHAUSTED with what is needed where the budget cannot do. */
ps_status ps_assembly_plan_init(const ps_retarded_problem *problem,
                                const ps_assembly_options *options, const ps_run *run,
                                ps_assembly_devices *devices, ps_assembly_plan *out);

/* ---- assembly_journal.c ---- */

/* Squares that were computed are kept beside the output in PATH.squares until it is complete.
 * The most bytes a record takes; `entries`: rows x slices of a square. */
int64_t ps_assembly_journal_bytes(int64_t entries, int64_t values, ps_precision precision);
/* Writes the record of a unit's square to `out`, in the file's precision; returns its bytes. */
int64_t ps_assembly_journal_pack(int64_t unit, const ps_interaction_tile *tile,
                                 ps_precision precision, void *out);
/* The unit of a record; -1: none. */
int64_t ps_assembly_journal_unit(const void *record, int64_t bytes);
/* Fills the tile, whose ranges are set, from a record. PS_INVALID if it does not fit, or holds what
 * no tile has: places outside, lags above k_bound, numbers that are not finite. */
ps_status ps_assembly_journal_unpack(const void *record, int64_t bytes, ps_precision precision,
                                     int64_t k_bound, ps_interaction_tile *tile);

/* ---- assembly_certificate.c ---- */

/* H(theta) at a few angles, gathered from the squares (kernels/tdbem/passivity.h). All functions
 * take NULL: no certificate. */
typedef struct ps_assembly_certificate ps_assembly_certificate;

/* What it takes a rank. */
int64_t ps_assembly_certificate_bytes(const ps_assembly_plan *plan, int angles);
ps_status ps_assembly_certificate_open(const ps_retarded_problem *problem,
                                       const ps_assembly_plan *plan, ps_assembly_certificate **out);
void ps_assembly_certificate_close(ps_assembly_certificate **certificate);
/* The square of a unit; each once, by any thread. */
ps_status ps_assembly_certificate_add(ps_assembly_certificate *certificate, int64_t unit,
                                      const ps_interaction_tile *tile);
/* Collective. */
ps_status ps_assembly_certificate_finish(ps_assembly_certificate *certificate, ps_passivity *out);

/* ---- assembly_units.c ---- */

/* An entry of M^0. */
typedef struct ps_near_entry {
    int32_t row, column;
    double value;
} ps_near_entry;

/* What a thread works with. */
typedef struct ps_assembly_buffers {
    ps_interaction_tile tile, mirror;
    void *block; /* which holds their arrays                                                    */
    int64_t *offsets;
    void *workspace;
    float *single;       /* a stored tile in fp32                                               */
    ps_near_entry *near; /* M^0 of all units of this thread                                     */
    int64_t near_count, near_capacity;
    ps_device *pinned; /* the block is pinned by it; NULL: plain memory                      */
    int64_t pairs, entries;
    double seconds; /* computing, processor time; with devices wall time, waits included */
    double passivity_seconds; /* gathering the certificate                                   */
    double write_seconds;     /* wall time of compressing and writing                            */
} ps_assembly_buffers;

/* Bytes of a thread's buffers, M^0 apart; allocates, frees them. */
int64_t ps_assembly_buffer_bytes(const ps_assembly_plan *plan);
/* Bytes of a record of the journal, if there is one; of all threads together. */
int64_t ps_assembly_record_bytes(const ps_assembly_plan *plan);
ps_status ps_assembly_buffers_init(const ps_assembly_plan *plan, ps_assembly_buffers *out);
void ps_assembly_buffers_release(ps_assembly_buffers *buffers);

typedef struct ps_assembly_result {
    ps_csr m0;            /* M^0: row j is its column j, of this rank's slices                */
    int64_t pairs;        /* pairs of triangles evaluated                                     */
    int64_t entries;      /* entries (i, j) that came of them                                 */
    double core_seconds;  /* computing them (with devices: waiting for them), over threads    */
    double write_seconds; /* compressing and writing, over threads                           */
    ps_passivity passivity;
    double passivity_seconds; /* of it: gathering over threads, then all of Lanczos' method   */
} ps_assembly_result;

/* Takes tile `index` of the plan's tiling, whose arrays are gone when it returns. Called by several
 * threads for distinct tiles. */
typedef struct ps_assembly_sink {
    void *context;
    ps_status (*take)(void *context, int64_t index, ps_slice_tile *tile);
} ps_assembly_sink;

/* Computes all units of this rank that the journal (or NULL) does not hold and hands on the tiles
 * of all. ps_csr_release(&out->m0). Collective. */
ps_status ps_assembly_units(const ps_retarded_problem *problem, const ps_assembly_plan *plan,
                            ps_journal *journal, const ps_assembly_sink *sink,
                            ps_assembly_result *out);

#endif
