/* The march with a team: groups follow one another on the devices; the host looks at the steps of
 * a group while the sweep of the next is under way. */
#include <string.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "kernels/common/reals.h"
#include "runtime/comm.h"
#include "runtime/progress.h"
#include "runtime/stop.h"

static int64_t next_count(const march *m, int64_t done)
{
    int64_t left = m->problem->steps - done;
    return left < m->options->group ? left : m->options->group;
}

/* Step g of m->recent to the solver. */
static void take_row(march *m, int64_t g)
{
    int64_t rows = m->window.unknowns;
    for (int64_t i = 0; i < rows; ++i)
        m->solver.x[i] = ps_real_at(m->window.precision, m->recent, g * rows + i);
}

/* The steps done + 1 .. done + count are in host memory: their figures, and m->recent. */
static ps_status take_steps(march *m, int64_t count)
{
    const root *r = &m->team->root;
    int64_t item = ps_real_bytes(m->window.precision);
    memcpy(m->recent, r->recent, (size_t)(count * m->window.unknowns * item));
    for (int64_t g = 0; g < count; ++g) {
        take_row(m, g);
        solver_push(&m->solver, &m->figures);
        ps_status status =
            root_note(&r->steps[g], m->done + 1 + g, m->problem->tolerance, &m->figures);
        if (status == PS_OK) status = march_watch_growth(m, m->done + 1 + g);
        m->hopeless = status != PS_OK;
        PS_TRY(status);
    }
    m->done += count;
    return PS_OK;
}

static ps_status note_times(march *m)
{
    double load, solve;
    PS_TRY(root_seconds(&m->team->root, &load, &solve));
    m->clock.load += load;
    m->clock.solve += solve;
    return team_note_sweep(m->team, m->done);
}

/* The mean is taken out of the past on the host: it happens seldom, and late. */
static ps_status project_mean(march *m)
{
    if (!march_may_project(m)) return PS_OK;
    PS_TRY(team_save(m->team));
    march_project_mean(m);
    return team_restore(m->team);
}

static ps_status collect(march *m, int64_t count)
{
    PS_TRY(root_wait(&m->team->root));
    PS_TRY(take_steps(m, count));
    if (m->team->with_cpu) ps_past_window_append(&m->window, m->recent, count);
    PS_TRY(note_times(m));
    return project_mean(m);
}

/* May the next sweep begin before the host has seen the steps of the last? */
static bool may_run_ahead(const march *m, int64_t count)
{
    const team *t = m->team;
    return team_is_settled(t) && !t->with_cpu && !m->options->project_mean &&
           m->done + count < m->problem->steps;
}

static ps_status march_group(march *m, int64_t count, bool *ahead)
{
    PS_TRY(team_solve(m->team, m->done, count));
    *ahead = may_run_ahead(m, count);
    if (*ahead) PS_TRY(team_sweep(m->team, m->done + count));
    return collect(m, count);
}

ps_status team_run(march *m)
{
    ps_progress progress;
    bool ahead = false;
    ps_progress_start(&progress, "marching", "steps", m->done, m->problem->steps);
    while (m->done < m->problem->steps && !m->stopped) {
        int64_t count = next_count(m, m->done);
        /* Ranks may differ in who runs ahead, but not in when they meet. */
        PS_TRY(ps_comm_agree(ahead ? PS_OK : team_sweep(m->team, m->done)));
        PS_TRY(ps_comm_agree(march_group(m, count, &ahead)));
        m->stopped = m->done < m->problem->steps && ps_comm_any(ps_stop_requested());
        PS_TRY(ps_comm_agree(march_keep(m, count)));
        ps_progress_update(&progress, m->done);
    }
    ps_progress_end(&progress);
    return PS_OK;
}
