/* A run once it is prepared: open, solve, write, check, report. */
#include <stdio.h>
#include <xxhash.h>

#include "compute/schwarz_solve/solve.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* What a run is, for its checkpoints: options, load, method, ranks. */
static ps_status identify(solve_problem *p)
{
    static char text[PS_RECORD_MAX + 256];
    char hash[17];
    PS_TRY(ps_store_content_hash(p->load.store, hash));
    int length = snprintf(text, sizeof text, "%s%s %d %d", p->run->record, hash, p->options.method,
                          ps_comm_size());
    snprintf(p->options.identity, sizeof p->options.identity, "%016llx",
             (unsigned long long)XXH3_64bits(text, (size_t)length));
    return PS_OK;
}

static ps_status check(solve_problem *p)
{
    ps_box_field solution;
    double start = ps_clock();
    PS_TRY(ps_comm_agree(ps_box_field_open(p->run->operands[1], "potential", &solution)));
    ps_status status = check_residual(p, &solution, &p->residual);
    ps_box_field_close(&solution);
    p->seconds[SECONDS_CHECK] = ps_clock() - start;
    return status;
}

static ps_status open_way(solve_problem *p, void **state)
{
    double start = ps_clock();
    ps_status status = p->way->open(p, state);
    p->seconds[SECONDS_READ] = ps_clock() - start;
    return status;
}

static ps_status solve_way_of(solve_problem *p, void *state)
{
    double start = ps_clock(), read = p->seconds[SECONDS_READ];
    ps_status status = p->way->solve(state);
    p->seconds[SECONDS_SOLVE] = ps_clock() - start - (p->seconds[SECONDS_READ] - read);
    return status;
}

/* Solves and writes; without POTENTIAL nothing is written. */
static ps_status solve_and_write(solve_problem *p, void **state)
{
    const char *path = p->run->operands[1];
    run_state checkpoints;
    ps_status status = open_way(p, state);
    if (status == PS_OK && !p->trial) status = output_create(p, path);
    PS_TRY(ps_comm_agree(status));
    status = solve_way_of(p, *state);
    if (p->stopped) return status;
    if (status != PS_OK) return output_keep_iterate(p, status, *state);
    if (p->trial) return PS_OK;
    PS_TRY(output_write(p, path, *state));
    run_state_open(p, &checkpoints);
    return run_state_remove(&checkpoints);
}

ps_status solve_all(solve_problem *p)
{
    double start = ps_clock();
    void *state = NULL;
    PS_TRY(identify(p));
    ps_status status = solve_and_write(p, &state);
    p->way->close(state);
    PS_TRY(status);
    if (!p->trial) PS_TRY(check(p));
    solve_report(p, ps_clock() - start);
    return PS_OK;
}
