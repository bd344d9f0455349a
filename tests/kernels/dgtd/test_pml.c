/* pml: the filters against s, no growth of random fields, ranges. */
#include "kernels/dgtd/pml.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"
#include "tests/support/distance.h"

typedef struct layer_case {
    dgtd_case x;
    ps_dgtd_pml pml;
    ps_dgtd_pml_profile profile;
    uint8_t *layer;
} layer_case;

/* The unit cube, `height` high; a layer about its middle, or outside of a ball in it. */
static void init(layer_case *c, int order, ps_precision precision, ps_dgtd_pml_shape shape,
                 double height)
{
    memset(c, 0, sizeof *c);
    check_ok(cube_tets_init(&c->x.mesh, 4, shape == PS_DGTD_PML_BOX ? 0 : .2, PS_DGTD_PEC));
    for (int64_t v = 0; v < c->x.mesh.vertex_count; ++v) c->x.mesh.vertices[3 * v + 2] *= height;
    check_ok(dgtd_case_init(&c->x, order, precision, &dgtd_vacuum, 1));
    c->profile = (ps_dgtd_pml_profile){.shape = shape,
                                       .inner = {{.25, .25, .25}, {.75, .75, .75}},
                                       .centre = {.51, .5, .49},
                                       .radius = .3,
                                       .grading = 2,
                                       .kappa = 2,
                                       .alpha = .3};
    for (int k = 0; k < 6; ++k) {
        c->profile.thickness[k / 3][k % 3] = shape == PS_DGTD_PML_BOX ? .25 : .5;
        c->profile.sigma[k / 3][k % 3] = 20;
    }
    c->layer = dgtd_take(&c->x, (size_t)c->x.mesh.elements);
    memset(c->layer, 1, (size_t)c->x.mesh.elements); /* sigma is 0 in the middle */
    dgtd_pml_init(&c->pml, &c->x, &c->profile, c->layer, dgtd_kuhn_limit(order, 4) * .5);
}

static void release(layer_case *c) { dgtd_case_release(&c->x); }

static void stretch_of(const layer_case *c, int64_t e, double kappa[3], double sigma[3],
                       double radial[3])
{
    double corners[4][3];
    for (int i = 0; i < 12; ++i)
        corners[i / 3][i % 3] =
            c->x.body.vertices[3 * (int64_t)c->x.body.tetrahedra[4 * e + i / 3] + i % 3];
    ps_dgtd_pml_stretch(&c->profile, (const double(*)[3])corners, kappa, sigma, radial);
}

/* The three tetrahedra of a prism in a row have one stretch and one direction; sigma adds up to
 * what the profile has, and without rows they differ. */
static void rows_have_one_stretch(void **state)
{
    static const int cut[3][4] = {{0, 1, 2, 5}, {0, 1, 4, 5}, {0, 3, 4, 5}};
    static const double foot[3][3] = {{.1, 0, 1}, {-.1, .05, .99}, {.02, .2, .97}};
    for (int shape = 0; shape < 2; ++shape)
        for (int rows = 0; rows <= 5; rows += 5) {
            double whole = 0, apart = 0;
            ps_dgtd_pml_profile p = {.shape = (ps_dgtd_pml_shape)shape,
                                     .inner = {{-1, -1, -1}, {1, 1, 1}},
                                     .thickness = {{1, 1, 1}, {1, 1, 1}},
                                     .radius = 1,
                                     .sigma = {{7, 7, 7}, {7, 7, 7}},
                                     .grading = 2,
                                     .kappa = 3,
                                     .alpha = .1,
                                     .rows = {{rows, rows, rows}, {rows, rows, rows}}};
            for (int row = 0; row < 5; ++row) {
                double got[3][9];
                for (int t = 0; t < 3; ++t) {
                    double corners[4][3];
                    for (int v = 0; v < 4; ++v) {
                        const double *at = foot[cut[t][v] % 3];
                        double level = row + cut[t][v] / 3, depth = level / 5;
                        double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
                        for (int c = 0; c < 3; ++c)
                            corners[v][c] = shape == PS_DGTD_PML_BALL ? at[c] / r * (1 + depth)
                                            : c == 2                  ? 1 + depth
                                                                      : at[c];
                    }
                    ps_dgtd_pml_stretch(&p, (const double(*)[3])corners, got[t], got[t] + 3,
                                        got[t] + 6);
                    int along = shape == PS_DGTD_PML_BALL ? 3 : 5;
                    whole += got[t][along] / 15;
                    apart = worse_of(apart, fabs(got[t][along] - got[0][along]));
                    for (int k = 0; k < 9 && rows > 0; ++k)
                        check_near(got[t][k], got[0][k], 1e-12, 1e-12);
                }
            }
            if (rows > 0)
                check_near(whole, 7. / 3, 1e-12, 0);
            else
                assert_true(apart > .5);
        }
}

/* The response of a stage to e^{i w n dt} once the start is over. */
static double stage_gain(const double *f, int lanes, double angle)
{
    double state = 0, re = 0, im = 0;
    for (int n = 0; n < 4000; ++n) {
        double in = cos(angle * n), out = f[0] * in + state;
        state = f[lanes] * in - f[2 * lanes] * out;
        if (n < 2000) continue;
        re += out * cos(angle * n) / 1000;
        im -= out * sin(angle * n) / 1000;
    }
    return hypot(re, im);
}

static void filters_are_the_stretch(void **state)
{
    PS_SCOPED(release) layer_case c = {0};
    double dt = .05, angle = 2 * dgtd_pi / 40, w = 2 / dt * tan(angle / 2); /* 2000 = 50 periods */
    int lanes = ps_dgtd_lanes(PS_DOUBLE);
    init(&c, 1, PS_DOUBLE, PS_DGTD_PML_BALL, 1);
    ps_dgtd_pml_fill(&c.pml, &c.profile, &c.x.system, &c.x.body, c.layer, dt);
    for (int64_t e = 0; e < c.x.mesh.elements; e += 7) {
        double kappa[3], sigma[3], radial[3];
        stretch_of(&c, e, kappa, sigma, radial);
        for (int k = 0; k < 3; ++k) {
            const double *f = c.pml.factors + (e / lanes * 18 + 6 * k) * lanes + e % lanes;
            double a = c.profile.alpha, square = a * a + w * w;
            double s = hypot(kappa[k] + sigma[k] * a / square, sigma[k] * w / square);
            check_near(stage_gain(f, lanes, angle), 1 / s, 1e-6, 1e-6);
            check_near(stage_gain(f + 3 * lanes, lanes, angle), s, 1e-6, 1e-6);
        }
    }
}

/* |s| by which component k of what is added along the frame is multiplied: |s_k/(s_a s_b)|. */
static double stretch_gain(const layer_case *c, int64_t e, double w, int k)
{
    double kappa[3], sigma[3], radial[3], s[3], a = c->profile.alpha, square = a * a + w * w;
    stretch_of(c, e, kappa, sigma, radial);
    for (int i = 0; i < 3; ++i)
        s[i] = hypot(kappa[i] + sigma[i] * a / square, sigma[i] * w / square);
    return s[k] / (s[(k + 1) % 3] * s[(k + 2) % 3]);
}

/* What comes out of waves along frame direction k, per element: amplitude along it, and what else
 * there is. */
static void drive(layer_case *c, int k, double angle, double *along, double *across)
{
    int64_t n = c->x.mesh.elements;
    int lanes = ps_dgtd_lanes(PS_DOUBLE);
    memset(c->x.field[0], 0, dgtd_case_field_bytes(&c->x));
    for (int i = 0; i < 2; ++i) {
        ps_dgtd_pml_bytes bytes;
        ps_dgtd_pml_size(&c->pml, &c->x.system, c->profile.shape, &bytes);
        memset(c->pml.state[i], 0, bytes.state);
    }
    double *sums = dgtd_take(&c->x, 6 * (size_t)n * sizeof *sums), last[3];
    for (int t = 0; t < 400; ++t) {
        ps_dgtd_pml_keep(&c->pml, &c->x.system, c->x.field[0], 0, c->x.system.groups);
        for (int64_t e = 0; e < n; ++e)
            for (int i = 0; i < 3; ++i) {
                double m = c->pml.turned
                               ? c->pml.frames[(e / lanes * 9 + 3 * k + i) * lanes + e % lanes]
                               : (double)(i == k);
                ps_dgtd_set_node(&c->x.system, c->x.field[0], e, i, 0, m * cos(angle * t));
            }
        memset(c->pml.former, 0, (size_t)c->pml.rows * 3 * (size_t)c->x.reference.nodes * 64);
        ps_dgtd_pml_apply(&c->pml, &c->x.system, PS_DGTD_E, c->x.field[0], 0, c->x.system.groups);
        for (int64_t e = 0; e < n && t >= 320; ++e)
            for (int i = 0; i < 3; ++i) {
                last[i] = ps_dgtd_get(&c->x.system, c->x.field[0], e, i, 0);
                sums[6 * e + 2 * i] += last[i] * cos(angle * t) / 40;
                sums[6 * e + 2 * i + 1] += last[i] * sin(angle * t) / 40;
            }
    }
    for (int64_t e = 0; e < n; ++e) {
        double parallel[2] = {0}, whole = 0;
        for (int i = 0; i < 6; ++i) {
            double m = c->pml.turned
                           ? c->pml.frames[(e / lanes * 9 + 3 * k + i / 2) * lanes + e % lanes]
                           : (double)(i / 2 == k);
            parallel[i % 2] += m * sums[6 * e + i];
            whole += sums[6 * e + i] * sums[6 * e + i];
        }
        along[e] = hypot(parallel[0], parallel[1]);
        across[e] = sqrt(fabs(whole - along[e] * along[e]));
    }
}

/* All components, where one, two or three directions are stretched and in frames. */
static void fields_pass_the_stretch(void **state)
{
    const double dt = .05, angle = 2 * dgtd_pi / 40, w = 2 / dt * tan(angle / 2);
    for (int shape = 0; shape < 2; ++shape) {
        PS_SCOPED(release) layer_case c = {0};
        init(&c, 1, PS_DOUBLE, (ps_dgtd_pml_shape)shape, 1);
        c.profile.kappa = 1;
        c.profile.alpha = 2; /* the start is over soon */
        ps_dgtd_pml_fill(&c.pml, &c.profile, &c.x.system, &c.x.body, c.layer, dt);
        double *along = dgtd_take(&c.x, (size_t)c.x.mesh.elements * sizeof *along);
        double *across = dgtd_take(&c.x, (size_t)c.x.mesh.elements * sizeof *across);
        for (int k = 0; k < 3; ++k) {
            drive(&c, k, angle, along, across);
            for (int64_t e = 0; e < c.x.mesh.elements; ++e) {
                check_near(along[e], stretch_gain(&c, e, w, k), 1e-6, 1e-6);
                check_near(across[e], 0, 1e-6, 0);
            }
        }
    }
}

/* A march with the layer, in steps of so much of the rule's. */
static ps_dgtd_march march_of(layer_case *c, double fraction)
{
    ps_dgtd_march m =
        dgtd_case_march(&c->x, fraction * ps_dgtd_step_constant(c->x.reference.order) *
                                   dgtd_least_size(&c->x.body, NULL));
    ps_dgtd_pml_fill(&c->pml, &c->profile, &c->x.system, &c->x.body, c->layer, m.dt);
    m.pml = &c->pml;
    return m;
}

static double electric_energy(layer_case *c)
{
    const double one = 1;
    return ps_dgtd_inner(&c->x.system, &one, c->x.field[0], c->x.field[0], c->x.partial);
}

static double march_on(layer_case *c, int64_t steps)
{
    ps_dgtd_march m = march_of(c, .9);
    ps_dgtd_march_steps(&m, steps);
    return electric_energy(c);
}

/* The upwind flux only between elements whose middle is in the layer along z. */
static void restrict_upwind(layer_case *c, ps_dgtd_upwind *u)
{
    PS_SCOPED_MEMORY uint8_t *mask = calloc((size_t)c->x.mesh.elements, 1);
    for (int64_t e = 0; e < c->x.mesh.elements; ++e) {
        double kappa[3], sigma[3], radial[3];
        stretch_of(c, e, kappa, sigma, radial);
        mask[e] = sigma[2] > 0;
    }
    ps_dgtd_upwind_restrict(u, &c->x.system, mask);
}

/* Electric energy after 1000 steps over that of the start, with elements .3 times as high, along
 * the only direction of the layer, as wide. upwind: 1 everywhere, 2 in the layer. */
static double flat_growth(int upwind)
{
    PS_SCOPED(release) layer_case c = {0};
    ps_dgtd_upwind u = {0};
    init(&c, 1, PS_DOUBLE, PS_DGTD_PML_BOX, .3);
    c.profile.kappa = 1;
    for (int k = 0; k < 6; ++k) {
        c.profile.thickness[k / 3][k % 3] = k % 3 == 2 ? .075 : 0;
        c.profile.sigma[k / 3][k % 3] = 13;
        c.profile.inner[k / 3][k % 3] *= k % 3 == 2 ? .3 : 1;
    }
    dgtd_case_random(&c.x, 3);
    ps_dgtd_march m = march_of(&c, .25);
    if (upwind) {
        dgtd_upwind_init(&u, &c.x);
        ps_dgtd_upwind_start(&u, &c.x.system, c.x.field[0]);
        if (upwind == 2) restrict_upwind(&c, &u);
        m.upwind = &u;
    }
    double first = electric_energy(&c);
    ps_dgtd_march_steps(&m, 1000);
    return electric_energy(&c) / first;
}

/* Why flat elements of a layer have the upwind flux; between them it is enough. */
static void flat_elements_take_the_upwind_flux(void **state)
{
    assert_true(flat_growth(0) > 10);
    assert_true(flat_growth(1) < 1);
    assert_true(flat_growth(2) < 1);
}

/* Random fields excite every mode of the mesh; what waves there are decays, what is static stays.
 */
static void random_fields_do_not_grow(void **state)
{
    for (int shape = 0; shape < 2; ++shape)
        for (int order = 1; order <= 2; ++order) {
            PS_SCOPED(release) layer_case c = {0};
            init(&c, order, PS_DOUBLE, (ps_dgtd_pml_shape)shape, 1);
            dgtd_case_random(&c.x, 3);
            double first = march_on(&c, 50), then = march_on(&c, 300), last = march_on(&c, 600);
            assert_true(then < 1.3 * first && last < 1.1 * then);
        }
}

static void ranges_do_not_change_bits(void **state)
{
    layer_case c[2];
    ps_dgtd_march march[2];
    for (int i = 0; i < 2; ++i) {
        init(&c[i], 2, PS_SINGLE, PS_DGTD_PML_BALL, 1);
        dgtd_case_random(&c[i].x, 5);
        march[i] = dgtd_case_march(&c[i].x, 1e-3);
        march[i].pml = &c[i].pml;
    }
    for (int k = 0; k < 2; ++k) {
        int64_t groups = c[0].x.system.groups;
        ps_dgtd_march_half(&march[0], (ps_dgtd_field)k, 0, groups);
        for (int64_t g = groups - 1; g >= 0; --g)
            ps_dgtd_march_half(&march[1], (ps_dgtd_field)k, g, g + 1);
        assert_memory_equal(c[0].x.field[k], c[1].x.field[k], dgtd_case_field_bytes(&c[0].x));
    }
    for (int i = 0; i < 2; ++i) release(&c[i]);
}
