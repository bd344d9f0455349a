/* Pulses, their spectra, fields and texts (kernels/tdbem/incident.h). */
#include "kernels/tdbem/incident.h"

#include "tests/check.h"

static const char *const texts[] = {
    "plane:dir=0,0,1:width=0.5",
    "plane:dir=1,2,-2:shape=derivative:width=0.3:delay=1.25:amplitude=2",
    "point:at=0,0.5,5:shape=ricker:width=0.4:delay=0.5",
    "point:at=-3,1,2:shape=modulated:frequency=1.5:width=0.7:amplitude=-3:delay=2",
    "uniform:shape=gaussian:width=0.5:delay=2.5",
    "plane:dir=-1,0,0:shape=step:width=0.25:delay=1",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static ps_emitter parsed(const char *text)
{
    ps_emitter emitter;
    check_ok(ps_emitter_parse(text, &emitter));
    return emitter;
}

static void pulses_have_their_slopes(void **state)
{
    for (int i = 0; i < TEXTS; ++i) {
        ps_emitter e = parsed(texts[i]);
        double h = 1e-5 * e.width;
        for (double x = -4; x <= 4; x += 0.171) {
            double q = x * e.width;
            double numeric = (ps_pulse_value(&e, q + h) - ps_pulse_value(&e, q - h)) / (2 * h);
            check_near(ps_pulse_slope(&e, q), numeric, 2e-8 / e.width, 1e-7);
        }
    }
}

static void known_values(void **state)
{
    ps_emitter e = parsed("plane:dir=0,0,1:width=0.5");
    check_near(ps_pulse_value(&e, 0.5), exp(-1), 1e-16, 1e-15);
    e.shape = PS_PULSE_DERIVATIVE;
    check_near(ps_pulse_value(&e, 0.5), -2 * exp(-1), 1e-16, 1e-15);
    e.shape = PS_PULSE_RICKER;
    check_near(ps_pulse_value(&e, 0), 1, 0, 0);
    check_near(ps_pulse_value(&e, 0.5), -exp(-1), 1e-16, 1e-15);
    e.shape = PS_PULSE_STEP;
    check_near(ps_pulse_value(&e, 0), 0.5, 0, 0);
    check_near(ps_pulse_value(&e, 40), 1, 0, 0);
    check_near(ps_pulse_value(&e, -40), 0, 0, 0);
    for (int shape = 0; shape < 4; ++shape) { /* the cut, so that nothing is denormal */
        e.shape = (ps_pulse_shape)shape;
        check_near(ps_pulse_value(&e, 0.5 * 17.4), 0, 0, 0);
        check_near(ps_pulse_slope(&e, -0.5 * 17.4), 0, 0, 0);
    }
}

/* Trapezoidal sums of smooth pulses that end within the interval are exact to rounding. */
static void spectra_match_a_numeric_transform(void **state)
{
    for (int i = 0; i < TEXTS; ++i) {
        ps_emitter e = parsed(texts[i]);
        if (isnan(e.delay)) e.delay = 0.75;
        bool step = e.shape == PS_PULSE_STEP;
        for (double w = 0.3; w < 14; w += 1.1) {
            double re = 0, im = 0, exact_re, exact_im, h = e.width / 40;
            for (int k = -500; k <= 500; ++k) {
                double t = e.delay + k * h;
                double f = step ? ps_pulse_slope(&e, t - e.delay) : ps_pulse_value(&e, t - e.delay);
                re += h * f * cos(w * t);
                im += h * f * sin(w * t);
            }
            if (step) { /* int f' e^{iwt} = -iw F: F = i/w (re + i im) */
                double swap = re / w;
                re = -im / w;
                im = swap;
            }
            ps_pulse_spectrum(&e, w, &exact_re, &exact_im);
            check_near(exact_re, re, 1e-13, 0);
            check_near(exact_im, im, 1e-13, 0);
        }
    }
}

static void fields_solve_the_wave_equation(void **state)
{
    ps_incident incident = {.count = TEXTS - 1, .speed = 1.7};
    for (int i = 0, n = 0; i < TEXTS; ++i)
        if (i != 4) incident.emitters[n++] = parsed(texts[i]);
    double x[3] = {0.3, -0.2, 0.45}, gradient[3], h = 2e-3;
    incident.emitters[0].delay = 2;
    for (double t = 0.5; t < 4; t += 0.23) {
        double laplacian = 0, u = ps_incident_field(&incident, x, t, gradient);
        for (int k = 0; k < 3; ++k) {
            double centre = x[k];
            x[k] = centre + h;
            double plus = ps_incident_field(&incident, x, t, NULL);
            x[k] = centre - h;
            double minus = ps_incident_field(&incident, x, t, NULL);
            x[k] = centre;
            check_near(gradient[k], (plus - minus) / (2 * h), 2e-4, 0);
            laplacian += (plus - 2 * u + minus) / (h * h);
        }
        double later = ps_incident_field(&incident, x, t + h, NULL);
        double before = ps_incident_field(&incident, x, t - h, NULL);
        double c = incident.speed;
        check_near((later - 2 * u + before) / (h * h) / (c * c), laplacian, 2e-2, 0);
    }
}

static void amplitudes(void **state)
{
    ps_incident incident = {.count = 1, .speed = 340};
    double origin[3] = {0}, at[3] = {0, 0, 3};
    incident.emitters[0] = parsed("plane:dir=0,0,2:width=1e-3:amplitude=5:delay=0.01");
    check_near(ps_incident_field(&incident, at, 0.01 + 3. / 340, NULL), 5, 1e-12, 0);
    incident.emitters[0] = parsed("point:at=0,0,3:width=1e-3:amplitude=5:delay=0.01");
    check_near(ps_incident_field(&incident, origin, 0.01 + 3. / 340, NULL), 5 / (12 * M_PI), 1e-12,
               0);
    incident.emitters[0] = parsed("uniform:width=1e-3:amplitude=5:delay=0.01");
    check_near(ps_incident_field(&incident, at, 0.01, NULL), -5, 1e-12, 0);
}

static void settling_makes_the_start_quiet(void **state)
{
    static const double points[] = {0, 0, -1, 0.5, 0.2, 0.9, -1, 0, 0};
    static const double peaks[] = {1, 0.857763884960706, 1, 1, 1};
    static const char *const shapes[] = {"gaussian", "derivative", "ricker",
                                         "modulated:frequency=2", "step"};
    for (int shape = 0; shape < 5; ++shape)
        for (int kind = 0; kind < 2; ++kind) {
            char text[128];
            snprintf(text, sizeof text, "%s:width=0.5:shape=%s",
                     kind ? "point:at=0,0,-4" : "plane:dir=0,0,1", shapes[shape]);
            ps_incident incident = {.count = 1, .speed = 2, .emitters = {parsed(text)}};
            assert_true(isnan(incident.emitters[0].delay));
            ps_incident_settle(&incident, 3, points);
            double most = 0;
            for (int p = 0; p < 3; ++p) {
                ps_arrival a = ps_emitter_arrival(&incident.emitters[0], 2, points + 3 * p, NULL);
                for (double t = 0; t > -2; t -= 0.01)
                    most =
                        fmax(most, fabs(ps_pulse_value(&incident.emitters[0], t - a.retardation)));
            }
            check_at_most(most, 1e-6 * peaks[shape]);
            if (shape != 3)
                check_at_most(0.99e-6 * peaks[shape], most); /* and no later than that */
            double kept = incident.emitters[0].delay;
            ps_incident_settle(&incident, 1, points + 3);
            check_near(incident.emitters[0].delay, kept, 0, 0);
        }
}

static void texts_come_back(void **state)
{
    for (int i = 0; i < TEXTS; ++i) {
        ps_emitter first = parsed(texts[i]);
        char printed[PS_EMITTER_TEXT_MAX], again[PS_EMITTER_TEXT_MAX];
        ps_emitter_print(&first, printed, sizeof printed);
        ps_emitter second = parsed(printed);
        ps_emitter_print(&second, again, sizeof again);
        assert_string_equal(printed, again);
        assert_memory_equal(first.place, second.place, sizeof first.place);
        check_near(first.width, second.width, 0, 0);
        assert_int_equal(isnan(first.delay), isnan(second.delay));
    }
    ps_emitter long_one = {.kind = PS_EMITTER_PLANE,
                           .shape = PS_PULSE_MODULATED,
                           .place = {-1.2345678901234567e-101, -1.2345678901234567e-101, -1},
                           .width = 1.2345678901234567e-101,
                           .amplitude = -1.2345678901234567e-101,
                           .frequency = 1.2345678901234567e-101,
                           .delay = -1.2345678901234567e-101};
    char text[PS_EMITTER_TEXT_MAX];
    ps_emitter_print(&long_one, text, sizeof text);
    ps_emitter back = parsed(text);
    check_near(back.amplitude, long_one.amplitude, 0, 0);
}

static void bad_texts_name_their_part(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "begins with plane:"},
        {"plain:dir=0,0,1:width=1", "begins with plane:"},
        {"plane:width=1", "dir=X,Y,Z is missing"},
        {"point:width=1", "at=X,Y,Z (m) is missing"},
        {"plane:dir=0,0,1", "width=SECONDS is missing"},
        {"plane:dir=0,0:width=1", "dir=0,0: expected three numbers"},
        {"plane:dir=0,0,1,2:width=1", "expected three numbers"},
        {"plane:dir=0,0,0:width=1", "a direction that is not zero"},
        {"plane:at=0,0,1:width=1", "no position"},
        {"point:dir=0,0,1:width=1", "no direction"},
        {"uniform:dir=0,0,1:width=1", "neither direction nor position"},
        {"plane:dir=0,0,1:width=-1", "width=-1: expected a number above 0"},
        {"plane:dir=0,0,1:width=0", "width=0: expected a number above 0"},
        {"plane:dir=0,0,1:width=nan", "width=nan: expected a number"},
        {"plane:dir=0,0,1:width=1x", "width=1x: expected a number"},
        {"plane:dir=0,0,1:width=1:shape=square", "shape=square: expected gaussian"},
        {"plane:dir=0,0,1:width=1:shape=modulated", "frequency=HZ"},
        {"plane:dir=0,0,1:width=1:frequency=3", "only shape=modulated takes a frequency"},
        {"plane:dir=0,0,1:width=1:phase=3", "no part is called \"phase\""},
        {"plane:dir=0,0,1:width", "\"width\" is not name=value"},
        {"plane::dir=0,0,1", "\"\" is not name=value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ps_emitter emitter = {.width = 42};
        check_fails(ps_emitter_parse(bad[i].text, &emitter), PS_USAGE, bad[i].message);
        check_near(emitter.width, 42, 0, 0);
    }
}
