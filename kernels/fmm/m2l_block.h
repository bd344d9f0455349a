/*
 * m2l_block: M2L of a block of target cells from a list of pairs, sorted by offset so that pairs of
 * one offset share its operator. Serial, no state.
 */
#ifndef PS_KERNELS_FMM_M2L_BLOCK_H
#define PS_KERNELS_FMM_M2L_BLOCK_H

#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/tree_lists.h"

/* The caller fills the first three: targets' pairs [start[c], start[c + 1]), each a source and the
 * code of its offset. */
typedef struct ps_fmm_m2l_block {
    int64_t start[PS_FMM_BLOCK + 1];
    int64_t listed[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    uint16_t codes[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    int64_t begin[PS_FMM_OFFSETS + 1]; /* of an offset in the three below */
    int64_t targets[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    int64_t sources[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    const void *vectors[PS_FMM_BLOCK * PS_TREE_FAR_MAX]; /* of the sources, one side */
} ps_fmm_m2l_block;

/* Fills begin, targets and sources. In the order of targets within an offset. */
void ps_fmm_m2l_block_sort(ps_fmm_m2l_block *block, int64_t cells);
/* sums[cells][length] = what the coded `vectors` do, offsets ascending. */
void ps_fmm_m2l_block_sum(const ps_fmm_m2l_table *table, const ps_fmm_m2l_block *block,
                          int64_t cells, int64_t code_bytes, void *sums);

#endif
