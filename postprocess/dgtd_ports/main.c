/* penstock-dgtd-ports: S-parameters and impedances of ports from the signals of dgtd runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/phasors.h"
#include "postprocess/dgtd_ports/figure_table.h"
#include "postprocess/dgtd_ports/scattering.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/output_file.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

/* Without what share of the end S is made once more; what it may change; the energy that may be
 * left at the end; how faint a pulse may be. */
static const double TAIL = .2, DECAYED = 1e-2, LEFT = 1e-2, FAINT = PS_PHASORS_FAINT, GAIN = 1.02,
                    ASYMMETRY = 1e-2, WRONG = .1;

enum { FREQUENCIES = 4096 };

typedef enum quantity { SCATTERING, IMPEDANCE, ADMITTANCE } quantity;

static struct {
    const char *frequencies, *touchstone;
    ps_text_list shifts;
    double fmin, fmax;
    int64_t count;
    int quantity;
} chosen;

static const ps_option options[] = {
    PS_TEXT("frequencies", &chosen.frequencies, "A,B,...", PS_IDENTITY, "these frequencies, Hz"),
    PS_REAL("fmin", &chosen.fmin, "HZ", 0, 1e15, PS_IDENTITY, "from this frequency"),
    PS_REAL("fmax", &chosen.fmax, "HZ", 0, 1e15, PS_IDENTITY, "to this frequency"),
    PS_INT("count", &chosen.count, "N", 0, FREQUENCIES, PS_IDENTITY,
           "so many frequencies at equal distances from --fmin to --fmax"),
    PS_CHOICE("quantity", &chosen.quantity, "s|z|y", PS_IDENTITY,
              "what OUTPUT has: S-parameters, impedances or admittances"),
    PS_LIST(
        "shift", &chosen.shifts, "PORT=METRES", PS_IDENTITY,
        "move the plane of reference of a port with a mode so far along its guide, into the mesh"),
    PS_TEXT("touchstone", &chosen.touchstone, "FILE", PS_WRITES,
            "write the S-parameters as a Touchstone file, too (name.s1p, .s2p, ..)"),
    PS_OPTION_END};

typedef struct job {
    int64_t runs, ports;
    ps_store **stores;
    ps_port_signals *signals;
    int64_t count;
    double *frequency;
    double complex *s, *out; /* [count][ports][ports] of S, of what was chosen */
    double truncation, gain, left;
    double singular, asymmetry; /* largest singular value of S and |S_jk - S_kj| */
} job;

static void release(job *j)
{
    for (int64_t r = 0; r < j->runs; ++r) {
        if (j->signals) ps_port_signals_release(j->signals + r);
        if (j->stores) ps_store_close(j->stores + r);
    }
    free(j->stores), free(j->signals), free(j->frequency), free(j->s), free(j->out);
}

/* ---- runs ---- */

static bool same_mode(const ps_dgtd_port_mode *a, const ps_dgtd_port_mode *b)
{
    return a->guide == b->guide && a->cutoff == b->cutoff && a->eps == b->eps && a->mu == b->mu;
}

static ps_status check_run(const job *j, int64_t r)
{
    const ps_port_signals *x = j->signals + r, *first = j->signals;
    const char *path = ps_store_path(j->stores[r]);
    bool driven = false, same = x->ports == first->ports;
    for (int64_t k = 0; k < x->ports && same; ++k) {
        driven |= x->driven[k] != 0;
        same = strcmp(x->name[k], first->name[k]) == 0 && x->reference[k] == first->reference[k] &&
               same_mode(x->mode + k, first->mode + k);
    }
    if (!same || strcmp(x->mesh_hash, first->mesh_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s and %s are not of the same ports on the same mesh (names, references "
                       "and order)",
                       ps_store_path(j->stores[0]), path);
    if (*x->body_hash && *first->body_hash && strcmp(x->body_hash, first->body_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s and %s are of models whose media, conditions, layer or order differ: "
                       "their waves are not those of one body",
                       ps_store_path(j->stores[0]), path);
    return driven ? PS_OK
                  : ps_fail(PS_INVALID,
                            "%s: no port is driven (dgtd-setup --port "
                            "NAME:..:amplitude=1:width=..)",
                            path);
}

static ps_status open_runs(job *j, ps_product *product)
{
    const ps_run *run = product->run;
    int64_t runs = run->operand_count - 1;
    PS_TRY(PS_ALLOC(&j->stores, runs, "runs"));
    PS_TRY(PS_ALLOC(&j->signals, runs, "runs"));
    for (; j->runs < runs; ++j->runs) {
        char role[16];
        snprintf(role, sizeof role, "run_%d", (int)j->runs + 1);
        ps_store **store = j->stores + j->runs;
        PS_TRY(ps_store_open(run->operands[j->runs], PS_PORT_SIGNALS_FORMAT,
                             PS_PORT_SIGNALS_VERSION, store));
        PS_TRY(ps_product_input(product, role, *store));
    }
    return PS_OK;
}

static ps_status read_runs(job *j)
{
    for (int64_t r = 0; r < j->runs; ++r) {
        PS_TRY(ps_port_signals_read(j->stores[r], j->signals + r));
        PS_TRY(check_run(j, r));
        j->left = fmax(j->left, j->signals[r].left);
    }
    j->ports = j->signals->ports;
    if (j->runs == j->ports) return PS_OK;
    return ps_fail(PS_USAGE,
                   "%lld runs of %lld ports: S-parameters take as many runs as there are ports, "
                   "each with another port driven (models with the same --port options but for "
                   "amplitude and pulse)",
                   (long long)j->runs, (long long)j->ports);
}

/* ---- frequencies ---- */

static ps_status read_frequencies(job *j)
{
    int given = 0;
    double nyquist = INFINITY;
    for (int64_t r = 0; r < j->runs; ++r) nyquist = fmin(nyquist, .5 / j->signals[r].dt);
    PS_TRY(PS_ALLOC(&j->frequency, FREQUENCIES, "frequencies"));
    if ((chosen.frequencies != NULL) == (chosen.count > 0))
        return ps_fail(PS_USAGE, "which frequencies? Give --frequencies, or --fmin, --fmax and "
                                 "--count");
    if (chosen.frequencies)
        PS_TRY(ps_parse_measures(chosen.frequencies, "HZ", j->frequency, FREQUENCIES, &given));
    j->count = chosen.frequencies ? given : chosen.count;
    for (int64_t i = 0; i < chosen.count && !chosen.frequencies; ++i)
        j->frequency[i] =
            chosen.fmin +
            (chosen.count > 1 ? (chosen.fmax - chosen.fmin) * (double)i / (double)(chosen.count - 1)
                              : 0);
    for (int64_t i = 0; i < j->count; ++i)
        if (!(j->frequency[i] > (i ? j->frequency[i - 1] : 0) && j->frequency[i] < nyquist))
            return ps_fail(PS_USAGE,
                           "frequency %g Hz: they are positive, ascend and stay below %g Hz, half "
                           "the sampling rate",
                           j->frequency[i], nyquist);
    return PS_OK;
}

static ps_status read_shift(const job *j, const char *text, double *shifts)
{
    const char *cut = strrchr(text, '=');
    double metres;
    int given = 0;
    if (!cut || ps_parse_measures(cut + 1, "METRES", &metres, 1, &given) != PS_OK || given != 1)
        return ps_fail(PS_USAGE, "--shift %s: expected PORT=METRES", text);
    for (int64_t k = 0; k < j->ports; ++k) {
        const char *name = j->signals->name[k];
        if (strlen(name) != (size_t)(cut - text) || strncmp(name, text, strlen(name)) != 0)
            continue;
        if (j->signals->mode[k].guide == 0)
            return ps_fail(PS_USAGE,
                           "--shift %s: the port is lumped: it has no guide to move a plane along",
                           text);
        shifts[k] = metres;
        return PS_OK;
    }
    return ps_fail(PS_USAGE, "--shift %s: there is no port of this name", text);
}

/* ---- S ---- */

static ps_status check_loudness(const ps_run *run, const job *j, int64_t i, double loudness)
{
    if (loudness >= FAINT) return PS_OK;
    return ps_refuse(run, "faint",
                     "at %g Hz the wave that comes into a driven port is %.2g of what its pulse "
                     "has elsewhere: S there is the rounding of something large. Keep to "
                     "frequencies that the pulse has, or make it shorter",
                     j->frequency[i], loudness);
}

static double norm_of_column(const scattering *x, int64_t column)
{
    double sum = 0;
    for (int64_t k = 0; k < x->ports; ++k) sum += pow(cabs(x->s[k * x->ports + column]), 2);
    return sum;
}

static ps_status compute_at(const ps_run *run, job *j, scattering *x, int64_t i)
{
    int64_t size = j->ports * j->ports;
    double loudness, without;
    double complex *s = j->s + i * size;
    PS_TRY(scattering_at(x, j->signals, j->frequency[i], 1 - TAIL, &without));
    memcpy(s, x->s, (size_t)size * sizeof *s);
    PS_TRY(scattering_at(x, j->signals, j->frequency[i], 1, &loudness));
    PS_TRY(check_loudness(run, j, i, loudness));
    for (int64_t k = 0; k < size; ++k) j->truncation = fmax(j->truncation, cabs(s[k] - x->s[k]));
    for (int64_t k = 0; k < j->ports; ++k) j->gain = fmax(j->gain, norm_of_column(x, k));
    j->singular = fmax(j->singular, scattering_norm(x));
    for (int64_t k = 0; k < size; ++k)
        j->asymmetry =
            fmax(j->asymmetry, cabs(x->s[k] - x->s[k % j->ports * j->ports + k / j->ports]));
    memcpy(s, x->s, (size_t)size * sizeof *s);
    double complex *out = j->out + i * size;
    if (chosen.quantity != SCATTERING)
        return scattering_impedance(x, chosen.quantity == ADMITTANCE, out);
    memcpy(out, s, (size_t)size * sizeof *s);
    return PS_OK;
}

static ps_status check_results(const ps_run *run, const job *j)
{
    static const char gains[] = "%.4g of the power that comes into the ports leaves them: the "
                                "signals are wrong by that much at least (mesh, fields that have "
                                "not decayed, or runs whose media differ)",
                      skew[] = "S is not symmetric by up to %.2g, though all media are reciprocal: "
                               "the signals are wrong by that much at least, or runs' media differ";
    double power = j->singular * j->singular;
    if (power > 1 + WRONG)
        PS_TRY(ps_refuse(run, "active", gains, power));
    else if (power > GAIN)
        ps_warning(gains, power);
    if (j->asymmetry > WRONG)
        PS_TRY(ps_refuse(run, "asymmetric", skew, j->asymmetry));
    else if (j->asymmetry > ASYMMETRY)
        ps_warning(skew, j->asymmetry);
    if (j->left > LEFT)
        PS_TRY(ps_refuse(
            run, "undecayed",
            "when the signals end, %.2g of the largest energy is in the fields still: "
            "what will come out of the ports is not in them. March on for longer "
            "(dgtd-march --until-decay 40dB); what stays however long are oscillations of "
            "the mesh, which a finer one or a higher order has less of",
            j->left));
    if (j->truncation <= DECAYED) return PS_OK;
    return ps_refuse(run, "undecayed",
                     "without the last fifth of the signals S changes by up to %.2g: they have not "
                     "decayed, and S is wrong by about as much. March on for longer (dgtd-march "
                     "--until-decay 60dB)",
                     j->truncation);
}

static ps_status compute(const ps_run *run, job *j)
{
    PS_SCOPED(scattering_close) scattering x = {0};
    PS_TRY(scattering_open(j->ports, &x));
    for (int k = 0; k < chosen.shifts.count; ++k)
        PS_TRY(read_shift(j, chosen.shifts.items[k], x.shift));
    PS_TRY(PS_ALLOC(&j->s, j->count * j->ports * j->ports, "S-parameters"));
    PS_TRY(PS_ALLOC(&j->out, j->count * j->ports * j->ports, "S-parameters"));
    for (int64_t i = 0; i < j->count; ++i) PS_TRY(compute_at(run, j, &x, i));
    return check_results(run, j);
}

/* ---- Touchstone ---- */

/* Two ports have S11 S21 S12 S22 in a line; more a row of the matrix, four a line. */
static void print_matrix(FILE *file, const job *j, const double complex *s)
{
    int64_t n = j->ports;
    for (int64_t i = 0; i < n * n; ++i) {
        const double complex v = n == 2 ? s[i % 2 * 2 + i / 2] : s[i];
        fprintf(file, " %.12g %.12g", creal(v), cimag(v));
        bool row = i % n == n - 1, last = i == n * n - 1;
        if (n > 2 && !last && (row || i % n % 4 == 3)) fprintf(file, "\n");
    }
    fprintf(file, "\n");
}

/* The wave impedance of TE and TM changes with frequency, which no version has a word for: 1, what
 * waves of guides are normalised to, and a comment. */
static double told_reference(const ps_port_signals *x, int64_t port)
{
    return ps_dgtd_port_cutoff(x->mode + port) > 0 ? 1 : x->reference[port];
}

static void print_ports(FILE *file, const ps_port_signals *x)
{
    static const char *const guides[] = {"", "TEM", "TE", "TM"};
    for (int64_t k = 0; k < x->ports; ++k) {
        const ps_dgtd_port_mode *mode = x->mode + k;
        fprintf(file, "! port %lld: %s", (long long)k + 1, x->name[k]);
        if (mode->guide) fprintf(file, ", a %s mode", guides[mode->guide]);
        if (mode->cutoff > 0)
            fprintf(file,
                    " with a cut-off of %.9g Hz, normalised to its wave impedance, %.9g ohm %s "
                    "sqrt(1 - (cut-off/f)^2)",
                    ps_dgtd_port_cutoff(mode), x->reference[k], mode->guide == 2 ? "/" : "times");
        fprintf(file, "\n");
    }
}

static void print_touchstone(FILE *file, const void *context)
{
    const job *j = context;
    const ps_port_signals *x = j->signals;
    bool one = true;
    for (int64_t k = 1; k < j->ports; ++k) one &= told_reference(x, k) == told_reference(x, 0);
    fprintf(file, "! Penstock dgtd-ports; the ends of the signals matter by %.2g\n", j->truncation);
    fprintf(file, "! largest singular value of S %.6g, largest |S_jk - S_kj| %.2g\n", j->singular,
            j->asymmetry);
    print_ports(file, x);
    if (!one) fprintf(file, "[Version] 2.0\n");
    fprintf(file, "# Hz S RI R %.12g\n", told_reference(x, 0));
    if (!one) {
        fprintf(file, "[Number of Ports] %lld\n", (long long)j->ports);
        if (j->ports == 2) fprintf(file, "[Two-Port Data Order] 21_12\n");
        fprintf(file, "[Number of Frequencies] %lld\n[Reference]", (long long)j->count);
        for (int64_t k = 0; k < j->ports; ++k) fprintf(file, " %.12g", told_reference(x, k));
        fprintf(file, "\n[Matrix Format] Full\n[Network Data]\n");
    }
    for (int64_t i = 0; i < j->count; ++i) {
        fprintf(file, "%.12g", j->frequency[i]);
        print_matrix(file, j, j->s + i * j->ports * j->ports);
    }
    if (!one) fprintf(file, "[End]\n");
}

/* Readers take the number of ports from the suffix. */
static ps_status check_suffix(const job *j)
{
    char suffix[16];
    if (!chosen.touchstone) return PS_OK;
    const char *dot = strrchr(chosen.touchstone, '.');
    snprintf(suffix, sizeof suffix, ".s%lldp", (long long)j->ports);
    if (dot && (strcasecmp(dot, suffix) == 0 || strcasecmp(dot, ".ts") == 0)) return PS_OK;
    return ps_fail(PS_USAGE, "--touchstone %s: the S-parameters of %lld ports are a file %s",
                   chosen.touchstone, (long long)j->ports, suffix);
}

/* ---- output ---- */

/* Conjugated: traces follow e^{-iwt}. Channel r n + c is row r, column c. */
static ps_status write_trace(const job *j, const ps_product *product)
{
    static const char *const names[] = {"S-parameters", "impedances", "admittances"};
    static const char *const units[] = {"1", "ohm", "S"};
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    int64_t size = j->ports * j->ports;
    PS_TRY(ps_trace_init(&trace, j->count, size, true));
    memcpy(trace.axis, j->frequency, (size_t)j->count * sizeof *trace.axis);
    for (int64_t i = 0; i < j->count * size; ++i) {
        trace.real[i] = creal(j->out[i]);
        trace.imaginary[i] = -cimag(j->out[i]);
    }
    trace.in_frequency = true;
    strcpy(trace.quantity, names[chosen.quantity]);
    strcpy(trace.units, units[chosen.quantity]);
    trace.origin.dt = j->signals->dt;
    return ps_product_put_trace(product, &trace);
}

static void report_match(ps_report *r, const job *j)
{
    int64_t size = j->ports * j->ports, best = 0;
    for (int64_t i = 1; i < j->count; ++i)
        if (cabs(j->s[i * size]) < cabs(j->s[best * size])) best = i;
    double reference = 0, beta;
    ps_dgtd_port_impedance(j->signals->mode, j->signals->reference[0], j->frequency[best],
                           &reference, &beta);
    double complex s = j->s[best * size], z = reference * (1 + s) / (1 - s);
    ps_report_real(r, "truncation", j->truncation);
    ps_report_real(r, "left", j->left);
    ps_report_real(r, "largest_gain", j->gain);
    ps_report_real(r, "largest_singular_value", j->singular);
    ps_report_real(r, "asymmetry", j->asymmetry);
    ps_report_real(r, "least_reflection", cabs(s));
    ps_report_real(r, "least_reflection_at", j->frequency[best]);
    ps_report_real(r, "resistance_there", creal(z));
    ps_report_real(r, "reactance_there", cimag(z));
}

static ps_status finish(const job *j, const ps_product *product)
{
    const ps_run *run = product->run;
    int64_t values = j->count * j->ports * j->ports;
    const ps_need need = {.arrays = 100 * values,
                          .writer = 16 * values,
                          .disk = 16 * values + 8 * j->count,
                          .seconds = 1e-8 * (double)(2 * j->count * j->runs * j->ports) *
                                     (double)j->signals->samples};
    ps_status status = PS_OK;
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "ports", j->ports);
    ps_report_int(r, "runs", j->runs);
    ps_report_int(r, "frequencies", j->count);
    if (run->plan)
        status = ps_plan_take(run, &need, r);
    else
        report_match(r, j);
    ps_report_print(&r);
    return status;
}

static ps_status run_ports(ps_run *run)
{
    PS_SCOPED(release) job j = {0};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    product.open_ended = chosen.touchstone != NULL;
    PS_TRY(open_runs(&j, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(read_runs(&j));
    PS_TRY(read_frequencies(&j));
    PS_TRY(check_suffix(&j));
    if (!run->plan) {
        PS_TRY(compute(run, &j));
        if (chosen.touchstone) PS_TRY(ps_output_print(chosen.touchstone, print_touchstone, &j));
        PS_TRY(write_trace(&j, &product));
    }
    return finish(&j, &product);
}

static const ps_allowance allowances[] = {
    {"undecayed", "signals whose end still changes the S-parameters"},
    {"active", "ports that more power leaves than comes in"},
    {"asymmetric", "S that is not symmetric"},
    {"faint", "frequencies that the pulse hardly has"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "dgtd-ports",
    .results = 2,
    .synopsis = "SIGNALS... OUTPUT",
    .description =
        "S-parameters, impedances and admittances of lumped ports and of modes of guides over "
        "frequency, "
        "from the voltages and currents that penstock-dgtd-march wrote (RUN.ports.h5): one run of "
        "a model with one "
        "port, or as many runs as there are ports, each with another port driven, whatever the "
        "ports end in. OUTPUT is a trace over frequency, e^{-iwt}, channel (row - 1) ports + "
        "column; "
        "--touchstone writes a Touchstone file, too, of version 1.1, or 2.0 where references "
        "differ.",
    .examples =
        "  penstock-dgtd-ports dipole.ports.h5 z.h5 --fmin 200MHz --fmax 400MHz --count 101 "
        "--quantity z \\\n"
        "      --touchstone dipole.s1p\n"
        "  penstock-dgtd-ports one.ports.h5 two.ports.h5 s.h5 --frequencies 900MHz,1.8GHz "
        "--touchstone line.s2p",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_ports};
