#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "runtime/option_values.h"
#include "runtime/compare.h"
#include "runtime/memory.h"

ps_precision problem_precision(const march_options *options)
{
    return options->precision ? PS_DOUBLE : PS_SINGLE;
}

/* ---- options that need no file ---- */

static ps_status read_frequencies(const march_options *options, problem *p)
{
    for (int i = 0; i < options->frequencies.count; ++i) {
        int count;
        PS_TRY(ps_parse_measures(options->frequencies.items[i], "HZ",
                                 p->frequencies + p->frequency_count,
                                 FREQUENCIES_MAX - (int)p->frequency_count, &count));
        p->frequency_count += count;
    }
    for (int64_t k = 0; k < p->frequency_count; ++k)
        if (!(p->frequencies[k] > 0))
            return ps_fail(PS_USAGE, "--frequency: %g Hz; expected a positive number",
                           p->frequencies[k]);
    qsort(p->frequencies, (size_t)p->frequency_count, sizeof *p->frequencies, ps_compare_reals);
    for (int64_t k = 1; k < p->frequency_count; ++k)
        if (p->frequencies[k] == p->frequencies[k - 1])
            return ps_fail(PS_USAGE, "--frequency: %g Hz is given twice", p->frequencies[k]);
    for (int64_t k = 0; k < p->frequency_count; ++k)
        p->omegas[k] = 2 * M_PI * p->frequencies[k] / PS_DGTD_C0;
    return PS_OK;
}

static ps_status check_options(const march_options *options, const problem *p)
{
    int lengths = (options->steps > 0) + (options->time > 0) + (options->periods > 0);
    if (lengths != 1)
        return ps_fail(PS_USAGE, "how long? Give one of --steps N, --time SECONDS and --periods N");
    if ((options->periods > 0 || options->transform_periods > 0) && p->frequency_count == 0)
        return ps_fail(PS_USAGE, "--%s counts periods of the lowest --frequency: give that too",
                       options->periods > 0 ? "periods" : "transform-periods");
    return PS_OK;
}

/* ---- time ---- */

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Looks at the energy are at its samples and where a march that ends has its last sample of the
 * transforms; not too often, as batches end there. */
static ps_status set_decay(const march_options *options, timing *t)
{
    enum { LEAST = 64 };
    char *unit = NULL;
    const char *text = options->until_decay;
    t->planned = t->steps;
    if (!text) return PS_OK;
    double decibels = strtod(text, &unit);
    if (unit == text || (*unit && strcmp(unit, "dB") != 0) || !(decibels > 0 && decibels <= 200))
        return ps_fail(PS_USAGE,
                       "--until-decay %s: decibels above 0 and up to 200 are expected, "
                       "40dB for example",
                       text);
    if (options->transform_periods > 0)
        return ps_fail(PS_USAGE, "--until-decay is for pulses, --transform-periods for sources "
                                 "that go on: give one of them");
    t->decay = pow(10, -decibels / 10);
    int64_t multiple = common_multiple(t->energy_every, options->transform_every);
    t->decay_every = multiple * ((LEAST + multiple - 1) / multiple);
    t->planned = t->steps = (t->steps + multiple - 1) / multiple * multiple;
    return PS_OK;
}

/* The step is the model's or a little less, so that a period, or the time asked for, is a whole
 * number of steps. */
static ps_status set_timing(const march_options *options, problem *p)
{
    timing *t = &p->timing;
    double most = p->header->dt * options->dt_scale, steps = (double)options->steps;
    t->dt = most;
    if (options->periods > 0 || options->transform_periods > 0) {
        double period = PS_DGTD_C0 / p->frequencies[0];
        t->period_steps = (int64_t)ceil(period / most * (1 - 1e-12));
        t->dt = period / (double)t->period_steps;
        if (options->periods > 0) steps = ceil(options->periods * (double)t->period_steps - 1e-9);
        if (options->time > 0) steps = ceil(options->time * PS_DGTD_C0 / t->dt - 1e-9);
    } else if (options->time > 0) {
        steps = ceil(options->time * PS_DGTD_C0 / most * (1 - 1e-12));
        t->dt = options->time * PS_DGTD_C0 / steps;
    }
    if (!(steps >= 1 && steps < 1e12))
        return ps_fail(PS_USAGE, "%g steps of %g s: expected 1 to 1e12", steps, t->dt / PS_DGTD_C0);
    t->steps = (int64_t)steps;
    t->probe_every = options->probe_every < t->steps ? options->probe_every : t->steps;
    t->energy_every = options->energy_every < t->steps ? options->energy_every : t->steps;
    int64_t window = options->transform_periods * t->period_steps;
    if (window > t->steps)
        return ps_fail(PS_USAGE,
                       "--transform-periods %lld is %lld steps, but the run has %lld: march on for "
                       "longer",
                       (long long)options->transform_periods, (long long)window,
                       (long long)t->steps);
    return set_decay(options, t);
}

/* A window that holds part of a period of some frequency adds what is left of it to the transform
 * there: up to 1/(pi n) of the field after n periods. */
static ps_status check_window(const ps_run *run, const march_options *options, const problem *p)
{
    const timing *t = &p->timing;
    int64_t periods = options->transform_periods, every = options->transform_every;
    double least = 0,
           sampled = (double)every * t->dt * p->frequencies[p->frequency_count - 1] / PS_DGTD_C0;
    if (p->frequency_count > 0 && sampled >= .5)
        return ps_fail(PS_USAGE,
                       "--transform-every %lld: %.2f samples a period of %g Hz; a transform needs "
                       "more than two",
                       (long long)every, 1 / sampled, p->frequencies[p->frequency_count - 1]);
    if (periods == 0) return PS_OK;
    if (periods * t->period_steps % every)
        return ps_fail(PS_USAGE,
                       "--transform-every %lld does not divide the %lld steps of "
                       "--transform-periods %lld: take a divisor",
                       (long long)every, (long long)(periods * t->period_steps),
                       (long long)periods);
    for (int64_t k = 1; k < p->frequency_count; ++k) {
        double held = (double)periods * p->frequencies[k] / p->frequencies[0],
               off = fabs(held - round(held));
        if (off <= 1e-6 * held) continue;
        int64_t whole = 1; /* periods that would do */
        for (; whole <= 1000; ++whole) {
            bool good = true;
            for (int64_t i = 1; i < p->frequency_count; ++i) {
                double n = (double)whole * p->frequencies[i] / p->frequencies[0];
                good &= fabs(n - round(n)) <= 1e-6 * n;
            }
            if (good) break;
        }
        least = sin(M_PI * off) / (M_PI * held);
        char advice[96] = "march once a frequency";
        if (whole <= 1000)
            snprintf(advice, sizeof advice, "--transform-periods %lld holds whole ones of all",
                     (long long)whole);
        return ps_refuse(run, "part-periods",
                         "--transform-periods %lld: the window holds %.4g periods of %g Hz, no "
                         "whole number: steady fields "
                         "leave an error of about %.2g of themselves in the transform; %s",
                         (long long)periods, held, p->frequencies[k], least, advice);
    }
    return PS_OK;
}

/* ---- the model ---- */

static ps_status load_domain(const march_options *options, problem *p)
{
    int ranks = ps_comm_size();
    PS_TRY(PS_ALLOC(&p->rank_parts, ranks + 1, "the parts of the ranks"));
    PS_TRY(ps_dgtd_model_share(p->model, ranks, p->rank_parts));
    PS_TRY(ps_dgtd_model_load(p->model, p->rank_parts, ranks, ps_comm_rank(),
                              ps_dgtd_lanes(problem_precision(options)), &p->domain));
    const ps_dgtd_domain *d = &p->domain;
    p->body = (ps_dgtd_body){d->elements, p->header->media, d->vertices, d->tetrahedra,
                             d->links,    d->kinds,         d->material, p->materials};
    return PS_OK;
}

static ps_status open_model(const ps_run *run, const march_options *options, problem *p)
{
    PS_TRY(read_frequencies(options, p));
    PS_TRY(check_options(options, p));
    PS_TRY(ps_dgtd_model_open(run->operands[0], &p->model));
    p->header = ps_dgtd_model_head(p->model);
    PS_TRY(set_timing(options, p));
    PS_TRY(check_window(run, options, p));
    PS_TRY(media_take(p));
    PS_TRY(load_domain(options, p));
    ps_dgtd_reference_init(&p->reference, p->header->order);
    p->system = (ps_dgtd_system){.order = p->header->order,
                                 .precision = problem_precision(options),
                                 .reference = &p->reference};
    ps_dgtd_system_count(&p->system, p->domain.elements, p->header->media);
    PS_TRY(layer_open(p));
    media_open(p);
    PS_TRY(probes_read(options, p));
    PS_TRY(sources_open(p));
    if (p->timing.decay > 0 && p->timing.quiet_after == INT64_MAX)
        return ps_fail(PS_USAGE,
                       "--until-decay: a source of %s goes on for ever, and the fields "
                       "with it; use pulses (shape=gaussian)",
                       run->operands[0]);
    PS_TRY(media_check(run, options, p));
    PS_TRY(sources_check_band(run, options, p));
    if (options->mode_error > 0 && !p->has_mode)
        return ps_fail(PS_USAGE, "--mode-error: %s starts with no mode", run->operands[0]);
    return PS_OK;
}

ps_status problem_open(const ps_run *run, const march_options *options, problem *out)
{
    memset(out, 0, sizeof *out);
    PS_TRY(ps_comm_agree(open_model(run, options, out)));
    PS_TRY(media_check_resolution(run, out));
    PS_TRY(local_count(out));
    return far_open(run, options, out);
}

void problem_release(problem *p)
{
    sources_release(p);
    ports_release(p);
    wires_release(p);
    far_release(p);
    layer_release(p);
    media_release(p);
    ps_dgtd_local_close(&p->local);
    ps_dgtd_domain_release(&p->domain);
    ps_dgtd_model_close(&p->model);
    PS_FREE(p->rank_parts, p->operators, p->materials, p->weights, p->points, p->system.tangents,
            p->system.links, p->system.kinds, p->system.bordered, p->system.material,
            p->system.steps, p->border.elements, p->border.matrices, p->border.former);
    memset(p, 0, sizeof *p);
}

/* ---- what the kernels work on ---- */

static ps_status build_system(problem *p)
{
    ps_dgtd_system *s = &p->system;
    ps_dgtd_bytes bytes;
    PS_TRY(PS_ALLOC(&p->operators, 1, "the operators"));
    ps_dgtd_operators_init(p->operators, &p->reference);
    s->operators = p->operators;
    ps_dgtd_system_bytes(s, &bytes);
    void **arrays[] = {&s->tangents,          (void **)&s->links,    (void **)&s->kinds,
                       (void **)&s->bordered, (void **)&s->material, &s->steps};
    size_t sizes[] = {bytes.tangents, bytes.links,    bytes.kinds,
                      bytes.bordered, bytes.material, bytes.steps};
    for (int i = 0; i < 6; ++i) /* sweeps call the next group into cache: one group more */
        PS_TRY(ps_alloc(arrays[i], (int64_t)sizes[i] + 1024, 1, "the mesh"));
    PS_TRY(ps_dgtd_system_fill(s, &p->body));
    ps_dgtd_set_step(s, p->materials, p->timing.dt);
    return PS_OK;
}

static ps_status build_border(problem *p)
{
    ps_dgtd_border *b = &p->border;
    const uint8_t *total = p->domain.total;
    b->averaged = p->header->averaged;
    b->upwind = p->header->upwind && !p->header->upwind_layer;
    ps_dgtd_border_count(b, &p->system, &p->body, total);
    PS_TRY(PS_ALLOC(&b->elements, b->count, "the border"));
    PS_TRY(PS_ALLOC(&b->matrices, b->matrix_count, "the border"));
    PS_TRY(PS_ALLOC(&b->former, b->count * 8 * p->reference.face_nodes, "the border"));
    ps_dgtd_border_fill(b, &p->system, &p->body, total, p->timing.dt);
    return PS_OK;
}

ps_status problem_build(const march_options *options, problem *p)
{
    ps_status status = build_system(p);
    if (status == PS_OK) status = build_border(p);
    if (status == PS_OK) status = layer_build(p);
    if (status == PS_OK) status = media_build(p);
    if (status == PS_OK) status = local_build(p);
    if (status == PS_OK) status = far_build(p);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_agree(sources_build(p)));
    PS_TRY(ps_comm_agree(media_check_sources(p)));
    PS_TRY(wires_build(p));
    PS_TRY(ports_build(p));
    return far_check_sources(p);
}
