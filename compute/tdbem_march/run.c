/* The march itself: groups of steps (Bramas, Coulaud, Sylvand 2014, algorithm of section 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "kernels/common/reals.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/stop.h"

/* ---- opening ---- */

/* The workers: GPUs, and cores beside them. Nothing is done if there are none of the first. */
static ps_status open_team(march *m, int64_t memory)
{
    int ordinals[TEAM_DEVICES], devices;
    PS_TRY(team_devices(m->run, m->problem, ordinals, &devices));
    if (devices == 0) return PS_OK;
    if (m->options->solver == SOLVER_CHOLESKY && strcmp(m->run->device, "auto") == 0) return PS_OK;
    if (m->options->solver == SOLVER_CHOLESKY)
        return ps_fail(PS_USAGE,
                       "--solver cholesky solves on the CPU: give --device cpu, or "
                       "--solver cg for --device %s",
                       m->run->device);
    PS_TRY(PS_ALLOC(&m->team, 1, "the workers"));
    return team_open(m, memory, ordinals, devices, m->team);
}

static ps_status open_sums(march *m, const march_plan *plan, int64_t left)
{
    problem *p = m->problem;
    PS_TRY(ps_worker_log_init(&m->workers, 1, (const char *const[]){"cpu"}, "tiles"));
    PS_TRY(lining_sums_open(&p->linings, &m->window, m->options->group, m->recent,
                            left + plan->lining_near, plan->lining_tiles, &m->linings));
    PS_TRY(near_open(&p->near, left, m->recent, &m->near));
    if (p->assembling) assembling_forget_near(p->assembling, &p->tiles);
    left -= m->near.bytes;
    int64_t own = plan->far_least > 0 && plan->tiles_whole < left - plan->far_least
                      ? plan->tiles_whole
                      : left - plan->far_least; /* the near lags first: they are swept more often */
    PS_TRY(summation_open(problem_swept(p), &m->window, m->options->group, own, 0, &m->summation));
    return far_sums_open(&p->far, &m->window, left - own, &m->far);
}

static ps_status open_local(march *m, const march_plan *plan)
{
    problem *p = m->problem;
    const ps_slice_header *header = &p->tiles.header;
    int64_t group = m->options->group, rows = header->unknowns;
    PS_TRY(window_init(&m->window, header, p->tiles.columns, march_ahead(m->options, p)));
    PS_TRY(ps_alloc(&m->recent, rows * group, ps_real_bytes(header->precision),
                    "the steps of a group"));
    PS_TRY(PS_ALLOC(&m->sums, rows, "the right-hand side"));
    PS_TRY(PS_ALLOC(&m->load, rows, "the load"));
    PS_TRY(PS_ALLOC(&m->load_work, ps_load_workspace(&p->load), "the load"));
    PS_TRY(linings_add_m0(&p->linings, &p->m0));
    PS_TRY(lining_states_open(&p->linings, &m->linings));
    PS_TRY(solver_open(p->solver, &p->m0, header->precision, p->tolerance, &m->solver));
    int64_t left = plan->budget - plan->fixed + plan->near;
    if (p->tiles.in_memory) left -= plan->tiles;
    if (m->solver.factor) left -= ps_cholesky_bytes(m->solver.factor);
    PS_TRY(open_team(m, left));
    return m->team ? PS_OK : open_sums(m, plan, left);
}

ps_status march_open(const ps_run *run, const march_options *options, problem *p,
                     const march_plan *plan, march *out)
{
    memset(out, 0, sizeof *out);
    out->run = run;
    out->options = options;
    out->problem = p;
    out->clock.start = ps_clock();
    ps_status status = open_local(out, plan);
    out->clock.opening = ps_clock() - out->clock.start;
    return ps_comm_agree(status);
}

void march_close(march *m)
{
    if (m->team) team_close(m->team);
    free(m->team);
    summation_close(&m->summation);
    far_sums_close(&m->far);
    lining_sums_close(&m->linings);
    near_close(&m->near);
    solver_close(&m->solver);
    window_release(&m->window);
    record_close(&m->record);
    ps_worker_log_release(&m->workers);
    PS_FREE(m->recent, m->sums, m->load, m->load_work);
}

/* ---- a step ---- */

/* Adds the seconds since *since to *stage and restarts *since. */
static void lap(double *stage, double *since)
{
    double now = ps_clock();
    *stage += now - *since;
    *since = now;
}

static void *recent_step(const march *m, int64_t g)
{
    return (char *)m->recent + g * m->window.unknowns * ps_real_bytes(m->window.precision);
}

static void note_mean(march *m)
{
    double mean = 0;
    for (int64_t i = 0; i < m->window.unknowns; ++i)
        mean += m->problem->weights[i] * m->solver.last[0][i];
    m->figures.mean = mean;
    m->figures.mean_largest = fmax(m->figures.mean_largest, fabs(mean));
}

/* What a watch makes of this step: a warning at first, then the end of the run. */
static ps_status watch(march *m, int64_t n, const char *what, double level, double largest,
                       ps_growth_watch *growth)
{
    enum { WINDOW_LEAST = 16 };
    int64_t crossing = m->window.kept > WINDOW_LEAST ? m->window.kept : WINDOW_LEAST;
    int64_t last = (int64_t)m->figures.last_load;
    switch (ps_growth_watch_step(growth, n - last, crossing, level, largest)) {
    case PS_GROWTH_SUSPECTED:
        if (ps_comm_rank() == 0)
            ps_warning("step %lld: %s have grown to %.3g though the loads are over since step "
                       "%lld; the march may be unstable",
                       (long long)n, what, level, (long long)last);
        return PS_OK;
    case PS_GROWTH_CERTAIN:
        return ps_fail(PS_FAILED,
                       "step %lld: %s have grown to %.3g though the loads are over since step "
                       "%lld: the march is unstable. Assemble with more outer points, and check "
                       "the mesh for thin edges and slivers",
                       (long long)n, what, level, (long long)last);
    default:
        return PS_OK;
    }
}

/* Growth after the loads are over, of all densities and of what alternates from step to step at any
 * one unknown, which the rest of the body would hide. What the null mode of sound-hard bodies
 * drifts by is in the mean. */
ps_status march_watch_growth(march *m, int64_t n)
{
    figures *f = &m->figures;
    bool hard = m->problem->tiles.header.formulation == PS_SOUND_HARD;
    double level = hard ? f->latest - fabs(f->mean) : f->latest;
    PS_TRY(watch(m, n, "the densities", level, f->largest, &f->growth));
    return watch(m, n, "densities that alternate from step to step", f->alternating,
                 f->alternating_largest, &f->alternation);
}

/* Step n = n0 + g of the group that starts with n0. */
static ps_status advance(march *m, int64_t n, int64_t g)
{
    double since = ps_clock();
    int64_t rows = m->window.unknowns;
    summation_get(&m->summation, g, m->sums);
    far_sums_add(&m->far, n, m->sums);
    ps_radiation_step(&m->near.radiation, g, m->sums);
    lap(&m->clock.radiation, &since);
    PS_TRY(ps_comm_sum_f64(m->sums, rows));
    PS_TRY(lining_sums_add(&m->linings, g, m->sums));
    lap(&m->clock.communication, &since);
    PS_TRY(problem_load(m->problem, n, m->load, m->load_work));
    lap(&m->clock.load, &since);
    for (int64_t i = 0; i < rows; ++i) m->sums[i] = m->load[i] - m->sums[i];
    ps_status status = solver_step(&m->solver, n, m->load, m->sums, recent_step(m, g), &m->figures);
    if (status == PS_OK) {
        lining_sums_advance(&m->linings, m->solver.last[0]);
        note_mean(m);
        status = march_watch_growth(m, n);
    }
    m->hopeless = status != PS_OK;
    lap(&m->clock.solve, &since);
    return status;
}

/* ---- the null mode of sound-hard bodies ---- */

/* Surface means of the last `kept` steps, fitted by alpha + beta t, t = -1 the newest. */
static void fit_means(const march *m, double *step, double *alpha, double *beta)
{
    const window *w = &m->window;
    double s0 = 0, s1 = 0, s2 = 0, y0 = 0, y1 = 0;
    for (int64_t back = 1; back <= w->kept; ++back) {
        double mean = 0, t = -(double)back;
        window_step(w, back, step);
        for (int64_t i = 0; i < w->unknowns; ++i) mean += m->problem->weights[i] * step[i];
        s0 += 1;
        s1 += t;
        s2 += t * t;
        y0 += mean;
        y1 += t * mean;
    }
    double determinant = s0 * s2 - s1 * s1;
    *beta = (s0 * y1 - s1 * y0) / determinant;
    *alpha = (y0 - *beta * s1) / s0;
}

void march_project_mean(march *m)
{
    double alpha, beta;
    if ((double)m->done - m->figures.last_load <= (double)(m->window.kept + m->options->group))
        return;
    fit_means(m, m->sums, &alpha, &beta);
    window_subtract_line(&m->window, alpha, beta);
    for (int64_t back = 1; back <= 2; ++back)
        window_step(&m->window, back, m->solver.last[back - 1]);
    m->figures.projected += fabs(alpha);
}

/* ---- groups ---- */

/* The sweep, and who took how long for which tiles of the matrix. */
static ps_status sweep(march *m, int64_t count)
{
    double before = m->summation.seconds;
    const tiles *swept = problem_swept(m->problem);
    int64_t bounds[2] = {swept->first, swept->first + swept->count};
    PS_TRY(summation_sweep(&m->summation));
    PS_TRY(lining_sums_sweep(&m->linings));
    double seconds = m->summation.seconds - before;
    return ps_worker_log_add(&m->workers, m->done + count, bounds, &seconds);
}

/* The far sums of the coming steps, if they are due. A request to stop may end that early, but not
 * the first time, or a run with little time would never come further. */
static ps_status make_far_sums(march *m)
{
    bool stopped = false;
    double since = ps_clock();
    if (!far_sums_due(&m->far, m->done)) return PS_OK;
    PS_TRY(ps_comm_agree(far_sums_make(&m->far, m->done, m->done > m->first, &stopped)));
    m->stopped = ps_comm_any(stopped);
    lap(&m->clock.far, &since);
    return PS_OK;
}

/* The mean may be taken out of the past only when no far sums of the past as it was are left. */
bool march_may_project(const march *m)
{
    return m->options->project_mean && (m->far.group == 0 || m->done % m->far.group == 0);
}

static ps_status march_group(march *m, int64_t count)
{
    double since = ps_clock();
    PS_TRY(ps_comm_agree(sweep(m, count)));
    lap(&m->clock.summation, &since);
    for (int64_t g = 0; g < count; ++g) PS_TRY(advance(m, m->done + 1 + g, g));
    ps_past_window_append(&m->window, m->recent, count);
    m->done += count;
    if (march_may_project(m)) march_project_mean(m);
    return PS_OK;
}

/* Log and checkpoints, on rank 0. */
ps_status march_keep(march *m, int64_t count)
{
    if (ps_comm_rank() != 0) return PS_OK;
    int64_t item = ps_real_bytes(m->window.precision);
    ps_state *state = &m->record.state;
    PS_TRY(ps_state_append(state, count, m->recent, count * m->window.unknowns * item));
    PS_TRY(record_note(&m->record, count, m->recent));
    PS_TRY(march_snapshots(m, count));
    if (m->done == m->problem->steps || !(m->stopped || ps_state_is_due(state, m->done)))
        return PS_OK;
    if (m->team) PS_TRY(team_save(m->team));
    PS_TRY(record_checkpoint(&m->record, m->done, &m->figures));
    return m->stopped ? ps_state_wait(state) : PS_OK;
}

/* The state after m->done steps, which are in the log, on the disk. Rank 0. */
static ps_status keep_state(march *m)
{
    if (ps_comm_rank() != 0) return PS_OK;
    if (m->record.state.step < m->done) PS_TRY(record_checkpoint(&m->record, m->done, &m->figures));
    return ps_state_wait(&m->record.state);
}

ps_status march_run(march *m)
{
    ps_progress progress;
    ps_progress_start(&progress, "marching", "steps", m->done, m->problem->steps);
    while (m->done < m->problem->steps && !m->stopped) {
        int64_t left = m->problem->steps - m->done;
        int64_t count = left < m->options->group ? left : m->options->group;
        PS_TRY(make_far_sums(m));
        if (m->stopped) return ps_comm_agree(keep_state(m));
        PS_TRY(march_group(m, count));
        m->stopped = m->done < m->problem->steps && ps_comm_any(ps_stop_requested());
        PS_TRY(ps_comm_agree(march_keep(m, count)));
        ps_progress_update(&progress, m->done);
    }
    ps_progress_end(&progress);
    return PS_OK;
}
