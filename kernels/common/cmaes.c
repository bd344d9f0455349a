#include "kernels/common/cmaes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/counter_random.h"

enum { N = PS_CMAES_DIMENSIONS, P = PS_CMAES_POPULATION, HISTORY = 256 };

/* Strategy constants of Auger and Hansen (2012). */
typedef struct constants {
    int parents;
    double weight[P];
    double effective; /* 1 / sum of squared weights */
    double path_sigma, damping, path_c, rank_one, rank_many, chi;
} constants;

typedef struct state {
    const ps_cmaes *problem;
    constants c;
    double mean[N], sigma;
    double covariance[N][N], axes[N][N], lengths[N]; /* C = B D^2 B' */
    double path_sigma[N], path_c[N];
    double z[P][N], y[P][N], cost[P];
    int order[P];
    double history[HISTORY]; /* best value of a generation, modulo HISTORY */
    uint64_t random;
    bool spare_ready;
    double spare;
} state;

/* ---- random numbers: splitmix64, Box and Muller ---- */

static double uniform(state *s) { return ps_counter_inside(s->random += 0x9e3779b97f4a7c15u); }

static double normal(state *s)
{
    s->spare_ready = !s->spare_ready;
    if (!s->spare_ready) return s->spare;
    double radius = sqrt(-2 * log(uniform(s))), turn = 6.283185307179586 * uniform(s);
    s->spare = radius * sin(turn);
    return radius * cos(turn);
}

/* ---- eigenvalues by Jacobi rotations ---- */

/* Rotates rows and columns p, q of a so that a[p][q] = 0; the axes follow. */
static void rotate(int n, double a[N][N], double axes[N][N], int p, int q)
{
    if (a[p][q] == 0) return;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; ++k) {
        double u = a[k][p], v = a[k][q];
        a[k][p] = c * u - s * v;
        a[k][q] = s * u + c * v;
    }
    for (int k = 0; k < n; ++k) {
        double u = a[p][k], v = a[q][k];
        a[p][k] = c * u - s * v;
        a[q][k] = s * u + c * v;
        u = axes[k][p], v = axes[k][q];
        axes[k][p] = c * u - s * v;
        axes[k][q] = s * u + c * v;
    }
}

static void decompose(state *s)
{
    int n = s->problem->dimension;
    double a[N][N];
    memcpy(a, s->covariance, sizeof a);
    memset(s->axes, 0, sizeof s->axes);
    for (int i = 0; i < n; ++i) s->axes[i][i] = 1;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = 0, on = 0;
        for (int p = 0; p < n; ++p) {
            on += a[p][p] * a[p][p];
            for (int q = p + 1; q < n; ++q) off += a[p][q] * a[p][q];
        }
        if (off <= 1e-30 * on) break;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) rotate(n, a, s->axes, p, q);
    }
    for (int i = 0; i < n; ++i) s->lengths[i] = sqrt(fmax(a[i][i], 1e-300));
}

/* ---- the strategy ---- */

static constants constants_of(int n, int population)
{
    constants c = {.parents = population / 2};
    double sum = 0, squares = 0;
    for (int i = 0; i < c.parents; ++i) {
        c.weight[i] = log((population + 1) / 2.0) - log(i + 1);
        sum += c.weight[i];
    }
    for (int i = 0; i < c.parents; ++i) {
        c.weight[i] /= sum;
        squares += c.weight[i] * c.weight[i];
    }
    double me = c.effective = 1 / squares;
    c.path_sigma = (me + 2) / (n + me + 5);
    c.damping = 1 + 2 * fmax(0, sqrt((me - 1) / (n + 1)) - 1) + c.path_sigma;
    c.path_c = (4 + me / n) / (n + 4 + 2 * me / n);
    c.rank_one = 2 / ((n + 1.3) * (n + 1.3) + me);
    c.rank_many = fmin(1 - c.rank_one, 2 * (me - 2 + 1 / me) / ((n + 2.0) * (n + 2.0) + me));
    c.chi = sqrt(n) * (1 - 1 / (4.0 * n) + 1 / (21.0 * n * n));
    return c;
}

static void start(state *s, const ps_cmaes *problem)
{
    *s = (state){.problem = problem, .sigma = problem->sigma, .random = problem->seed};
    s->c = constants_of(problem->dimension, problem->population);
    for (int i = 0; i < problem->dimension; ++i) {
        s->mean[i] = problem->mean[i];
        s->covariance[i][i] = 1;
    }
}

/* Draws one point, y = B D z, and keeps it if it is the best. */
static void sample(state *s, int which, ps_cmaes_result *result)
{
    int n = s->problem->dimension;
    double x[N] = {0}, *z = s->z[which], *y = s->y[which];
    for (int i = 0; i < n; ++i) z[i] = normal(s);
    for (int i = 0; i < n; ++i) {
        y[i] = 0;
        for (int k = 0; k < n; ++k) y[i] += s->axes[i][k] * s->lengths[k] * z[k];
        x[i] = s->mean[i] + s->sigma * y[i];
    }
    double cost = s->problem->cost(s->problem->context, x);
    s->cost[which] = isnan(cost) ? INFINITY : cost;
    ++result->evaluations;
    if (s->cost[which] < result->cost) {
        result->cost = s->cost[which];
        memcpy(result->x, x, sizeof x);
    }
}

static void rank(state *s)
{
    for (int i = 0; i < s->problem->population; ++i) {
        int at = i;
        for (; at > 0 && s->cost[s->order[at - 1]] > s->cost[i]; --at)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }
}

/* Rank-one and rank-mu updates of C. hold: H, whether the path goes on. */
static void update_covariance(state *s, double hold)
{
    const constants *c = &s->c;
    int n = s->problem->dimension;
    double keep =
        1 - c->rank_one - c->rank_many + c->rank_one * (1 - hold) * c->path_c * (2 - c->path_c);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
            double many = 0;
            for (int i = 0; i < c->parents; ++i)
                many += c->weight[i] * s->y[s->order[i]][a] * s->y[s->order[i]][b];
            s->covariance[a][b] = keep * s->covariance[a][b] +
                                  c->rank_one * s->path_c[a] * s->path_c[b] + c->rank_many * many;
        }
}

/* Moves the mean, the paths and sigma after generation t >= 1. */
static void adapt(state *s, int64_t t)
{
    const constants *c = &s->c;
    int n = s->problem->dimension;
    double y[N] = {0}, z[N] = {0}, length = 0;
    for (int i = 0; i < c->parents; ++i)
        for (int a = 0; a < n; ++a) {
            y[a] += c->weight[i] * s->y[s->order[i]][a];
            z[a] += c->weight[i] * s->z[s->order[i]][a];
        }
    for (int a = 0; a < n; ++a) {
        double whitened = 0; /* C^(-1/2) y = B z */
        for (int k = 0; k < n; ++k) whitened += s->axes[a][k] * z[k];
        s->mean[a] += s->sigma * y[a];
        s->path_sigma[a] = (1 - c->path_sigma) * s->path_sigma[a] +
                           sqrt(c->path_sigma * (2 - c->path_sigma) * c->effective) * whitened;
        length += s->path_sigma[a] * s->path_sigma[a];
    }
    length = sqrt(length);
    double settled = sqrt(1 - pow(1 - c->path_sigma, 2 * (double)t));
    double hold = length / settled < (1.4 + 2 / (n + 1.0)) * c->chi;
    for (int a = 0; a < n; ++a)
        s->path_c[a] = (1 - c->path_c) * s->path_c[a] +
                       hold * sqrt(c->path_c * (2 - c->path_c) * c->effective) * y[a];
    update_covariance(s, hold);
    s->sigma *= exp(c->path_sigma / c->damping * (length / c->chi - 1));
}

static bool finished(state *s, int64_t t)
{
    const ps_cmaes *p = s->problem;
    double best = s->cost[s->order[0]], low = best, high = best;
    int64_t window = 10 + (30 * p->dimension + p->population - 1) / p->population;
    s->history[t % HISTORY] = best;
    if (t < window || s->cost[s->order[p->population - 1]] - best >= p->threshold) return false;
    for (int64_t i = 0; i < window; ++i) {
        low = fmin(low, s->history[(t - i) % HISTORY]);
        high = fmax(high, s->history[(t - i) % HISTORY]);
    }
    return high - low < p->threshold;
}

ps_status ps_cmaes_minimise(const ps_cmaes *problem, ps_cmaes_result *result)
{
    *result = (ps_cmaes_result){.cost = INFINITY};
    if (problem->dimension < 1 || problem->dimension > N || problem->population < 4 ||
        problem->population > P)
        return ps_fail(PS_USAGE, "CMA-ES: dimension %d, population %d are beyond 1..%d, 4..%d",
                       problem->dimension, problem->population, N, P);
    state s;
    start(&s, problem);
    for (int64_t t = 1; t <= problem->limit; ++t) {
        decompose(&s);
        for (int i = 0; i < problem->population; ++i) sample(&s, i, result);
        rank(&s);
        result->generations = t;
        if (finished(&s, t)) return PS_OK;
        adapt(&s, t);
    }
    return ps_fail(PS_FAILED, "CMA-ES: not settled after %lld generations; the best value is %g",
                   (long long)problem->limit, result->cost);
}
