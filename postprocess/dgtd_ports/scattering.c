#include "postprocess/dgtd_ports/scattering.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/memory.h"

ps_status scattering_open(int64_t ports, scattering *out)
{
    double complex **all[] = {&out->a, &out->b, &out->voltage, &out->current, &out->s, &out->work};
    *out = (scattering){.ports = ports};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        PS_TRY(ps_alloc((void **)all[k], ports * ports * (k == 5 ? 2 : 1), sizeof **all[k],
                        "matrices of ports"));
    return PS_OK;
}

void scattering_close(scattering *x)
{
    free(x->a), free(x->b), free(x->voltage), free(x->current), free(x->s), free(x->work);
}

/* V^ and I^ of a port of a run; the turn by a step is made anew now and then, so that it stays one.
 */
static void transform(const ps_port_signals *x, int64_t port, double frequency, int64_t samples,
                      double complex out[2])
{
    double omega = 2 * M_PI * frequency * x->dt;
    double complex turn = cexp(-I * omega), phase = 0;
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < samples; ++i) {
        phase = i % 256 ? phase * turn : cexp(-I * fmod(omega * ((double)i + .5), 2 * M_PI));
        out[0] += x->voltage[i * x->ports + port] * phase;
        out[1] += x->current[i * x->ports + port] * phase;
    }
    out[0] *= x->dt;
    out[1] *= x->dt;
}

/* What a of a port could be at most at any frequency. */
static double most_of(const ps_port_signals *x, int64_t port, int64_t samples)
{
    double sum = 0, r = x->reference[port];
    for (int64_t i = 0; i < samples; ++i)
        sum += fabs(x->voltage[i * x->ports + port] + r * x->current[i * x->ports + port]);
    return sum * x->dt / (2 * sqrt(r));
}

/* out = p q^-1, by elimination of the transposed with row pivots: q' out' = p'. */
static ps_status divide(int64_t n, const double complex *p, const double complex *q,
                        double complex *work, double complex *out)
{
    double complex *m = work, *r = work + n * n;
    double largest = 0;
    for (int64_t i = 0; i < n * n; ++i) {
        m[i % n * n + i / n] = q[i];
        r[i % n * n + i / n] = p[i];
        largest = fmax(largest, cabs(q[i]));
    }
    for (int64_t k = 0; k < n; ++k) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; ++i)
            if (cabs(m[i * n + k]) > cabs(m[pivot * n + k])) pivot = i;
        if (!(cabs(m[pivot * n + k]) > 1e-9 * largest)) return PS_INVALID;
        for (int64_t j = 0; j < n; ++j) {
            double complex of_m = m[k * n + j], of_r = r[k * n + j];
            m[k * n + j] = m[pivot * n + j], m[pivot * n + j] = of_m;
            r[k * n + j] = r[pivot * n + j], r[pivot * n + j] = of_r;
        }
        for (int64_t i = 0; i < n; ++i) {
            double complex factor = i == k ? 0 : m[i * n + k] / m[k * n + k];
            for (int64_t j = 0; j < n && i != k; ++j) {
                m[i * n + j] -= factor * m[k * n + j];
                r[i * n + j] -= factor * r[k * n + j];
            }
        }
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) out[j * n + i] = r[i * n + j] / m[i * n + i];
    return PS_OK;
}

/* Of port k in a run. The plane moves by d: the wave that comes in has gone on by beta d there. */
static ps_status put_waves(scattering *x, const ps_port_signals *of, int64_t run, int64_t k, double frequency,
                           const double complex v[2])
{
    int64_t at = k * x->ports + run;
    double r, beta;
    if (!ps_dgtd_port_impedance(of->mode + k, of->reference[k], frequency, &r, &beta))
        return ps_fail(PS_USAGE,
                       "%g Hz is not above the cut-off of port \"%s\", %.6g Hz: its mode carries no power there and has no "
                       "S-parameters. Ask for frequencies above it",
                       frequency, of->name[k], ps_dgtd_port_cutoff(of->mode + k));
    double root = 2 * sqrt(r);
    x->a[at] = (v[0] + r * v[1]) / root;
    x->b[at] = (v[0] - r * v[1]) / root;
    x->voltage[at] = v[0];
    x->current[at] = v[1];
    if (x->shift[k] == 0) return PS_OK;
    x->a[at] *= cexp(-I * beta * x->shift[k]);
    x->b[at] *= cexp(I * beta * x->shift[k]);
    x->voltage[at] = sqrt(r) * (x->a[at] + x->b[at]);
    x->current[at] = (x->a[at] - x->b[at]) / sqrt(r);
    return PS_OK;
}

ps_status scattering_at(scattering *x, const ps_port_signals *signals, double frequency,
                        double part, double *loudness)
{
    int64_t n = x->ports;
    *loudness = INFINITY;
    for (int64_t run = 0; run < n; ++run) {
        const ps_port_signals *of = signals + run;
        int64_t samples = (int64_t)(part * (double)of->samples);
        for (int64_t k = 0; k < n; ++k) {
            double complex v[2];
            transform(of, k, frequency, samples, v);
            PS_TRY(put_waves(x, of, run, k, frequency, v));
            if (of->driven[k])
                *loudness = fmin(*loudness, cabs(x->a[k * n + run]) / most_of(of, k, samples));
        }
    }
    if (divide(n, x->b, x->a, x->work, x->s) == PS_OK) return PS_OK;
    return ps_fail(PS_INVALID,
                   "at %g Hz the waves that come into the ports in these runs are not independent: "
                   "another port has to be driven in each run",
                   frequency);
}

ps_status scattering_impedance(scattering *x, bool admittance, double complex *out)
{
    const double complex *over = admittance ? x->current : x->voltage,
                         *under = admittance ? x->voltage : x->current;
    if (divide(x->ports, over, under, x->work, out) == PS_OK) return PS_OK;
    return ps_fail(PS_INVALID, "the ports have no matrix of %s: take --quantity s",
                   admittance ? "admittances" : "impedances");
}

/* Powers of s^H s, from each port alone: |s v|^2 with |v| = 1 never exceeds the square of what is sought. */
double scattering_norm(const scattering *x)
{
    enum { ROUNDS = 60 };
    int64_t n = x->ports;
    double complex v[PS_DGTD_PORTS_MAX], w[PS_DGTD_PORTS_MAX];
    double most = 0;
    for (int64_t start = 0; start < n; ++start) {
        double square = 0;
        for (int64_t k = 0; k < n; ++k) v[k] = k == start;
        for (int round = 0; round < ROUNDS; ++round) {
            double size = 0;
            for (int64_t i = 0; i < n; ++i) {
                w[i] = 0;
                for (int64_t k = 0; k < n; ++k) w[i] += x->s[i * n + k] * v[k];
            }
            square = 0;
            for (int64_t k = 0; k < n; ++k) {
                square += pow(cabs(w[k]), 2);
                v[k] = 0;
                for (int64_t i = 0; i < n; ++i) v[k] += conj(x->s[i * n + k]) * w[i];
                size += pow(cabs(v[k]), 2);
            }
            for (int64_t k = 0; k < n && size > 0; ++k) v[k] /= sqrt(size);
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}
