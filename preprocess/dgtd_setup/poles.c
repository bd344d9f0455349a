/* poles: permittivities that depend on the frequency or the direction, and tissues by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/dgtd/resolution.h"
#include "preprocess/dgtd_setup/tissue_table.h"
#include "runtime/log.h"
#include "runtime/option_values.h"
#include "setup.h"

static ps_status refuse_value(const setup_text *text, const char *key, const char *value,
                              const char *why)
{
    return ps_fail(PS_USAGE, "--%s %s: %s=%s: %s", text->option, text->whole, key, value, why);
}

/* ---- one pole ---- */

typedef struct pole_form {
    const char *key, *form;
    ps_dgtd_pole_kind kind;
    int numbers;
} pole_form;

static const pole_form forms[] = {
    {"debye", "STRENGTH/TIME is expected, both above 0 (a passive medium), as in 18.3/674ps",
     PS_DGTD_DEBYE, 2},
    {"lorentz",
     "STRENGTH/RESONANCE/DAMPING is expected (1, rad/s, 1/s), the first two above 0, the damping "
     "not negative (a passive medium)",
     PS_DGTD_LORENTZ, 3},
    {"drude",
     "PLASMA/DAMPING is expected (rad/s, 1/s), the first above 0, the damping not negative (a "
     "passive medium)",
     PS_DGTD_DRUDE, 2}};

/* "a/b/c"; the last of a Debye pole is a time. */
static bool read_numbers(const setup_text *text, const pole_form *form, const char *value,
                         double out[3])
{
    char copy[128];
    int count;
    if (strlen(value) >= sizeof copy) return false;
    strcpy(copy, value);
    if (form->kind != PS_DGTD_DEBYE)
        return ps_parse_reals(copy, '/', out, 3, &count) == PS_OK && count == form->numbers;
    char *slash = strchr(copy, '/');
    if (!slash) return false;
    *slash = 0;
    return ps_parse_real(copy, out) == PS_OK &&
           parse_time(text->option, slash + 1, out + 1) == PS_OK;
}

static ps_status add_pole(const setup_text *text, const pole_form *form, const char *value,
                          ps_dgtd_medium *m)
{
    double x[3] = {0};
    if (m->pole_count == PS_DGTD_POLES_MAX)
        return ps_fail(PS_USAGE, "--%s %s: more than %d poles", text->option, text->whole,
                       PS_DGTD_POLES_MAX);
    if (!read_numbers(text, form, value, x))
        return refuse_value(text, form->key, value, form->form);
    ps_dgtd_pole *p = m->poles + m->pole_count++;
    *p = (ps_dgtd_pole){form->kind, x[0], x[1] / PS_DGTD_C0, x[2] / PS_DGTD_C0};
    if (form->kind == PS_DGTD_DEBYE)
        *p = (ps_dgtd_pole){form->kind, x[0], 0, x[1] > 0 ? 1 / x[1] : -1};
    if (form->kind == PS_DGTD_DRUDE)
        *p = (ps_dgtd_pole){form->kind, 1, x[0] / PS_DGTD_C0, x[1] / PS_DGTD_C0};
    return ps_dgtd_medium_is_passive(m) ? PS_OK : refuse_value(text, form->key, value, form->form);
}

/* ---- tissues ---- */

static ps_status take_tissue(const setup_text *text, const char *name, ps_dgtd_medium *m,
                             int *number)
{
    const int count = (int)(sizeof tissue_table / sizeof *tissue_table);
    char list[1200] = "";
    for (int t = 0; t < count; ++t) {
        const tissue *x = tissue_table + t;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", t ? ", " : "", x->name);
        if (strcmp(x->name, name) != 0) continue;
        m->eps = x->eps;
        m->sigma = x->sigma;
        memcpy(m->band, tissue_band, sizeof m->band);
        for (int k = 0; k < TISSUE_POLES; ++k)
            if (x->poles[k][0] > 0)
                m->poles[m->pole_count++] = (ps_dgtd_pole){PS_DGTD_DEBYE, x->poles[k][0], 0,
                                                           1 / (x->poles[k][1] * PS_DGTD_C0)};
        *number = t;
        return PS_OK;
    }
    return ps_fail(PS_USAGE, "--%s %s: there is no tissue \"%s\"; there are %s", text->option,
                   text->whole, name, list);
}

/* ---- a tensor ---- */

/* "eps=4", "eps=4/5/6" or "eps=4/5/6/.1/.2/.3". */
static ps_status read_eps(setup_text *text, ps_dgtd_medium *m, bool *given)
{
    int count;
    double x[6] = {0}, bounds[2];
    const char *value = text_find(text, "eps");
    *given = value != NULL;
    if (!value) return PS_OK;
    if (ps_parse_reals(value, '/', x, 6, &count) != PS_OK ||
        (count != 1 && count != 3 && count != 6))
        return refuse_value(text, "eps", value,
                            "a number is expected, or XX/YY/ZZ or XX/YY/ZZ/XY/XZ/YZ of a symmetric "
                            "tensor");
    m->eps = x[0];
    if (count == 1) return PS_OK;
    m->anisotropic = true;
    memcpy(m->tensor, x, sizeof x);
    ps_dgtd_tensor_bounds(x, bounds);
    m->eps = bounds[0];
    if (ps_dgtd_medium_is_passive(m) && bounds[0] > 0) return PS_OK;
    char why[128];
    snprintf(why, sizeof why,
             "the tensor has to be positive definite; its eigenvalues go from %.4g to %.4g",
             bounds[0], bounds[1]);
    return refuse_value(text, "eps", value, why);
}

ps_status read_permittivity(setup_text *text, ps_dgtd_medium *m, int *tissue_number)
{
    bool eps = false;
    int sigma = 0;
    const char *tissue_name = text_find(text, "tissue");
    *tissue_number = -1;
    PS_TRY(read_eps(text, m, &eps));
    PS_TRY(text_reals(text, "sigma", 1, &m->sigma, &sigma));
    for (int i = 0; i < text->count; ++i)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
            if (strcmp(text->pairs[i].key, forms[f].key) != 0) continue;
            text->pairs[i].used = 1;
            PS_TRY(add_pole(text, forms + f, text->pairs[i].value ? text->pairs[i].value : "", m));
        }
    if (!tissue_name) return PS_OK;
    if (eps || sigma || m->pole_count > 0)
        return ps_fail(PS_USAGE,
                       "--%s %s: tissue= gives permittivity, conductivity and poles; leave out "
                       "eps=, sigma= and poles",
                       text->option, text->whole);
    return take_tissue(text, tissue_name, m, tissue_number);
}

/* ---- checks ---- */

static bool is_plain(const ps_dgtd_medium *m) { return m->pole_count == 0 && !m->anisotropic; }

/* Poles against the step: what is below it is said; it is stable. */
static void check_steps(const setup *s, const ps_dgtd_medium *m)
{
    const double dt = s->header.dt;
    char text[96];
    for (const ps_dgtd_pole *p = m->poles; p < m->poles + m->pole_count; ++p) {
        double turn = p->frequency * dt;
        double off = turn > 0 ? 1 - atan(turn / 2) / (turn / 2) : 0; /* of the trapezoidal rule */
        if (p->kind == PS_DGTD_DEBYE && p->rate * dt > 2)
            ps_info("the relaxation time %.3g s of medium %s is below half of the step, %.3g s: "
                    "its polarisation follows the field within a step (the implicit rule is stable "
                    "there)",
                    1 / p->rate / PS_DGTD_C0, tag_text(s, PS_TAGS_OF_VOLUMES, m->tag, text),
                    dt / PS_DGTD_C0);
        if (p->kind != PS_DGTD_DEBYE && off > .01)
            ps_warning(
                "the %s of medium %s, %.4g rad/s, turns by %.3g in a step of %.3g s, so that "
                "frequencies near it are off by %.2g of themselves; smaller steps: --dt",
                p->kind == PS_DGTD_DRUDE ? "plasma" : "resonance",
                tag_text(s, PS_TAGS_OF_VOLUMES, m->tag, text), p->frequency * PS_DGTD_C0, turn,
                dt / PS_DGTD_C0, off);
    }
}

/* The first element of such a medium of which a face absorbs, or -1. */
static int64_t find_absorbing(const setup *s, bool tensor)
{
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        const ps_dgtd_medium *m = s->media + s->material[f / 4];
        if (s->kinds[f] == PS_DGTD_ABSORBING && !is_plain(m) && (m->anisotropic || !tensor))
            return f / 4;
    }
    return -1;
}

static ps_status check_tensor(const setup *s, const ps_dgtd_medium *m)
{
    char text[96], place[160];
    int64_t absorbing = find_absorbing(s, true);
    tag_text(s, PS_TAGS_OF_VOLUMES, m->tag, text);
    if (absorbing >= 0)
        return ps_fail(PS_USAGE,
                       "%s absorbs at a face and has a tensor of permittivity: the absorbing "
                       "condition is of a number; leave room between it and the boundary",
                       element_text(s, absorbing, place));
    if (s->header.upwind && !s->header.upwind_layer)
        return ps_fail(PS_USAGE,
                       "medium %s has a tensor of permittivity: the upwind flux takes a number, "
                       "use --flux centred",
                       text);
    if (s->header.local_levels > 0)
        return ps_fail(PS_USAGE,
                       "medium %s has a tensor of permittivity, for which local steps have not "
                       "been proven: --local-steps off",
                       text);
    return PS_OK;
}

/* out[0] (1/m): the band of a pulse of which a medium sends more back at an absorbing face than
 * out[1], which is what it sends then. */
static void take_loudest(const ps_dgtd_medium *m, const ps_dgtd_source *pulse, double out[2])
{
    double omega = pulse_band(pulse);
    double reflection = omega > 0 ? ps_dgtd_absorbing_reflection(m, omega) : 0;
    if (reflection > out[1]) out[0] = omega, out[1] = reflection;
}

/* Likewise of all sources and driven ports. */
static void find_loudest(const setup *s, const ps_dgtd_medium *m, double out[2])
{
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < s->source_count; ++i) take_loudest(m, s->sources + i, out);
    for (int64_t i = 0; i < s->ports.count; ++i) {
        const ps_dgtd_port_spec *x = s->ports.spec + i;
        const ps_dgtd_source pulse = {.shape = x->shape, .width = x->width, .omega = x->omega};
        if (x->amplitude != 0) take_loudest(m, &pulse, out);
    }
}

/* Of E, what an absorbing face may send back at normal incidence for the losses of its medium. */
static const double LOUD = .1;

static ps_status check_losses(const setup *s)
{
    char place[160];
    double loudest[2];
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        const ps_dgtd_medium *m = s->media + s->material[f / 4];
        if (s->kinds[f] != PS_DGTD_ABSORBING || !(m->sigma > 0) || !is_plain(m)) continue;
        find_loudest(s, m, loudest);
        if (!(loudest[1] > LOUD)) continue;
        return ps_refuse(s->run, "absorbing-losses",
                         "%s absorbs at a face and conducts: the absorbing condition takes its "
                         "impedance without losses, and sends back %.0f %% of E at %.4g Hz; leave "
                         "room between it and the boundary",
                         element_text(s, f / 4, place), 100 * loudest[1],
                         loudest[0] * PS_DGTD_C0 / (2 * M_PI));
    }
    return PS_OK;
}

ps_status check_permittivities(setup *s)
{
    char place[160];
    bool special = false;
    for (int64_t m = 0; m < s->media_count; ++m) {
        check_steps(s, s->media + m);
        special |= !is_plain(s->media + m);
        if (s->media[m].anisotropic) PS_TRY(check_tensor(s, s->media + m));
    }
    for (int64_t i = 0; i < s->source_count && special; ++i)
        if (s->sources[i].kind == PS_DGTD_SOURCE_MODE)
            return ps_fail(PS_USAGE, "--source mode: a mode starts in a medium of one permittivity "
                                     "and conductivity, without poles or tensor");
    PS_TRY(check_losses(s));
    int64_t absorbing = find_absorbing(s, false);
    if (absorbing < 0) return PS_OK;
    return ps_refuse(s->run, "absorbing-poles",
                     "%s absorbs at a face and is of a medium with poles: the absorbing condition "
                     "takes its impedance of infinite frequency, and reflects waves of others; "
                     "leave room between it and the boundary",
                     element_text(s, absorbing, place));
}

/* ---- figures ---- */

static void report_at(const ps_dgtd_medium *x, int tissue_number, double frequency, int at,
                      ps_report *r)
{
    char name[48];
    double eps, sigma, omega = 2 * M_PI * frequency / PS_DGTD_C0;
    double unit = omega / PS_DGTD_Z0; /* of eps'', S/m */
    ps_dgtd_medium_at(x, omega, &eps, &sigma);
    snprintf(name, sizeof name, "frequency_%d", at);
    ps_report_real(r, name, frequency);
    snprintf(name, sizeof name, "eps_at_%d", at);
    ps_report_real(r, name, eps);
    snprintf(name, sizeof name, "sigma_at_%d", at);
    ps_report_real(r, name, sigma);
    if (tissue_number < 0) return;
    double cole[2];
    tissue_permittivity(tissue_number, frequency, cole);
    snprintf(name, sizeof name, "cole_eps_at_%d", at);
    ps_report_real(r, name, cole[0]);
    snprintf(name, sizeof name, "cole_sigma_at_%d", at);
    ps_report_real(r, name, unit * cole[1]);
    snprintf(name, sizeof name, "deviation_at_%d", at);
    ps_report_real(r, name,
                   hypot(eps - cole[0], sigma / unit - cole[1]) / hypot(cole[0], cole[1]));
}

void tissue_permittivity(int number, double frequency, double out[2])
{
    static const double units[] = {1e-12, 1e-9, 1e-6, 1e-3};
    static const int places[] = {1, 4, 8, 11};
    const double *p = tissue_table[number].cole, w = 2 * M_PI * frequency;
    out[0] = p[0];
    out[1] = p[7] * PS_DGTD_Z0 * PS_DGTD_C0 / w;
    for (int k = 0; k < 4; ++k) { /* del/(1 + (i w tau)^b), b = 1 - alf */
        double b = 1 - p[places[k] + 2], size = pow(w * p[places[k] + 1] * units[k], b);
        double real = 1 + size * cos(b * M_PI / 2), imaginary = size * sin(b * M_PI / 2);
        double scale = p[places[k]] / (real * real + imaginary * imaginary);
        out[0] += scale * real;
        out[1] += scale * imaginary;
    }
}

void report_permittivity(const setup *s, int64_t m, ps_report *r)
{
    const ps_dgtd_medium *x = s->media + m;
    int number = m < s->tissue_count ? s->tissues[m] : -1;
    if (x->anisotropic) ps_report_reals(r, "tensor", x->tensor, 6);
    if (x->pole_count > 0) ps_report_int(r, "poles", x->pole_count);
    if (number >= 0) {
        ps_report_text(r, "tissue", tissue_table[number].name);
        ps_report_real(r, "fit_error", tissue_table[number].error);
    }
    if (x->band[1] > 0) ps_report_reals(r, "band", x->band, 2);
    for (int i = 0; i < s->frequency_count && !x->anisotropic; ++i)
        report_at(x, number, s->frequencies[i], i + 1, r);
}

ps_status read_frequencies(setup *s)
{
    for (int i = 0; i < s->options->frequencies.count; ++i) {
        int count;
        PS_TRY(ps_parse_measures(s->options->frequencies.items[i], "HZ",
                                 s->frequencies + s->frequency_count,
                                 SETUP_FREQUENCIES_MAX - s->frequency_count, &count));
        s->frequency_count += count;
    }
    for (int i = 0; i < s->frequency_count; ++i)
        if (!(s->frequencies[i] > 0))
            return ps_fail(PS_USAGE, "--frequency: %g Hz; expected a positive number",
                           s->frequencies[i]);
    return PS_OK;
}
