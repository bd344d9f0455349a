#include "kernels/tdbem/radiation_pass.h"

#include <string.h>

#include "kernels/common/reals.h"

PS_ISA_SELECT(struct ps_radiation_functions, ps_radiation)

/* LANES: what vectors read beyond the last column. */
enum { LANES = 64, THREADED_VALUES = 1 << 15, WARPS_AT_ONCE = 4 };

/* The largest power of two that divides g > 0. */
static int64_t length_at(int64_t g) { return g & -g; }

static int64_t pitch_of(int64_t length) { return 4 * length; }
static int64_t origin_of(int64_t length) { return 3 * length; }

int64_t ps_radiation_past_bytes(int64_t unknowns, int64_t group, ps_precision precision)
{
    int64_t longest = 1;
    while (2 * longest < group) longest *= 2;
    return (origin_of(longest) + pitch_of(longest) * unknowns + LANES) * ps_real_bytes(precision);
}

/* The steps of a pass, column by column with zeros between. */
static void lay_out_past(const ps_radiation *r, const ps_radiation_pass *pass)
{
    const ps_packed_near *near = r->near;
    int64_t n = near->unknowns, size = ps_real_bytes(near->precision),
            first = pass->g - pass->length;
    memset(r->past, 0, (size_t)((pass->origin + pass->pitch * n + LANES) * size));
    for (int64_t t = 0; t < pass->length; ++t)
        for (int64_t j = 0; j < n; ++j)
            ps_real_copy(near->precision, r->past, pass->origin + j * pass->pitch + t, r->recent,
                         (first + t) * n + j);
}

static void add_pass(const ps_radiation *r, int64_t g)
{
    const ps_packed_near *near = r->near;
    int64_t length = length_at(g), warps = (near->unknowns + PS_NEAR_ROWS - 1) / PS_NEAR_ROWS;
    ps_radiation_pass pass = {.near = near,
                              .past = r->past,
                              .origin = origin_of(length),
                              .pitch = pitch_of(length),
                              .g = g,
                              .length = length,
                              .owed = r->owed};
    lay_out_past(r, &pass);
    bool threaded = near->value_count * length > THREADED_VALUES;
#pragma omp parallel for schedule(dynamic, WARPS_AT_ONCE) if (threaded)
    for (int64_t w = 0; w < warps; ++w) ps_radiation_select()->warp[near->precision](&pass, w);
}

void ps_radiation_step(const ps_radiation *r, int64_t g, double *sums)
{
    int64_t n = r->near->unknowns;
    if (g == 0) {
        memset(r->owed, 0, (size_t)(n * r->near->group) * sizeof *r->owed);
        return;
    }
    add_pass(r, g);
    for (int64_t i = 0; i < n; ++i) sums[i] += r->owed[g * n + i];
}
