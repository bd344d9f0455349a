/*
 * m0_pack: M^0 in the order in which a device that solves group after group reads it
 * (kernels/tdbem/group_solve.h): by warps of 32 consecutive rows, each with the list of the
 * columns it needs ("halo", its own rows among them) and values that say where in that list.
 */
#ifndef PS_KERNELS_TDBEM_M0_PACK_H
#define PS_KERNELS_TDBEM_M0_PACK_H

#include <stdint.h>

#include "formats/csr.h"

enum { PS_M0_ROWS = 32, PS_M0_PIECE = 8 }; /* rows of values come by 8 */

/* Pointers are the caller's memory, of the host or of a device. warps = ceil(rows / 32). */
typedef struct ps_packed_m0 {
    int64_t rows, halo_count, value_count; /* value_count: in rows of 32                        */
    int64_t halo_most, value_most;         /* of a warp                                         */
    int32_t *halo_start;                   /* [warps + 1]                                       */
    int32_t *value_start;                  /* [warps + 1] in rows of 32                         */
    int32_t *halo;                         /* [halo_count] columns                              */
    uint16_t *places;                      /* [value_count][32] in the halo of the warp         */
    double *values;                        /* [value_count][32], zeros where rows are shorter   */
} ps_packed_m0;

/* Sets all of *out but the pointers. scratch[rows] is the caller's. PS_USAGE if the matrix is
 * larger than its integers hold. */
ps_status ps_packed_m0_measure(const ps_csr *m0, int32_t *scratch, ps_packed_m0 *out);
/* Bytes of a measured packing, and its pointers into `memory` of any device (64-byte aligned). */
int64_t ps_packed_m0_bytes(const ps_packed_m0 *packed);
int64_t ps_packed_m0_attach(ps_packed_m0 *packed, void *memory);
/* Fills it, placed in host memory. */
void ps_packed_m0_fill(const ps_csr *m0, int32_t *scratch, ps_packed_m0 *packed);

#endif
