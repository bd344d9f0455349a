/* Energy of pulses above a frequency, and quiet starts (kernels/tdbem/incident_check.h). */
#include "tests/check.h"

#include <math.h>

#include "kernels/tdbem/incident_check.h"

static ps_emitter parse(const char *text)
{
    ps_emitter emitter;
    assert_int_equal(ps_emitter_parse(text, &emitter), PS_OK);
    return emitter;
}

/* Of exp(-(q/s)^2): |F|^2 ~ exp(-(ws)^2/2), so erfc(ws/sqrt(2)) lies above w. */
static void test_energy(void **state)
{
    ps_emitter bell = parse("plane:dir=0,0,1:width=0.5:delay=3");
    for (double w = 0; w < 8; w += 1.5)
        check_near(ps_pulse_energy_above(&bell, w), erfc(w * .5 / sqrt(2)), 0, 1e-3);
    ps_emitter tone = parse("plane:dir=0,0,1:width=3:delay=9:shape=modulated:frequency=1");
    check_near(ps_pulse_energy_above(&tone, 2 * M_PI), .5, 0, 1e-2); /* half on each side */
    check_at_most(ps_pulse_energy_above(&tone, 9), 1e-6);
    ps_emitter step = parse("plane:dir=0,0,1:width=0.5:delay=3:shape=step");
    check_near(ps_pulse_energy_above(&step, 3), erfc(1.5 / sqrt(2)), 0, 1e-3);
}

static void test_start(void **state)
{
    static const double points[] = {0, 0, -1, 0, 0, 1};
    ps_incident incident = {1, {parse("plane:dir=0,0,1:width=0.5")}, 1};
    ps_incident_settle(&incident, 2, points);
    check_at_most(ps_emitter_start(&incident.emitters[0], 1, 2, points), 1e-6);
    ps_emitter early = parse("plane:dir=0,0,1:width=0.5:delay=0");
    check_near(ps_emitter_start(&early, 1, 2, points), 1, 0, 0);
    early.delay = 2; /* two widths before the first point */
    check_near(ps_emitter_start(&early, 1, 2, points), exp(-4), 1e-12, 0);
    ps_emitter over = parse("plane:dir=0,0,1:width=0.5:delay=-9");
    check_near(ps_emitter_start(&over, 1, 2, points), 1, 0, 0);
}

static void test_band(void **state)
{
    ps_band mesh = ps_band_of(.5, .1, 2), step = ps_band_of(.1, .5, 2);
    check_near(mesh.usable, .6 / .25, 1e-14, 0);
    check_near(mesh.resolved, 4 / .25, 1e-13, 0);
    check_near(step.usable, .6 / .5, 1e-14, 0);
    check_near(step.resolved, M_PI / .5, 1e-14, 0);
}
