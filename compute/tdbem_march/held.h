/*
 * held: tiles that a device holds from their assembly on, so that the host never has them all: the
 * upper tiles of a symmetric matrix (symmetric.h). They lie one behind another in one piece of
 * device memory, in whatever order they come; of each the host keeps where it is and its widths.
 */
#ifndef PS_TDBEM_MARCH_HELD_H
#define PS_TDBEM_MARCH_HELD_H

#include "formats/block_matrix.h"
#include "kernels/tdbem/slice_symmetric.h"

typedef struct held_tiles held_tiles;

/* `bytes` of the device that PENSTOCK_TEAM or the machine calls `ordinal` (-1: the CPU device), for
 * tiles 0 .. count - 1 of a matrix. PS_EXHAUSTED if it has less to give. */
ps_status held_open(int ordinal, int64_t bytes, int64_t count, held_tiles **out);
void held_close(held_tiles **held);
int64_t held_capacity(const held_tiles *held); /* bytes of the device that it takes */
int64_t held_bytes(const held_tiles *held);    /* in use */

/* Copies tile `index`, whose arrays lie in `image` (formats/block_matrix.h), to the device, and
 * returns when it is there. By any thread. PS_EXHAUSTED when the memory is full. */
ps_status held_take(held_tiles *held, int64_t index, const ps_block_header *header,
                    const ps_block_tile *tile, const void *image);
/* The tile, in bytes from held_base. */
ps_symmetric_tile held_tile(const held_tiles *held, int64_t index, bool both);
const void *held_base(const held_tiles *held);

#endif
