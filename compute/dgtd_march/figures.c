/* What a run tells at its end. */
#include "compute/dgtd_march/tiles.h"
#include "runtime/memory.h"
#include "runtime/report.h"

static void report_rate(ps_report *report, const march *m)
{
    double steps = (double)(m->done - m->first), elements = (double)m->problem->header->elements;
    double seconds = m->clock.stepping > 0 ? m->clock.stepping : 1;
    ps_report_real(report, "elements_a_second", elements * steps / seconds);
    ps_report_real(report, "unknowns_a_second",
                   6 * m->problem->reference.nodes * elements * steps / seconds);
}

static void report_tiles(ps_report *report, const march *m)
{
    const tiles *x = m->tiles;
    if (!x) return;
    ps_report_section(report, "tiles");
    int64_t largest = 0;
    for (int64_t r = 0; r < x->ranges; ++r)
        if (x->bounds[r + 1] - x->bounds[r] > largest) largest = x->bounds[r + 1] - x->bounds[r];
    ps_report_int(report, "ranges", x->ranges);
    ps_report_int(report, "largest_range", largest * ps_dgtd_lanes(m->problem->system.precision));
    ps_report_int(report, "ranges_a_tile", x->width);
    ps_report_int(report, "steps_a_visit", x->visit);
    ps_report_int(report, "half_steps_a_step", x->stages);
    if (!x->window) return;
    ps_window_stats stats;
    ps_window_get_stats(x->window, &stats);
    ps_report_int(report, "phases_a_tile", x->phases);
    ps_report_real(report, "part_on_device",
                   (double)x->request.groups / (double)m->problem->system.groups);
    ps_report_flag(report, "geometry_on_device", !x->geometry);
    ps_report_real(report, "to_device", (double)stats.bytes_in);
    ps_report_real(report, "to_host", (double)stats.bytes_out);
}

static void report_file(ps_report *report, const march *m)
{
    ps_paged_stats stats;
    if (!m->tiles || !m->tiles->paged) return;
    ps_paged_get_stats(m->tiles->paged, &stats);
    ps_report_section(report, "file");
    ps_report_real(report, "read", (double)stats.bytes_read);
    ps_report_real(report, "written", (double)stats.bytes_written);
    ps_report_real(report, "read_seconds", stats.read_seconds);
    ps_report_real(report, "write_seconds", stats.write_seconds);
    ps_report_real(report, "waited_seconds", stats.waited_seconds);
}

void march_report(const march *m)
{
    const problem *p = m->problem;
    if (ps_comm_rank() != 0) return;
    ps_report *report = ps_report_new(m->run);
    ps_report_section(report, "run");
    ps_report_text(report, "backend", m->backend->name);
    ps_report_int(report, "elements", p->header->elements);
    ps_report_int(report, "order", p->header->order);
    ps_report_int(report, "steps", p->timing.steps);
    ps_report_int(report, "local_levels", p->header->local_levels);
    ps_report_real(report, "updates_a_step", p->updates);
    ps_report_int(report, "steps_done", m->done);
    ps_report_int(report, "steps_in_this_start", m->done - m->first);
    ps_report_real(report, "step", p->timing.dt / PS_DGTD_C0);
    ps_report_section(report, "fields");
    ps_report_real(report, "electric_energy", m->figures.latest * PS_DGTD_EPS0);
    ps_report_real(report, "largest_electric_energy", m->figures.largest * PS_DGTD_EPS0);
    if (m->figures.peak > 0) ps_report_real(report, "left", m->figures.energy / m->figures.peak);
    if (m->options->mode_error > 0) ps_report_real(report, "mode_error", m->figures.mode_error);
    ps_report_section(report, "seconds");
    ps_report_real(report, "opening", m->clock.opening);
    ps_report_real(report, "stepping", m->clock.stepping);
    if (m->backend->beside) ps_report_real(report, "enqueuing", m->clock.enqueuing);
    ps_report_real(report, "waiting", m->clock.waiting);
    ps_report_real(report, "keeping", m->clock.keeping);
    ps_report_section(report, "rates");
    report_rate(report, m);
    report_tiles(report, m);
    report_file(report, m);
    ps_report_run(report, ps_memory_peak());
    ps_report_print(&report);
}
