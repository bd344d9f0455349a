#include "formats/worker_log.h"
#include "runtime/scope.h"
#include "tests/check.h"

enum { WORKERS = 3, ITERATIONS = 700 };

static const char path[] = "run.workers.h5";
static const char *const names[WORKERS] = {"cpu", "gpu 0", "gpu 1"};
static const char *const stages[2] = {"summation", "solve"};
static const double stage_seconds[4] = {1, 2, 3, 5};
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

/* Iterations first .. first + count - 1; each is 8 steps. */
static void fill(ps_worker_log *log, int64_t first, int64_t count)
{
    check_ok(ps_worker_log_init(log, WORKERS, names, "tiles"));
    strcpy(log->run, "a run");
    for (int64_t n = first; n < first + count; ++n) {
        int64_t bounds[2 * WORKERS] = {0, n, n, 2 * n, 2 * n, 2000};
        double seconds[WORKERS] = {0.5 + (double)n, 0, 1e-3 * (double)n};
        check_ok(ps_worker_log_add(log, 8 * (n + 1), bounds, seconds));
    }
    check_ok(ps_worker_log_stages(log, 2, stages, 2, stage_seconds));
}

static void check_rows(const ps_worker_log *log, int64_t count)
{
    assert_int_equal(log->iterations, count);
    for (int64_t n = 0; n < count; ++n) {
        assert_int_equal(log->steps[n], 8 * (n + 1));
        assert_int_equal(log->bounds[2 * (n * WORKERS + 1)], n);
        assert_int_equal(log->bounds[2 * (n * WORKERS + 1) + 1], 2 * n);
        check_near(log->seconds[n * WORKERS], 0.5 + (double)n, 0, 0);
        check_near(log->seconds[n * WORKERS + 2], 1e-3 * (double)n, 0, 0);
    }
}

static void round_trip(void **state)
{
    for (int64_t count = 0; count <= ITERATIONS; count += ITERATIONS) {
        PS_SCOPED(ps_worker_log_release) ps_worker_log out = {0}, in = {0};
        fill(&out, 0, count);
        check_ok(ps_worker_log_save(path, &out, &identity));
        check_ok(ps_worker_log_load(path, &in));
        assert_int_equal(in.workers, WORKERS);
        assert_string_equal(in.names[2], "gpu 1");
        assert_string_equal(in.items, "tiles");
        assert_string_equal(in.run, "a run");
        assert_string_equal(in.stage_names[1], "solve");
        check_near(ps_worker_log_stage(&in, 1), 3.5, 0, 0); /* ranks: 2 and 5 */
        check_rows(&in, count);
    }
}

/* A run stopped after iteration 30 and continued from the checkpoint after 20. */
static void continues(void **state)
{
    ps_worker_log earlier, log;
    fill(&earlier, 0, 30);
    fill(&log, 20, 30);
    check_ok(ps_worker_log_continue(&log, &earlier, 8 * 20));
    check_rows(&log, 50);
    check_near(ps_worker_log_stage(&log, 0), 4, 0, 0); /* twice 1 and 3 */
    strcpy(earlier.run, "another");
    check_ok(ps_worker_log_continue(&log, &earlier, 8 * 20));
    check_rows(&log, 50);
    ps_worker_log_release(&log);
    fill(&log, 20, 30);
    strcpy(earlier.run, "a run");
    check_fails(ps_worker_log_continue(&log, &earlier, 8 * 21), PS_USAGE, "continues step");
    ps_worker_log_release(&log);
    ps_worker_log_release(&earlier);
}

static ps_status save_and_load(const ps_worker_log *log)
{
    PS_SCOPED(ps_worker_log_release) ps_worker_log in = {0};
    check_ok(ps_worker_log_save(path, log, &identity));
    return ps_worker_log_load(path, &in);
}

static void refuses_what_is_unsound(void **state)
{
    ps_worker_log log;
    int64_t bounds[2 * WORKERS] = {0};
    double seconds[WORKERS] = {0};
    fill(&log, 0, 4);
    check_fails(ps_worker_log_add(&log, 32, bounds, seconds), PS_USAGE, "is given step 32");
#define unsound(place, value, text)                                                                \
    check_fails_if(log.place, value, save_and_load(&log), PS_INVALID, text)
    unsound(steps[3], log.steps[2], "does not ascend at iteration 3");
    unsound(bounds[2], 7, "ends before it begins"); /* it ends with 0 */
    unsound(seconds[5], NAN, "are not finite");
    unsound(stage_seconds[0], -1, "/stages/seconds: -1");
    ps_worker_log_release(&log);
    check_fails(ps_worker_log_init(&log, 0, names, "tiles"), PS_USAGE, "0 workers");
}
