/*
 * placed: blocks (warps) that are assembled in memory and go to the one device that will march with
 * them as they are made. The host keeps what tables and near matrices are made of: the index arrays
 * of all tiles, and the values of lags below a group's length.
 */
#ifndef PS_TDBEM_MARCH_PLACED_H
#define PS_TDBEM_MARCH_PLACED_H

#include "runtime/device.h"
#include "stage/tdbem_assembly/block_sink.h"

typedef struct placed placed;

typedef struct placed_config {
    int ordinal; /* of the CUDA device; -1: the CPU plays it */
    int64_t tiles;
    int64_t bytes;       /* of all tiles, expected */
    int64_t image_bytes; /* of the largest, at most */
    int threads;         /* that bring tiles */
    int64_t group;       /* lags below it are kept */
} placed_config;

/* Device memory for the tiles, which grows where they are more than expected. PS_EXHAUSTED where it
 * is not to be had. `header` is borrowed. */
ps_status placed_open(const placed_config *config, const ps_block_header *header, placed **out);
void placed_close(placed **placed);
/* Of a sink whose tiles come here; for any number of threads. */
ps_block_keeper placed_keeper(placed *placed);
/* Once all tiles were brought: waits for the last copies and gives the buffers back. */
ps_status placed_settle(placed *placed);

/* Device memory taken, 0 without; host memory in use. */
int64_t placed_device_bytes(const placed *placed);
int64_t placed_host_bytes(const placed *placed);

/* The image of a tile in device memory. */
const void *placed_image(const placed *placed, int64_t tile);
/* Copies it to host memory. For several threads. */
ps_status placed_fetch(placed *placed, int64_t tile, void *unpacked, int64_t bytes);
/* Makes a tile whose index arrays are set one of the lags below the group alone, whose values are
 * here. Some values of later lags follow. */
void placed_near(const placed *placed, int64_t tile, ps_block_tile *out);

#endif
