/* What is written at the end: traces at probes, phasors, and last, OUTPUT, the energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "formats/phasors.h"
#include "formats/trace.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- traces ---- */

typedef struct traces {
    const march *m;
    ps_trace probes[2], energy; /* E, H */
    ps_port_signals ports;
    int64_t probe_samples, energy_samples;
} traces;

/* A sample of the energy; where the next one is. */
static const double *take_energy(traces *t, const double *at)
{
    const march *m = t->m;
    int64_t energies = energy_values(m->options);
    double *row = t->energy.real + t->energy.channels * t->energy_samples++;
    for (int64_t k = 0; k < energies; ++k) row[k + 1] = at[k] * PS_DGTD_EPS0;
    row[0] = row[1] + row[2];
    if (m->options->balance)
        row[6] = row[0] - m->figures.first * PS_DGTD_EPS0 + row[3] + row[4] - row[5];
    return at + energies;
}

static ps_status take_rows(void *context, int64_t first, int64_t count, const void *payload,
                           int64_t bytes)
{
    traces *t = context;
    const march *m = t->m;
    const double *at = payload, *end = at + bytes / (int64_t)sizeof *at;
    int64_t probes = m->problem->probe_count, energies = energy_values(m->options);
    if (!ps_append_log_is_finite(payload, end - at, sizeof *at))
        return ps_fail(PS_INVALID,
                       "%s: samples up to step %lld are not finite: no run has written them; "
                       "--fresh begins anew",
                       m->record.log_path, (long long)(first + count - 1));
    for (int64_t n = first; n < first + count; ++n) {
        bool sampled = n % m->problem->timing.probe_every == 0,
             energy = n % m->problem->timing.energy_every == 0;
        int64_t ports = t->ports.ports;
        if (end - at < (sampled ? 6 * probes : 0) + (energy ? energies : 0) + 2 * ports)
            return ps_fail(PS_INVALID, "%s: step %lld is cut short", m->record.log_path,
                           (long long)n);
        for (int64_t p = 0; sampled && p < probes; ++p, at += 6)
            for (int k = 0; k < 6; ++k)
                t->probes[k / 3].real[t->probe_samples * 3 * probes + 3 * p + k % 3] =
                    k < 3 ? at[k] : at[k] / PS_DGTD_Z0;
        t->probe_samples += sampled;
        if (energy) at = take_energy(t, at);
        for (int64_t k = 0; k < ports; ++k, at += 2) {
            t->ports.voltage[(n - 1) * ports + k] = at[0];
            t->ports.current[(n - 1) * ports + k] = at[1];
        }
    }
    return PS_OK;
}
static ps_status init_trace(const march *m, int64_t every, int64_t channels, double offset,
                            const char *quantity, const char *units, ps_trace *out)
{
    double dt = m->march.dt / PS_DGTD_C0;
    PS_TRY(ps_trace_init(out, m->problem->timing.steps / every, channels, false));
    for (int64_t i = 0; i < out->samples; ++i)
        out->axis[i] = ((double)((i + 1) * every) + offset) * dt;
    snprintf(out->quantity, sizeof out->quantity, "%s", quantity);
    snprintf(out->units, sizeof out->units, "%s", units);
    out->origin = (ps_trace_origin){.speed = PS_DGTD_C0, .dt = dt};
    return PS_OK;
}

static ps_status init_traces(traces *t)
{
    static const char *const names[] = {"electric field", "magnetic field"};
    static const char *const units[] = {"V/m", "A/m"};
    const march *m = t->m;
    int64_t probes = m->problem->probe_count;
    PS_TRY(init_trace(m, m->problem->timing.energy_every, m->options->balance ? 7 : 3, 0, "energy",
                      "J", &t->energy));
    if (m->problem->port_count > 0) PS_TRY(ports_signals_init(m, &t->ports));
    for (int field = 0; field < 2 && probes; ++field) {
        PS_TRY(init_trace(m, m->problem->timing.probe_every, 3 * probes, field ? 0.5 : 0,
                          names[field], units[field], &t->probes[field]));
        for (int64_t c = 0; c < 3 * probes; ++c)
            memcpy(t->probes[field].places + 3 * c, m->problem->points + c / 3 * 3,
                   3 * sizeof(double));
    }
    return PS_OK;
}

static void path_beside(const march *m, const char *kind, char out[4200])
{
    snprintf(out, 4200, "%s.%s.h5", m->name, kind);
}

ps_status outputs_tell(const march *m, ps_product *product)
{
    const problem *p = m->problem;
    const struct {
        const char *kind, *format;
        int version;
        bool made;
    } all[] = {{"electric", PS_TRACE_FORMAT, PS_TRACE_VERSION, p->probe_count > 0},
               {"magnetic", PS_TRACE_FORMAT, PS_TRACE_VERSION, p->probe_count > 0},
               {"far", PS_TRACE_FORMAT, PS_TRACE_VERSION, far_is_asked(p)},
               {"ports", PS_PORT_SIGNALS_FORMAT, PS_PORT_SIGNALS_VERSION, p->port_count > 0},
               {"phasors", PS_PHASORS_FORMAT, PS_PHASORS_VERSION, p->frequency_count > 0}};
    char path[4200];
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        if (!all[k].made) continue;
        path_beside(m, all[k].kind, path);
        PS_TRY(ps_product_beside(product, path, all[k].format, all[k].version));
    }
    return PS_OK;
}

/* What the end of a march says of its transforms. */
typedef struct settled {
    double unsettled, accepted[FREQUENCIES_MAX], incident[FREQUENCIES_MAX];
} settled;

/* How the energy fell over the last fifth of its samples, dB a second, by the means of both halves
 * of it, and how much of it was electric there. false: too few samples. */
static bool find_fall(const traces *t, double *rate, double *electric)
{
    const timing *x = &t->m->problem->timing;
    int64_t n = t->energy_samples, half = n / 10;
    double sums[2] = {0}, of_electric = 0;
    if (half < 2) return false;
    for (int64_t i = n - 2 * half; i < n; ++i) {
        const double *row = t->energy.real + t->energy.channels * i;
        sums[i >= n - half] += row[0];
        of_electric += row[1];
    }
    *rate = 10 * log10(sums[0] / sums[1]) / ((double)(half * x->energy_every) * x->dt / PS_DGTD_C0);
    *electric = of_electric / (sums[0] + sums[1]);
    return isfinite(*rate) && isfinite(*electric);
}

/* With --until-decay: what it came to within the steps there were, and how it would go on. */
static void warn_of_energy(const traces *t)
{
    const march *m = t->m;
    const figures *f = &m->figures;
    const timing *x = &m->problem->timing;
    double rate, electric, fell = -10 * log10(f->energy / f->peak),
                           more = fell + 10 * log10(x->decay);
    char how[400] = "";
    if (x->decay == 0 || f->energy <= x->decay * f->peak) return;
    if (find_fall(t, &rate, &electric)) {
        double seconds = -more / rate, marched = (double)x->steps * x->dt / PS_DGTD_C0;
        if (rate > 0 && seconds < 10 * marched)
            snprintf(how, sizeof how,
                     ". In the last fifth of it it fell by %.3g dB a nanosecond: %.3g s more "
                     "would do",
                     1e-9 * rate, seconds);
        else
            snprintf(how, sizeof how,
                     ", nor will it be: in the last fifth of it it fell by %.3g dB a nanosecond. "
                     "%.0f %% of it is electric: about half tells oscillations that nothing takes "
                     "away, of a space without losses or of the mesh's own with the centred flux, "
                     "all or none static fields",
                     1e-9 * rate, 100 * electric);
    }
    ps_warning("the energy fell by %.1f dB, not by the %s asked for, in all of the steps there "
               "were: what follows is in no transform and no S-parameter%s%s",
               f->peak > 0 && f->energy > 0 ? fell : 0., m->options->until_decay, how,
               m->problem->header->upwind
                   ? ""
                   : ". Elements much smaller than those beside them keep such oscillations with "
                     "the centred flux, the longer the smaller they are: take sizes that change "
                     "less, a higher order or, without ports, wires and local steps, dgtd-setup "
                     "--flux upwind");
}

/* Mean of 1/2 E' M E over samples [first, end). */
static double mean_electric(const traces *t, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t i = first; i < end; ++i) sum += t->energy.real[t->energy.channels * i + 1];
    return sum / (double)(end - first);
}

/* Transforms are right of fields that have died away (the whole run) or become steady (the last
 * periods): the share that has not, by the root of the electric energy, or -1 where the samples do
 * not tell. Warns with the figure. */
static double find_unsettled(const traces *t)
{
    const march *m = t->m;
    const timing *x = &m->problem->timing;
    int64_t n = t->energy_samples, a_period = x->period_steps / x->energy_every;
    if (m->problem->frequency_count == 0 || n == 0) return -1;
    if (m->options->transform_periods == 0) {
        double left = m->figures.largest > 0 ? sqrt(m->figures.latest / m->figures.largest) : 0;
        if (left > PS_PHASORS_SETTLED)
            ps_warning("the fields have not died away: at the end they are %.2g of their largest "
                       "(by the root of the "
                       "electric energy), and what would follow is not in the transforms. March on "
                       "for longer, or, if the "
                       "source goes on, give --transform-periods",
                       left);
        return left;
    }
    if (a_period < 4 || n < 2 * a_period) {
        ps_warning("whether the fields have become steady is not known: %lld samples of the energy "
                   "a period, %lld in all "
                   "(--energy-every)",
                   (long long)a_period, (long long)n);
        return -1;
    }
    double last = mean_electric(t, n - a_period, n),
           before = mean_electric(t, n - 2 * a_period, n - a_period);
    double change = last > 0 ? fabs(sqrt(before / last) - 1) : 0;
    if (change > PS_PHASORS_SETTLED)
        ps_warning("the fields are not steady: from the last period but one to the last they "
                   "changed by %.2g of themselves "
                   "(by the root of the electric energy), and so may the transforms. March on for "
                   "more --periods",
                   change);
    return change;
}

static ps_status save(const ps_product *product, const char *path, const ps_trace *trace)
{
    return ps_trace_save(path, trace, &product->identity, product->input_count, product->roles,
                         product->inputs);
}

static ps_status read_traces(traces *t)
{
    PS_TRY(init_traces(t));
    return ps_append_log_replay(t->m->record.log, 0, take_rows, t);
}

static ps_status write_traces(const traces *t, const ps_product *product)
{
    const march *m = t->m;
    char path[4200];
    for (int field = 0; field < 2 && m->problem->probe_count; ++field) {
        path_beside(m, field ? "magnetic" : "electric", path);
        PS_TRY(save(product, path, &t->probes[field]));
    }
    path_beside(m, "ports", path);
    if (t->ports.ports > 0) PS_TRY(ports_signals_save(product, path, &t->ports));
    return save(product, product->path, &t->energy);
}

static void release_traces(traces *t)
{
    ps_trace_release(&t->probes[0]);
    ps_trace_release(&t->probes[1]);
    ps_trace_release(&t->energy);
    ps_port_signals_release(&t->ports);
}

/* ---- phasors ---- */

/* The same sums over the time function of the source. */
static ps_status sum_source(const march *m, ps_phasors_header *h)
{
    const problem *p = m->problem;
    const timing *t = &p->timing;
    double scale = march_transform_scale(m);
    const char *units;
    for (int k = 0; k < h->frequencies; ++k) h->source[k][0] = h->source[k][1] = 0;
    for (int64_t n = t->steps; n > 0; n -= m->options->transform_every) {
        if (!march_is_transformed(m, n - 1)) break;
        double f = sources_function(p, (double)n * t->dt, &units) * scale;
        for (int k = 0; k < h->frequencies; ++k) {
            h->source[k][0] += f * cos(p->omegas[k] * (double)n * t->dt);
            h->source[k][1] -= f * sin(p->omegas[k] * (double)n * t->dt);
        }
    }
    sources_function(p, 0, &units);
    snprintf(h->source_units, sizeof h->source_units, "%s", units);
    for (int k = 0; k < h->frequencies; ++k)
        if (!strcmp(units, "1")) h->source[k][0] = 1;
    return PS_OK;
}

/* What comes into a port: |V^ + R I^|^2/(8 R); of those that are driven. */
static double incident_of(const traces *x, int64_t port, double frequency, const double v[2],
                          const double c[2])
{
    double r, beta, sum = 0;
    if (!x->ports.driven[port] ||
        !ps_dgtd_port_impedance(x->ports.mode + port, x->ports.reference[port], frequency, &r,
                                &beta))
        return 0;
    for (int part = 0; part < 2; ++part) sum += pow(v[part] + r * c[part], 2);
    return sum / (8 * r);
}

/* 1/2 Re V^ I^* of all ports by the same sums, at their own times, and what came into them. */
static void sum_accepted(const traces *x, double *accepted, double *incident)
{
    const march *m = x->m;
    const problem *p = m->problem;
    double scale = march_transform_scale(m);
    int64_t ports = x->ports.ports;
    for (int64_t i = 0; i < ports * p->frequency_count; ++i) {
        int64_t port = i / p->frequency_count, k = i % p->frequency_count;
        double v[2] = {0}, c[2] = {0};
        for (int64_t n = p->timing.steps; n > 0; n -= m->options->transform_every) {
            if (!march_is_transformed(m, n - 1)) break;
            double phase = p->omegas[k] * ((double)n - .5) * p->timing.dt;
            double turn[2] = {scale * cos(phase), -scale * sin(phase)};
            for (int part = 0; part < 2; ++part) {
                v[part] += turn[part] * x->ports.voltage[(n - 1) * ports + port];
                c[part] += turn[part] * x->ports.current[(n - 1) * ports + port];
            }
        }
        accepted[k] += (v[0] * c[0] + v[1] * c[1]) / 2;
        incident[k] += incident_of(x, port, p->frequencies[k], v, c);
    }
}

static ps_status fill_header(const march *m, const settled *end, ps_phasors_header *h)
{
    const problem *p = m->problem;
    const ps_dgtd_medium *media = ps_dgtd_model_media(p->model);
    memset(h, 0, sizeof *h);
    if (p->header->media > PS_PHASORS_MATERIALS_MAX)
        return ps_fail(PS_INVALID, "%lld materials; phasors can name %d",
                       (long long)p->header->media, PS_PHASORS_MATERIALS_MAX);
    h->order = p->header->order;
    h->rows = p->told_count;
    h->mesh_elements = p->header->mesh_elements;
    snprintf(h->mesh_hash, sizeof h->mesh_hash, "%s", p->header->mesh_hash);
    h->frequencies = (int)p->frequency_count;
    memcpy(h->frequency, p->frequencies, (size_t)p->frequency_count * sizeof *h->frequency);
    h->magnetic = true;
    h->unsettled = end->unsettled;
    h->has_accepted = p->port_count > 0;
    memcpy(h->accepted, end->accepted, sizeof h->accepted);
    h->has_incident = h->has_accepted;
    memcpy(h->incident, end->incident, sizeof h->incident);
    h->materials = (int)p->header->media;
    for (int k = 0; k < h->materials; ++k) {
        ps_phasors_material *to = h->material + k;
        *to = (ps_phasors_material){media[k].tag,     media[k].eps, media[k].mu, media[k].sigma,
                                    media[k].density, "",           false};
        media_tell(p, k, h);
        snprintf(to->name, sizeof to->name, "%s", media[k].name);
    }
    return sum_source(m, h);
}

enum { HELD_ELEMENTS = 512 };

static void fill_rows(const march *m, int frequency, int field, int64_t first, int64_t count,
                      float *values)
{
    const problem *p = m->problem;
    int nodes = p->reference.nodes;
    double unit = field ? 1 / PS_DGTD_Z0 : 1;
#pragma omp parallel for
    for (int64_t r = first; r < first + count; ++r)
        for (int k = 0; k < 6 * nodes; ++k) {
            int part = k / (3 * nodes), component = k / nodes % 3;
            values[(r - first) * 6 * nodes + k] =
                (float)(unit * ps_dgtd_dft_get(&p->system, m->sums[field], (int)p->frequency_count,
                                               frequency, part, p->told[r], component, k % nodes));
        }
}

static ps_status write_elements(const march *m, ps_phasors *file)
{
    const problem *p = m->problem;
    const ps_dgtd_domain *d = &p->domain;
    PS_SCOPED_MEMORY int32_t *material = NULL;
    PS_SCOPED_MEMORY int32_t *source = NULL;
    PS_SCOPED_MEMORY uint8_t *kinds = NULL;
    PS_SCOPED_MEMORY uint8_t *driven = NULL;
    PS_SCOPED_MEMORY uint8_t *marks = NULL;
    PS_TRY(PS_ALLOC(&material, p->told_count, "the materials"));
    PS_TRY(PS_ALLOC(&source, p->told_count, "the elements"));
    PS_TRY(PS_ALLOC(&kinds, 4 * p->told_count, "the faces"));
    PS_TRY(PS_ALLOC(&driven, p->told_count, "the elements"));
    PS_TRY(PS_ALLOC(&marks, d->elements, "the elements"));
    sources_mark(p, marks);
    for (int64_t r = 0; r < p->told_count; ++r) {
        material[r] = d->material[p->told[r]];
        source[r] = d->source[p->told[r]];
        memcpy(kinds + 4 * r, d->kinds + 4 * (int64_t)p->told[r], 4);
        driven[r] = marks[p->told[r]];
    }
    PS_TRY(ps_phasors_write_elements(file, source, material));
    PS_TRY(ps_phasors_write_marks(file, PS_PHASORS_DRIVEN, driven));
    return ps_phasors_write_marks(file, PS_PHASORS_FACES, kinds);
}

/* Rows of chunks, a piece of the state at a time. */
static ps_status fill_chunks(march *m, int frequency, int field, int64_t first, int64_t count,
                             float *values)
{
    int64_t width = 6 * m->problem->reference.nodes;
    const int32_t *told = m->problem->told + first;
    for (int64_t at = 0, some; at < count; at += some) {
        for (some = 1; at + some < count && told[at + some] < told[at] + HELD_ELEMENTS;) ++some;
        PS_TRY(march_hold(m, told[at], told[at + some - 1] + 1));
        fill_rows(m, frequency, field, first + at, some, values + at * width);
    }
    return PS_OK;
}

static ps_status write_values(march *m, ps_phasors *file)
{
    int64_t rows = ps_phasors_chunk_rows(file), elements = m->problem->told_count;
    int64_t chunks = (elements + rows - 1) / rows, at_once = m->plan->writers, some;
    PS_SCOPED_MEMORY float *values = NULL;
    if (at_once > chunks) at_once = chunks > 1 ? chunks : 1;
    PS_TRY(PS_ALLOC(&values, at_once * rows * 6 * m->problem->reference.nodes, "the phasors"));
    for (int k = 0; k < 2 * m->problem->frequency_count; ++k) {
        for (int64_t c = 0; c < chunks; c += some) {
            some = at_once < chunks - c ? at_once : chunks - c;
            int64_t left = elements - c * rows;
            PS_TRY(fill_chunks(m, k / 2, k % 2, c * rows, left < some * rows ? left : some * rows,
                               values));
            PS_TRY(
                ps_phasors_write_chunks(file, k / 2, (ps_phasors_field)(k % 2), c, some, values));
        }
        march_release(m);
    }
    return PS_OK;
}

static ps_status write_own_phasors(march *m, const char *path, const ps_product *product,
                                   const settled *end)
{
    PS_SCOPED_MEMORY ps_phasors_header *header = NULL;
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    PS_TRY(PS_ALLOC(&header, 1, "the phasors"));
    PS_TRY(fill_header(m, end, header));
    PS_TRY(ps_phasors_create(path, &product->identity, header, &file));
    PS_TRY(ps_product_record(product, ps_phasors_store(file)));
    PS_TRY(write_elements(m, file));
    PS_TRY(write_values(m, file));
    return ps_phasors_commit(&file);
}

static ps_status write_phasors(march *m, const ps_product *product, const settled *end)
{
    char path[4200], part[4096];
    path_beside(m, "phasors", path);
    if (ps_comm_size() == 1) return write_own_phasors(m, path, product, end);
    PS_SCOPED(ps_store_set_release) ps_store_set set;
    PS_TRY(ps_store_set_begin(path, &set));
    ps_store_part_path(path, set.generation, ps_comm_rank(), part);
    PS_TRY(ps_comm_agree(write_own_phasors(m, part, product, end)));
    ps_store_identity full = ps_run_identity(m->run, PS_PHASORS_FORMAT, PS_PHASORS_VERSION);
    full.options = product->identity.options;
    return ps_comm_rank() == 0 ? ps_store_write_master(path, &full, set.generation, ps_comm_size())
                               : PS_OK;
}

ps_status outputs_write(march *m, const ps_product *product)
{
    PS_SCOPED(release_traces) traces t = {.m = m};
    settled end = {.unsettled = -1};
    bool first = ps_comm_rank() == 0;
    PS_TRY(ps_comm_agree(first ? read_traces(&t) : PS_OK));
    if (first) {
        warn_of_energy(&t);
        end.unsettled = find_unsettled(&t);
        sum_accepted(&t, end.accepted, end.incident);
    }
    PS_TRY(ps_comm_broadcast(&end, sizeof end, 0));
    if (m->problem->frequency_count > 0) PS_TRY(ps_comm_agree(write_phasors(m, product, &end)));
    if (far_is_asked(m->problem)) {
        char path[4200];
        path_beside(m, "far", path);
        PS_TRY(ps_comm_agree(far_write(m, product, path)));
    }
    return ps_comm_agree(first ? write_traces(&t, product) : PS_OK);
}
