#include <math.h>
#include <string.h>

#include "compute/tdbem_march/team_internal.h"
#include "kernels/common/add_columns.h"
#include "runtime/background.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"

enum { EVEN_ENOUGH = 2 }; /* sweeps in a row */

/* ---- partial sums, on the first device ---- */

/* to[unknowns][group of the run] += from, whose rows are from_stride apart. */
static ps_status add_columns(team *t, void *to, const void *from, int64_t columns,
                             int64_t from_stride)
{
    ps_add_columns add = {.precision = t->march->window.precision,
                          .rows = t->march->window.unknowns,
                          .columns = columns,
                          .to = to,
                          .from = from,
                          .to_stride = columns,
                          .from_stride = from_stride};
    return ps_add_columns_run(&add, t->at[0].stream);
}

/* Adds the sums of device d, once it has swept, to those of the first. */
static ps_status add_device(team *t, int d, const device_summation *from, device_summation *to)
{
    int64_t group = from->config.group;
    int64_t bytes = t->march->window.unknowns * group * team_item_size(t);
    ps_stream *stream = t->at[0].stream;
    PS_TRY(ps_event_wait(t->at[d].swept, stream));
    PS_TRY(ps_copy_peer(stream, t->staging, t->at[d].device, from->sums, bytes));
    return add_columns(t, to->sums, t->staging, group, group);
}

/* ---- sweeps: devices that read from disk keep a host thread busy, so each has its own ---- */

static ps_status sweep_device(void *device)
{
    team_device *at = device;
    PS_TRY(device_summation_sweep(&at->sums));
    for (int q = 0; q < LININGS_MAX && at->linings[q].sums; ++q)
        PS_TRY(device_summation_sweep(&at->linings[q]));
    return ps_event_record(at->swept, at->stream);
}

/* The CPU worker's part, once its past is complete. */
static ps_status sweep_cpu(team *t)
{
    if (!t->with_cpu) return PS_OK;
    double before = t->cpu.seconds;
    PS_TRY(summation_sweep(&t->cpu));
    t->cpu_seconds = t->cpu.seconds - before;
    return PS_OK;
}

/* The far sums of the steps after `done`, where they are due: on the first device, which holds the
 * far sums of all devices. */
static ps_status sweep_far(team *t, int64_t done)
{
    int64_t group = t->march->problem->far.group;
    if (group == 0 || (t->far_first >= 0 && done % group != 0)) return PS_OK;
    t->far_first = done;
    for (int d = 0; d < t->devices; ++d) {
        PS_TRY(device_summation_sweep(&t->at[d].far));
        PS_TRY(ps_event_record(t->at[d].swept, t->at[d].stream));
    }
    for (int d = 1; d < t->devices; ++d) PS_TRY(add_device(t, d, &t->at[d].far, &t->at[0].far));
    return PS_OK;
}

/* All workers at once. The first failure is returned, after all have ended. */
static ps_status sweep_together(team *t)
{
    ps_background sweeps[TEAM_DEVICES] = {0};
    ps_failure failure = {0};
    for (int d = 0; d < t->devices && !ps_has_failed(&failure); ++d)
        ps_note_failure(&failure, ps_background_start(&sweeps[d], sweep_device, &t->at[d],
                                                      "a worker's thread"));
    if (!ps_has_failed(&failure)) ps_note_failure(&failure, sweep_cpu(t));
    for (int d = 0; d < t->devices; ++d) ps_note_failure(&failure, ps_background_wait(&sweeps[d]));
    return ps_first_failure(&failure);
}

ps_status team_sweep(team *t, int64_t done)
{
    PS_TRY(sweep_far(t, done));
    return team_workers(t) == 1 ? sweep_device(&t->at[0]) : sweep_together(t);
}

/* ---- adding up ---- */

static ps_status add_workers(team *t)
{
    const march *m = t->march;
    int64_t bytes = m->window.unknowns * m->options->group * team_item_size(t);
    for (int d = 1; d < t->devices; ++d) PS_TRY(add_device(t, d, &t->at[d].sums, &t->at[0].sums));
    if (!t->with_cpu) return PS_OK;
    memcpy(t->partial, t->cpu.sums, (size_t)bytes);
    PS_TRY(ps_copy_to_device(t->at[0].stream, t->staging, t->partial, bytes));
    return add_columns(t, t->at[0].sums.sums, t->staging, m->options->group, m->options->group);
}

/* What the far lags give to the steps after `done`. */
static ps_status add_far(team *t, int64_t done)
{
    const march *m = t->march;
    int64_t group = m->problem->far.group, item = team_item_size(t);
    if (group == 0) return PS_OK;
    const char *from = (const char *)t->at[0].far.sums + (done - t->far_first) * item;
    return add_columns(t, t->at[0].sums.sums, from, m->options->group, group);
}

/* Sums of this rank to host memory, where there are several ranks. */
static ps_status fetch_sums(team *t, const device_summation *sums)
{
    const march *m = t->march;
    if (ps_comm_size() == 1) return PS_OK;
    PS_TRY(ps_copy_to_host(t->at[0].stream, t->partial, sums->sums,
                           m->window.unknowns * m->options->group * team_item_size(t)));
    return ps_stream_wait(t->at[0].stream);
}

/* The sums of all ranks in their order, on the root of each. Collective. */
static ps_status add_ranks(team *t, device_summation *sums)
{
    const march *m = t->march;
    int64_t count = m->window.unknowns * m->options->group, bytes = count * team_item_size(t);
    PS_TRY(ps_comm_agree(fetch_sums(t, sums)));
    if (ps_comm_size() == 1) return PS_OK;
    if (m->window.precision == PS_SINGLE)
        PS_TRY(ps_comm_sum_f32(t->partial, count));
    else
        PS_TRY(ps_comm_sum_f64(t->partial, count));
    return ps_copy_to_device(t->at[0].stream, sums->sums, t->partial, bytes);
}

/* This rank's sums, on its first device. */
static ps_status gather_sums(team *t, int64_t done)
{
    PS_TRY(add_workers(t));
    for (int q = 0; q < t->march->problem->linings.count; ++q)
        for (int d = 1; d < t->devices; ++d)
            PS_TRY(add_device(t, d, &t->at[d].linings[q], &t->at[0].linings[q]));
    return add_far(t, done);
}

/* ---- steps ---- */

/* Everybody's past grows by the steps that the root has made. */
static ps_status append_steps(team *t, int64_t count)
{
    const march *m = t->march;
    int64_t bytes = count * m->window.unknowns * team_item_size(t);
    PS_TRY(ps_past_window_append_on(&t->at[0].window, t->at[0].recent, count, t->at[0].stream));
    for (int d = 1; d < t->devices; ++d) {
        team_device *at = &t->at[d];
        PS_TRY(ps_event_wait(t->root.done, at->stream));
        PS_TRY(ps_copy_peer(at->stream, at->recent, t->at[0].device, t->at[0].recent, bytes));
        PS_TRY(ps_past_window_append_on(&at->window, at->recent, count, at->stream));
        /* The root must not write its steps anew before they were fetched. */
        PS_TRY(ps_event_record(at->swept, at->stream));
        PS_TRY(ps_event_wait(at->swept, t->at[0].stream));
    }
    return PS_OK;
}

ps_status team_solve(team *t, int64_t done, int64_t count)
{
    PS_TRY(ps_comm_agree(gather_sums(t, done)));
    PS_TRY(add_ranks(t, &t->at[0].sums));
    for (int q = 0; q < t->march->problem->linings.count; ++q)
        PS_TRY(add_ranks(t, &t->at[0].linings[q]));
    PS_TRY(root_solve(&t->root, t->at[0].sums.sums, t->march->options->group, done + 1, count));
    return append_steps(t, count);
}

/* ---- state ---- */

ps_status team_save(team *t)
{
    march *m = t->march;
    PS_TRY(root_get_states(&t->root, m->linings.state));
    PS_TRY(ps_copy_to_host(t->at[0].stream, m->window.data, t->at[0].window.data,
                           ps_past_window_bytes(&m->window)));
    PS_TRY(ps_stream_wait(t->at[0].stream));
    m->window.origin = t->at[0].window.origin;
    return PS_OK;
}

ps_status team_restore(team *t)
{
    march *m = t->march;
    for (int d = 0; d < t->devices; ++d) {
        team_device *at = &t->at[d];
        PS_TRY(ps_copy_to_device(at->stream, at->window.data, m->window.data,
                                 ps_past_window_bytes(&m->window)));
        PS_TRY(ps_stream_wait(at->stream));
        at->window.origin = m->window.origin;
    }
    PS_TRY(root_set_states(&t->root, m->linings.state));
    return root_set_last(&t->root, m->solver.last[0], m->solver.last[1]);
}

/* ---- balance ---- */

/* Seconds of the workers' sweeps number t->noted; *loading if one of them read tiles for the first
 * time. */
static ps_status sweep_seconds(const team *t, double *seconds, bool *loading)
{
    *loading = false;
    for (int d = 0; d < t->devices; ++d) {
        bool loads;
        PS_TRY(device_summation_seconds(&t->at[d].sums, t->noted, &seconds[d], &loads));
        *loading |= loads;
    }
    if (t->with_cpu) {
        seconds[t->devices] = t->cpu_seconds;
        *loading |= t->cpu.sweeps <= 1;
    }
    return PS_OK;
}

static ps_status move_cpu(team *t)
{
    int64_t begin, end, memory = t->cpu_memory;
    ps_worker_balance_interval(t->balance, t->devices, &begin, &end);
    tiles part = tiles_part(problem_swept(t->march->problem), begin, end);
    if (part.first == t->cpu_tiles.first && part.count == t->cpu_tiles.count) return PS_OK;
    summation_close(&t->cpu);
    t->cpu_tiles = part;
    return summation_open(&t->cpu_tiles, &t->march->window, t->march->options->group, memory,
                          t->devices, &t->cpu);
}

/* The slowest is within 2 % of the mean: moving intervals costs more than it brings. */
static bool is_even(const team *t, const double *seconds, double slowest)
{
    double sum = 0;
    for (int w = 0; w < team_workers(t); ++w) sum += seconds[w];
    return slowest * team_workers(t) <= 1.02 * sum;
}

/* The intervals stay as they are. */
static ps_status settle(team *t)
{
    int64_t first[TEAM_DEVICES + 2] = {0};
    for (int w = 0; w < team_workers(t); ++w)
        ps_worker_balance_interval(t->balance, w, &first[w], &first[w + 1]);
    return ps_worker_balance_fix(t->balance, first);
}

ps_status team_note_sweep(team *t, int64_t step)
{
    double seconds[TEAM_DEVICES + 1];
    int64_t bounds[2 * (TEAM_DEVICES + 1)];
    bool loading;
    PS_TRY(sweep_seconds(t, seconds, &loading));
    ++t->noted;
    for (int w = 0; w < team_workers(t); ++w) {
        int64_t first, count;
        team_interval(t, w, &first, &count);
        bounds[2 * w] = problem_swept(t->march->problem)->first + first;
        bounds[2 * w + 1] = bounds[2 * w] + count;
    }
    PS_TRY(ps_worker_log_add(&t->march->workers, step, bounds, seconds));
    double slowest = 0;
    for (int w = 0; w < team_workers(t); ++w) slowest = fmax(slowest, seconds[w]);
    t->march->summation.seconds += slowest;
    t->march->clock.summation += slowest;
    ++t->march->summation.sweeps;
    if (loading || team_is_settled(t)) return PS_OK;
    t->even = is_even(t, seconds, slowest) ? t->even + 1 : 0;
    if (t->even == EVEN_ENOUGH) return settle(t);
    PS_TRY(ps_worker_balance_update(t->balance, seconds));
    for (int d = 0; d < t->devices; ++d) {
        int64_t first, count;
        team_interval(t, d, &first, &count);
        PS_TRY(device_summation_move(&t->at[d].sums, first, count));
    }
    return t->with_cpu ? move_cpu(t) : PS_OK;
}

bool team_is_settled(const team *t)
{
    return team_workers(t) == 1 || ps_worker_balance_settled(t->balance);
}
