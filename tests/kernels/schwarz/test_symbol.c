/* Transmission conditions: closed forms, CMA-ES, the paper's table 11 (kernels/schwarz/symbol.h).
 * Numbers: the numerics guide of schwarz, sections 2, 4 and 6. */
#include "kernels/schwarz/symbol.h"

#include "tests/check.h"

enum { SAMPLES = 500, FINE = 20000, SEEDS = 20 };

static double sample_memory[3][FINE];

static ps_symbol symbol_over(const ps_symbol_range *range, int64_t count)
{
    ps_symbol s = {count, sample_memory[0], sample_memory[1], sample_memory[2]};
    ps_symbol_fill(range, &s);
    return s;
}

static const double pi = 3.14159265358979323846;

static void closed_forms_match_the_guide(void **unused)
{
    static const double rho[PS_TRANSMISSION_KINDS] = {.741785, .444013, .197147, .099551};
    ps_symbol_range range = {pi / 180, pi, 0, 0};
    ps_symbol fine = symbol_over(&range, FINE);
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        double predicted;
        ps_transmission t = ps_transmission_closed(kind, range.kmin, range.kmax, &predicted);
        check_near(predicted, rho[kind], 6e-7, 0);
        assert_true(t.p[0] >= t.p[1]);
        check_near(ps_symbol_largest(&fine, &t), predicted, 1e-6, 0);
    }
}

/* 20 of 20 seeds within 1e-4 of the optimum, judged on a finer sampling. */
static void check_search(const ps_symbol_range *range, const double reference[], double start_q)
{
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind)
        for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
            ps_symbol coarse = symbol_over(range, SAMPLES);
            ps_transmission_search search = {kind, &coarse, {-1, start_q}, seed};
            ps_transmission t;
            ps_cmaes_result result;
            double rho;
            check_ok(ps_transmission_optimise(&search, &t, &rho, &result));
            check_near((double)result.evaluations, 2500, 2200, 0);
            ps_symbol fine = symbol_over(range, FINE);
            check_at_most(ps_symbol_largest(&fine, &t), reference[kind] * (1 + 1e-4) + 5e-7);
        }
}

static void search_reaches_the_closed_forms(void **unused)
{
    double rho[PS_TRANSMISSION_KINDS];
    ps_symbol_range range = {pi / 180, pi, 0, 0};
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind)
        ps_transmission_closed(kind, range.kmin, range.kmax, rho + kind);
    check_search(&range, rho, -1);
}

static void search_with_overlap(void **unused)
{
    static const double rho[PS_TRANSMISSION_KINDS] = {.683471, .446394, .213874, .109863};
    check_search(&(ps_symbol_range){.017386, 4.415, .02462, 0}, rho, -1);
}

/* Table 11 of the paper, by the range and overlap that the guide fitted to it. */
static void table_11(void **unused)
{
    static const ps_transmission paper[PS_TRANSMISSION_KINDS] = {{{.185, .183}, {0, 0}},
                                                                 {{1.219, .047}, {0, 0}},
                                                                 {{.047, .047}, {.705, .705}},
                                                                 {{.095, .024}, {1.386, .329}}};
    static const double rho[PS_TRANSMISSION_KINDS] = {.682, .446, .214, .110};
    ps_symbol fine = symbol_over(&(ps_symbol_range){.017386, 4.415, .02462, 0}, FINE);
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind)
        check_near(ps_symbol_largest(&fine, paper + kind), rho[kind], 0, .02);
}

static ps_q1_grid small_grid(void)
{
    ps_q1_grid grid;
    check_ok(
        ps_q1_grid_make((const int64_t[3]){33, 17, 9}, (const double[3]){250, 250, 15}, &grid));
    return grid;
}

/* 33 x 17 x 9 nodes: factors per parallel iteration, sqrt(rho). */
static void discrete_symbol_of_the_small_grid(void **unused)
{
    static const double closed[] = {.8440, .8050, .5260, .5197};
    static const double best[] = {.6947, .5072, .0201, .0142};
    ps_q1_grid grid = small_grid();
    double least, largest;
    ps_face_range(&grid, &least, &largest);
    check_near(sqrt(least), .2112, 5e-5, 0);
    check_near(sqrt(largest), 1.7604, 5e-5, 0);
    ps_symbol_range range = {sqrt(least), sqrt(largest), 0, grid.spacing[0]};
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        ps_symbol symbol = symbol_over(&range, SAMPLES);
        double rho;
        ps_transmission t = ps_transmission_closed(kind, range.kmin, range.kmax, &rho);
        check_near(sqrt(ps_symbol_largest(&symbol, &t)), closed[kind], 6e-5, 1e-3);
        ps_transmission_search search = {
            kind, &symbol, {log(.2), log(grid.spacing[0] / sqrt(12))}, 1};
        ps_cmaes_result result;
        check_ok(ps_transmission_optimise(&search, &t, &rho, &result));
        check_near(sqrt(rho), best[kind], 6e-5, 1e-3);
        assert_true(t.p[0] >= t.p[1]);
        if (kind == PS_OO2_SYMMETRIC) {
            check_near(t.p[0], .1375, 1e-3, 0);
            check_near(t.q[0], 2.3769, 3e-3, 0);
        }
    }
}

static double line_eigenvalue(const ps_q1_grid *grid, int axis, int64_t j)
{
    double h = grid->spacing[axis], c = cos(pi * (double)j / (double)(grid->nodes[axis] - 1));
    double masses = ps_mass_here(h, grid->lumped) + 2 * c * ps_mass_beside(h, grid->lumped);
    return (2 - 2 * c) / (h * masses);
}

static void face_range_holds_all_eigenvalues(void **unused)
{
    ps_q1_grid grid = small_grid();
    double least, largest, low = INFINITY, high = 0;
    for (int64_t j = 1; j < grid.nodes[1] - 1; ++j)
        for (int64_t k = 1; k < grid.nodes[2] - 1; ++k) {
            double m = line_eigenvalue(&grid, 1, j) + line_eigenvalue(&grid, 2, k);
            low = fmin(low, m);
            high = worse_of(high, m);
        }
    ps_face_range(&grid, &least, &largest);
    check_near(low, least, 0, 1e-14);
    check_near(high, largest, 0, 1e-14);
}

/* The vector code and the formula as written. */
static void largest_is_the_largest(void **unused)
{
    ps_symbol s = symbol_over(&(ps_symbol_range){.1, 5, 0, 2}, 37);
    ps_transmission t = {{.3, .1}, {.2, .7}};
    double most = 0;
    for (int64_t i = 0; i < s.count; ++i)
        most = worse_of(most, ps_symbol_rate(&t, s.lambda[i], s.mu[i]));
    check_near(ps_symbol_largest(&s, &t), most, 0, 1e-14);
}
