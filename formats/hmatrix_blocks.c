#include "formats/hmatrix_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

ps_status ps_hmatrix_init(ps_hmatrix *matrix)
{
    return PS_ALLOC(&matrix->blocks, matrix->leaf_count, "blocks of an H-matrix");
}

void ps_hmatrix_release(ps_hmatrix *matrix)
{
    for (int64_t leaf = 0; matrix->blocks && leaf < matrix->leaf_count; ++leaf)
        free(matrix->blocks[leaf].values);
    free(matrix->blocks);
    memset(matrix, 0, sizeof *matrix);
}

int64_t ps_hmatrix_numbers(const ps_hmatrix *matrix, int64_t leaf, int64_t rank)
{
    const ps_hmatrix_leaf *at = &matrix->leaves[leaf];
    int64_t height = at->row_end - at->row_begin, width = at->column_end - at->column_begin;
    return matrix->parts * (rank == PS_RANK_DENSE ? height * width : rank * (height + width));
}

static int64_t item_bytes(const ps_hmatrix *matrix)
{
    return matrix->precision == PS_SINGLE ? 4 : 8;
}

ps_status ps_hmatrix_put(ps_hmatrix *matrix, int64_t leaf, const ps_hmatrix_block *block)
{
    ps_hmatrix_block *to = &matrix->blocks[leaf];
    int64_t count = ps_hmatrix_numbers(matrix, leaf, block->rank);
    free(to->values);
    *to = *block;
    to->values = NULL;
    PS_TRY(ps_alloc_untouched(&to->values, count * item_bytes(matrix), "a block of an H-matrix"));
    const double *from = block->values;
    if (matrix->precision == PS_DOUBLE && count > 0)
        memcpy(to->values, from, (size_t)count * sizeof *from);
    else
        for (int64_t e = 0; e < count; ++e) ((float *)to->values)[e] = (float)from[e];
    return PS_OK;
}

int64_t ps_hmatrix_bytes(const ps_hmatrix *matrix)
{
    int64_t bytes = 0;
    for (int64_t leaf = 0; leaf < matrix->leaf_count; ++leaf)
        bytes += ps_hmatrix_numbers(matrix, leaf, matrix->blocks[leaf].rank) * item_bytes(matrix);
    return bytes;
}

ps_hmatrix_summary ps_hmatrix_summarise(const ps_hmatrix *matrix)
{
    ps_hmatrix_summary s = {0};
    double squares = 0, ranks = 0;
    for (int64_t leaf = 0; leaf < matrix->leaf_count; ++leaf) {
        const ps_hmatrix_block *block = &matrix->blocks[leaf];
        if (block->rank == PS_RANK_DENSE) {
            ++s.dense;
            continue;
        }
        ++s.low_rank;
        ranks += (double)block->rank;
        squares += block->error * block->error;
        s.rank_max = block->rank > s.rank_max ? block->rank : s.rank_max;
        s.error_max = fmax(s.error_max, block->error);
    }
    double count = s.low_rank ? (double)s.low_rank : 1;
    s.rank_mean = ranks / count;
    s.error_rms = sqrt(squares / count);
    return s;
}
