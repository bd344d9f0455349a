/*
 * worker_log_sample OUTPUT ITERATIONS: a worker log as a node with three GPUs would leave it. The
 * times are virtual: a GPU takes 1 ms an item, and 9 ms for each beyond the 3000 that its memory
 * holds; the cores together 6 ms; noise of 4 %. 10,000 items, balanced over the first 40
 * iterations.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/worker_log.h"
#include "runtime/scope.h"
#include "runtime/worker_balance.h"
#include "tests/support/random.h"

enum { WORKERS = 4, ITEMS = 10000, HELD = 3000, BALANCED = 40, STAGES = 4 };

static uint64_t seed = 5;

static double virtual_seconds(int worker, int64_t items)
{
    double cost = 6e-3 * (double)items;
    if (worker > 0) cost = 1e-3 * (double)items + 8e-3 * (double)(items > HELD ? items - HELD : 0);
    return cost * (0.98 + 0.04 * congruence_uniform(&seed));
}

static ps_status run_iterations(ps_worker_balance *balance, int64_t iterations, ps_worker_log *log,
                                double *stages)
{
    for (int64_t n = 0; n < iterations; ++n) {
        int64_t bounds[2 * WORKERS];
        double seconds[WORKERS], slowest = 0, sum = 0;
        for (int i = 0; i < WORKERS; ++i) {
            ps_worker_balance_interval(balance, i, &bounds[2 * i], &bounds[2 * i + 1]);
            seconds[i] = virtual_seconds(i, bounds[2 * i + 1] - bounds[2 * i]);
            sum += seconds[i];
            slowest = seconds[i] > slowest ? seconds[i] : slowest;
        }
        stages[0] += sum / WORKERS;
        stages[1] += slowest - sum / WORKERS;
        PS_TRY(ps_worker_log_add(log, 16 * (n + 1), bounds, seconds));
        PS_TRY(ps_worker_balance_update(balance, seconds));
    }
    stages[2] = 0.3 * stages[0];
    stages[3] = 0.1 * stages[0];
    return PS_OK;
}

static ps_status make_log(const char *path, int64_t iterations)
{
    static const char *const workers[WORKERS] = {"cpu", "gpu 0", "gpu 1", "gpu 2"};
    static const char *const stage_names[STAGES] = {"summation", "idle", "solve", "radiation"};
    double stages[STAGES] = {0};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *balance = NULL;
    PS_SCOPED(ps_worker_log_release) ps_worker_log log = {0};
    ps_store_identity identity = {.creator = "worker_log_sample", .revision = "0", .options = ""};
    ps_worker_balance_config config = {.workers = WORKERS, .items = ITEMS, .iterations = BALANCED};
    PS_TRY(ps_worker_log_init(&log, WORKERS, workers, "tiles"));
    PS_TRY(ps_worker_balance_open(&config, &balance));
    PS_TRY(run_iterations(balance, iterations, &log, stages));
    PS_TRY(ps_worker_log_stages(&log, STAGES, stage_names, 1, stages));
    return ps_worker_log_save(path, &log, &identity);
}

int main(int argc, char **argv)
{
    if (argc != 3) return PS_USAGE;
    ps_status status = make_log(argv[1], atoll(argv[2]));
    if (status != PS_OK) fprintf(stderr, "worker_log_sample: %s\n", ps_message());
    return status;
}
