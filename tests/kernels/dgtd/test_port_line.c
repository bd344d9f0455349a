/* port_line: its impedance is the wave impedance of the mode. */
#include "kernels/dgtd/port_line.h"

#include <complex.h>
#include <stdlib.h>

#include "runtime/scope.h"
#include "tests/check.h"

enum { STEPS = 12000 };

/* V at the line's end is a Gaussian with a carrier; V over I at wave number k, c0 t = n dt. */
static double complex impedance_of(ps_dgtd_line line, double k)
{
    const double dt = .01;
    double complex v = 0, i = 0;
    double capacity, before = 0;
    ps_dgtd_line_size(&line, dt, STEPS);
    PS_SCOPED_MEMORY double *state = calloc((size_t)ps_dgtd_line_states(&line), sizeof *state);
    for (int64_t n = 0; n < STEPS; ++n) {
        double t = (double)(n + 1) * dt, u = (t - 20) / 4, volts = exp(-u * u) * cos(k * (t - 20));
        double current = ps_dgtd_line_currents(&line, state, dt, n + 2, &capacity) + capacity * (volts - before) / dt;
        ps_dgtd_line_voltages(&line, state, dt, n + 2, volts);
        v += volts * cexp(-I * k * t);
        i += current * cexp(-I * k * (t - dt / 2));
        before = volts;
    }
    return v / i;
}

static void impedance_is_that_of_the_wave(void **state)
{
    const double eps = 2, mu = 1.5, cutoff = 3, norm = 1.7;
    for (int n = 0; n < 3; ++n) {
        double k = 3.4 + .4 * n, root = sqrt(1 - cutoff * cutoff / (eps * mu * k * k));
        const ps_dgtd_line tem = {PS_DGTD_GUIDE_TEM, eps, mu, norm, 0, 0, 0}, te = {PS_DGTD_GUIDE_TE, eps, mu, 1, cutoff, 0, 0},
                           tm = {PS_DGTD_GUIDE_TM, eps, mu, 1, cutoff, 0, 0};
        double complex z = impedance_of(tem, k);
        check_near(creal(z), sqrt(mu / eps) / norm, 0, 1e-3);
        check_near(cimag(z), 0, 1e-3, 0);
        z = impedance_of(te, k);
        check_near(creal(z), sqrt(mu / eps) / root, 0, 1e-3);
        check_near(cimag(z), 0, 1e-3, 0);
        z = impedance_of(tm, k);
        check_near(creal(z), sqrt(mu / eps) * root, 0, 1e-3);
        check_near(cimag(z), 0, 1e-3, 0);
    }
}
