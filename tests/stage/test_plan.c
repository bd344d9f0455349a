/* stage/plan: what --plan tells is what a run is checked against. */
#include "stage/plan.h"

#include "runtime/memory.h"
#include "tests/check.h"

enum { MORE = 64 << 20 };

static void a_need_is_refused_with_the_least(void **state)
{
    ps_run run = {.program = "x", .threads = 1, .host_memory = ps_memory_peak() + MORE};
    ps_need need = {.arrays = MORE / 2};
    check_ok(ps_plan_take(&run, &need, NULL));
    need.arrays = 2 * MORE;
    check_fails(ps_plan_take(&run, &need, NULL), PS_EXHAUSTED, "at least");
    check_fails(ps_plan_take(&run, &need, NULL), PS_EXHAUSTED, "arrays 134.2");
}

static void what_helps_is_no_need(void **state)
{
    ps_run run = {.program = "x", .threads = 1, .host_memory = ps_memory_peak() + MORE};
    const ps_need need = {.arrays = MORE / 2, .more = 100 * (int64_t)MORE};
    check_ok(ps_plan_take(&run, &need, NULL));
}
