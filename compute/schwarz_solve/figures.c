/* What a run tells of itself. */
#include <math.h>

#include "compute/schwarz_solve/solve.h"
#include "runtime/memory.h"
#include "runtime/report.h"

/* Transforms of a plane along both of its axes, and reading and writing: a guess to tell minutes
 * from days. */
static double direct_seconds(const solve_problem *p)
{
    const int64_t *n = p->grid.nodes;
    return (double)ps_q1_grid_size(&p->grid) * (3e-9 * (double)(n[1] + n[2]) + 1e-7) /
           (double)p->run->threads;
}

/* Between ranks beside each other: the planes of a vector for every product, or the traces of their
 * slabs for every exchange. Directly over ranks, a slab each is solved. */
static void report_ranks(const solve_problem *p, ps_report *report)
{
    const solve_options *o = &p->options;
    int64_t ranks = p->run->ranks, parts = o->slabs, passes = 1;
    int64_t plane = p->grid.nodes[1] * p->grid.nodes[2];
    bool direct = o->slabs == 1 && o->method == METHOD_DIRECT;
    bool krylov = o->slabs == 1 && !direct;
    if (ranks == 0 || o->subdomains) return;
    if (krylov) parts = p->grid.nodes[0];
    if (krylov && o->method == METHOD_BICGSTAB) passes = 2;
    if (direct) parts = ranks;
    if (!krylov && o->inner == METHOD_DIRECT) plane = ps_slab_box_mode_plane(&p->grid);
    bool steps = o->method == METHOD_FIXED_POINT && o->coarse == 0;
    ps_rank_traffic traffic = {.unit = krylov ? "iteration" : "exchange",
                               .ranks = ranks,
                               .sums = steps ? 1 : -1,
                               .summed = 16 * (parts - 1)};
    for (int64_t r = 0; r < ranks; ++r) {
        int64_t beside = passes * ((r > 0) + (r < ranks - 1));
        int64_t own = parts * (r + 1) / ranks - parts * r / ranks;
        ps_rank_traffic_add(&traffic, beside, 8 * beside * plane, (double)own);
    }
    ps_report_ranks(report, &traffic);
}

void solve_report(const solve_problem *p)
{
    const solve_options *o = &p->options;
    int64_t figures[3] = {p->ledger.most[PS_ROOM_HOST], ps_memory_peak(), p->inner_iterations};
    ps_comm_max_i64(figures, 2);
    ps_comm_sum_i64(figures + 2, 1);
    if (ps_comm_rank() > 0) return;
    ps_report *r = ps_report_new(p->run);
    ps_report_ints(r, "nodes", p->grid.nodes, 3);
    ps_report_int(r, "unknowns", ps_q1_grid_size(&p->grid));
    ps_report_text(r, "method", solve_method_name(o));
    ps_report_int(r, "slabs", o->slabs);
    ps_report_int(r, "ranks", ps_comm_size());
    ps_report_text(r, "device", p->device ? ps_device_describe(p->device).name : "cpu");
    ps_report_flag(r, "streamed", o->streamed);
    if (!p->run->plan) ps_report_int(r, "memory", figures[0]);
    if (o->slabs > 1 && !o->substructured) {
        ps_report_text(r, "kind", o->kind);
        ps_report_real(r, "p1", 1000 * o->transmission.p[0]);
        ps_report_real(r, "q1", o->transmission.q[0] / 1000);
        ps_report_real(r, "p2", 1000 * o->transmission.p[1]);
        ps_report_real(r, "q2", o->transmission.q[1] / 1000);
        if (o->factor > 0) ps_report_real(r, "predicted_factor", sqrt(o->factor));
    }
    if (p->run->plan) {
        ps_ledger_report(&p->ledger, p->run, r);
        if (o->method == METHOD_DIRECT || o->substructured)
            ps_report_real(r, "time", direct_seconds(p));
        else
            ps_report_text(r, "time_needs", "the number of iterations, which --limit bounds");
        report_ranks(p, r);
    } else {
        ps_report_int(r, "iterations", p->result.iterations);
        if (o->inner != METHOD_DIRECT) ps_report_int(r, "inner_iterations", figures[2]);
        ps_report_real(r, "interface_residual", p->result.residual);
        if (!p->trial) ps_report_real(r, "residual", p->residual);
        ps_report_real(r, "reading", p->seconds[SECONDS_READ]);
        ps_report_real(r, "solving", p->seconds[SECONDS_SOLVE]);
        if (p->copying > 0) ps_report_real(r, "copy_rate", p->copied / p->copying);
        ps_report_real(r, "writing", p->seconds[SECONDS_WRITE]);
        ps_report_real(r, "checking", p->seconds[SECONDS_CHECK]);
        ps_report_run(r, figures[1]);
    }
    ps_report_print(&r);
}
