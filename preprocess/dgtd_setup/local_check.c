/*
 * local_check: are local steps stable? The largest eigenvalues of all levels and of a step
 * (kernels/dgtd/local_bounds.h) are asked for; where one is too large the elements that have most
 * of its eigenvector get a smaller step, and all is looked at again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "setup.h"
#include "kernels/dgtd/local_bounds.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/dgtd_local.h"

/* That an eigenvalue above 1 stays unseen, of a level and round; --dt power: surer. With the
 * damping .05 a level may be at .964, a step at .976, whatever the mesh (specs/dgtd_local.md). */
static const double risk_rule = 1e-6, risk_power = 1e-9;
/* What a whole step, where it alone is too large, is to have: classes change with it, and it falls
 * less than as the square of the step. */
static const double bound_whole = 0.85;
/* Elements whose share is as large get a smaller step. */
static const double share_least = 0.05;
enum { ROUNDS = 24 };

typedef struct check {
    iteration of;
    ps_dgtd_local_steps steps;
    double *shares;
} check;

static void check_release(check *x)
{
    ps_dgtd_local_close(&x->steps);
    iteration_release(&x->of);
    free(x->shares);
}

/* Elements with large shares of what level `l` cannot keep still, and that no level below keeps:
 * into the next one. */
static int64_t lower(setup *s, int l, const double *shares)
{
    int64_t count = 0;
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        int p = ps_dgtd_reach_p(s->reach[e]), least = l < s->header.local_levels ? l + 1 : 0;
        if (shares[e] < share_least || s->reach[e] == PS_DGTD_REACH_CLOSED) continue;
        if (p != least || p == PS_DGTD_LOCAL_LEVELS) continue;
        s->least_class[e] = (uint8_t)(p + 1);
        ++count;
    }
    return count;
}

static ps_status look(setup *s, check *x, bool power, int64_t *lowered, bool *stable)
{
    ps_dgtd_system *system = &x->of.system;
    ps_dgtd_bytes b;
    PS_TRY(iteration_open(s, PS_SINGLE, ITERATION_VECTORS, &x->of));
    ps_dgtd_system_bytes(system, &b);
    PS_TRY(ps_dgtd_local_open(&x->steps, system, s->materials, s->reach, s->header.local_levels,
                              s->header.dt, (int64_t)b.field));
    PS_TRY(PS_ALLOC(&x->shares, system->groups * PS_DGTD_LANES_F32, "shares of elements"));
    ps_dgtd_local_probe probe = {.system = system,
                                 .local = &x->steps.local,
                                 .materials = s->materials,
                                 .dt = s->header.dt,
                                 .electric = x->of.scratch.electric,
                                 .magnetic = x->of.scratch.magnetic,
                                 .partial = x->of.scratch.partial,
                                 .weights = x->of.scratch.weights};
    memcpy(probe.vectors, x->of.vectors, sizeof probe.vectors);
    double risk = power ? risk_power : risk_rule;
    *lowered = 0;
    memset(s->local_bounds, 0, sizeof s->local_bounds);
    *stable = true;
    for (int level = s->header.local_levels; level >= 0 && *stable; --level) {
        double *bound = s->local_bounds + level;
        *bound = ps_dgtd_local_bound(&probe, level, risk, NULL, &s->local_applications);
        if (*bound <= PS_DGTD_LOCAL_BOUND) continue;
        *stable = false; /* the others are asked for when this one is mended */
        if (isfinite(*bound))
            ps_dgtd_local_bound(&probe, level, risk, x->shares, &s->local_applications);
        *lowered = isfinite(*bound) ? lower(s, level, x->shares) : 0;
        ps_info("local steps: %.4g for level %d of %d, where %.3g is stable: %lld elements get a "
                "smaller step",
                *bound, level + 1, s->header.local_levels, PS_DGTD_LOCAL_BOUND,
                (long long)*lowered);
    }
    return PS_OK;
}

bool local_whole_alone(setup *s)
{
    int levels = s->header.local_levels;
    for (int l = 0; l < levels; ++l)
        if (!(s->local_bounds[l] <= PS_DGTD_LOCAL_BOUND)) return false;
    if (!isfinite(s->local_bounds[levels])) return false;
    s->local_whole_most = s->header.dt * sqrt(bound_whole / s->local_bounds[levels]);
    return true;
}

ps_status local_check(setup *s, double fraction, bool power, bool *stable)
{
    int64_t lowered = 1;
    double start = ps_clock();
    *stable = false;
    for (int round = 0; round < ROUNDS && lowered > 0 && !*stable; ++round) {
        PS_SCOPED(check_release) check x = {.shares = NULL};
        PS_TRY(local_classes(s, fraction));
        if (s->header.local_levels == 0) break;
        PS_TRY(look(s, &x, power, &lowered, stable));
        s->local_lowered += *stable ? 0 : lowered;
    }
    *stable |= s->header.local_levels == 0;
    if (!*stable) memset(s->least_class, 0, (size_t)s->mesh.elements);
    s->seconds_power += ps_clock() - start;
    return PS_OK;
}
