/*
 * summation: s^{n0} .. s^{n0+n_g-1} of a group, by one sweep over the tiles of this rank (Bramas,
 * Coulaud, Sylvand 2014, 3.3), from memory as far as it reaches and from the disk beyond.
 */
#ifndef PS_TDBEM_MARCH_SUMMATION_H
#define PS_TDBEM_MARCH_SUMMATION_H

#include "compute/tdbem_march/tiles.h"
#include "compute/tdbem_march/window.h"
#include "runtime/chunk_stream.h"

/* Threads that unpack tiles for a stream. */
int summation_unpackers(void);

typedef struct summation {
    tile_list list;
    const window *window;
    int64_t group;
    void *sums; /* [unknowns][group], in the precision of the matrix; owned */
    ps_chunk_stream *stream;
    int threads;
    /* For runs of tiles that are swept together: */
    int64_t *bounds;   /* [threads + 1] their rows */
    int64_t row_tiles; /* tiles side by side that cover all rows */
    int64_t run;       /* longest */
    tile_view *views;
    ps_slice_product *products; /* [run] */
    double seconds;             /* of sweeps, this rank */
    int64_t sweeps;
    bool stoppable, stopped; /* a request to stop may end a sweep; it did: the sums are spoilt */
} summation;

int64_t summation_sums_bytes(const ps_slice_header *header, int64_t group);
/* Groups may be longer than PS_GROUP_MAX: then a tile is multiplied several times at once.
 * Opens the stream within `memory` bytes (beside the sums). `spared`: cores that are left to
 * others, who work at the same time. Borrows tiles and past. */
ps_status summation_open(tiles *tiles, const window *past, int64_t group, int64_t memory,
                         int spared, summation *out);
void summation_close(summation *summation);
ps_status summation_sweep(summation *summation);
/* out[unknowns] = s^{n0+g} so far, this rank's part; _add: +=. */
void summation_get(const summation *summation, int64_t g, double *out);
void summation_add(const summation *summation, int64_t g, double *out);

#endif
