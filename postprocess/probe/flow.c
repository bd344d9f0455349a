/*
 * What a body scatters in a flow that it turns. The march has u = -rho psi_T in the time T = t +
 * Phi(x)/c^2 (Taylor, J. Sound Vib. 1978), phi(x,t) = psi(x,T) the potential of the sound's
 * velocity, so
 *
 *     -rho phi_t = u,     p = -rho (phi_t + U.grad phi) = (1 + U^2/c^2) u + U.grad int u dT
 *
 * at T, U = grad Phi the flow's velocity at x.
 */
#include <math.h>

#include "kernels/common/vec3.h"
#include "postprocess/probe/probe.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/body_flow.h"

/* AHEAD: samples beyond a time that its value takes; AROUND: places that a point's slope takes. */
enum { AHEAD = 3, NODES = 2 * AHEAD, AROUND = 5, MIDDLE = 2 };
/* Of the mean edge. Fields: differences of the fourth order, wide against what the lines between
 * steps leave in them from place to place; the flow's potential is exact between its vertices. */
static const double field_reach = .5, flow_reach = .02;

/* Of a receiver. */
typedef struct local_flow {
    double later; /* Phi/c^2, steps */
    double mach;  /* |U|/c          */
    double along[3];
} local_flow;

static ps_status find_local(const probe_source *s, const ps_receivers *receivers, double reach,
                            local_flow *out)
{
    PS_SCOPED(ps_body_flow_close) ps_body_flow body = {.flow = NULL};
    PS_TRY(ps_body_flow_open(&s->mesh, &s->flow, &body));
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < receivers->count; ++r) {
        const double *x = receivers->places + 3 * r;
        double u[3];
        ps_body_flow_velocity(&body, x, reach, u);
        out[r].later = ps_body_flow_potential(&body, x) / (s->speed * s->speed * s->dt);
        double size = ps_norm3(u);
        out[r].mach = size / s->speed;
        for (int k = 0; k < 3; ++k) out[r].along[k] = size > 0 ? u[k] / size : 0;
    }
    return PS_OK;
}

static double edge_of(const probe_source *s)
{
    return ps_triangles_mean_edge(s->triangles, s->mesh.triangle_count);
}

ps_status probe_flow_range(const probe_source *s, const ps_receivers *receivers, probe_range *range)
{
    PS_SCOPED_MEMORY local_flow *local = NULL;
    double most = -INFINITY;
    if (receivers->count == 0 || receivers->far_field)
        return ps_fail(PS_USAGE, "the history is in the time of a flow about the body: what there "
                                 "is are fields at points (--at, --points, --plane)");
    PS_TRY(PS_ALLOC(&local, receivers->count, "the flow at the receivers"));
    PS_TRY(find_local(s, receivers, flow_reach * edge_of(s), local));
    for (int64_t r = 0; r < receivers->count; ++r) most = fmax(most, local[r].later);
    int64_t last = (int64_t)floor((double)(s->steps - AHEAD) - most);
    if (range->first + range->count - 1 > last) range->count = last - range->first + 1;
    if (range->count > 0) return PS_OK;
    return ps_fail(PS_USAGE,
                   "the history of %lld steps ends before the flow brings anything to "
                   "these points",
                   (long long)s->steps);
}

/* Every receiver, and two places before and two behind it along the flow. */
static ps_status place_around(const ps_receivers *from, const local_flow *local, double reach,
                              ps_receivers *out)
{
    *out = (ps_receivers){.count = AROUND * from->count};
    PS_TRY(PS_ALLOC(&out->places, 3 * out->count, "receivers"));
    for (int64_t r = 0; r < from->count; ++r)
        for (int a = 0; a < AROUND; ++a)
            for (int k = 0; k < 3; ++k)
                out->places[3 * (AROUND * r + a) + k] =
                    from->places[3 * r + k] + (a - MIDDLE) * reach * local[r].along[k];
    return PS_OK;
}

/* Sample n = 1 .. of a channel; before the first there is nothing. */
static double sample(const ps_trace *w, int64_t channel, int64_t n)
{
    return n < 1 || n > w->samples ? 0 : w->real[(n - 1) * w->channels + channel];
}

static double slope_at(const ps_trace *w, int64_t first, int64_t n, double reach)
{
    double near = sample(w, first + 3, n) - sample(w, first + 1, n);
    double far = sample(w, first + 4, n) - sample(w, first, n);
    return (8 * near - far) / (12 * reach);
}

/* The channel in the middle becomes p: slopes, summed by cubics. */
static void add_convection(const probe_source *s, const local_flow *local, double reach,
                           int64_t receiver, ps_trace *w)
{
    int64_t first = AROUND * receiver;
    double sum = 0, slope[4]; /* at n - 2 .. n + 1 */
    for (int64_t n = 1; n <= w->samples; ++n) {
        for (int q = 0; q < 4; ++q) slope[q] = slope_at(w, first, n - 2 + q, reach);
        sum += s->dt * (13 * (slope[1] + slope[2]) - slope[0] - slope[3]) / 24;
        double *u = &w->real[(n - 1) * w->channels + first + MIDDLE];
        *u = (1 + local->mach * local->mach) * *u + local->mach * s->speed * sum;
    }
}

/* The channel at sample `at`, by the polynomial through NODES samples. */
static double between(const ps_trace *w, int64_t channel, double at)
{
    int64_t first = (int64_t)floor(at) - AHEAD + 1;
    double sum = 0;
    for (int i = 0; i < NODES; ++i) {
        double weight = 1;
        for (int j = 0; j < NODES; ++j)
            if (j != i) weight *= (at - (double)(first + j)) / (double)(i - j);
        sum += weight * sample(w, channel, first + i);
    }
    return sum;
}

ps_status probe_flow_fields(const probe_source *s, const ps_receivers *receivers, bool rate,
                            const probe_range *range, int64_t memory, ps_trace *trace)
{
    PS_SCOPED_MEMORY local_flow *local = NULL;
    PS_SCOPED(ps_receivers_release) ps_receivers around = {.count = 0};
    PS_SCOPED(ps_trace_release) ps_trace w = {0};
    const probe_range all = {1, s->steps};
    double edge = edge_of(s), reach = field_reach * edge;
    PS_TRY(PS_ALLOC(&local, receivers->count, "the flow at the receivers"));
    PS_TRY(find_local(s, receivers, flow_reach * edge, local));
    PS_TRY(place_around(receivers, local, reach, &around));
    PS_TRY(ps_trace_init(&w, all.count, around.count, false));
    PS_TRY(probe_fields(s, &around, false, &all, memory - 8 * w.samples * w.channels, &w));
    for (int64_t r = 0; r < receivers->count; ++r) {
        if (!rate) add_convection(s, &local[r], reach, r, &w);
        for (int64_t i = 0; i < range->count; ++i)
            trace->real[i * trace->channels + r] =
                between(&w, AROUND * r + MIDDLE, (double)(range->first + i) + local[r].later);
    }
    for (int64_t i = 0; i < range->count; ++i) trace->axis[i] = (double)(range->first + i) * s->dt;
    return PS_OK;
}
