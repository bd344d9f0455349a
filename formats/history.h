/*
 * history: the densities a^n of all steps of a run, "penstock-history" (specs/history.md).
 *
 * /densities [steps][unknowns] f32 or f64: row n-1 is a^n, n = 1..steps. Unknowns in the
 * order of the mesh file. Root attributes: formulation, dt, speed, mesh uuid and hash, and the
 * emitters as text (emitter_0 ...), so that everything later (fields, spectra) follows from
 * this file and the mesh.
 */
#ifndef PS_FORMATS_HISTORY_H
#define PS_FORMATS_HISTORY_H

#include "formats/slice_matrix.h"
#include "formats/surface_flow.h"

#define PS_HISTORY_FORMAT "penstock-history"
/* 3: in the time of a flow that the body turns; 2: with linings; else files say 1. */
enum { PS_HISTORY_VERSION = 3, PS_HISTORY_LININGS = 4 };

typedef struct ps_history_header {
    ps_slice_header slices; /* formulation, unknowns, dt, speed, mesh identity, precision   */
    int64_t steps;
    int emitter_count; /* the incident field: emitters as ps_emitter_print writes them   */
    char emitters[16][256];
    int64_t group;    /* n_g of the run                                               */
    int lining_count; /* parts that give way, as ps_admittance_print writes them; version 2 */
    char linings[PS_HISTORY_LININGS][2048];
    const ps_surface_flow *flow; /* of a file that is made: steps are in its time; NULL: none */
} ps_history_header;

/* The version of such a file. */
int ps_history_version(const ps_history_header *header);

typedef struct ps_history ps_history;

ps_status ps_history_create(const char *path, const ps_store_identity *identity,
                            const ps_history_header *header, ps_history **out);
/* Rows must come in order; `count` rows of `unknowns` values of the header's precision. */
ps_status ps_history_append(ps_history *history, int64_t count, const void *rows);
ps_status ps_history_commit(ps_history **history);

ps_status ps_history_open(const char *path, ps_history **out);
const ps_history_header *ps_history_header_of(const ps_history *history);
ps_store *ps_history_store(ps_history *history); /* borrowed */
/* Steps first .. first+count-1 (n from 1) as doubles: out[count][unknowns]. */
ps_status ps_history_read(ps_history *history, int64_t first, int64_t count, double *out);
void ps_history_close(ps_history **history);

#endif
