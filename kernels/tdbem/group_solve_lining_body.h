/*
 * group_solve_lining_body: parts of the surface that give way, of group_solve_cuda.cu. Their near
 * matrices are passed over like those of M; rows stay with the blocks that own them, so nothing
 * here needs a meeting of its own. A part of that file.
 */

#define LEAF __device__ inline
#include "kernels/tdbem/admittance_body.h"

/* What a pass over the near matrices of a lining says of the coming steps: [STRIDE][N]. */
__device__ double *owed_of(const task &t, const ps_group_lining &l, int b)
{
    return l.w + (1 + b) * t.s.unknowns;
}

template <typename real> __device__ void pass_over_linings(const task &t, const block &k, int g)
{
    for (int q = 0; q < t.s.lining_count; ++q) {
        const ps_group_lining &l = t.s.linings[q];
        const ps_packed_near near = l.near;
        pass_over_far<real>(t, near, k, g, [&](int b, int row, double owed) {
            if (row < k.rows) owed_of(t, l, b)[k.first + row] = owed;
        });
    }
}

/* w of step g without G^0 a, and in GIVEN of a row what all of beta * w but that takes. */
template <typename real> __device__ void give_way(const task &t, const block &k, int g)
{
    for (int row = threadIdx.x; row < k.rows; row += THREADS) kept(t, GIVEN, row) = 0;
    __syncthreads();
    for (int q = 0; q < t.s.lining_count; ++q) {
        const ps_group_lining &l = t.s.linings[q];
        const ps_packed_near near = l.near;
        each_owed<real>(t, near, k, g, [&](int row, double owed) {
            const int64_t i = k.first + row;
            const double w = owed + owed_of(t, l, g % STRIDE)[i] +
                             static_cast<double>(
                                 static_cast<const real *>(l.sums)[i * t.s.sums_stride + g]);
            l.w[i] = w;
            kept(t, GIVEN, row) += l.filter.direct * w +
                                   admittance_past_of(&l.filter, l.state + i, t.s.unknowns);
        });
    }
    __syncthreads();
}

/* The answers of step g, which all have seen, complete w, with which the states go on. */
template <typename real> __device__ void advance_linings(const task &t, const block &k, int g)
{
    for (int q = 0; q < t.s.lining_count; ++q) {
        const ps_group_lining &l = t.s.linings[q];
        for (int row = threadIdx.x; row < k.rows; row += THREADS) {
            const int64_t i = k.first + row, end = l.m0.row_start[i + 1];
            double w = l.w[i];
            for (int64_t e = l.m0.row_start[i]; e < end; ++e)
                w += l.m0.values[e] *
                     static_cast<double>(past_of<real>(t, l.m0.columns[e])[t.s.group + g]);
            admittance_advance_of(&l.filter, w, l.state + i, t.s.unknowns);
        }
    }
    __syncthreads();
}
