/*
 * record: the state of a run under way and its end (stage/state.h): the past of all unknowns, the
 * figures, and a log of the steps so far, a record a group, from which OUTPUT is written. Beside
 * these, <run>.workers.h5 says the seconds of workers and stages (workers.h); it stays.
 *
 * Under MPI rank 0 alone has a record; others get the state from it.
 */
#ifndef PS_TDBEM_MARCH_RECORD_H
#define PS_TDBEM_MARCH_RECORD_H

#include "compute/tdbem_march/solve.h"
#include "compute/tdbem_march/window.h"
#include "formats/history.h"
#include "formats/surface_velocity.h"
#include "runtime/background.h"
#include "stage/product.h"
#include "stage/state.h"

typedef struct record {
    char run[4096];
    char *identity;
    ps_state state;
    /* What the writer has: left alone while it is busy. */
    window *past;
    void *saved;                     /* [unknowns][kept], precision of the run */
    double *linings, *linings_saved; /* [lining_states] of the run, borrowed; of the writer */
    int64_t lining_states;
    figures figures;
    /* The history where it is written behind the march, by pages of rows: one is filled while the
     * other is compressed and written. */
    ps_history *history;
    ps_background hand;
    char *pages[2];
    int page; /* that is filled */
    int64_t row_bytes, page_rows, filled, handed;
} record;

/* Sets name and identity: the options and the content hashes of the inputs. */
ps_status record_name(record *record, const ps_product *product);
/* The state of the run; borrows the record. */
ps_state_spec record_spec(record *record, const ps_run *run, ps_interval every);

/* What linings keep is a part of the state, too; before record_open. */
ps_status record_linings(record *record, double *state, int64_t states);

/* Begins a run or continues one: *step is the last step that is done, and with *step > 0 the past
 * and the figures are restored. */
ps_status record_open(record *record, const ps_state_spec *spec, window *past, figures *figures,
                      int64_t *step);

/* Bytes that an open record holds beside the log. */
int64_t record_bytes(const window *past);

/* Hands the state after `step` to the thread that writes it. */
ps_status record_checkpoint(record *record, int64_t step, const figures *figures);

/* For marches that leave cores idle: the history is written as steps are noted, all from the first
 * on, by a thread of its own. Of a run that ends before its last step nothing of it is left. */
ps_status record_write_behind(record *record, const ps_product *product,
                              const ps_history_header *header, const ps_surface_velocity *velocity);
/* Bytes that this takes. */
int64_t record_behind_bytes(int64_t row_bytes, int64_t steps);
/* Notes steps, which are in the log: rows[count][unknowns]. Tells what failed in writing earlier
 * ones. */
ps_status record_note(record *record, int64_t count, const void *rows);

/* Writes the history from the log, or what is left of it, commits it, removes log and checkpoints.
 * velocity: of the surface (modes 0: it rests), which fields need beside the densities. */
ps_status record_finish(record *record, const ps_product *product, const ps_history_header *header,
                        const ps_surface_velocity *velocity);

void record_close(record *record); /* keeps the files */

#endif
