/* A run once it is prepared: open, solve, write, check, report. */
#include <stdio.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "formats/subdomains.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { STATE_VERSION = 2 }; /* of the arrays of a state */

/* Of a file that an option names. */
static ps_status hash_of_subdomains(const char *path, char hash[17])
{
    PS_SCOPED(ps_subdomains_close) ps_subdomains file = {0};
    strcpy(hash, "-");
    if (!path) return PS_OK;
    PS_TRY(ps_subdomains_open(path, &file));
    return ps_store_content_hash(file.store, hash);
}

/* Files that options name count by what they hold. */
ps_status solve_identify(solve_problem *p)
{
    char more[512];
    const ps_transmission *t = &p->options.transmission;
    char cut[17];
    PS_TRY(hash_of_subdomains(p->options.subdomains, cut));
    snprintf(more, sizeof more,
             "input-subdomains=%s\ncondition=%a,%a,%a,%a\nway=%s\nranks=%d\nstate=%d\n", cut,
             t->p[0], t->q[0], t->p[1], t->q[1], solve_method_names[p->options.method],
             ps_comm_size(), STATE_VERSION);
    return ps_product_identity(&p->product, more, &p->options.identity);
}

/* Slabs that are solved less well than their interfaces, or conditions in which digits are lost,
 * end with interfaces that agree and a field that is no solution. */
static ps_status judge_whole(const solve_problem *p)
{
    static const double leave = 1000; /* times the tolerance */
    bool whole = p->options.slabs == 1 && !p->options.subdomains;
    if (p->residual <= leave * p->options.tolerance) return PS_OK;
    return ps_fail(
        PS_INACCURATE,
        "%s to a residual of %.3g, but the whole system to %.3g alone, "
        "with a tolerance of %.3g: nothing is kept; %s",
        whole ? "the method has come" : "interfaces have come", p->result.residual, p->residual,
        p->options.tolerance,
        whole                            ? "take another --method, such as direct"
        : p->options.inner_tolerance > 0 ? "lower --inner-tolerance, or leave it out"
                                         : "take other --coefficients, or a --kind");
}

static ps_status open_way(solve_problem *p, void *state)
{
    double start = ps_clock();
    ps_status status = p->way->open(p, state);
    p->seconds[SECONDS_READ] = ps_clock() - start;
    return status;
}

static ps_status solve_way_of(solve_problem *p, void *state)
{
    double start = ps_clock(), read = p->seconds[SECONDS_READ];
    ps_progress_start(&p->progress, "solving", "", 0, 0);
    ps_status status = p->way->solve(state);
    ps_progress_end(&p->progress);
    p->seconds[SECONDS_SOLVE] = ps_clock() - start - (p->seconds[SECONDS_READ] - read);
    return status;
}

/* Solves and writes; without POTENTIAL nothing is written. What is no solution would be none again:
 * its states go, too. */
static ps_status solve_and_write(solve_problem *p, void *state)
{
    const char *path = p->run->output;
    run_state checkpoints;
    if (!p->trial) PS_TRY(output_begin_set(p, path));
    ps_status status = open_way(p, state);
    if (status == PS_OK && !p->trial) status = output_create(p, path);
    PS_TRY(ps_comm_agree(status));
    status = solve_way_of(p, state);
    if (p->stopped) return status;
    if (status != PS_OK) return output_keep_iterate(p, status, state);
    if (p->trial) return PS_OK;
    status = output_write(p, path, state, judge_whole);
    if (status != PS_OK && status != PS_INACCURATE) return status;
    run_state_open(p, &checkpoints);
    ps_status removed = run_state_remove(&checkpoints);
    return status == PS_OK ? removed : status;
}

ps_status solve_all(solve_problem *p)
{
    PS_SCOPED_MEMORY void *state = NULL;
    run_state checkpoints;
    PS_TRY(ps_comm_agree(solve_identify(p)));
    PS_TRY(ps_comm_agree(ps_alloc(&state, 1, p->way->size, "solving")));
    run_state_open(p, &checkpoints);
    PS_TRY(run_state_check(&checkpoints));
    ps_status status = solve_and_write(p, state);
    p->way->close(state);
    PS_TRY(status);
    solve_report(p);
    return PS_OK;
}
