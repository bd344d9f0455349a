/* Models of discontinuous Galerkin runs: media and sources. */
#include <math.h>
#include <stdio.h>

#include "formats/dgtd_model.h"
#include "kernels/dgtd/local_steps.h"
#include "postprocess/inspect/inspect.h"

static void report_medium(const ps_dgtd_medium *x, int64_t number, ps_report *report)
{
    char section[32];
    snprintf(section, sizeof section, "medium_%lld", (long long)number);
    ps_report_section(report, section);
    ps_report_int(report, "tag", x->tag);
    if (x->name[0]) ps_report_text(report, "name", x->name);
    ps_report_real(report, "eps", x->eps);
    ps_report_real(report, "mu", x->mu);
    ps_report_real(report, "sigma", x->sigma);
    ps_report_real(report, "density", x->density);
    if (x->pole_count > 0) ps_report_int(report, "poles", x->pole_count);
    if (x->anisotropic) ps_report_reals(report, "tensor", x->tensor, 6);
}

static void report_source(const ps_dgtd_source *x, int64_t number, ps_report *report)
{
    static const char *const kinds[] = {"current", "plane wave", "incident dipole", "mode"};
    char section[32];
    const double mode[3] = {x->mode[0], x->mode[1], x->mode[2]};
    snprintf(section, sizeof section, "source_%lld", (long long)number);
    ps_report_section(report, section);
    ps_report_text(report, "kind", kinds[x->kind]);
    ps_report_reals(report, "axis", x->axis, 3);
    ps_report_reals(report, "origin", x->origin, 3);
    if (x->kind == PS_DGTD_SOURCE_MODE) {
        ps_report_reals(report, "half_waves", mode, 3);
        ps_report_reals(report, "extent", x->extent, 3);
        return;
    }
    if (x->kind == PS_DGTD_SOURCE_PLANE_WAVE)
        ps_report_reals(report, "polarisation", x->polarisation, 3);
    if (x->kind == PS_DGTD_SOURCE_CURRENT) ps_report_real(report, "radius", x->radius);
    ps_report_text(report, "shape", x->shape ? "ramp" : "gaussian");
    ps_report_quantity(report, "amplitude", x->amplitude,
                       x->kind == PS_DGTD_SOURCE_PLANE_WAVE ? "V/m" : "V m2");
    ps_report_real(report, "delay", x->centre / PS_DGTD_C0);
    ps_report_real(report, "width", x->width / PS_DGTD_C0);
    ps_report_real(report, "frequency", x->omega * PS_DGTD_C0 / (2 * 3.14159265358979323846));
}

/* Half steps of elements, by the deepest levels whose E and H they make, of the part with the most
 * over the mean; and of parts that wait for one another after each half step of a level, which are
 * as slow as the one with the most elements in it. */
static void report_balance(const ps_dgtd_model_file *model, const ps_dgtd_domain *whole,
                           ps_report *report)
{
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    const int64_t *start = ps_dgtd_model_part_start(model);
    double all = 0, most = 0, in_turn[2][PS_DGTD_MODEL_LEVELS + 1] = {{0}}, makespan = 0;
    for (int64_t q = 0; q < h->parts; ++q) {
        double count[2][PS_DGTD_MODEL_LEVELS + 1] = {{0}}, own = 0;
        for (int64_t e = start[q]; e < start[q + 1]; ++e) {
            for (int l = 0; l <= ps_dgtd_reach_p(whole->reach[e]); ++l) ++count[0][l];
            for (int l = 0; l <= ps_dgtd_reach_q(whole->reach[e]); ++l) ++count[1][l];
        }
        for (int i = 0; i < 2 * (PS_DGTD_MODEL_LEVELS + 1); ++i) {
            int field = i % 2, l = i / 2; /* level 0: the half steps of all; l > 0: 2^(l - 1) */
            double half_steps = count[field][l] * (l > 0 ? 1 << (l - 1) : 1);
            in_turn[field][l] = fmax(in_turn[field][l], half_steps);
            own += half_steps;
        }
        most = fmax(most, own);
        all += own;
    }
    for (int i = 0; i < 2 * (PS_DGTD_MODEL_LEVELS + 1); ++i) makespan += in_turn[i % 2][i / 2];
    ps_report_real(report, "updates_imbalance", most * (double)h->parts / all);
    ps_report_real(report, "makespan_imbalance", makespan * (double)h->parts / all);
}

/* Elements by the deepest level of local steps that their H makes. */
static ps_status report_classes(ps_dgtd_model_file *model, ps_report *report)
{
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    int64_t counts[PS_DGTD_MODEL_LEVELS + 1] = {0}, parts[] = {0, h->parts};
    ps_dgtd_domain whole;
    double dt = h->dt;
    PS_TRY(ps_dgtd_model_load(model, parts, 1, 0, 16, &whole));
    for (int64_t e = 0; e < whole.elements; ++e)
        ++counts[whole.reach[e] == 255 ? 0 : whole.reach[e] / 16];
    ps_report_section(report, NULL);
    ps_report_int(report, "local_levels", h->local_levels);
    if (h->parts > 1) report_balance(model, &whole, report);
    ps_dgtd_domain_release(&whole);
    for (int l = 0; l <= h->local_levels; ++l, dt *= ps_dgtd_local_ratio()) {
        char section[32];
        snprintf(section, sizeof section, "class_%d", l);
        ps_report_section(report, section);
        ps_report_int(report, "elements", counts[l]);
        ps_report_real(report, "step", dt / PS_DGTD_C0);
    }
    return PS_OK;
}

ps_status inspect_report_model(const ps_store *store, ps_report *report)
{
    ps_dgtd_model_file *model;
    PS_TRY(ps_dgtd_model_open(ps_store_path(store), &model));
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    if (h->local_levels > 0) PS_TRY(report_classes(model, report));
    for (int64_t m = 0; m < h->media; ++m)
        report_medium(ps_dgtd_model_media(model) + m, m + 1, report);
    for (int64_t s = 0; s < h->sources; ++s)
        report_source(ps_dgtd_model_sources(model) + s, s + 1, report);
    ps_dgtd_model_close(&model);
    return PS_OK;
}
