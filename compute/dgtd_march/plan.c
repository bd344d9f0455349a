/* What a run will take in memory, on disk and in time, told beforehand. */
#include <stdio.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/tiles.h"
#include "kernels/dgtd/running_dft.h"
#include "formats/store_memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "runtime/memory.h"

enum { PHASOR_CHUNK = 4 << 20 }; /* as formats/phasors cuts them */
enum { WRITERS_MOST = 16 };      /* threads that compress chunks of phasors at once */
enum { FAR_SAMPLES = 64 << 20 }; /* two copies of what run.c keeps of a surface in a batch */
enum { RANGES = 3 << 20 };       /* tables, hashes and threads of a state that lies in a file */
/* Tables, probes and sources; what fields are converted through where all of them are there. */
enum { DEVICE_SLACK = 1 << 20, DEVICE_SCRATCH = 64 << 20 };

/* What a thread takes that writes phasors. */
static int64_t writer_bytes(const march_plan *m)
{
    int64_t chunk = m->sums / 2 < PHASOR_CHUNK ? m->sums / 2 : PHASOR_CHUNK;
    return chunk + ps_store_writer_bytes(chunk);
}

static int64_t system_bytes(const problem *p)
{
    ps_dgtd_bytes b;
    ps_dgtd_system_bytes(&p->system, &b);
    return (int64_t)(b.tangents + b.links + b.kinds + b.bordered + b.material + b.steps +
                     sizeof *p->operators);
}

/* With old traces of one field, or on a device of both. */
static int64_t border_bytes(const problem *p, size_t fields)
{
    ps_dgtd_border counted = {.averaged = p->header->averaged};
    ps_dgtd_border_count(&counted, &p->system, &p->body, p->domain.total);
    return counted.count *
               (int64_t)(sizeof *counted.elements +
                         fields * 8 * (size_t)p->reference.face_nodes * sizeof(double)) +
           counted.matrix_count * (int64_t)sizeof(double);
}

/* Bytes of all samples of the run. */
static int64_t sample_bytes(const march_options *options, const problem *p)
{
    int64_t steps = p->timing.steps;
    return (steps / p->timing.probe_every * 6 * p->probe_count +
            steps / p->timing.energy_every * energy_values(options)) *
           (int64_t)sizeof(double);
}

/* Bytes of the samples of a batch. */
static int64_t batch_bytes(const march_options *options, const problem *p)
{
    int64_t batch = options->balance ? BALANCE_BATCH_MAX : MARCH_BATCH_MAX;
    int64_t samples = batch / (options->balance ? 1 : p->timing.energy_every) + 1;
    int64_t terms = term_count(options, PS_DGTD_E) + term_count(options, PS_DGTD_H);
    int64_t surface = p->far.time.points > 0 ? FAR_SAMPLES : 0;
    return (batch * 3 * row_values(options, p) + samples * terms * p->system.groups) *
               (int64_t)sizeof(double) +
           surface;
}

static void measure(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    ps_dgtd_bytes bytes;
    ps_dgtd_system_bytes(&p->system, &bytes);
    m->budget = run->host_memory;
    m->fields = (p->header->upwind ? 4 : 2) * (int64_t)bytes.field;
    m->sums = 2 * (int64_t)ps_dgtd_dft_bytes(&p->system, (int)p->frequency_count);
    ps_ledger *l = &m->ledger;
    ps_ledger_open(l, run); /* the model is loaded */
    ps_ledger_add(l, PS_ROOM_HOST, "mesh", system_bytes(p) + upwind_bytes(p));
    ps_ledger_add(l, PS_ROOM_HOST, "border", border_bytes(p, 1));
    if (p->pml.rows > 0) ps_ledger_add(l, PS_ROOM_HOST, "layer", layer_bytes(p));
    if (p->special) ps_ledger_add(l, PS_ROOM_HOST, "poles", media_bytes(p));
    if (p->header->local_levels > 0) ps_ledger_add(l, PS_ROOM_HOST, "local_steps", local_bytes(p));
    if (ps_dgtd_model_ports(p->model)->count > 0)
        ps_ledger_add(l, PS_ROOM_HOST, "ports", ports_bytes(p));
    if (far_is_asked(p)) ps_ledger_add(l, PS_ROOM_HOST, "far_field", far_bytes(p));
    if (ps_dgtd_model_wires(p->model)->count > 0)
        ps_ledger_add(l, PS_ROOM_HOST, "wires", wires_bytes(p));
    ps_ledger_add(l, PS_ROOM_HOST, "samples",
                  2 * sample_bytes(options, p) + batch_bytes(options, p));
    ps_ledger_add(l, PS_ROOM_HOST, "halo", exchange_bytes(&p->domain, &p->system));
    m->writers = 1;
    if (m->sums > 0) ps_ledger_add(l, PS_ROOM_HOST, "writing", writer_bytes(m));
    m->fixed = l->now[PS_ROOM_HOST];
    int64_t state = m->fields + m->sums;
    m->output = 2 * state + 2 * sample_bytes(options, p) + (m->sums ? m->sums / 2 : 0);
    ps_ledger_add(l, PS_ROOM_DISK, "files", m->output);
}

/* Bytes on a device beside fields, sums and what a window takes; of all groups, and of one. */
static int64_t device_fixed_bytes(const march_options *options, const problem *p)
{
    int64_t lanes = ps_dgtd_lanes(p->system.precision), samples = 2 * batch_bytes(options, p);
    return DEVICE_SLACK + border_bytes(p, 2) + samples + p->system.groups * (6 * lanes + 1);
}

/* Thin wires measure all of their tube at once. */
static bool has_wires(const problem *p) { return ps_dgtd_model_wires(p->model)->count > 0; }

/* Does the state fit the device with all that it needs beside, or only a window of it? */
static ps_status place_on_device(const ps_run *run, const march_options *options, const problem *p,
                                 march_plan *m)
{
    ps_device *device;
    if (m->backend != &backend_device) return PS_OK;
    PS_TRY(ps_device_open_ordinal(m->ordinal, &device));
    int64_t available = ps_device_describe(device).memory_free / 20 * 19;
    ps_device_close(&device);
    m->device_budget = run->device_memory > 0 ? run->device_memory : available;
    int64_t fixed = device_fixed_bytes(options, p), groups = p->system.groups;
    int64_t geometry = groups * tiles_geometry_bytes(p);
    int64_t former = groups * tiles_field_bytes(p);
    if (p->header->upwind) fixed += 4 * groups * PS_DGTD_ALIGN;
    if (p->pml.rows > 0) fixed += layer_bytes(p);
    if (p->special) fixed += media_device_bytes(p);
    fixed += ports_bytes(p) + wires_bytes(p);
    if (p->header->local_levels > 0) fixed += local_device_bytes(p, false);
    m->device = fixed + m->fields + former + m->sums + geometry + DEVICE_SCRATCH;
    m->window = m->file || m->device > m->device_budget;
    if (!m->window) return PS_OK;
    if (has_wires(p) || ps_dgtd_model_ports(p->model)->count > 0)
        return ps_fail(PS_EXHAUSTED,
                       "with %s all of the state has to be on the device: it takes %.1f MB, of "
                       "which %.1f MB may be used: take several ranks, or --device cpu",
                       has_wires(p) ? "thin wires" : "ports", (double)m->device / 1e6,
                       (double)m->device_budget / 1e6);
    if (far_is_asked(p))
        return ps_fail(
            PS_EXHAUSTED,
            "a far field over time on a device is told of a state that is wholly there: it "
            "takes %.1f MB, of which %.1f MB may be used. Raise --device-memory, take "
            "--device cpu, or penstock-dgtd-far at frequencies",
            (double)m->device / 1e6, (double)m->device_budget / 1e6);
    if (ps_comm_size() > 1)
        return ps_fail(PS_EXHAUSTED,
                       "a rank's state takes %.1f MB of the device, of which %.1f MB may be used; "
                       "with several ranks all has to be there: take more of them, or one alone",
                       (double)m->device / 1e6, (double)m->device_budget / 1e6);
    if (options->mode_error > 0)
        return ps_fail(PS_USAGE, "--mode-error needs the fields in one memory, not a window of "
                                 "them on a device (raise --device-memory)");
    if (p->header->local_levels > 0)
        fixed += local_device_bytes(p, true) - local_device_bytes(p, false);
    m->device_window = m->device_budget - fixed;
    ps_ledger_add(&m->ledger, PS_ROOM_HOST, "pinned", geometry);
    m->fixed += geometry;
    m->ledger.least += geometry;
    return PS_OK;
}

/* In memory where it fits, or else in a file, of which a window has to be in memory. */
static ps_status place_state(const ps_run *run, const march_options *options, const problem *p,
                             march_plan *m)
{
    const bool whole = has_wires(p);
    if (whole && (options->state == STATE_FILE || options->visit_steps > 0))
        return ps_fail(PS_USAGE, "--state file and --visit-steps march some elements ahead of "
                                 "others: this model has thin "
                                 "wires, which measure all of their tubes at once. Leave both out, "
                                 "or take several ranks");
    if (options->mode_error > 0 && options->state == STATE_FILE)
        return ps_fail(PS_USAGE, "--mode-error needs the fields in memory, not --state file");
    bool fits = m->fixed + m->fields + m->sums <= m->budget;
    m->file = options->state == STATE_FILE || (options->state == STATE_AUTO && !fits && !whole &&
                                               ps_comm_size() == 1 && options->mode_error == 0);
    if (m->file && ps_comm_size() > 1)
        return ps_fail(PS_USAGE, "--state file is for one rank; with several, give each what its "
                                 "parts take (--plan lists it)");
    if (m->file) {
        ps_ledger_add(&m->ledger, PS_ROOM_HOST, "ranges", RANGES);
        m->fixed += RANGES;
    }
    bool may = m->file || (ps_comm_size() == 1 && options->mode_error == 0 && !whole &&
                           options->state == STATE_AUTO && run->plan);
    int64_t state = m->fields + m->sums, least = state;
    if (may) PS_TRY(tiles_least_bytes(p, options->visit_steps, &m->state_least));
    if (m->file) least = m->state_least;
    m->ledger.least = m->fixed + (may ? m->state_least + (m->file ? 0 : RANGES) : state);
    ps_ledger needed = m->ledger;
    ps_ledger_add(&needed, PS_ROOM_HOST, m->file ? "window" : "fields", least);
    const char *less = !m->file            ? "--state file does with less"
                       : 2 * least > state ? "elements in layers (penstock-mesh-partition --order "
                                             "layers) do with less"
                                           : NULL;
    return ps_ledger_check(&needed, m->budget, less);
}

/* With all of the state in memory, chunks of phasors are compressed by several threads where that
 * fits beside it: by one alone it takes as long as the march of a large model on a device. */
static void share_writing(const ps_run *run, march_plan *m)
{
    int64_t room = m->budget - m->fixed - m->fields - m->sums, most = m->sums / 2 / PHASOR_CHUNK;
    if (most > run->threads) most = run->threads;
    if (most > WRITERS_MOST) most = WRITERS_MOST;
    while (most > 1 && (most - 1) * writer_bytes(m) > room) --most;
    if (most < 2) return;
    m->writers = most;
    ps_ledger_add(&m->ledger, PS_ROOM_HOST, "writing", (most - 1) * writer_bytes(m));
}

/* The state as it is placed. */
static void note_state(const ps_run *run, march_plan *m)
{
    ps_ledger *l = &m->ledger;
    int64_t state = m->fields + m->sums, room = m->budget - m->fixed;
    if (m->file) {
        ps_ledger_add(l, PS_ROOM_HOST, "window", state < room ? state : room);
    } else {
        ps_ledger_add(l, PS_ROOM_HOST, "fields", m->fields);
        ps_ledger_add(l, PS_ROOM_HOST, "transforms", m->sums);
        if (m->sums > 0) share_writing(run, m);
    }
    if (m->backend == &backend_device) ps_ledger_add(l, PS_ROOM_DEVICE, "device", m->device);
}

/* What the first core shares with those beside it; 0: not known. (sysconf adds up the caches of a
 * processor of several.) */
static int64_t last_cache_bytes(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    long kilobytes = 0;
    if (!file) return 0;
    if (fscanf(file, "%ldK", &kilobytes) != 1) kilobytes = 0;
    fclose(file);
    return (int64_t)kilobytes << 10;
}

/* Bytes of the last cache if tiles for it are faster: low orders, whose steps are bound by memory,
 * with the elements in layers and more of them than the cache takes; otherwise 0. */
static int64_t helpful_cache(const problem *p, const march_plan *m)
{
    int64_t bytes = last_cache_bytes();
    bool bound = p->header->order <= 2 && p->header->layer_count > 0;
    return bound && bytes > 0 && m->fields > bytes ? bytes : 0;
}

ps_status plan_make(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    memset(m, 0, sizeof *m);
    measure(run, options, p, m);
    PS_TRY(backend_choose(run->device, &m->backend, &m->ordinal));
    PS_TRY(place_state(run, options, p, m));
    PS_TRY(place_on_device(run, options, p, m));
    note_state(run, m);
    bool one = !m->file && m->backend == &backend_cpu && ps_comm_size() == 1 &&
               options->mode_error == 0 && !has_wires(p);
    m->cache = options->visit_steps > 1 && one;
    m->cache_bytes = options->visit_steps == 0 && one ? helpful_cache(p, m) : 0;
    PS_TRY(upwind_check(p));
    if (options->balance && (p->header->upwind || m->backend != &backend_cpu))
        return ps_fail(PS_USAGE, "--balance is for the centred flux on CPU cores");
    return PS_OK;
}

/* ns that a core takes for an element and a step, about, by order; single precision. */
static double element_seconds(const problem *p)
{
    static const double ns[PS_DGTD_MAX_ORDER] = {120, 300, 700, 1600};
    return ns[p->header->order - 1] * 1e-9 * (p->system.precision == PS_SINGLE ? 1 : 2);
}

/* Traces of both fields in a step, to every rank that has elements beside own ones. */
static ps_status report_ranks(const ps_run *run, const problem *p, ps_report *report)
{
    int ranks = (int)run->ranks, lanes = ps_dgtd_lanes(p->system.precision);
    int64_t face = ps_dgtd_face_bytes(&p->system);
    ps_rank_traffic traffic = {.unit = "step", .ranks = ranks, .sums = -1};
    PS_SCOPED_MEMORY int64_t *parts = NULL;
    if (ranks == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&parts, ranks + 1, "the parts of the ranks"));
    PS_TRY(ps_dgtd_model_share(p->model, ranks, parts));
    for (int r = 0; r < ranks; ++r) {
        PS_SCOPED(ps_dgtd_domain_release) ps_dgtd_domain d = {0};
        int64_t faces = 0;
        PS_TRY(ps_dgtd_model_load(p->model, parts, ranks, r, lanes, &d));
        for (int k = 0; k < d.neighbour_count; ++k) faces += d.neighbours[k].count;
        ps_rank_traffic_add(&traffic, 2 * d.neighbour_count, 2 * faces * face, (double)d.elements);
    }
    ps_report_ranks(report, &traffic);
    return PS_OK;
}

ps_status plan_print(const ps_run *run, const problem *p, const march_plan *m)
{
    PS_SCOPED(ps_report_print) ps_report *report = ps_report_new(run);
    double work = p->updates / ps_comm_size() * (double)p->timing.steps;
    ps_report_section(report, "run");
    ps_report_int(report, "elements", p->header->elements);
    ps_report_int(report, "order", p->header->order);
    ps_report_int(report, "unknowns", 6 * p->reference.nodes * p->header->elements);
    ps_report_int(report, "ranks", ps_comm_size());
    ps_report_int(report, "steps", p->timing.steps);
    ps_report_int(report, "local_levels", p->header->local_levels);
    ps_report_real(report, "updates_a_step", p->updates);
    ps_report_real(report, "step", p->timing.dt / PS_DGTD_C0);
    if (p->timing.period_steps) ps_report_int(report, "steps_a_period", p->timing.period_steps);
    ps_report_int(report, "probes", p->probe_count);
    ps_report_int(report, "frequencies", p->frequency_count);
    /* A guess to tell minutes from days. */
    ps_report_section(report, NULL);
    ps_report_real(report, "time", work * element_seconds(p) / (double)run->threads);
    ps_ledger_report(&m->ledger, run, report);
    ps_report_section(report, "placement");
    ps_report_flag(report, "fields_in_memory", !m->file);
    if (m->backend == &backend_device) {
        ps_report_int(report, "device_budget", m->device_budget);
        ps_report_flag(report, "fields_on_device", !m->window);
    }
    return report_ranks(run, p, report);
}
