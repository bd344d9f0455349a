/* What a run tells at its end. */
#include <math.h>
#include <stdlib.h>

#include "runtime/log.h"
#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { RANK_FIGURES = 3 };

static void report_summation(ps_report *report, const march *m, const ps_chunk_stream_stats *stats)
{
    const tiles *t = problem_swept(m->problem);
    double seconds = m->summation.seconds > 0 ? m->summation.seconds : 1;
    double values = (double)t->values_owned * (double)m->summation.sweeps;
    if (m->problem->symmetric) values *= 2; /* but for those on the diagonal */
    double bytes = 0;
    for (int64_t k = 0; k < t->count; ++k) bytes += (double)t->unpacked_bytes[k];
    bytes *= (double)m->summation.sweeps;
    ps_report_section(report, "summation");
    ps_report_int(report, "sweeps", m->summation.sweeps);
    ps_report_int(report, "chunks", stats->chunks);
    ps_report_int(report, "resident_chunks", stats->resident_chunks);
    ps_report_real(report, "data_swept", bytes / seconds);
    ps_report_real(report, "rate", 2 * values * (double)m->options->group / seconds);
    ps_report_real(report, "read", (double)stats->raw_bytes_read);
    ps_report_real(report, "read_seconds", stats->read_seconds);
    ps_report_real(report, "unpack_seconds", stats->unpack_seconds);
    ps_report_real(report, "compute_seconds", stats->compute_seconds);
    ps_report_real(report, "processor_seconds", stats->processor_seconds);
    ps_report_real(report, "fraction_of_ceiling", stats->fraction);
}

void march_stages(const march *m, double *seconds)
{
    const march_clock *c = &m->clock;
    double left = ps_clock() - c->start;
    seconds[STAGE_SUMMATION] = m->summation.seconds;
    seconds[STAGE_IDLE] = fmax(0, c->summation - m->summation.seconds);
    seconds[STAGE_SUMMATION] += c->far;
    seconds[STAGE_RADIATION] = c->radiation;
    seconds[STAGE_LOAD] = c->load;
    seconds[STAGE_SOLVE] = c->solve;
    seconds[STAGE_COMMUNICATION] = c->communication;
    seconds[STAGE_OUTPUT] = m->record.state.seconds;
    for (int s = 0; s < STAGE_OTHER; ++s) left -= seconds[s];
    seconds[STAGE_OTHER] = fmax(0, left);
}

static void report_far(ps_report *report, const march *m)
{
    const summation *s = &m->far.summation;
    const tiles *t = &m->problem->far.tiles;
    ps_chunk_stream_stats stats = {0};
    if (m->far.group == 0) return;
    if (s->stream) ps_chunk_stream_get_stats(s->stream, &stats);
    double seconds = s->seconds > 0 ? s->seconds : 1;
    double work = (double)t->values_owned * (double)s->sweeps * (double)m->far.group;
    ps_report_section(report, "far");
    ps_report_int(report, "far_group", m->far.group);
    ps_report_int(report, "far_first_lag", t->k_from);
    ps_report_int(report, "far_sweeps", s->sweeps);
    ps_report_int(report, "far_chunks", stats.chunks);
    ps_report_int(report, "far_resident_chunks", stats.resident_chunks);
    ps_report_real(report, "far_rate", 2 * work / seconds);
    ps_report_real(report, "far_read", (double)stats.raw_bytes_read);
    ps_report_real(report, "far_compute_seconds", stats.compute_seconds);
    ps_report_real(report, "far_wait_seconds", stats.wait_seconds);
    ps_report_real(report, "far_fraction_of_ceiling", stats.fraction);
}

static void report_seconds(ps_report *report, const march *m, const ps_chunk_stream_stats *stats)
{
    double stages[STAGES];
    const ps_state *state = &m->record.state;
    ps_report_section(report, "seconds");
    march_stages(m, stages);
    for (int s = 0; s < STAGES; ++s) ps_report_real(report, march_stage_names[s], stages[s]);
    ps_report_real(report, "wait", stats->wait_seconds);
    ps_report_real(report, "checkpoint_writer", state->beside_seconds);
    ps_report_int(report, "checkpoints", state->written);
}

static void report_answers(ps_report *report, const march *m)
{
    const figures *f = &m->figures;
    if (!m->stopped && f->load == 0)
        ps_warning(
            "nothing came in: the loads of all steps are 0, and so are the densities. A pulse "
            "passes the origin at its delay, and comes to the body later or earlier by the way "
            "between; march on for longer, or give it another delay");
    ps_report_section(report, "solve");
    ps_report_text(report, "method", solver_name(m->solver.kind));
    ps_report_real(report, "iterations_mean", f->solves > 0 ? f->iterations / f->solves : 0);
    ps_report_int(report, "iterations_max", (int64_t)f->iterations_max);
    ps_report_section(report, "densities");
    ps_report_real(report, "largest", f->largest);
    ps_report_real(report, "mean_at_the_end", f->mean);
    ps_report_real(report, "largest_mean", f->mean_largest);
    ps_report_real(report, "mean_drift", f->largest > 0 ? f->mean / f->largest : 0);
    ps_report_real(report, "mean_taken_out", f->projected);
    ps_report_real(report, "alternating_at_the_end", f->alternating);
    ps_report_flag(report, "growth_suspected", f->growth.warned != 0 || f->alternation.warned != 0);
}

/* Seconds of summation and values held, rank by rank: how even the shares are. */
static void report_ranks(ps_report *report, const double *gathered)
{
    int ranks = ps_comm_size();
    PS_SCOPED_MEMORY double *column = NULL;
    if (ranks == 1 || PS_ALLOC(&column, ranks, "figures") != PS_OK) return;
    static const char *const names[] = {"summation_seconds", "values", "peak_memory"};
    ps_report_section(report, "by_rank");
    for (int which = 0; which < RANK_FIGURES; ++which) {
        for (int r = 0; r < ranks; ++r) column[r] = gathered[r * RANK_FIGURES + which];
        ps_report_reals(report, names[which], column, ranks);
    }
}

static void print_report(const march *m, const march_plan *plan, const ps_chunk_stream_stats *stats,
                         double peak, const double *gathered)
{
    double prepared = m->clock.start - m->run->started;
    ps_report *report = ps_report_new(m->run);
    ps_report_section(report, "run");
    ps_report_text(report, "state", m->stopped ? "stopped" : "complete");
    ps_report_text(report, "matrix", m->problem->tiles.layout);
    ps_report_text(report, "precision",
                   m->problem->tiles.header.precision == PS_SINGLE ? "single" : "double");
    ps_report_int(report, "ranks", ps_comm_size());
    ps_report_int(report, "gpus_of_a_rank", m->team ? m->team->devices : 0);
    ps_report_int(report, "threads", m->run->threads);
    ps_report_int(report, "unknowns", m->window.unknowns);
    ps_report_int(report, "steps", m->done);
    ps_report_int(report, "steps_in_this_start", m->done - m->first);
    ps_report_int(report, "group", m->options->group);
    if (m->problem->assembling) {
        ps_report_real(report, "assembled_in", m->problem->assembling->seconds);
        ps_report_real(report, "assembling_threads", m->problem->assembling->core_seconds);
        ps_report_flag(report, "blocks_on_gpu", m->problem->tiles.placed != NULL);
        prepared -= m->problem->assembling->seconds;
    }
    ps_report_real(report, "prepared_in", prepared);
    ps_report_real(report, "opened_in", m->clock.opening);
    ps_report_real(report, "written_in", m->clock.writing);
    report_seconds(report, m, stats);
    report_summation(report, m, stats);
    report_far(report, m);
    if (m->team) team_report(m->team, report);
    report_ranks(report, gathered);
    report_answers(report, m);
    ps_report_section(report, "ledger");
    ps_report_int(report, "budget", plan->budget);
    ps_report_int(report, "near_matrices",
                  m->team ? ps_packed_near_bytes(&m->team->root.solve.near) : m->near.bytes);
    ps_report_run(report, (int64_t)peak);
    ps_report_print(&report);
}

void march_report(const march *m, const march_plan *plan)
{
    ps_chunk_stream_stats stats = {0};
    if (m->summation.stream) ps_chunk_stream_get_stats(m->summation.stream, &stats);
    double peak = (double)ps_memory_peak(), *gathered;
    double mine[RANK_FIGURES] = {m->summation.seconds,
                                 (double)problem_swept(m->problem)->values_owned, peak};
    if (PS_ALLOC(&gathered, ps_comm_size() * RANK_FIGURES, "figures") != PS_OK) return;
    if (ps_comm_gather(mine, sizeof mine, gathered) == PS_OK &&
        ps_comm_max_f64(&peak, 1) == PS_OK && ps_comm_rank() == 0)
        print_report(m, plan, &stats, peak, gathered);
    free(gathered);
}
