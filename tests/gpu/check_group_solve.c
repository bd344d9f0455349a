/*
 * check_group_solve: groups of steps on the CUDA device against the CPU device, and against
 * themselves: bits repeat. Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/distance.h"
#include "tests/support/group_case.h"
#include "tests/support/verdict.h"

static ps_status compare_steps(const group_case *c, const group_answer *here,
                               const group_answer *there)
{
    for (int64_t g = 0; g < c->count; ++g) {
        const ps_group_step *a = &here->steps[g], *b = &there->steps[g];
        double bound = 10 * c->tolerance;
        double apart = relative_l2(there->recent + g * c->unknowns, here->recent + g * c->unknowns,
                                   c->unknowns);
        if (b->state != PS_GROUP_SOLVED || b->residual > c->tolerance + 1e-14)
            return ps_fail(PS_FAILED, "step %d ended as %g with a residual of %g", (int)g, b->state,
                           b->residual);
        if (!(apart <= bound))
            return ps_fail(PS_FAILED, "step %d is %g off, allowed %g", (int)g, apart, bound);
        const double pairs[][2] = {{a->load, b->load},
                                   {a->response, b->response},
                                   {a->right, b->right},
                                   {a->largest, b->largest},
                                   {a->mean, b->mean}};
        for (int i = 0; i < 5; ++i)
            if (!(fabs(pairs[i][0] - pairs[i][1]) <= 10 * bound * fabs(pairs[i][0])))
                return ps_fail(PS_FAILED, "figure %d of step %d is %.17g, not %.17g", i, (int)g,
                               pairs[i][1], pairs[i][0]);
        if (fabs(a->iterations - b->iterations) > (c->unsymmetric ? 4 : 2))
            return ps_fail(PS_FAILED, "step %d took %g iterations, not %g", (int)g, b->iterations,
                           a->iterations);
    }
    return PS_OK;
}

static ps_status compare(const group_case *c)
{
    group_answer here, there = {0}, again = {0};
    ps_status status;
    PS_GUARD(status, done, group_case_run(c, "cpu", &here));
    PS_GUARD(status, done, group_case_run(c, "cuda:0", &there));
    PS_GUARD(status, done, group_case_run(c, "cuda:0", &again));
    PS_GUARD(status, done, compare_steps(c, &here, &there));
    size_t bytes = (size_t)c->unknowns * sizeof(double);
    if (memcmp(there.recent, again.recent, (size_t)c->count * bytes) ||
        memcmp(there.steps, again.steps, (size_t)c->group * sizeof *there.steps))
        status = ps_fail(PS_FAILED, "the bits do not repeat");
    for (int q = 0; q < c->linings && status == PS_OK; ++q) {
        int64_t count = c->lining[q]->filter.states * c->unknowns;
        double apart = relative_l2(there.state[q], here.state[q], count);
        if (!(apart <= 10 * c->tolerance))
            status = ps_fail(PS_FAILED, "the states of a wall are %g off", apart);
        if (memcmp(there.state[q], again.state[q], (size_t)count * sizeof(double)))
            status = ps_fail(PS_FAILED, "the bits of a wall do not repeat");
    }
    if (memcmp(there.last[0], there.recent + (c->count - 1) * c->unknowns, bytes) ||
        (c->count > 1 &&
         memcmp(there.last[1], there.recent + (c->count - 2) * c->unknowns, bytes)) ||
        (c->count == 1 && memcmp(there.last[1], c->last[0], bytes)))
        status = ps_fail(PS_FAILED, "the last answers are not those of the group");
done:
    group_answer_free(&here);
    group_answer_free(&there);
    group_answer_free(&again);
    return status;
}

/* What must not be solved ends in its state, on both devices. */
static ps_status compare_failure(const group_case *c, int64_t g, ps_group_state state)
{
    static const char *const devices[] = {"cpu", "cuda:0"};
    for (int d = 0; d < 2; ++d) {
        group_answer a;
        ps_status status = group_case_run(c, devices[d], &a);
        if (status == PS_OK && a.steps[g].state != (double)state)
            status =
                ps_fail(PS_FAILED, "%s: step %d ended as %g", devices[d], (int)g, a.steps[g].state);
        if (status == PS_OK && g + 1 < c->group && a.steps[g + 1].state != PS_GROUP_SKIPPED)
            status = ps_fail(PS_FAILED, "%s: the next step was not skipped", devices[d]);
        group_answer_free(&a);
        PS_TRY(status);
    }
    return PS_OK;
}

static ps_status check_failures(group_case *c)
{
    int64_t limit = c->limit;
    c->limit = 1;
    PS_TRY(compare_failure(c, 0, PS_GROUP_NOT_CONVERGED));
    c->limit = limit;
    c->loads[2 * c->unknowns + c->unknowns / 2] = NAN;
    PS_TRY(compare_failure(c, 2, PS_GROUP_NOT_FINITE));
    memset(c->loads, 0, (size_t)(c->unknowns * c->group) * sizeof *c->loads);
    memset(c->sums, 0, (size_t)(c->unknowns * (c->group + 1) * ps_real_bytes(c->precision)));
    c->count = 1;
    return compare_failure(c, 0, PS_GROUP_SOLVED);
}

/* A case for more than one device. */
static ps_status check_refusal(group_case *c)
{
    group_answer a;
    ps_status status = group_case_run(c, "cuda:0", &a);
    group_answer_free(&a);
    if (status == PS_FAILED && strstr(ps_message(), "more than one device")) return PS_OK;
    return ps_fail(PS_FAILED, "ended as %d", status);
}

typedef ps_status (*check_fn)(group_case *c);
static ps_status compare_case(group_case *c) { return compare(c); }

/* What `group_case_make` has no default for. */
static group_case sample(int64_t unknowns, int64_t group, ps_precision precision)
{
    group_case c = {.unknowns = unknowns,
                    .group = group,
                    .precision = precision,
                    .limit = 200,
                    .crowd = unknowns > 2000 ? 0.1 : 0.9,
                    .dominance = 1.05,
                    .seed = (uint64_t)(unknowns + group)};
    c.tolerance = precision == PS_SINGLE ? 1e-7 : 1e-12;
    c.count = group > 4 && unknowns % 2 ? group - 1 : group;
    return c;
}

static void try_case(group_case c, check_fn check)
{
    ps_status status = group_case_make(&c);
    if (status == PS_OK) status = check(&c);
    verdict_of(status, "N %lld, n_g %lld, %s", (long long)c.unknowns, (long long)c.group,
               c.precision == PS_SINGLE ? "fp32" : "fp64");
    group_case_drop(&c);
}

static void one(int64_t unknowns, int64_t group, ps_precision precision, check_fn check)
{
    try_case(sample(unknowns, group, precision), check);
}

/* M^0 that is not symmetric; scattered as below where `apart` is above 0; with walls that give way.
 */
static void unsymmetric(int64_t unknowns, int64_t group, ps_precision precision, int64_t apart,
                        int linings)
{
    group_case c = sample(unknowns, group, precision);
    c.unsymmetric = true;
    c.linings = linings;
    c.band = apart > 0 ? 50 : 0;
    c.apart = apart;
    try_case(c, compare_case);
}

/* M^0 with columns so far apart that shared memory does not hold what its rows need of others. */
static void scattered(int64_t unknowns, int64_t group, ps_precision precision)
{
    group_case c = sample(unknowns, group, precision);
    c.band = 50;
    c.apart = 37;
    try_case(c, compare_case);
}

int main(int argc, char **argv)
{
    static const int64_t sizes[] = {1, 31, 33, 1000, 24001, 120001, 200001};
    static const int64_t groups[] = {1, 2, 3, 4, 5, 8, 16, 31, 32};
    int largest = argc > 1 ? atoi(argv[1]) : 200001; /* smaller ones for a checker of memory */
    if (ps_device_count() == 0) return verdict_end();
    for (int s = 0; s < 7 && sizes[s] <= largest; ++s)
        for (int k = 0; k < 9; ++k)
            for (int precision = 0; precision < 2; ++precision) {
                if (sizes[s] > 1000 && k % 3 != 2 - precision) continue;
                if (sizes[s] > 30000 && k > 5) continue;
                one(sizes[s], groups[k], (ps_precision)precision, compare_case);
            }
    for (int s = 2; s < 5 && sizes[s] <= largest; ++s) one(sizes[s], 5, PS_SINGLE, check_failures);
    for (int precision = 0; precision < 2 && largest > 24000; ++precision)
        scattered(24001, 5, (ps_precision)precision);
    for (int s = 0; s < 6 && sizes[s] <= largest; ++s)
        for (int precision = 0; precision < 2; ++precision)
            for (int linings = 0; linings <= GROUP_CASE_LININGS; ++linings)
                unsymmetric(sizes[s], s % 2 ? 5 : 16, (ps_precision)precision, 0, linings);
    for (int precision = 0; precision < 2 && largest > 24000; ++precision)
        for (int linings = 0; linings < 2; ++linings)
            unsymmetric(24001, 5, (ps_precision)precision, 37, linings);
    if (largest > 200000) one(1000001, 1, PS_SINGLE, check_refusal);
    return verdict_end();
}
