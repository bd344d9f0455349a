#include "kernels/fmm/m2l_block.h"

#include <string.h>

void ps_fmm_m2l_block_sort(ps_fmm_m2l_block *b, int64_t cells)
{
    int64_t count = b->start[cells], *begin = b->begin;
    memset(begin, 0, sizeof b->begin);
    for (int64_t i = 0; i < count; ++i) ++begin[b->codes[i] + 1];
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) begin[t + 1] += begin[t];
    for (int64_t c = 0; c < cells; ++c)
        for (int64_t i = b->start[c]; i < b->start[c + 1]; ++i) {
            int64_t to = begin[b->codes[i]]++;
            b->targets[to] = c;
            b->sources[to] = b->listed[i];
        }
    memmove(begin + 1, begin, PS_FMM_OFFSETS * sizeof *begin);
    begin[0] = 0;
}

void ps_fmm_m2l_block_sum(const ps_fmm_m2l_table *table, const ps_fmm_m2l_block *b, int64_t cells,
                          int64_t code_bytes, void *sums)
{
    const struct ps_fmm_m2l_functions *f =
        ps_fmm_m2l_functions_of(PS_BACKEND_CPU, table->precision);
    memset(sums, 0, (size_t)(cells * code_bytes));
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) {
        int64_t begin = b->begin[t], count = b->begin[t + 1] - begin;
        ps_fmm_m2l_pairs some = {t, count, b->targets + begin, b->vectors + begin};
        if (count) f->interact(table, &some, sums);
    }
}
