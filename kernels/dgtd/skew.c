#include "kernels/dgtd/skew.h"

int64_t ps_dgtd_skew_delay(const ps_dgtd_skew *x, int64_t half)
{
    return half - 1 + (half - 1) / x->phases * x->width;
}

int64_t ps_dgtd_skew_window(const ps_dgtd_skew *x)
{
    return ps_dgtd_skew_delay(x, x->halves) + x->width + 2;
}

int64_t ps_dgtd_skew_ticks(const ps_dgtd_skew *x)
{
    return (x->ranges + ps_dgtd_skew_delay(x, x->halves) + x->width - 1) / x->width;
}

static int64_t clipped(const ps_dgtd_skew *x, int64_t place)
{
    return place < 0 ? 0 : place > x->ranges ? x->ranges : place;
}

int ps_dgtd_skew_part(const ps_dgtd_skew *x, int64_t tick, int64_t half, int64_t *first,
                      int64_t *end)
{
    int64_t place = tick * x->width - ps_dgtd_skew_delay(x, half);
    *first = clipped(x, place);
    *end = clipped(x, place + x->width);
    return *end > *first;
}

int64_t ps_dgtd_skew_needed(const ps_dgtd_skew *x, int64_t tick)
{
    return clipped(x, (tick + 1) * x->width + 1);
}

int64_t ps_dgtd_skew_done(const ps_dgtd_skew *x, int64_t tick)
{
    int64_t place = (tick + 1) * x->width - ps_dgtd_skew_delay(x, x->halves);
    return place >= x->ranges ? x->ranges : clipped(x, place - 1);
}
