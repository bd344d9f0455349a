/*
 * device_board: device memory of each rank into which the others write directly
 * (runtime/device_share.h): traces for its ends, from the ranks beside, and the low modes of all
 * traces, from all ranks.
 *
 * Who wrote waits for its stream, then all ranks agree; after that a rank reads. Traces land in two
 * places in turn, so that nobody writes where a rank still reads; low modes need one, since an
 * exchange of traces comes between two corrections.
 */
#ifndef PS_SCHWARZ_SOLVE_DEVICE_BOARD_H
#define PS_SCHWARZ_SOLVE_DEVICE_BOARD_H

#include "compute/schwarz_solve/device.h"
#include "runtime/device_share.h"

typedef struct board {
    double *own; /* NULL: one rank, or the devices do not reach each other */
    double **of; /* [ranks] */
    int64_t face, low;
    int turn;
} board;

/* Collective, with a rank's status so far, which all share. face: values of a trace; low: of the
 * low modes. Where ranks or their devices cannot do it, that is said and all go on without. */
ps_status board_open(const solve_problem *p, ps_status status, int64_t face, int64_t low,
                     board *out);
void board_close(const solve_problem *p, board *b);

/* Where the rank beside a rank's end puts a trace, in this turn. */
double *board_landing(const board *b, int rank, int side);
double *board_low(const board *b, int rank); /* its [2 (slabs - 1)][low modes] */

#endif
