#include <string.h>

#include "kernels/common/copy_ranges_device.h"

static void copy_here(const ps_copy_ranges *copy)
{
    int64_t size = copy->item_bytes;
    for (int64_t r = 0; r < copy->count; ++r) {
        const ps_range *range = &copy->ranges[r];
        memcpy((char *)copy->to + range->to * size, (const char *)copy->from + range->from * size,
               (size_t)(range->count * size));
    }
}

ps_status ps_copy_ranges_run(const ps_copy_ranges *copy, ps_stream *stream)
{
    if (copy->item_bytes != 4 && copy->item_bytes != 8)
        return ps_fail(PS_USAGE, "ranges of items of %d bytes, where 4 or 8 are possible",
                       copy->item_bytes);
    if (copy->count <= 0) return PS_OK;
    if (ps_stream_handle(stream)) return ps_copy_ranges_cuda(copy, stream);
    copy_here(copy);
    return PS_OK;
}
