/* Compiled once per instruction set (runtime/isa.h). */
#include "kernels/tdbem/shell_integral.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/isa.h"

#include "kernels/tdbem/shell_integral_body.h"

LANES_INLINE int64_t shells(const ps_shell_lanes *in, double shell, bool hats, ps_shell_values *out)
{
    lane_state state;
    int64_t most = see_triangle(in, shell, &state, out);
    for (int e = 0; e < 3; ++e) measure_edge(in, e, &state, hats);
    inside sums[2];
    memset(&sums[0], 0, sizeof sums[0]);
    int64_t rows = most < out->capacity ? most : out->capacity;
    for (int64_t row = 0; row < rows; ++row) {
        const inside *before = &sums[row % 2];
        inside *now = &sums[(row + 1) % 2];
        sphere_lanes sphere;
        set_sphere(&state, (double)(row + 1), shell, hats, &sphere);
        integrate(&state, &sphere, hats, now);
        store_shell(in, &state, before, now, row, hats, out);
    }
    return most;
}

static int64_t shells_soft(const ps_shell_lanes *lanes, double shell, ps_shell_values *out)
{
    return shells(lanes, shell, false, out);
}

static int64_t shells_hats(const ps_shell_lanes *lanes, double shell, ps_shell_values *out)
{
    return shells(lanes, shell, true, out);
}

extern const ps_shell_functions PS_ISA_TABLE(ps_shell);
const ps_shell_functions PS_ISA_TABLE(ps_shell) = {.soft = shells_soft, .hats = shells_hats};
