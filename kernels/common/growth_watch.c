#include "kernels/common/growth_watch.h"

#include <math.h>
#include <stdbool.h>

static const double suspicious = 8, certain = 64, negligible = 1e-3;

/* Octaves begin with the windows 0, 1, 2, 4, 8, ... */
static bool octave_begins(int64_t quiet, int64_t window)
{
    int64_t index = (quiet - 1) / window;
    return (quiet - 1) % window == 0 && (index & (index - 1)) == 0;
}

ps_growth ps_growth_watch_step(ps_growth_watch *w, int64_t quiet, int64_t window, double level,
                               double largest)
{
    if (quiet <= 0) {
        *w = (ps_growth_watch){0, 0, 0};
        return PS_GROWTH_NONE;
    }
    if (octave_begins(quiet, window)) {
        w->before = fmax(w->before, w->now);
        w->now = 0;
    }
    w->now = fmax(w->now, level);
    if (w->before <= 0 || w->now <= negligible * largest) return PS_GROWTH_NONE;
    if (w->now > certain * w->before) return PS_GROWTH_CERTAIN;
    if (w->warned != 0 || w->now <= suspicious * w->before) return PS_GROWTH_NONE;
    w->warned = 1;
    return PS_GROWTH_SUSPECTED;
}
