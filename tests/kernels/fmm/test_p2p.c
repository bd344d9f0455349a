/* P2P against plain sums, for every kernel, precision and instruction set. */
#include "kernels/fmm/p2p.h"

#include "kernels/fmm/p2p_close.h"

#include "tests/check.h"
#include "tests/support/distance.h"

enum { COUNT = 700, SIDES = 3, TARGETS = 37 };

static double places[3][COUNT], charges[SIDES][COUNT];

static void make(void)
{
    uint64_t seed = 4;
    for (int i = 0; i < COUNT; ++i) {
        for (int d = 0; d < 3; ++d)
            places[d][i] = 0.4 + (i < TARGETS ? 0.1 : 1) * check_random(&seed);
        for (int s = 0; s < SIDES; ++s) charges[s][i] = check_random(&seed) - 0.3;
    }
}

/* phi and g of one pair, added to rows [side][4][COUNT] of i; nothing at distance 0. */
static void add_pair(const ps_fmm_function *f, int sides, int i, int j, double (*out)[4][COUNT])
{
    double d[3], r2 = 0, k, c;
    for (int a = 0; a < 3; ++a) d[a] = places[a][i] - places[a][j];
    for (int a = 0; a < 3; ++a) r2 += d[a] * d[a];
    if (r2 == 0) return;
    ps_fmm_function_at(f, sqrt(r2), &k, &c);
    for (int s = 0; s < sides; ++s) {
        out[s][0][i] += charges[s][j] * k;
        for (int a = 0; a < 3; ++a) out[s][1 + a][i] += charges[s][j] * c * d[a];
    }
}

/* Targets [0, 37), themselves and [40, 200) one-sided, [201, 207) and [250, 690) mutual. */
static const ps_fmm_range runs[] = {{0, TARGETS}, {40, 200}, {201, 207}, {207, 207}, {250, 690}};
enum { ONE_SIDED = 2, RUNS = 5 };

/* The leaf of these targets, of the particles `all`. */
static ps_fmm_p2p leaf_of(ps_fmm_particles *all)
{
    return (ps_fmm_p2p){.targets = all,
                        .sources = all,
                        .target = {0, TARGETS},
                        .runs = runs,
                        .one_sided = ONE_SIDED,
                        .run_count = RUNS,
                        .centre = {.9, .9, .9},
                        .width = 1};
}

static double compare(ps_fmm_kernel kernel, ps_precision precision, int sides)
{
    static double expected[SIDES][4][COUNT], phi[SIDES * COUNT], g[3 * SIDES * COUNT];
    ps_fmm_function f = {kernel, 1.5};
    memset(expected, 0, sizeof expected);
    memset(phi, 0, sizeof phi);
    memset(g, 0, sizeof g);
    for (int i = 0; i < TARGETS; ++i)
        for (int run = 0; run < RUNS; ++run)
            for (int j = (int)runs[run].begin; j < runs[run].end; ++j) {
                add_pair(&f, sides, i, j, expected);
                if (run >= ONE_SIDED) add_pair(&f, sides, j, i, expected);
            }
    ps_fmm_particles all = {.position = {places[0], places[1], places[2]},
                            .charges = charges[0],
                            .potential = phi,
                            .gradient = g,
                            .stride = COUNT};
    ps_fmm_p2p p2p = leaf_of(&all);
    p2p.function = f;
    p2p.sides = sides;
    ps_fmm_p2p_functions_of(PS_BACKEND_CPU, precision)->interact[kernel](&p2p);
    double worst = 0;
    for (int s = 0; s < sides; ++s)
        for (int r = 0; r < 4; ++r) {
            const double *got = r ? g + (3 * s + r - 1) * COUNT : phi + s * COUNT;
            worst = worse_of(worst, relative_l2(got, expected[s][r], COUNT));
        }
    return worst;
}

static void plain_sums(void **state)
{
    make();
    for (int kernel = 0; kernel < PS_FMM_KERNEL_COUNT; ++kernel)
        for (int sides = 1; sides <= SIDES; sides += 2) {
            check_at_most(compare((ps_fmm_kernel)kernel, PS_DOUBLE, sides), 2e-14);
            check_at_most(compare((ps_fmm_kernel)kernel, PS_SINGLE, sides), 1e-3);
        }
}

/* Particles in one place do not act on each other, and nothing becomes infinite. */
static void coincident(void **state)
{
    make();
    for (int d = 0; d < 3; ++d) places[d][5] = places[d][3];
    for (int d = 0; d < 3; ++d) places[d][150] = places[d][3];
    check_at_most(compare(PS_FMM_INVERSE, PS_DOUBLE, 1), 2e-14);
    check_at_most(compare(PS_FMM_INVERSE, PS_SINGLE, 1), 1e-3);
}

/* Two particles on their own in a leaf of this width about (.5, .5, .5), the source seen from the
 * target at `apart` leaf widths along an axis; `at`: the target's x, in widths from the centre. */
static bool close_at(double width, double at, const double apart[3])
{
    double x[3][2];
    for (int d = 0; d < 3; ++d) {
        x[d][0] = .5 + (d == 0 ? at * width : 0);
        x[d][1] = x[d][0] + apart[d] * width;
    }
    ps_fmm_particles all = {.position = {x[0], x[1], x[2]}, .stride = 2};
    ps_fmm_range run = {0, 2};
    ps_fmm_p2p p2p = {.targets = &all,
                      .sources = &all,
                      .target = {0, 1},
                      .runs = &run,
                      .one_sided = 1,
                      .run_count = 1,
                      .centre = {.5, .5, .5},
                      .width = width};
    return ps_fmm_p2p_close(&p2p);
}

/* Close: nearer than PS_FMM_CLOSE widths along all axes and not in one place, in the leaf or across
 * its surface; and leaves whose powers fp32 does not hold. */
static void close_leaves(void **state)
{
    const double least = .99 * PS_FMM_CLOSE, more = 1.01 * PS_FMM_CLOSE;
    for (int across = 0; across < 2; ++across) {
        double at = across ? .5 - 1e-3 : 0;
        assert_true(close_at(1, at, (double[3]){1e-9, 0, 0}));
        assert_true(close_at(1, at, (double[3]){least, least, -least}));
        for (int d = 0; d < 3; ++d) {
            double apart[3] = {least, least, -least};
            apart[d] = more;
            assert_false(close_at(1, at, apart));
        }
        assert_false(close_at(1, at, (double[3]){0}));
    }
    assert_false(close_at(1, .5 + least, (double[3]){.2, 0, 0})); /* targets outside */
    assert_true(close_at(1, .5 + more, (double[3]){.2, 0, 0}));
    assert_false(close_at(1e8, 0, (double[3]){.2, 0, 0}));
    assert_true(close_at(1e10, 0, (double[3]){.2, 0, 0}));
    assert_true(close_at(1e-8, 0, (double[3]){.2, 0, 0}));
    /* one pair among many, wherever: sources wait for each other in pieces */
    make();
    ps_fmm_particles all = {.position = {places[0], places[1], places[2]}, .stride = COUNT};
    for (int i = 0; i < COUNT; ++i) /* a lattice of .07 in [.4, 1.4] */
        for (int d = 0; d < 3; ++d)
            places[d][i] = .41 + .07 * (d == 0 ? i % 13 : d == 1 ? i / 13 % 13 : i / 169);
    ps_fmm_p2p p2p = leaf_of(&all);
    assert_false(ps_fmm_p2p_close(&p2p));
    for (int i = 41; i < 690; i += 37) {
        bool listed = i < 200 || i >= 250 || (i >= 201 && i < 207);
        double keep = places[0][i], others[2] = {places[1][i], places[2][i]};
        for (int d = 0; d < 3; ++d) places[d][i] = places[d][7] + 1e-9 * (d + 1);
        assert_true(ps_fmm_p2p_close(&p2p) == listed);
        places[0][i] = keep;
        for (int d = 1; d < 3; ++d) places[d][i] = others[d - 1];
    }
}

/* Copies of sources with results of their own get what the owners would. */
static void copies(void **state)
{
    static double phi[2][COUNT], g[2][3 * COUNT];
    make();
    ps_fmm_particles own = {.position = {places[0], places[1], places[2]},
                            .charges = charges[0],
                            .potential = phi[0],
                            .gradient = g[0],
                            .stride = COUNT};
    ps_fmm_particles copied = own;
    ps_fmm_range run = {100, 611};
    ps_fmm_p2p p2p = {.function = {PS_FMM_INVERSE, 0},
                      .sides = 1,
                      .targets = &own,
                      .sources = &own,
                      .target = {0, TARGETS},
                      .runs = &run,
                      .run_count = 1,
                      .width = 1};
    ps_fmm_p2p_fn interact =
        ps_fmm_p2p_functions_of(PS_BACKEND_CPU, PS_DOUBLE)->interact[PS_FMM_INVERSE];
    interact(&p2p);
    copied.potential = phi[1];
    copied.gradient = g[1];
    p2p.sources = &copied;
    interact(&p2p);
    for (int i = 0; i < COUNT; ++i) {
        if (i < TARGETS) assert_true(phi[1][i] == 0);
        if (i >= TARGETS) assert_true(phi[0][i] == phi[1][i] && g[0][COUNT + i] == g[1][COUNT + i]);
    }
}

static void not_there(void **state)
{
    assert_null(ps_fmm_p2p_functions_of(PS_BACKEND_CUDA, PS_DOUBLE));
}
