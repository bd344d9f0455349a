/*
 * device_table: how the operators of M2L lie in the block of a ps_fmm_device_table. Private to
 * device_table.c, m2l_cuda.cu and encode_cuda.cu; specs/fmm_device.md has the reasons.
 *
 * Matrices are cut into pieces of 8 x 8 for the tensor cores: number 2 lane + e of a piece is what
 * lane (0 .. 31) of a warp holds as the right operand of D = A B + C, k = 2 (lane % 4) + e, n =
 * lane / 4. `octets` are 8 numbers of coded vectors, `tiles` 8 ranks of an offset. A *unit* is at
 * most two tiles of one offset (one, where vectors have more than 512 numbers, so that two units
 * fit the shared memory of a multiprocessor),
 *
 *     first  [tiles][octets][64]           coded source -> ranks, signs included
 *     second [chunks][tiles][width][64]    ranks -> coded target, octets chunk * width ..
 *
 * where the second part of a tile of no more than 4 ranks is [width][32] with e = 0 alone. Rank q
 * of a tile stands at 2 (q % 4) + q / 4. Columns that do not fit a thread's registers come in
 * chunks. `zeros` is a coded vector of 0: the source of those that have none.
 */
#ifndef PS_KERNELS_FMM_DEVICE_TABLE_H
#define PS_KERNELS_FMM_DEVICE_TABLE_H

#include "kernels/fmm/device_ops.h"

#ifdef __CUDACC__
#define PS_FMM_BOTH __host__ __device__
#else
#define PS_FMM_BOTH
#endif

enum {
    PS_FMM_PIECE = 64,
    PS_FMM_UNIT_RANKS = 16,
    PS_FMM_OCTETS_MAX = 128 /* coded vectors of up to 1024 numbers */
};

typedef struct ps_fmm_device_shape {
    int octets;        /* of a coded vector that is not padding                            */
    int width, chunks; /* octets of the result in registers at a time; how often             */
    int point_octets;  /* of l^3                                                           */
    int unit_ranks;    /* of a unit at most: PS_FMM_UNIT_RANKS, or half of that            */
    int32_t unit[PS_FMM_OFFSETS]; /* where its units begin, in pieces of 32 numbers         */
    int64_t encoder, decoder, zeros, size; /* numbers: where they begin, and all of it       */
} ps_fmm_device_shape;

/* Numbers of the first part, and of one chunk of the second, of a unit of `ranks` ranks. */
PS_FMM_BOTH static inline int ps_fmm_unit_first(const ps_fmm_device_shape *s, int ranks)
{
    return (ranks + 7) / 8 * s->octets * PS_FMM_PIECE;
}

PS_FMM_BOTH static inline int ps_fmm_unit_second(const ps_fmm_device_shape *s, int ranks)
{
    return (ranks / 8 * PS_FMM_PIECE + (ranks % 8 > 4 ? PS_FMM_PIECE
                                        : ranks % 8   ? 32
                                                      : 0)) *
           s->width;
}

ps_fmm_device_shape ps_fmm_device_shape_of(const ps_fmm_device_table *table);

#endif
