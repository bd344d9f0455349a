#include "tests/check.h"
#include "tests/support/batch_case.h"

/* Every case through the CPU device: plan, table, run. */
static void batches_on_the_cpu_device_agree_with_the_definition(void **state)
{
    static const int64_t groups[] = {1, 7, 32};
    ps_device *device;
    check_ok(ps_device_open("cpu", 0, &device));
    for (int i = 0; i < 2 * BATCH_CASES; ++i) {
        case_tiles tiles;
        ps_precision precision = (ps_precision)(i % 2);
        check_ok(case_tiles_init(&batch_cases[i / 2], precision, &tiles));
        for (int g = 0; g < 3; ++g) {
            double worst = INFINITY;
            check_ok(case_run(&batch_cases[i / 2], &tiles, device, groups[g], &worst));
            check_at_most(worst, precision == PS_SINGLE ? 1e-6 : 1e-13);
        }
        case_tiles_release(&tiles);
    }
    ps_device_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_on_the_cpu_device_agree_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
