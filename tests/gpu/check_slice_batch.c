/*
 * check_slice_batch: every case of tests/support/batch_case.h, precision and group on every CUDA
 * device against the definition. Ends with "N passed, N failed, N skipped". Arguments: the groups
 * to check (for slow tools such as compute-sanitizer); default all.
 */
#include <stdio.h>

#include "tests/support/batch_case.h"
#include "tests/support/distance.h"
#include "tests/support/verdict.h"

static const double limits[] = {1e-6, 1e-13};
static char **wanted; /* ends with NULL */

static bool skipped(int64_t group)
{
    for (char **name = wanted; *name; ++name)
        if (atoi(*name) == group) return false;
    return *wanted != NULL;
}

static void check_case(ps_device *device, const batch_case *c, int number, ps_precision precision)
{
    case_tiles tiles;
    double worst = 0, most = 0;
    ps_status status = case_tiles_init(c, precision, &tiles);
    for (int64_t group = 1; group <= PS_GROUP_MAX && status == PS_OK; ++group) {
        if (skipped(group)) continue;
        status = case_run(c, &tiles, device, group, &worst);
        most = worse_of(most, worst);
    }
    case_tiles_release(&tiles);
    bool good = status == PS_OK && most <= limits[precision];
    printf("%s case %d (%s, %lld x %lld), %s: largest error %.2e%s%s\n", good ? "ok" : "FAILED",
           number, ps_block_layout_name(c->layout), (long long)c->block_rows,
           (long long)c->block_columns, precision == PS_SINGLE ? "fp32" : "fp64", most,
           status == PS_OK ? "" : ": ", status == PS_OK ? "" : ps_message());
    verdict_count(good);
}

int main(int argc, char **argv)
{
    wanted = argv + 1;
    for (int d = 0; verdict_open(d); ++d)
        for (int i = 0; i < 2 * BATCH_CASES; ++i)
            check_case(verdict.device, &batch_cases[i / 2], i / 2, (ps_precision)(i % 2));
    return verdict_end();
}
