/* What is told about a plan and a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/fmm/adaptive.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"

static void problem_figures(const fmm_run *r, ps_report *report)
{
    const fmm_problem *p = &r->problem;
    ps_report_text(report, "kernel", fmm_kernel_name(p));
    ps_report_int(report, "order", p->fmm.interpolation.order);
    ps_report_real(report, "epsilon", p->epsilon);
    if (!r->adaptive && p->far) ps_report_real(report, "rank", p->mean_rank[p->leaf]);
    ps_report_int(report, "particles", p->header->count[0]);
    if (!p->same) ps_report_int(report, "targets", p->header->count[1]);
    ps_report_int(report, "right_hand_sides", p->sum.sides);
    ps_report_int(report, "height", p->header->height);
    ps_report_int(report, "groups", ps_octree_groups(p->fmm.targets, p->leaf));
    ps_report_text(report, "tree", r->adaptive ? "adaptive" : "uniform");
    if (r->uniform_because) ps_report_text(report, "uniform_because", r->uniform_because);
    if (!r->resident && !r->adaptive) ps_report_int(report, "tasks", r->tasks);
}

static double all_flop(const fmm_run *r)
{
    double flop = 0;
    for (int k = 0; k < FMM_KINDS; ++k) flop += r->flop[k];
    return flop;
}

/* Forecast of the whole on these workers. */
static double forecast(const fmm_run *r)
{
    double seconds = 0;
    for (int k = 0; k < FMM_KINDS; ++k) {
        fmm_task task = {.kind = (fmm_kind)k, .flop = r->flop[k]};
        seconds += fmm_forecast(&r->problem, &task);
    }
    return seconds / r->work.workers;
}

/* Of several ranks there are tasks of the octree's own tree. */
static ps_status report_ranks(const fmm_run *r, ps_report *report)
{
    ps_rank_traffic traffic;
    if (r->run->ranks == 0) return PS_OK;
    if (r->resident)
        return ps_fail(PS_USAGE, "--ranks: several ranks do tasks: give --resident no as well");
    PS_TRY(r->adaptive ? fmm_adaptive_traffic(r, r->run->ranks, &traffic)
                       : fmm_rank_traffic(&r->problem, r->pool, r->run->ranks, &traffic));
    ps_report_ranks(report, &traffic);
    return PS_OK;
}

ps_status fmm_report_plan(const fmm_run *r)
{
    PS_SCOPED(ps_report_print) ps_report *report = ps_report_new(r->run);
    problem_figures(r, report);
    if (r->resident || r->adaptive) {
        (r->adaptive ? fmm_adaptive_report : fmm_resident_report)(r, report);
        ps_report_section(report, NULL);
        ps_report_text(report, "time_needs", "how fast sums over these lists are here");
    } else {
        ps_report_int(report, "workers", r->work.workers);
        ps_report_flag(report, "in_core", r->pool_budget >= r->whole_bytes);
        ps_report_flag(report, "results_in_memory", r->sink_budget > 0);
        ps_report_real(report, "flop", all_flop(r));
        ps_report_real(report, "time", forecast(r));
    }
    ps_ledger_report(&r->ledger, r->run, report);
    return report_ranks(r, report);
}

/* Where the time of the workers went. */
static void stage_figures(const fmm_run *r, ps_report *report)
{
    double seconds[FMM_KINDS] = {0};
    for (int64_t t = 0; t < r->trace.count; ++t)
        seconds[r->trace.records[t].kind] += r->trace.records[t].end - r->trace.records[t].start;
    ps_report_section(report, "stages");
    for (int k = 0; k < FMM_KINDS; ++k) {
        char name[64];
        ps_report_real(report, fmm_codelets[k].name, seconds[k]);
        if (k == FMM_ENCODE || k == FMM_REDUCE || seconds[k] <= 0) continue;
        snprintf(name, sizeof name, "%s_rate", fmm_codelets[k].name);
        ps_report_real(report, name, r->flop[k] / seconds[k]);
    }
}

static void memory_figures(const fmm_run *r, ps_report *report)
{
    fmm_pool_figures f = fmm_pool_measure(r->pool);
    ps_report_section(report, "paging");
    ps_report_flag(report, "in_core", r->pool_budget >= r->whole_bytes);
    ps_report_int(report, "pieces", r->whole_bytes);
    ps_report_int(report, "pieces_peak", f.peak_bytes);
    ps_report_int(report, "read", f.read_bytes);
    ps_report_int(report, "written_to_scratch", f.written_bytes);
    if (f.load_seconds > 0) ps_report_real(report, "loading", f.load_seconds);
    ps_report_real(report, "moving", f.move_seconds);
    ps_report_real(report, "waiting_for_room", f.wait_seconds);
}

static void rank_figures(const fmm_run *r, ps_report *report)
{
    if (r->problem.ranks == 1) return;
    ps_report_section(report, "ranks");
    ps_report_int(report, "ranks", r->problem.ranks);
    ps_report_int(report, "sent", r->sent_bytes);
    ps_report_int(report, "received", r->received_bytes);
}

static void put_by_side(ps_report *report, const char *name, const double *values, int sides)
{
    if (sides == 1)
        ps_report_real(report, name, values[0]);
    else
        ps_report_reals(report, name, values, sides);
}

static void check_figures(const fmm_run *r, ps_report *report)
{
    double potential[PS_RIGHT_HAND_SIDES_MAX], gradient[PS_RIGHT_HAND_SIDES_MAX],
        hessian[PS_RIGHT_HAND_SIDES_MAX];
    int sides = r->problem.sum.sides;
    if (!r->work.check) return;
    fmm_check_errors(r->work.check, potential, gradient, hessian);
    ps_report_section(report, "check");
    ps_report_int(report, "samples", fmm_check_samples(r->work.check));
    put_by_side(report, "error_potential", potential, sides);
    put_by_side(report, "error_gradient", gradient, sides);
    if (r->problem.sum.derivatives > 1) put_by_side(report, "error_hessian", hessian, sides);
}

static void accuracy_figures(const fmm_run *r, ps_report *report)
{
    if (!r->work.samples) return;
    ps_report_section(report, "accuracy");
    ps_report_real(report, "asked", r->problem.accuracy);
    ps_report_real(report, "reached_potential", r->reached.potential);
    if (r->options->gradient) ps_report_real(report, "reached_gradient", r->reached.gradient);
    if (r->problem.sum.derivatives > 1)
        ps_report_real(report, "reached_hessian", r->reached.hessian);
    ps_report_real(report, "largest_of_samples", r->reached.largest);
    ps_report_int(report, "accuracy_samples", fmm_check_samples(r->work.samples));
    ps_report_int(report, "attempts", r->attempts);
    ps_report_real(report, "sampling", r->sample_seconds);
}

/* What the workers of a class did with the makespan. */
static void class_figures(const char *name, const ps_worker_times *workers, int count,
                          double makespan, ps_report *report)
{
    ps_worker_times all = {0};
    char line[160];
    for (int w = 0; w < count; ++w) {
        all.busy += workers[w].busy;
        all.waited += workers[w].waited;
        all.overhead += workers[w].overhead;
        all.idle += workers[w].idle;
    }
    double whole = 0.01 * makespan * count;
    snprintf(line, sizeof line,
             "busy %.1f %%, waiting for data %.1f %%, overhead %.1f %%, idle %.1f %%",
             all.busy / whole, all.waited / whole, all.overhead / whole, all.idle / whole);
    ps_report_text(report, name, line);
}

static ps_status worker_figures(const fmm_run *r, const ps_task_summary *summary, ps_report *report)
{
    PS_SCOPED_MEMORY ps_worker_times *workers = NULL;
    int cpus = r->trace.cpus, gpus = r->trace.gpus;
    PS_TRY(PS_ALLOC(&workers, cpus + gpus, "workers"));
    PS_TRY(ps_task_trace_workers(&r->trace, summary, workers));
    class_figures("cpu_workers", workers, cpus, summary->makespan, report);
    if (gpus) class_figures("gpu_workers", workers + cpus, gpus, summary->makespan, report);
    return PS_OK;
}

static ps_status schedule_figures(const fmm_run *r, ps_report *report)
{
    ps_task_summary summary;
    if (r->trace.count == 0) return PS_OK;
    PS_TRY(ps_task_trace_summarise(&r->trace, &summary));
    ps_report_section(report, "schedule");
    ps_report_int(report, "workers", r->work.workers);
    if (r->problem.gpus) {
        static const char *const kinds[] = {"auto", "down", "two", "all", "table"};
        ps_report_int(report, "gpus", r->problem.gpus);
        ps_report_text(report, "gpu_kinds", kinds[r->gpu_kinds]);
    }
    ps_report_real(report, "makespan", summary.makespan);
    ps_report_real(report, "lp", summary.lp.seconds);
    ps_report_real(report, "lp_best_rates", summary.lp_best.seconds);
    ps_report_real(report, "makespan_over_lp", summary.makespan / summary.lp.seconds);
    return worker_figures(r, &summary, report);
}

void fmm_total_sums(const fmm_run *r, double *energy, double *momentum)
{
    int sides = r->problem.fmm.sides;
    for (int side = 0; side < sides; ++side) {
        fmm_sums all = {0};
        for (int64_t part = 0; part < r->groups * FMM_PARTS; ++part) {
            const fmm_sums *own = &r->work.sums[part * sides + side];
            all.energy += own->energy;
            all.magnitude += own->magnitude;
            for (int d = 0; d < 3; ++d) all.force[d] += own->force[d];
        }
        double force = sqrt(all.force[0] * all.force[0] + all.force[1] * all.force[1] +
                            all.force[2] * all.force[2]);
        energy[side] = all.energy / 2;
        momentum[side] = all.magnitude > 0 ? force / all.magnitude : 0;
    }
}

static void sum_figures(const fmm_run *r, ps_report *report)
{
    double energy[PS_RIGHT_HAND_SIDES_MAX], momentum[PS_RIGHT_HAND_SIDES_MAX];
    if (!r->problem.same || !ps_fmm_sum_is_plain(&r->problem.sum)) return;
    fmm_total_sums(r, energy, momentum);
    put_by_side(report, "energy", energy, r->problem.fmm.sides);
    put_by_side(report, "momentum", momentum, r->problem.fmm.sides);
}

ps_status fmm_report(fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    ps_report *report = ps_report_new(r->run);
    problem_figures(r, report);
    if (r->restored) ps_report_int(report, "groups_from_journal", r->restored);
    ps_report_real(report, "evaluation", r->seconds);
    ps_report_real(report, "operators", p->operator_seconds);
    ps_report_real(report, "write", r->write_seconds);
    ps_report_run(report, ps_memory_peak());
    if (!r->restored && !r->resident && !r->adaptive && r->problem.ranks == 1) {
        ps_report_real(report, "flop", all_flop(r));
        ps_report_real(report, "rate", all_flop(r) / r->seconds);
        ps_report_real(report, "particles_per_second", (double)p->header->count[1] / r->seconds);
    }
    sum_figures(r, report);
    ps_status status = PS_OK;
    if (r->resident || r->adaptive) {
        (r->adaptive ? fmm_adaptive_report : fmm_resident_report)(r, report);
        if (r->adaptive) rank_figures(r, report);
    } else {
        stage_figures(r, report);
        status = schedule_figures(r, report);
        memory_figures(r, report);
        rank_figures(r, report);
    }
    accuracy_figures(r, report);
    check_figures(r, report);
    ps_report_print(&report);
    return status;
}
