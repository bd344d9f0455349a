/*
 * symmetric: the tiles of a symmetric matrix on and above the diagonal, of which those above stand
 * for their mirror images, too: half of the memory, and of the reading.
 *
 * Blocks are cut where both rows and slices of tiles begin, so that a tile lies in one pair of
 * blocks. Tiles come by columns of blocks, each from the first row down to the diagonal: then the
 * sum of a row meets its slices in ascending order, as in the whole matrix, and cores make the same
 * bits.
 */
#ifndef PS_TDBEM_MARCH_SYMMETRIC_H
#define PS_TDBEM_MARCH_SYMMETRIC_H

#include "compute/tdbem_march/tiles.h"

/* Why this matrix cannot be swept so, as the end of a sentence; NULL: it can. */
const char *symmetric_obstacle(const tiles *all);

/* The upper tiles of `all`, which must outlive them; of tiles that are not there yet (in memory,
 * before they are assembled) half the bytes. `tile_rows`: of the latter. Closed by symmetric_close.
 */
ps_status symmetric_open(const tiles *all, int64_t tile_rows, tiles *out);
void symmetric_close(tiles *upper);

#endif
