/* The march: batches of steps, and what is kept after each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/tiles.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/stop.h"

static const double batch_seconds = 0.5;

/* ---- opening ---- */

int64_t march_field_bytes(const problem *p)
{
    int lanes = ps_dgtd_lanes(p->system.precision);
    int64_t halo = (p->domain.halo_count + lanes - 1) / lanes;
    return (p->system.groups + halo) * 3 * p->reference.nodes * PS_DGTD_ALIGN;
}

/* Where the plan has tiles and they are of use. */
static ps_status open_tiles(march *m)
{
    const march_plan *plan = m->plan;
    bool used;
    if (!plan->file && !plan->window && !plan->cache && plan->cache_bytes == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&m->tiles, 1, "the tiles"));
    PS_TRY(tiles_open(m, plan->budget - plan->fixed, m->record.name, m->tiles, &used));
    m->batch_max = m->tiles->visit_most;
    if (used) return PS_OK;
    tiles_close(m, m->tiles);
    free(m->tiles);
    m->tiles = NULL;
    m->batch_max = m->options->balance ? BALANCE_BATCH_MAX : MARCH_BATCH_MAX;
    return PS_OK;
}

static ps_status open_fields(march *m)
{
    problem *p = m->problem;
    int64_t bytes = march_field_bytes(p);
    m->march = (ps_dgtd_march){.system = &p->system,
                               .border = p->border.count ? &p->border : NULL,
                               .pml = p->pml.rows ? &p->pml : NULL,
                               .local = p->header->local_levels ? &p->local.local : NULL,
                               .currents = p->currents,
                               .current_count = p->current_count,
                               .ports = p->ports,
                               .port_count = p->port_count,
                               .wires = p->wires,
                               .wire_count = p->wire_count,
                               .dt = p->timing.dt};
    m->energy = (ps_dgtd_energy){.eps = p->weights,
                                 .mu = p->weights + p->header->media,
                                 .sigma = p->weights + 2 * p->header->media,
                                 .ones = p->weights + 3 * p->header->media,
                                 .balance = m->options->balance,
                                 .local = m->march.local};
    PS_TRY(ps_alloc(&m->energy.former, (int64_t)ps_dgtd_energy_bytes(&p->system), 1, "the energy"));
    PS_TRY(open_tiles(m));
    if (m->tiles) return PS_OK;
    PS_TRY(ps_alloc(&m->march.electric, bytes, 1, "the fields"));
    PS_TRY(ps_alloc(&m->march.magnetic, bytes, 1, "the fields"));
    for (int field = 0; field < 2 && p->frequency_count; ++field)
        PS_TRY(ps_alloc(&m->sums[field],
                        (int64_t)ps_dgtd_dft_bytes(&p->system, (int)p->frequency_count), 1,
                        "the transforms"));
    return PS_OK;
}

/* Samples of the energy that a batch can have. */
static int64_t term_samples(const march *m)
{
    return m->batch_max / (m->options->balance ? 1 : m->problem->timing.energy_every) + 1;
}

/* Fewer steps where a surface of the far field is sampled in each: of all ranks alike. */
static ps_status shorten_batches(march *m)
{
    enum { BYTES = 32 << 20 };
    int64_t points = m->problem->far.time.points,
            most = points ? BYTES / (48 * points) : m->batch_max;
    PS_TRY(ps_comm_min_i64(&most, 1));
    if (!m->tiles && most < m->batch_max) m->batch_max = most > 1 ? most : 1;
    return PS_OK;
}

static ps_status open_rows(march *m)
{
    const problem *p = m->problem;
    PS_TRY(probes_find(p, &m->probes, &m->probe_places, &m->probe_count));
    PS_TRY(far_add_probes(p, &m->probes, &m->probe_places, &m->probe_count));
    PS_TRY(PS_ALLOC(&m->values, m->batch_max * m->probe_count * 6, "the probes"));
    PS_TRY(PS_ALLOC(&m->rows, m->batch_max * row_values(m->options, p), "the probes"));
    PS_TRY(PS_ALLOC(&m->port_rows, m->batch_max * 2 * p->port_count, "the ports"));
    for (int field = 0; field < 2; ++field) {
        int64_t rows = term_samples(m) * term_count(m->options, field);
        PS_TRY(PS_ALLOC(&m->terms[field], rows * p->system.groups, "the energy"));
        PS_TRY(PS_ALLOC(&m->term_sums[field], rows, "the energy"));
    }
    return PS_OK;
}

static ps_status open_state(march *m)
{
    problem *p = m->problem;
    m->backend = m->plan->backend;
    backend_setup setup = {
        .march = &m->march,
        .energy = &m->energy,
        .field_bytes = march_field_bytes(p),
        .probes = m->probes,
        .probe_count = m->probe_count,
        .rows = m->batch_max,
        .omegas = p->omegas,
        .frequencies = (int)p->frequency_count,
        .sums = {m->sums[0], m->sums[1]},
        .former = {m->tiles ? m->tiles->former[0] : NULL, m->tiles ? m->tiles->former[1] : NULL},
        .border = &p->border,
        .body = &p->body,
        .total = p->domain.total,
        .halo_slots = p->domain.halo_count,
        .terms = {m->terms[0], m->terms[1]},
        .term_rows = term_samples(m),
        .ranks = ps_comm_size(),
        .window = m->plan->window ? &m->tiles->request : NULL,
        .reach = p->domain.reach,
        .materials = p->materials,
        .port_rows = m->port_rows};
    if (ps_comm_size() > 1) {
        PS_TRY(PS_ALLOC(&m->exchange, 1, "the halo"));
        PS_TRY(exchange_open(&p->domain, &p->system, m->exchange));
        setup.send = m->exchange->send;
        setup.receive = m->exchange->receive;
        setup.faces = m->exchange->faces;
    }
    PS_TRY(m->backend->open(&setup, m->plan->ordinal, &m->state));
    if (m->plan->window) m->tiles->window = m->backend->window(m->state);
    return PS_OK;
}

ps_status march_open(march *m)
{
    problem *p = m->problem;
    m->clock.start = ps_clock();
    m->batch_max = m->options->balance ? BALANCE_BATCH_MAX : MARCH_BATCH_MAX;
    PS_TRY(problem_build(m->options, p));
    if (m->plan->backend->ports) PS_TRY(ports_check_device(p));
    PS_TRY(ps_comm_agree(open_fields(m)));
    PS_TRY(shorten_batches(m));
    PS_TRY(ps_comm_agree(open_rows(m)));
    PS_TRY(ps_comm_agree(open_state(m)));
    exchange_way way = (exchange_way)m->options->halo;
    if (m->exchange) PS_TRY(exchange_connect(m->exchange, m->backend, m->state, way));
    PS_TRY(upwind_open(m, march_field_bytes(p)));
    PS_TRY(local_find_traded(m));
    m->split = local_is_split(m);
    m->mixed = m->split && ps_dgtd_local_is_mixed(&p->system, p->domain.reach);
    m->clock.opening = ps_clock() - m->clock.start;
    return PS_OK;
}

void march_close(march *m)
{
    upwind_close(m);
    if (m->exchange) exchange_close(m->exchange);
    free(m->exchange);
    if (m->backend) m->backend->close(m->state);
    ps_state_close(&m->record);
    if (m->tiles) tiles_close(m, m->tiles);
    PS_FREE(m->tiles, m->march.electric, m->march.magnetic, m->energy.former, m->probes,
            m->probe_places, m->values, m->rows, m->port_rows);
    for (int field = 0; field < 2; ++field) {
        PS_FREE(m->sums[field], m->terms[field], m->term_sums[field]);
    }
}

/* ---- beginning ---- */

/* A checkpoint that was passed over may have left something behind. */
static ps_status start_fields(march *m)
{
    const problem *p = m->problem;
    size_t bytes = (size_t)march_field_bytes(p);
    layer_start(p);
    for (int64_t k = 0; k < p->port_state_count; ++k) p->port_states[k] = 0;
    for (int64_t k = 0; k < p->wire_state_count; ++k) p->wire_states[k] = 0;
    for (int64_t k = 0; k < far_sums(p); ++k) p->far.sums[0][k] = 0;
    media_start(p);
    if (m->tiles) return tiles_start(m);
    memset(m->march.electric, 0, bytes);
    memset(m->march.magnetic, 0, bytes);
    for (int field = 0; field < 2 && p->frequency_count; ++field)
        memset(m->sums[field], 0, ps_dgtd_dft_bytes(&p->system, (int)p->frequency_count));
    return sources_start(p, 0, p->domain.elements, m->march.electric, m->march.magnetic);
}

ps_status march_begin(march *m)
{
    int64_t step;
    PS_TRY(ps_state_load(&m->record, &step));
    m->first = m->done = step;
    if (step == 0) m->figures = (figures){0};
    PS_TRY(ps_comm_agree(step == 0 ? start_fields(m) : PS_OK));
    if (!m->tiles)
        PS_TRY(ps_comm_agree(step == 0 ? m->backend->put(m->state) : m->backend->load(m->state)));
    if (m->backend->states) PS_TRY(ps_comm_agree(m->backend->states(m->state, false)));
    for (int field = 0; field < 2 && m->exchange; ++field)
        PS_TRY(exchange_all(m->exchange, (ps_dgtd_field)field));
    return upwind_start(m);
}

/* ---- growth ---- */

/* Fields that grow after all sources are over: a warning at first, then the end of the run. The
 * energy W is no measure of that: leap-frog keeps it where the fields grow, too. */
static ps_status watch_energy(march *m, int64_t step, double electric)
{
    figures *f = &m->figures;
    const timing *t = &m->problem->timing;
    int64_t every = m->problem->timing.energy_every, crossing = (t->crossing + every - 1) / every;
    f->latest = electric;
    if (!isfinite(electric))
        return ps_fail(
            PS_FAILED,
            "step %lld: the fields are no longer finite: the march is unstable. Lower the "
            "time step (--dt-scale), or let the setup find it by power iteration",
            (long long)step);
    f->largest = fmax(f->largest, electric);
    int64_t quiet = t->quiet_after == INT64_MAX ? 0 : (step - t->quiet_after) / every;
    switch (ps_growth_watch_step(&f->growth, quiet, crossing > 0 ? crossing : 1, electric,
                                 f->largest)) {
    case PS_GROWTH_SUSPECTED:
        if (ps_comm_rank() == 0)
            ps_warning("step %lld: the electric energy has grown though the sources are over since "
                       "step %lld; the march may be unstable",
                       (long long)step, (long long)t->quiet_after);
        return PS_OK;
    case PS_GROWTH_CERTAIN:
        return ps_fail(
            PS_FAILED,
            "step %lld: the electric energy has grown to %.3g J though the sources are over "
            "since step %lld: the march is unstable. Lower the time step (--dt-scale), "
            "or let the setup find it by power iteration",
            (long long)step, electric * PS_DGTD_EPS0, (long long)t->quiet_after);
    default:
        return PS_OK;
    }
}

/* A stable step keeps W above 1/2 E'ME times 1 less the square of its part of the limit, with local
 * steps times 1 less the bound of the setup, .985, whatever acts on the fields
 * (specs/dgtd_local.md). So it is told of sources that never end, too. Where fields only come in,
 * one sample may deceive. */
static ps_status watch_step(march *m, int64_t step, double electric, double magnetic)
{
    bool excess = electric > 100 * (electric + magnetic);
    m->excess_samples = excess ? m->excess_samples + 1 : 0;
    if (!excess || (!m->march.local && m->excess_samples < 2)) return PS_OK;
    return ps_fail(
        PS_FAILED,
        "step %lld: the electric energy is %.3g J where all of it is %.3g J: the march is "
        "unstable, its %ssteps are too large. Lower the step (--dt-scale), or dgtd-setup "
        "--fraction",
        (long long)step, electric * PS_DGTD_EPS0, (electric + magnetic) * PS_DGTD_EPS0,
        m->march.local ? "local " : "");
}

static ps_status watch_growth(march *m, int64_t count)
{
    int64_t width = row_values(m->options, m->problem);
    for (int64_t i = 0; i < count; ++i) {
        int64_t step = m->done - count + 1 + i;
        if (step % m->problem->timing.energy_every) continue;
        const double *terms = m->rows + i * width + 6 * m->problem->probe_count;
        ps_status status = watch_energy(m, step, terms[0]);
        if (status == PS_OK)
            status = watch_step(m, step, terms[0], terms[term_count(m->options, PS_DGTD_E)]);
        m->hopeless = status != PS_OK;
        PS_TRY(status);
    }
    return PS_OK;
}

/* ---- keeping ---- */

/* Energies of a step from the sums of its terms: those of E and H, and with --balance what was
 * conducted, lost and supplied since the first; out[energy_values]. */
static void take_energies(march *m, int64_t step, const double *sums, double *out)
{
    figures *f = &m->figures;
    const double *h = sums + term_count(m->options, PS_DGTD_E);
    out[0] = sums[PS_DGTD_ELECTRIC];
    out[1] = h[PS_DGTD_MAGNETIC];
    if (step % m->problem->timing.energy_every == 0) {
        f->energy = out[0] + out[1];
        f->peak = fmax(f->peak, f->energy);
    }
    if (!m->options->balance) return;
    if (step == 1) {
        f->first = out[0] + out[1];
    } else {
        f->conducted += sums[PS_DGTD_CONDUCTED];
        f->lost += sums[PS_DGTD_LOST] + h[PS_DGTD_LOST_X] + f->next_lost;
        f->supplied += sums[PS_DGTD_SUPPLIED] + h[PS_DGTD_SUPPLIED_X] + f->next_supplied;
    }
    f->next_lost = h[PS_DGTD_LOST_Y];
    f->next_supplied = h[PS_DGTD_SUPPLIED_Y];
    out[2] = f->conducted;
    out[3] = f->lost;
    out[4] = f->supplied;
}

int64_t energy_values(const march_options *options) { return options->balance ? 5 : 2; }

/* The samples of the batch that was just made, close together. */
static ps_status log_rows(march *m, int64_t count)
{
    const timing *t = &m->problem->timing;
    int64_t width = row_values(m->options, m->problem), probes = 6 * m->problem->probe_count;
    int64_t energies = energy_values(m->options), length = 0, ports = 2 * m->problem->port_count;
    for (int64_t i = 0; i < count; ++i) {
        int64_t step = m->done - count + 1 + i;
        const double *row = m->rows + i * width;
        double sampled[5];
        take_energies(m, step, row + probes, sampled);
        if (step % t->probe_every == 0) {
            memmove(m->rows + length, row, (size_t)probes * sizeof *row);
            length += probes;
        }
        if (step % t->energy_every == 0) {
            memcpy(m->rows + length, sampled, (size_t)energies * sizeof *sampled);
            length += energies;
        }
        memmove(m->rows + length, row + width - ports, (size_t)ports * sizeof *row);
        length += ports;
    }
    return ps_state_append(&m->record, count, m->rows, length * (int64_t)sizeof(double));
}

static ps_status keep_state(march *m)
{
    ps_status status = m->tiles ? tiles_flush(m) : m->backend->save(m->state);
    if (status == PS_OK && m->backend->states) status = m->backend->states(m->state, true);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_state_save(&m->record, m->done));
    if (m->tiles) tiles_kept(m);
    return PS_OK;
}

static ps_status measure_error(march *m)
{
    double error;
    PS_TRY(sources_mode_error(m->problem, m->done, m->march.electric, m->march.magnetic, &error));
    m->figures.mode_error = fmax(m->figures.mode_error, error);
    return PS_OK;
}

/* With --until-decay: the march is over where its sources are and little is left of the energy. */
static bool is_over(march *m)
{
    timing *t = &m->problem->timing;
    const figures *f = &m->figures;
    if (t->decay > 0 && m->done % t->decay_every == 0 && m->done > t->quiet_after &&
        f->energy <= t->decay * f->peak)
        t->steps = m->done;
    return m->done == t->steps;
}

static ps_status keep(march *m, int64_t count)
{
    PS_TRY(watch_growth(m, count));
    PS_TRY(log_rows(m, count));
    bool last = is_over(m);
    if (last) m->stopped = false;
    bool due = ps_state_is_due(&m->record, m->done),
         shot = m->options->snapshots > 0 && m->done % m->options->snapshots == 0;
    bool keeps = !last && (m->stopped || due);
    bool measured = m->options->mode_error > 0 && (last || m->done % m->options->mode_error == 0);
    if (shot || measured || last)
        PS_TRY(ps_comm_agree(m->tiles ? tiles_settle(m, last) : m->backend->get(m->state)));
    if (measured) PS_TRY(measure_error(m));
    if (shot) PS_TRY(ps_comm_agree(snapshots_write(m)));
    return keeps ? keep_state(m) : PS_OK;
}

/* ---- batches ---- */

/* The next batch ends where something is to be kept, and takes about half a second. The bits of a
 * run do not depend on batches. */
static int64_t next_batch(const march *m, int64_t wanted)
{
    const march_options *o = m->options;
    const timing *t = &m->problem->timing;
    int64_t count = t->steps - m->done, left;
    if (wanted < count) count = wanted;
    left = o->snapshots > 0 ? o->snapshots - m->done % o->snapshots : count;
    if (left < count) count = left;
    left = o->mode_error > 0 ? o->mode_error - m->done % o->mode_error : count;
    if (left < count) count = left;
    left = t->decay > 0 ? t->decay_every - m->done % t->decay_every : count;
    if (left < count) count = left;
    left = o->checkpoint_every.steps > 0 ? o->checkpoint_every.steps - (m->done - m->record.step)
                                         : count;
    return left > 0 && left < count ? left : count;
}

/* From rank 0, so that all take the same. */
static ps_status adapt(int64_t *batch, int64_t most, double seconds, int64_t count)
{
    double fit = batch_seconds * (double)count / fmax(seconds, 1e-6);
    *batch = fit < 1 ? 1 : fit > (double)most ? most : (int64_t)fit;
    return ps_comm_broadcast(batch, sizeof *batch, 0);
}

ps_status march_run(march *m)
{
    ps_progress progress;
    int64_t batch = m->tiles ? m->tiles->visit : 1;
    ps_progress_start(&progress, "marching", "steps", m->done, m->problem->timing.steps);
    while (m->done < m->problem->timing.steps && !m->stopped) {
        int64_t count = next_batch(m, batch);
        double start = ps_clock();
        PS_TRY(ps_comm_agree(m->tiles ? tiles_steps(m, count) : march_steps(m, count)));
        m->clock.enqueuing += ps_clock() - start;
        PS_TRY(march_rows(m, count));
        double stepped = ps_clock();
        m->clock.stepping += stepped - start;
        m->done += count;
        m->stopped = m->done < m->problem->timing.steps && ps_comm_any(ps_stop_requested());
        PS_TRY(ps_comm_agree(keep(m, count)));
        m->clock.keeping += ps_clock() - stepped;
        if (m->tiles) {
            tiles_learn(m->tiles, count, stepped - start);
            batch = m->tiles->visit;
        } else {
            PS_TRY(adapt(&batch, m->batch_max, stepped - start, count));
        }
        ps_progress_update(&progress, m->done);
    }
    ps_progress_end(&progress);
    return PS_OK;
}
