/* penstock-dgtd-sphere: the exact series of a sphere in a plane electromagnetic wave. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/receivers.h"
#include "kernels/common/mie_em.h"
#include "kernels/common/vec3.h"
#include "postprocess/dgtd_sphere/figure_table.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

enum { FREQUENCIES_MAX = 4096 };

typedef enum quantity {
    ELECTRIC,
    MAGNETIC,
    SCATTERED_ELECTRIC,
    SCATTERED_MAGNETIC,
    FAR,
    RCS
} quantity;

static struct {
    int quantity;
    double radius, eps, mu, sigma, fmin, fmax;
    int64_t count;
    bool pec;
    const char *centre, *origin, *wave, *polarisation, *frequencies, *like;
    ps_receiver_words where;
} chosen = {.radius = 1,
            .eps = 1,
            .mu = 1,
            .centre = "0,0,0",
            .origin = "0,0,0",
            .wave = "0,0,1",
            .polarisation = "1,0,0",
            .where = PS_RECEIVER_WORDS};

static const ps_option options[] = {
    PS_CHOICE("quantity", &chosen.quantity,
              "electric|magnetic|scattered-electric|scattered-magnetic|far|rcs", PS_IDENTITY,
              "fields at points (x, y, z a channel each), far field, radar cross-section"),
    PS_REAL("radius", &chosen.radius, "METRES", 1e-12, 1e9, PS_IDENTITY, "radius, m"),
    PS_TEXT("centre", &chosen.centre, "X,Y,Z", PS_IDENTITY, "centre of the sphere, m"),
    PS_REAL("eps", &chosen.eps, "X", 1e-12, 1e12, PS_IDENTITY, "relative permittivity"),
    PS_REAL("mu", &chosen.mu, "X", 1e-12, 1e12, PS_IDENTITY, "relative permeability"),
    PS_REAL("sigma", &chosen.sigma, "S/M", 0, 1e12, PS_IDENTITY, "conductivity (default 0)"),
    PS_FLAG("pec", &chosen.pec, PS_IDENTITY, "a perfect conductor instead"),
    PS_TEXT("wave", &chosen.wave, "X,Y,Z", PS_IDENTITY, "direction in which the wave travels"),
    PS_TEXT("polarisation", &chosen.polarisation, "X,Y,Z", PS_IDENTITY,
            "direction of E, orthogonal to --wave; its amplitude is 1 V/m"),
    PS_TEXT("origin", &chosen.origin, "X,Y,Z", PS_IDENTITY, "where the wave has phase 0"),
    PS_TEXT("frequencies", &chosen.frequencies, "A,B,...", PS_IDENTITY,
            "Hz, or with units: 12kHz,38kHz"),
    PS_REAL("fmin", &chosen.fmin, "HZ", 0, 1e18, PS_IDENTITY, "or from this frequency"),
    PS_REAL("fmax", &chosen.fmax, "HZ", 0, 1e18, PS_IDENTITY, "to this"),
    PS_INT("count", &chosen.count, "N", 0, FREQUENCIES_MAX, PS_IDENTITY, "in so many equal steps"),
    PS_TEXT("like", &chosen.like, "TRACE", 0,
            "frequencies and places of this trace over frequency, three channels a point"),
    PS_RECEIVER_POINT_OPTIONS(chosen.where),
    PS_RECEIVER_DIRECTION_OPTIONS(chosen.where),
    PS_OPTION_END};

typedef struct job {
    ps_mie_em_sphere sphere;
    double centre[3], origin[3], axes[3][3]; /* polarisation, wave x polarisation, wave */
    double *frequencies;
    int64_t count;
    ps_receivers receivers;
    ps_mie_em *series; /* [count] */
} job;

static bool is_far(void) { return chosen.quantity == FAR || chosen.quantity == RCS; }
static int channels_of_place(void) { return chosen.quantity == RCS ? 1 : 3; }

/* ---- what was asked for ---- */

static double unit(double v[3])
{
    double length = ps_norm3(v);
    for (int c = 0; c < 3; ++c) v[c] /= length;
    return length;
}

static ps_status settle_wave(job *j)
{
    double *e = j->axes[0], *k = j->axes[2];
    PS_TRY(ps_parse_vector(chosen.centre, j->centre));
    PS_TRY(ps_parse_vector(chosen.origin, j->origin));
    PS_TRY(ps_parse_vector(chosen.wave, k));
    PS_TRY(ps_parse_vector(chosen.polarisation, e));
    if (!(unit(k) > 0) || !(unit(e) > 0) || fabs(ps_dot3(e, k)) > 1e-6)
        return ps_fail(PS_USAGE, "--wave %s and --polarisation %s must be orthogonal directions",
                       chosen.wave, chosen.polarisation);
    for (int c = 0; c < 3; ++c)
        j->axes[1][c] = k[(c + 1) % 3] * e[(c + 2) % 3] - k[(c + 2) % 3] * e[(c + 1) % 3];
    j->sphere = (ps_mie_em_sphere){chosen.radius, chosen.eps, chosen.mu, chosen.sigma, chosen.pec};
    return PS_OK;
}

static ps_status take_like(job *j)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(ps_trace_load(chosen.like, &trace));
    int width = channels_of_place();
    ps_status status = PS_OK;
    if (!trace.in_frequency || trace.channels % width || trace.far_field != is_far())
        status = ps_fail(PS_INVALID,
                         "--like: %s is not a trace over frequency of %s with %d channels each",
                         chosen.like, is_far() ? "directions" : "points", width);
    j->count = trace.samples;
    j->frequencies = trace.axis;
    trace.axis = NULL;
    for (int64_t p = 0; p < trace.channels && status == PS_OK; p += width)
        status = ps_receivers_add(&j->receivers, is_far(), trace.places + 3 * p);
    return status;
}

static ps_status list_frequencies(job *j)
{
    double list[FREQUENCIES_MAX];
    int count = 0;
    if (chosen.frequencies)
        PS_TRY(ps_parse_measures(chosen.frequencies, "HZ", list, FREQUENCIES_MAX, &count));
    else if (chosen.fmax > chosen.fmin && chosen.count > 1)
        for (; count < chosen.count; ++count)
            list[count] =
                chosen.fmin + (chosen.fmax - chosen.fmin) * count / (double)(chosen.count - 1);
    if (count == 0)
        return ps_fail(PS_USAGE,
                       "say --frequencies, or --fmin, --fmax and --count, or --like TRACE");
    j->count = count;
    PS_TRY(PS_ALLOC(&j->frequencies, count, "frequencies"));
    memcpy(j->frequencies, list, (size_t)count * sizeof *list);
    return PS_OK;
}

static ps_status list_places(job *j)
{
    ps_receivers *r = &j->receivers;
    PS_TRY(ps_receivers_add_words(r, &chosen.where));
    if (r->count && r->far_field != is_far())
        return ps_fail(PS_USAGE, "far, rcs: --direction or --directions; fields: --at, --points or "
                                 "--plane");
    return PS_OK;
}

/* ---- the series ---- */

/* Components along the wave's axes and back. */
static void turn(const job *j, const double in[3], double out[3])
{
    for (int a = 0; a < 3; ++a)
        out[a] = j->axes[a][0] * in[0] + j->axes[a][1] * in[1] + j->axes[a][2] * in[2];
}

static void turn_back(const job *j, double in[3][2], double out[3][2])
{
    for (int c = 0; c < 3; ++c)
        for (int part = 0; part < 2; ++part)
            out[c][part] = j->axes[0][c] * in[0][part] + j->axes[1][c] * in[1][part] +
                           j->axes[2][c] * in[2][part];
}

/* Turns by the wave's phase at the sphere's centre; distances of the far field are from (0, 0, 0).
 */
static void shift_phase(double phase, double u[3][2])
{
    double c = cos(phase), s = sin(phase);
    for (int k = 0; k < 3; ++k) {
        double re = u[k][0], im = u[k][1];
        u[k][0] = re * c - im * s;
        u[k][1] = re * s + im * c;
    }
}

static void value_at(const job *j, const ps_mie_em *series, const double place[3], double out[3][2])
{
    double from[3], point[3], e[3][2], h[3][2], phase = 0;
    bool magnetic = chosen.quantity == MAGNETIC || chosen.quantity == SCATTERED_MAGNETIC;
    bool total = chosen.quantity == ELECTRIC || chosen.quantity == MAGNETIC;
    for (int c = 0; c < 3; ++c) {
        phase += series->k * j->axes[2][c] * (j->centre[c] - j->origin[c]);
        if (is_far()) phase -= series->k * place[c] * j->centre[c];
        from[c] = place[c] - (is_far() ? 0 : j->centre[c]);
    }
    turn(j, from, point);
    if (is_far())
        ps_mie_em_far(series, point, e);
    else
        ps_mie_em_field(series, total ? PS_MIE_EM_TOTAL : PS_MIE_EM_SCATTERED, point, e, h);
    turn_back(j, magnetic ? h : e, out);
    shift_phase(phase, out);
}

static void put_value(const job *j, ps_trace *trace, int64_t sample, int64_t p)
{
    double u[3][2], sum = 0;
    int width = channels_of_place();
    int64_t at = sample * trace->channels + width * p;
    value_at(j, &j->series[sample], j->receivers.places + 3 * p, u);
    for (int c = 0; c < 3; ++c) {
        sum += u[c][0] * u[c][0] + u[c][1] * u[c][1];
        if (width == 1) continue;
        trace->real[at + c] = u[c][0];
        trace->imaginary[at + c] = u[c][1];
    }
    if (width == 1) trace->real[at] = 4 * M_PI * sum;
}

static ps_status compute_series(job *j)
{
    PS_TRY(PS_ALLOC(&j->series, j->count, "the series of each frequency"));
    for (int64_t i = 0; i < j->count; ++i)
        PS_TRY(ps_mie_em_init(&j->series[i], &j->sphere, j->frequencies[i]));
    return PS_OK;
}

static ps_status write_trace(const job *j, const ps_run *run)
{
    static const char *const names[] = {"electric field",           "magnetic field",
                                        "scattered electric field", "scattered magnetic field",
                                        "scattered far field",      "radar cross-section"};
    static const char *const units[] = {"1", "S", "1", "S", "m", "m2"}; /* per V/m */
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    int width = channels_of_place();
    if (!j->receivers.count)
        return ps_fail(PS_USAGE, "say where: --at, --points, --plane, --direction, --directions or "
                                 "--like TRACE");
    PS_TRY(ps_trace_init(&trace, j->count, width * j->receivers.count, width == 3));
    for (int64_t c = 0; c < trace.channels; ++c)
        memcpy(trace.places + 3 * c, j->receivers.places + 3 * (c / width), 3 * sizeof(double));
    memcpy(trace.axis, j->frequencies, (size_t)j->count * sizeof *trace.axis);
    trace.in_frequency = true;
    trace.far_field = is_far();
    if (width == 1) memcpy(trace.grid, j->receivers.grid, sizeof trace.grid);
    strcpy(trace.quantity, names[chosen.quantity]);
    strcpy(trace.units, units[chosen.quantity]);
#pragma omp parallel for schedule(static) collapse(2)
    for (int64_t i = 0; i < j->count; ++i)
        for (int64_t p = 0; p < j->receivers.count; ++p) put_value(j, &trace, i, p);
    ps_store_identity identity = ps_run_identity(run, PS_TRACE_FORMAT, PS_TRACE_VERSION);
    return ps_trace_save(run->output, &trace, &identity, 0, NULL, NULL);
}

static void report_series(const job *j, const ps_run *run)
{
    ps_report *r = ps_report_new(run);
    for (int64_t i = 0; i < j->count && i < 100; ++i) {
        ps_mie_em_efficiencies q;
        char name[48];
        const ps_mie_em *s = &j->series[i];
        double area = M_PI * s->radius * s->radius;
        ps_mie_em_efficiency(s, &q);
        snprintf(name, sizeof name, "%g_Hz", s->frequency);
        ps_report_section(r, name);
        ps_report_real(r, "kr", s->k * s->radius);
        ps_report_real(r, "q_extinction", q.extinction);
        ps_report_real(r, "q_scattering", q.scattering);
        ps_report_real(r, "q_absorption", q.absorption);
        ps_report_real(r, "q_backscattering", q.backscattering);
        ps_report_real(r, "absorption_cross_section", q.absorption * area);
        ps_report_real(r, "rcs_backwards", q.backscattering * area);
        if (!s->pec) ps_report_real(r, "centre_field", hypot(s->d[1][0], s->d[1][1]));
    }
    ps_report_print(&r);
}

static void release(job *j)
{
    ps_receivers_release(&j->receivers);
    PS_FREE(j->frequencies, j->series);
}

/* Figures are told again whatever is there. */
static ps_status run_sphere(ps_run *run)
{
    PS_SCOPED(release) job j = {.count = 0};
    PS_TRY(settle_wave(&j));
    PS_TRY(chosen.like ? take_like(&j) : list_frequencies(&j));
    PS_TRY(list_places(&j));
    int64_t values = 6 * j.count * (j.receivers.count + 1);
    const ps_need need = {.arrays = 32 * values + (1 << 20),
                          .disk = run->output ? 8 * values : 0,
                          .seconds = 1e-5 * (double)values};
    PS_TRY(ps_plan_tell(run, &need));
    if (run->plan) return PS_OK;
    PS_TRY(compute_series(&j));
    if (run->output) PS_TRY(write_trace(&j, run));
    report_series(&j, run);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "dgtd-sphere",
    .synopsis = "[OUTPUT]",
    .description =
        "The exact solution (Mie series) for a dielectric, conducting or perfectly conducting "
        "sphere in a plane electromagnetic wave of 1 V/m: efficiencies (cross-sections over pi "
        "R^2) and the field at the centre on stdout; fields at points, the far field or the radar "
        "cross-section as a trace over frequency, e^{-iwt}, to compare with.",
    .examples =
        "  penstock-dgtd-sphere --radius 0.05 --eps 41.5 --sigma 0.97 --frequencies 900e6\n"
        "  penstock-dgtd-sphere exact.h5 --radius 0.05 --eps 41.5 --sigma 0.97 --like at.h5\n"
        "  penstock-dgtd-sphere rcs.h5 --radius 1 --pec --quantity rcs --directions 181 \\\n"
        "      --fmin 50e6 --fmax 600e6 --count 12",
    .options = options,
    .figures = figure_table,
    .run = run_sphere};
