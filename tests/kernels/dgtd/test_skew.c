/* The order of half steps is right: each finds its neighbours as they should be, whatever is done
 * at once is independent, and all is done. */
#include "kernels/dgtd/skew.h"

#include <string.h>

#include "tests/check.h"

enum { RANGES_MAX = 70 };

/* Half steps done so far, by field and range. */
typedef struct progress {
    int64_t made[2][RANGES_MAX];
} progress;

/* Half step s of range r may be made: own field and the other one around are where they must be. */
static void check_ready(const progress *p, const ps_dgtd_skew *x, int64_t half, int64_t r)
{
    int field = half % 2 == 0;
    int64_t other = half / 2; /* steps of the field that is read */
    assert_int_equal(p->made[field][r], (half - 1) / 2);
    for (int64_t k = r - 1; k <= r + 1; ++k)
        if (k >= 0 && k < x->ranges) assert_int_equal(p->made[!field][k], other);
}

static void run_phase(progress *p, const ps_dgtd_skew *x, int64_t tick, int64_t phase,
                      int64_t bounds[2])
{
    int64_t first, end;
    for (int turn = 0; turn < 2; ++turn)
        for (int64_t s = phase + 1; s <= x->halves; s += x->phases) {
            if (!ps_dgtd_skew_part(x, tick, s, &first, &end)) continue;
            int64_t below = first > 0 ? first - 1 : 0, above = end < x->ranges ? end + 1 : end;
            if (below < bounds[0]) bounds[0] = below;
            if (above > bounds[1]) bounds[1] = above;
            for (int64_t r = first; r < end; ++r)
                if (turn)
                    ++p->made[s % 2 == 0][r];
                else
                    check_ready(p, x, s, r);
        }
}

static void check_skew(const ps_dgtd_skew *x)
{
    progress p;
    int64_t done = 0;
    memset(&p, 0, sizeof p);
    for (int64_t tick = 0; tick < ps_dgtd_skew_ticks(x); ++tick) {
        int64_t bounds[2] = {INT64_MAX, 0};
        for (int64_t phase = 0; phase < x->phases; ++phase) run_phase(&p, x, tick, phase, bounds);
        if (bounds[1] > 0) {
            assert_true(bounds[0] >= done);
            assert_true(bounds[1] <= ps_dgtd_skew_needed(x, tick));
            assert_true(bounds[1] - bounds[0] <= ps_dgtd_skew_window(x));
        }
        assert_true(ps_dgtd_skew_done(x, tick) >= done);
        done = ps_dgtd_skew_done(x, tick);
    }
    assert_int_equal(done, x->ranges);
    for (int64_t r = 0; r < x->ranges; ++r)
        for (int field = 0; field < 2; ++field) assert_int_equal(p.made[field][r], x->halves / 2);
}

static void all_orders_are_right(void **state)
{
    for (int64_t ranges = 1; ranges <= RANGES_MAX; ranges += ranges < 8 ? 1 : 31)
        for (int64_t steps = 1; steps <= 9; ++steps)
            for (int64_t width = 1; width <= 5; ++width)
                for (int64_t phases = 2; phases <= 2 * steps; phases += 2)
                    check_skew(&(ps_dgtd_skew){ranges, width, 2 * steps, phases});
}

/* Places that are needed at once, and what is done at once, by the formulas of the header. */
static void windows_are_as_told(void **state)
{
    const ps_dgtd_skew tile = {100, 4, 20, 20}, wave = {100, 1, 20, 2};
    int64_t first, end, parts = 0;
    assert_int_equal(ps_dgtd_skew_window(&tile), 4 + 20 + 1);
    assert_int_equal(ps_dgtd_skew_window(&wave), 19 + 9 + 1 + 2);
    for (int64_t s = 1; s <= 20; s += 2) parts += ps_dgtd_skew_part(&wave, 50, s, &first, &end);
    assert_int_equal(parts, 10);
}
