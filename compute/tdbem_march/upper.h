/*
 * upper: assembling the upper tiles of a symmetric matrix alone (symmetric.h): into host memory, or
 * straight to the device that sweeps them (held.h). Beside them the host keeps tiles with the lags
 * of a group, on both sides of the diagonal, until the near matrices are made; the others are
 * counted only.
 */
#ifndef PS_TDBEM_MARCH_UPPER_H
#define PS_TDBEM_MARCH_UPPER_H

#include "compute/tdbem_march/assembling.h"
#include "compute/tdbem_march/held.h"
#include "stage/tdbem_assembly/block_sink.h"

/* Opens the devices and plans the assembly, whole or upper: `auto` is upper where the whole fits
 * neither host memory nor, with devices, theirs. Sets symmetric, holds, ordinal and whole_bytes. */
ps_status upper_plan(const ps_run *run, assembling *assembling);
/* Who keeps the tiles of such a matrix, the upper alone; opens what holds them. */
ps_status upper_keeper(const ps_run *run, assembling *assembling, ps_block_keeper *out);

#endif
