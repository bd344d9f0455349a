/* Loads on an octahedron against brute-force integrals (kernels/tdbem/load.h). */
#include "kernels/tdbem/load.h"

#include <omp.h>

#include "kernels/common/vec3.h"
#include "tests/check.h"

static double vertices[] = {0.3, 0,    0, 0, 0.35, 0,   -0.3, 0.05, 0,
                            0,   -0.4, 0, 0, 0,    0.3, 0,    0,    -0.33};
static int32_t triangles[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4,
                              1, 0, 5, 2, 1, 5, 3, 2, 5, 0, 3, 5};
enum { VERTICES = 6, TRIANGLES = 8 };

static const ps_surface_mesh mesh = {.vertex_count = VERTICES,
                                     .triangle_count = TRIANGLES,
                                     .vertices = vertices,
                                     .triangles = triangles};

static ps_incident two_emitters(void)
{
    ps_incident incident = {.count = 2, .speed = 1.3};
    check_ok(ps_emitter_parse("plane:dir=1,2,3:width=0.9:delay=2", &incident.emitters[0]));
    check_ok(ps_emitter_parse("point:at=1,2,-1:width=0.8:delay=1:shape=ricker:amplitude=9",
                              &incident.emitters[1]));
    return incident;
}

/* Sums over a fine grid of the triangle: midpoints of m x m congruent pieces. */
static void brute(const ps_incident *incident, int triangle, double t, int m, double *pressure,
                  double *slopes)
{
    const double *c[3];
    double u[3], v[3], n[3], x[3], gradient[3];
    for (int a = 0; a < 3; ++a) c[a] = vertices + 3 * triangles[3 * triangle + a];
    for (int k = 0; k < 3; ++k) u[k] = c[1][k] - c[0][k], v[k] = c[2][k] - c[0][k];
    for (int k = 0; k < 3; ++k)
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    double area = ps_norm3(n) / 2 / (m * m);
    *pressure = slopes[0] = slopes[1] = slopes[2] = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < 2 * (m - i) - 1; ++j) {
            double third = j % 2 ? 2. / 3 : 1. / 3;
            double b = (j / 2 + third) / m, a = (i + third) / m;
            for (int k = 0; k < 3; ++k) x[k] = c[0][k] + a * u[k] + b * v[k];
            *pressure += area * ps_incident_field(incident, x, t, gradient);
            double flux = ps_dot3(gradient, n) / 2 / (m * m);
            slopes[0] += flux * (1 - a - b);
            slopes[1] += flux * a;
            slopes[2] += flux * b;
        }
}

static void soft_loads_are_the_integrals(void **state)
{
    ps_incident incident = two_emitters();
    ps_load load = {PS_SOUND_SOFT_S, &mesh, &incident, 0.2, 0};
    assert_int_equal(ps_load_unknowns(&load), TRIANGLES);
    assert_int_equal(ps_load_workspace(&load), 0);
    double out[TRIANGLES], pressure, slopes[3];
    for (int64_t n = 5; n < 20; n += 3) {
        ps_load_evaluate(&load, n, out, NULL);
        for (int i = 0; i < TRIANGLES; ++i) {
            brute(&incident, i, 0.2 * (double)n, 96, &pressure, slopes);
            check_near(out[i], -pressure, 4e-6, 0); /* of about 0.05 */
        }
    }
}

static void differences_sum_up(void **state)
{
    ps_incident incident = two_emitters();
    ps_load s_form = {PS_SOUND_SOFT_S, &mesh, &incident, 0.2, 0};
    ps_load m_form = {PS_SOUND_SOFT_M, &mesh, &incident, 0.2, 0};
    double sum[TRIANGLES] = {0}, out[TRIANGLES];
    for (int64_t n = 1; n < 25; ++n) {
        ps_load_evaluate(&m_form, n, out, NULL);
        for (int i = 0; i < TRIANGLES; ++i) sum[i] += out[i];
        ps_load_evaluate(&s_form, n, out, NULL);
        for (int i = 0; i < TRIANGLES; ++i) check_near(sum[i], out[i], 1e-15, 0);
    }
}

static void hard_loads_are_the_integrals(void **state)
{
    ps_incident incident = two_emitters();
    ps_load load = {PS_SOUND_HARD, &mesh, &incident, 0.2, 0};
    assert_int_equal(ps_load_unknowns(&load), VERTICES);
    double out[VERTICES], work[3 * TRIANGLES], pressure, slopes[3];
    assert_int_equal(ps_load_workspace(&load), 3 * TRIANGLES);
    enum { STEPS = 40 };
    for (int64_t n = 6; n < 18; n += 4) {
        double expected[VERTICES] = {0};
        for (int i = 0; i < TRIANGLES; ++i)
            for (int s = 0; s < STEPS; ++s) {
                brute(&incident, i, 0.2 * ((double)n - 1 + (s + 0.5) / STEPS), 40, &pressure,
                      slopes);
                for (int a = 0; a < 3; ++a)
                    expected[triangles[3 * i + a]] += 0.2 / STEPS * slopes[a];
            }
        ps_load_evaluate(&load, n, out, work);
        for (int v = 0; v < VERTICES; ++v) check_near(out[v], expected[v], 2e-5, 0); /* of 0.03 */
    }
}

/* Hats add up to 1, so the combined part of all vertices is -alpha/c times the M-form's of all
 * triangles. */
static void combined_loads_take_the_pressure(void **state)
{
    ps_incident incident = two_emitters();
    ps_load plain = {PS_SOUND_HARD, &mesh, &incident, 0.2, 0}, combined = plain, soft = plain;
    combined.combined = .3;
    soft.formulation = PS_SOUND_SOFT_M;
    for (int64_t n = 1; n < 18; ++n) {
        double hard[VERTICES], both[VERTICES], faces[TRIANGLES], work[3 * TRIANGLES], sum = 0;
        ps_load_evaluate(&plain, n, hard, work);
        ps_load_evaluate(&combined, n, both, work);
        ps_load_evaluate(&soft, n, faces, NULL);
        for (int v = 0; v < VERTICES; ++v) sum += both[v] - hard[v];
        for (int i = 0; i < TRIANGLES; ++i) sum += .3 / incident.speed * faces[i];
        check_near(sum, 0, 1e-15, 0);
        if (n == 9) check_at_most(1e-3, fabs(faces[0]));
    }
}

static void uniform_incidence_is_the_area(void **state)
{
    ps_incident incident = {.count = 1, .speed = 1};
    check_ok(ps_emitter_parse("uniform:width=0.5:delay=1:amplitude=3", &incident.emitters[0]));
    ps_load load = {PS_SOUND_SOFT_S, &mesh, &incident, 0.25, 0};
    double out[TRIANGLES], hard[VERTICES], work[3 * TRIANGLES], sum = 0;
    ps_load_evaluate(&load, 4, out, NULL);
    for (int i = 0; i < TRIANGLES; ++i) {
        double pressure, slopes[3];
        ps_incident one = {.count = 1, .speed = 1, .emitters = {incident.emitters[0]}};
        brute(&one, i, 1, 1, &pressure, slopes);
        check_near(out[i], -pressure, 1e-15, 1e-14);
        sum += out[i];
    }
    check_at_most(0.1, sum); /* V p = +g */
    load.formulation = PS_SOUND_HARD;
    ps_load_evaluate(&load, 4, hard, work);
    for (int v = 0; v < VERTICES; ++v) check_near(hard[v], 0, 0, 0);
}

static void threads_do_not_matter(void **state)
{
    enum { MANY = 10000 };
    static int32_t copies[3 * MANY];
    for (int i = 0; i < 3 * MANY; ++i) copies[i] = triangles[i % (3 * TRIANGLES)];
    ps_surface_mesh large = mesh;
    large.triangle_count = MANY;
    large.triangles = copies;
    ps_incident incident = two_emitters();
    ps_load load = {PS_SOUND_HARD, &large, &incident, 0.2, 0};
    static double out[2][VERTICES], work[3 * MANY];
    omp_set_num_threads(1);
    ps_load_evaluate(&load, 9, out[0], work);
    omp_set_num_threads(5);
    ps_load_evaluate(&load, 9, out[1], work);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}
