#include "kernels/common/add_columns_device.h"

#define ADD(real)                                                                                  \
    for (int64_t r = 0; r < add->rows; ++r)                                                        \
        for (int64_t c = 0; c < add->columns; ++c)                                                 \
            ((real *)add->to)[r * add->to_stride + c] +=                                           \
                ((const real *)add->from)[r * add->from_stride + c];

static void add_here(const ps_add_columns *add)
{
    if (add->precision == PS_SINGLE) {
        ADD(float)
    } else {
        ADD(double)
    }
}

ps_status ps_add_columns_run(const ps_add_columns *add, ps_stream *stream)
{
    if (add->rows < 0 || add->columns < 0 || add->to_stride < add->columns ||
        add->from_stride < add->columns)
        return ps_fail(PS_USAGE, "adding %lld x %lld items with strides %lld and %lld",
                       (long long)add->rows, (long long)add->columns, (long long)add->to_stride,
                       (long long)add->from_stride);
    if (add->rows == 0 || add->columns == 0) return PS_OK;
    if (ps_stream_handle(stream)) return ps_add_columns_cuda(add, stream);
    add_here(add);
    return PS_OK;
}
