/*
 * m2l: far-field interactions between cells on CPU cores.
 *
 * A table holds one factor for each of the 316 offsets t, made from the 16 operators or from a
 * common basis. Cells interact through coded vectors of `length` numbers:
 *
 *     encode   a source: its multipoles M reversed (m to l^3-1-m), or R_k B^T W^-1 M
 *     interact F(target) += A_t (sign_t o (A_t^T m(source)))
 *     decode   a target: L += factor F, or L += factor W^-1 B F
 *
 * so that permutations cost nothing when interacting.
 *
 * | step     | flop                                            | per                           |
 * | encode   | 0; 2 k l^3                                      | cell                          |
 * | interact | 4 r l^3; 4 r k                                  | pair of cells (r: rank of t)  |
 * | decode   | 2 l^3; 2 (k+1) l^3                              | cell                          |
 *
 * Pairs of one offset are taken 8 at a time: the factor is read once for 8 pairs, tiles of 3 rows
 * by 8 pairs stay in registers. Each number of F is one chain of fused multiply-adds over the
 * ranks, added in the order of calls, so it depends neither on how pairs are batched nor on
 * threads.
 */
#ifndef PS_KERNELS_FMM_M2L_H
#define PS_KERNELS_FMM_M2L_H

#include "kernels/fmm/common_basis.h"
#include "runtime/isa.h"

enum { PS_FMM_LENGTH_MAX = 1728 }; /* of coded vectors; a multiple of 16 */

/* `real` is the precision of the table. All arrays are the caller's, 64-byte aligned. */
typedef struct ps_fmm_m2l_table {
    ps_precision precision;
    int32_t order;
    int32_t size;                  /* k: columns of the common basis; 0: without            */
    int32_t length;                /* of coded vectors: l^3 or k, padded with 0 to 64 bytes */
    int32_t padded;                /* l^3 padded likewise                                   */
    int32_t rank[PS_FMM_OFFSETS];  /* 0 for near offsets                                    */
    int64_t start[PS_FMM_OFFSETS]; /* first row of an offset                                */
    int64_t rows;
    void *factors;           /* real [rows][length]                                   */
    void *signs;             /* real [rows]                                           */
    void *encoder, *decoder; /* real [k][padded], only with a basis                   */
} ps_fmm_m2l_table;

/* Sets the shape (all but the arrays) of the table of operators, or of a basis. */
void ps_fmm_m2l_shape(const ps_fmm_operators *operators, ps_precision precision,
                      ps_fmm_m2l_table *table);
void ps_fmm_m2l_shape_basis(const ps_fmm_basis *basis, ps_precision precision,
                            ps_fmm_m2l_table *table);

/* Bytes that the arrays of a shape need together; ps_fmm_m2l_attach gives them their places in a
 * block of that size. */
int64_t ps_fmm_m2l_bytes(const ps_fmm_m2l_table *table);
int64_t ps_fmm_m2l_attach(ps_fmm_m2l_table *table, void *block);

/* Fills the arrays. */
void ps_fmm_m2l_fill(const ps_fmm_operators *operators, ps_fmm_m2l_table *table);
void ps_fmm_m2l_fill_basis(const ps_fmm_basis *basis, ps_fmm_m2l_table *table);

/* Pairs of one offset (its number, ps_fmm_offset_number). No target twice. */
typedef struct ps_fmm_m2l_pairs {
    int offset;
    int64_t count;
    const int64_t *targets;     /* by number in the coded targets                           */
    const void *const *sources; /* their coded vectors, 64-byte aligned, wherever they are  */
} ps_fmm_m2l_pairs;

/* Of one precision. multipoles, locals: real [cells][l^3]; coded: real [cells][length], 64-byte
 * aligned. Serial, no state. */
struct ps_fmm_m2l_functions {
    void (*encode)(const ps_fmm_m2l_table *table, const void *multipoles, int64_t cells,
                   void *coded);
    void (*interact)(const ps_fmm_m2l_table *table, const ps_fmm_m2l_pairs *pairs,
                     void *coded_targets);
    void (*decode)(const ps_fmm_m2l_table *table, const void *coded, int64_t cells, double factor,
                   void *locals);
};

/* For this machine; NULL if the backend does not have them. */
const struct ps_fmm_m2l_functions *ps_fmm_m2l_functions_of(ps_backend backend,
                                                           ps_precision precision);

#endif
