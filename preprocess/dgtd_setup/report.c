/* report: media, conditions, sources, and what the time step is made of. */
#include <math.h>
#include <stdio.h>

#include "runtime/memory.h"
#include "runtime/report.h"
#include "setup.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static void report_medium(const setup *s, ps_report *r, int64_t m)
{
    const ps_dgtd_medium *x = s->media + m;
    char name[96];
    int64_t count = 0;
    double least = 0;
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        if (s->material[e] != m) continue;
        if (count++ == 0 || s->sizes[e] < least) least = s->sizes[e];
    }
    snprintf(name, sizeof name, "medium_%d", x->tag);
    ps_report_section(r, name);
    if (x->name[0]) ps_report_text(r, "name", x->name);
    ps_report_int(r, "elements", count);
    ps_report_real(r, "eps", x->eps);
    ps_report_real(r, "mu", x->mu);
    ps_report_real(r, "sigma", x->sigma);
    ps_report_real(r, "density", x->density);
    ps_report_real(r, "least_size", least);
    report_permittivity(s, m, r);
}

static void report_step(const setup *s, ps_report *r)
{
    char place[160], name[32];
    const ps_dgtd_model_header *h = &s->header;
    ps_report_section(r, "time_step");
    ps_report_real(r, "dt", h->dt / PS_DGTD_C0);
    ps_report_real(r, "dt_metres", h->dt);
    ps_report_real(r, "limit_rule", h->dt_rule / PS_DGTD_C0);
    if (h->dt_power > 0) ps_report_real(r, "limit_power", h->dt_power / PS_DGTD_C0);
    if (h->dt_power > 0) ps_report_real(r, "seconds_power", s->seconds_power);
    ps_report_real(r, "shape_min", s->shape_min); /* V/P */
    ps_report_real(r, "shape_median", s->shape_median);
    ps_report_text(r, "limited_by", element_text(s, s->limiting, place));
    ps_report_text(r, "limited_in",
                   tag_text(s, PS_TAGS_OF_VOLUMES, s->mesh.tags[s->limiting], place));
    ps_report_int(r, "within_10_percent", s->close);
    ps_report_real(r, "gain_without_10", s->gains[0]);
    ps_report_real(r, "gain_without_100", s->gains[1]);
    ps_report_real(r, "gain_without_1000", s->gains[2]);
    if (s->scaled > 0) {
        ps_report_int(r, "scaled_elements", s->scaled);
        ps_report_real(r, "scaled_volume", s->scaled_volume);
        ps_report_real(r, "scaled_excess", s->scaled_excess);
        ps_report_real(r, "scaled_factor_max", s->scaled_factor);
    }
    for (int p = 1; p <= PS_DGTD_MAX_ORDER; ++p) {
        snprintf(name, sizeof name, "dt_rule_p%d", p);
        ps_report_real(r, name,
                       0.9 * ps_dgtd_step_constant(p) * s->sizes[s->limiting] / PS_DGTD_C0);
    }
    for (int64_t i = 0; i < s->source_count; ++i) {
        double omega = s->sources[i].omega;
        snprintf(name, sizeof name, "steps_a_period_%d", (int)i + 1);
        if (omega > 0) ps_report_real(r, name, 2 * 3.14159265358979323846 / omega / h->dt);
    }
    report_local(s, r);
}

int64_t setup_disk(const setup *s) { return 51 * s->mesh.elements + 24 * s->mesh.vertex_count; }

ps_status setup_plan(const setup *s, ps_report *r)
{
    enum { CHUNK_ELEMENTS = 1 << 18 };
    const ps_need need = {.writer = s->mesh.elements < CHUNK_ELEMENTS ? 16 * s->mesh.elements
                                                                      : 16 * CHUNK_ELEMENTS,
                          .disk = setup_disk(s),
                          .seconds = 1e-6 * (double)s->mesh.elements};
    return ps_plan_take(s->run, &need, r);
}

/* Of ports with modes. */
static void report_ports(const setup *s, ps_report *r)
{
    static const char *const guides[] = {"", "TEM", "TE", "TM"};
    for (int64_t k = 0; k < s->ports.count; ++k) {
        const ps_dgtd_port_spec *x = s->ports.spec + k;
        double unit = PS_DGTD_C0 / (2 * 3.14159265358979323846 * sqrt(x->mode.eps * x->mode.mu));
        char name[32];
        if (!x->mode.guide) continue;
        snprintf(name, sizeof name, "port_%d", (int)k + 1);
        ps_report_section(r, name);
        ps_report_text(r, "name", x->name);
        ps_report_text(r, "mode", guides[x->mode.guide]);
        ps_report_real(r, "impedance", x->reference);
        if (x->mode.cutoff > 0) ps_report_real(r, "cutoff", x->mode.cutoff * unit);
        if (s->next_cutoffs[k] > 0) ps_report_real(r, "next_cutoff", s->next_cutoffs[k] * unit);
    }
}

static void report_wires(const setup *s, ps_report *r)
{
    for (int64_t k = 0; k < s->wires.count; ++k) {
        const ps_dgtd_wire_spec *x = s->wires.spec + k;
        char name[32];
        snprintf(name, sizeof name, "wire_%d", (int)k + 1);
        ps_report_section(r, name);
        ps_report_int(r, "segments", x->nodes - 1);
        ps_report_real(r, "tube", x->width);
        ps_report_int(r, "grounds", x->ground[0] + x->ground[1]);
        if (s->wire_lack[k] > 0) ps_report_real(r, "reactance_lacks", s->wire_lack[k]);
    }
}

ps_status report_setup(const setup *s)
{
    const ps_dgtd_model_header *h = &s->header;
    int64_t nodes = (h->order + 1) * (h->order + 2) * (h->order + 3) / 6;
    PS_SCOPED(ps_report_print) ps_report *r = ps_report_new(s->run);
    ps_report_int(r, "order", h->order);
    ps_report_int(r, "elements", s->mesh.elements);
    ps_report_int(r, "unknowns", 6 * nodes * s->mesh.elements);
    ps_report_int(r, "parts", s->mesh.parts);
    ps_report_int(r, "media", s->media_count);
    ps_report_int(r, "sources", s->source_count);
    ps_report_int(r, "faces_pec", s->face_counts[PS_DGTD_PEC]);
    ps_report_int(r, "faces_pmc", s->face_counts[PS_DGTD_PMC]);
    ps_report_int(r, "faces_absorbing", s->face_counts[PS_DGTD_ABSORBING]);
    if (s->total) ps_report_int(r, "total_field_elements", s->total_elements);
    if (h->has_layer) {
        ps_report_text(r, "layer_shape", h->layer.ball ? "ball" : "box");
        ps_report_int(r, "layer_elements", s->layer_elements);
        double most = 0;
        for (int k = 0; k < 6; ++k)
            if (h->layer.thickness[k / 3][k % 3] > most) most = h->layer.thickness[k / 3][k % 3];
        ps_report_real(r, "layer_thickness", most);
        ps_report_real(r, "layer_alpha", h->layer.alpha * PS_DGTD_C0);
    }
    ps_report_text(r, "absorbing", h->averaged ? "averaged" : "paper");
    ps_report_text(r, "flux",
                   h->upwind_layer ? "upwind in the layer"
                   : h->upwind     ? "upwind"
                                   : "centred");
    ps_report_int(r, "state_f32", 24 * nodes * s->mesh.elements);
    for (int64_t m = 0; m < s->media_count && m < 64; ++m) report_medium(s, r, m);
    report_ports(s, r);
    report_wires(s, r);
    report_step(s, r);
    if (!s->run->plan) ps_report_run(r, ps_memory_peak());
    return s->run->plan ? setup_plan(s, r) : PS_OK;
}
