/*
 * check_slice_symmetric: every case of tests/support/symmetric_case.h, precision and group on the
 * first CUDA device against the definition. Ends with "N passed, N failed, N skipped". Arguments:
 * the groups to check (for slow tools such as compute-sanitizer); default all.
 */
#include <stdio.h>

#include "tests/support/distance.h"
#include "tests/support/symmetric_case.h"
#include "tests/support/verdict.h"

static void check_case(ps_device *device, int number, ps_precision precision, char **wanted)
{
    const batch_case *c = &symmetric_cases[number];
    const double limit = precision == PS_SINGLE ? 1e-6 : 1e-13;
    case_tiles tiles;
    double worst = 0, most = 0;
    int64_t rounds;
    ps_status status = case_tiles_init(c, precision, &tiles);
    for (int64_t group = 1; group <= PS_GROUP_MAX && status == PS_OK; ++group) {
        bool chosen = !*wanted;
        for (char **name = wanted; *name; ++name) chosen |= atoi(*name) == group;
        if (!chosen) continue;
        status =
            symmetric_run(c, &tiles, device, group, group % 2 ? 8000 : 1 << 26, &worst, &rounds);
        most = worse_of(most, worst);
    }
    case_tiles_release(&tiles);
    bool good = status == PS_OK && most <= limit;
    printf("%s case %d, %s%s: largest error %.2e%s%s\n", good ? "ok" : "FAILED", number,
           precision == PS_SINGLE ? "fp32" : "fp64", c->half ? " of halves" : "", most,
           status == PS_OK ? "" : ": ", status == PS_OK ? "" : ps_message());
    verdict_count(good);
}

int main(int argc, char **argv)
{
    for (int i = verdict_open(0) ? 0 : 2 * SYMMETRIC_CASES; i < 2 * SYMMETRIC_CASES; ++i)
        check_case(verdict.device, i / 2, (ps_precision)(i % 2), argv + 1);
    return verdict_end();
}
