/* Compiled once per instruction set (runtime/isa.h). */
#include "kernels/tdbem/shell_integral.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/isa.h"

#include "kernels/tdbem/shell_integral_body.h"
#include "kernels/tdbem/shell_flux_body.h"

/* flux: NULL unless it is asked. */
LANES_INLINE int64_t see_triangle(const ps_shell_lanes *in, double shell, bool hats,
                                  lane_state *state, flux_state *flux, ps_shell_values *out)
{
    for (int e = 0; e < 3; ++e) {
        edge_place at = {in->vertex[e], in->tangent[e], in->normal, in->point, in->length[e]};
        if (e == 0) see_height(&at, state->height);
        if (e == 0 && flux) see_flux(&at, flux);
        see_edge(&at, state->height, &state->edge[e]);
        measure_edge(&state->edge[e], state->height, hats, flux ? flux->log[e] : NULL,
                     flux ? flux->solid[e] : NULL);
        if (hats) turn_edge(&at, in->tangent[0], &state->edge[e]);
    }
    return see_shells(shell, state, out);
}

LANES_INLINE int64_t shells(const ps_shell_lanes *in, double shell, bool hats, ps_shell_values *out)
{
    lane_state state;
    int64_t most = see_triangle(in, shell, hats, &state, NULL, out);
    inside sums[2];
    memset(&sums[0], 0, sizeof sums[0]);
    int64_t rows = most < out->capacity ? most : out->capacity;
    for (int64_t row = 0; row < rows; ++row) {
        const inside *before = &sums[row % 2];
        inside *now = &sums[(row + 1) % 2];
        sphere_lanes sphere;
        set_sphere(&state, (double)(row + 1), shell, hats, &sphere);
        integrate(&state, &sphere, hats, now);
        store_shell(in->twice_area, &state, before, now, row, hats, out);
    }
    return most;
}

/* shells() of the hats, and the flux. */
static int64_t shells_flux(const ps_shell_lanes *in, double shell, ps_shell_values *out)
{
    lane_state state;
    flux_state flux;
    int64_t most = see_triangle(in, shell, true, &state, &flux, out);
    inside sums[2];
    flux_inside through[2];
    memset(&sums[0], 0, sizeof sums[0]);
    memset(&through[0], 0, sizeof through[0]);
    int64_t rows = most < out->capacity ? most : out->capacity;
    for (int64_t row = 0; row < rows; ++row) {
        int from = (int)(row % 2), to = 1 - from;
        sphere_lanes sphere;
        set_sphere(&state, (double)(row + 1), shell, true, &sphere);
        integrate_flux(&state, &flux, &sphere, &sums[to], &through[to]);
        store_shell(in->twice_area, &state, &sums[from], &sums[to], row, true, out);
        store_flux(in->twice_area, &state, &flux, &through[from], &through[to], row, out);
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
const ps_shell_functions PS_ISA_TABLE(ps_shell) = {
    .soft = shells_soft, .hats = shells_hats, .flux = shells_flux};
