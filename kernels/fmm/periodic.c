#include "kernels/fmm/periodic.h"

#include <math.h>
#include <string.h>

enum { Q = PS_PERIODIC_POINTS };

/* ---- P ---- */

#define ALPHA 2.0 /* of Ewald's split: both sums end at 1e-17 after REAL boxes and WAVES waves */
enum { REAL = 4, WAVES = 5 };

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Of a kernel what its waves leave of it at R, and, with the sign turned, what they have of it. */
typedef double (*split)(double r);

static double inverse_left(double r) { return erfc(ALPHA * r) / r; }

static double inverse_waves(double r)
{
    return r > 0 ? erf(ALPHA * r) / r : 2 * ALPHA / sqrt(M_PI);
}

/* Of r: Hasimoto's (1959) split, whose waves are those of 1/r times -2 (1/k^2 + 1/4 alpha^2). */
static double distance_left(double r)
{
    return r * erfc(ALPHA * r) - exp(-ALPHA * ALPHA * r * r) / (ALPHA * sqrt(M_PI));
}

static double distance_waves(double r) { return r - distance_left(r); }

/* What is left of the images in space: of the nearest without their own kernel. */
static double real_sum(const bool along[3], const double d[3], split left, split waves)
{
    static const double end = 3.3;
    int reach[3];
    double sum = 0;
    for (int i = 0; i < 3; ++i) reach[i] = along[i] ? REAL : 0;
    for (int x = -reach[0]; x <= reach[0]; ++x)
        for (int y = -reach[1]; y <= reach[1]; ++y)
            for (int z = -reach[2]; z <= reach[2]; ++z) {
                double r = length((double[3]){d[0] + x, d[1] + y, d[2] + z});
                bool near = x >= -1 && x <= 1 && y >= -1 && y <= 1 && z >= -1 && z <= 1;
                if (near)
                    sum -= waves(r);
                else if (r < end)
                    sum += left(r);
            }
    return sum;
}

/* The waves of 1/r, or of r: -2 (1/k^2 + 1/4 alpha^2) times as much. */
static double three_axes(const double d[3], bool distance)
{
    static const double square = ALPHA * ALPHA;
    double sum = distance ? M_PI / (4 * square * square) : -M_PI / square;
    for (int x = 0; x <= WAVES; ++x)
        for (int y = 0; y <= WAVES; ++y)
            for (int z = 0; z <= WAVES; ++z) {
                double k2 = 4 * M_PI * M_PI * (x * x + y * y + z * z);
                if (x + y + z == 0) continue;
                double times = (x ? 2 : 1) * (y ? 2 : 1) * (z ? 2 : 1);
                double wave = times * 4 * M_PI * exp(-k2 / (4 * ALPHA * ALPHA)) / k2 *
                              cos(2 * M_PI * x * d[0]) * cos(2 * M_PI * y * d[1]) *
                              cos(2 * M_PI * z * d[2]);
                sum += distance ? -2 * (1 / k2 + 1 / (4 * square)) * wave : wave;
            }
    return sum;
}

/* x and y repeat. */
static double two_axes(double x, double y, double z)
{
    double s = ALPHA * z, sum = -2 * sqrt(M_PI) * (exp(-s * s) / ALPHA + sqrt(M_PI) * z * erf(s));
    for (int m = 0; m <= WAVES; ++m)
        for (int n = 0; n <= WAVES; ++n) {
            double k = 2 * M_PI * sqrt(m * m + n * n), h = k / (2 * ALPHA);
            if (m + n == 0) continue;
            sum += (m ? 2 : 1) * (n ? 2 : 1) * M_PI / k * cos(2 * M_PI * m * x) *
                   cos(2 * M_PI * n * y) * (exp(k * z) * erfc(h + s) + exp(-k * z) * erfc(h - s));
        }
    return sum;
}

/* sum_{n >= 4} n^-s, by Euler and Maclaurin beyond 40. */
static double zeta_from_4(double s)
{
    double sum = 0, n = 40;
    for (int i = 4; i < 40; ++i) sum += pow(i, -s);
    return sum + pow(n, 1 - s) / (s - 1) + pow(n, -s) / 2 + s * pow(n, -s - 1) / 12 -
           s * (s + 1) * (s + 2) * pow(n, -s - 3) / 720;
}

/* One axis: images beyond 3 by their Legendre series; each one less its potential at the origin. */
static double one_axis(double along, double across)
{
    enum { LAST = 58 };
    double r = hypot(along, across), c = r > 0 ? along / r : 1, sum = -2;
    double before = 1, legendre = c, power = r;
    for (int n = 2; n <= 3; ++n)
        sum += 1 / hypot(along - n, across) + 1 / hypot(along + n, across) - 2.0 / n;
    for (int j = 2; j <= LAST; ++j) {
        double next = ((2 * j - 1) * c * legendre - (j - 1) * before) / j;
        before = legendre;
        legendre = next;
        power *= r;
        if (j % 2 == 0) sum += 2 * zeta_from_4(j + 1) * power * legendre;
    }
    return sum;
}

double ps_periodic_smooth(const bool along[3], const double d[3])
{
    int axes = along[0] + along[1] + along[2];
    int odd = 0; /* the axis that is unlike the others */
    for (int i = 0; i < 3; ++i)
        if (along[i] == (axes == 1)) odd = i;
    int u = (odd + 1) % 3, v = (odd + 2) % 3;
    if (axes == 1) return one_axis(d[odd], hypot(d[u], d[v]));
    return real_sum(along, d, inverse_left, inverse_waves) +
           (axes == 3 ? three_axes(d, false) : two_axes(d[u], d[v], d[odd]));
}

static const bool all_axes[3] = {true, true, true};

double ps_periodic_smooth_distance(const double d[3])
{
    return real_sum(all_axes, d, distance_left, distance_waves) + three_axes(d, true);
}

/* ---- its series ---- */

/* out[i][j][k] = sum_n matrix[i][n] in[n][j][k], for the first index of three; called three times
 * with the indices turned it transforms all. */
static void transform(const double matrix[Q][Q], const double *in, double *out)
{
    for (int i = 0; i < Q; ++i)
        for (int jk = 0; jk < Q * Q; ++jk) {
            double sum = 0;
            for (int n = 0; n < Q; ++n) sum += matrix[i][n] * in[n * Q * Q + jk];
            out[jk * Q + i] = sum; /* [j][k][i] */
        }
}

/* series[a][b][c]: P = sum C_abc T_2a(d_0) T_2b(d_1) T_2c(d_2). */
static void make_series(const bool along[3], bool distance, double *series, double *values)
{
    double matrix[Q][Q];
    for (int a = 0; a < Q; ++a)
        for (int i = 0; i < Q; ++i)
            matrix[a][i] = (a ? 2.0 : 1.0) / Q * cos(a * M_PI * (2 * i + 1) / (2.0 * Q));
#pragma omp parallel for schedule(dynamic, 16)
    for (int n = 0; n < PS_PERIODIC_GRID; ++n) {
        const int at[3] = {n / (Q * Q), n / Q % Q, n % Q};
        double d[3];
        for (int i = 0; i < 3; ++i) d[i] = cos(M_PI * (2 * at[i] + 1) / (4.0 * Q));
        values[n] = distance ? ps_periodic_smooth_distance(d) : ps_periodic_smooth(along, d);
    }
    transform(matrix, values, series);
    transform(matrix, series, values);
    transform(matrix, values, series);
}

static void init(const bool along[3], bool distance, ps_periodic *p)
{
    double series[PS_PERIODIC_GRID], values[PS_PERIODIC_GRID];
    memcpy(p->along, along, sizeof p->along);
    make_series(along, distance, series, values);
    for (int i = 0; i < Q; ++i) p->node[i] = cos(M_PI * (2 * i + 1) / (2.0 * Q));
    for (int i = 0; i < Q; ++i)
        for (int j = 0; j < Q; ++j) {
            double angle = acos(0.5 * (p->node[i] - p->node[j]));
            for (int a = 0; a < Q; ++a) p->even[a][i][j] = cos(2 * a * angle);
        }
    memset(p->pair, 0, sizeof p->pair);
    for (int a = 0; a < Q; ++a)
        for (int b = 0; b < Q; ++b)
            for (int c = 0; c < Q; ++c)
                for (int ij = 0; ij < Q * Q; ++ij)
                    p->pair[a][b][ij / Q][ij % Q] +=
                        series[(a * Q + b) * Q + c] * p->even[c][ij / Q][ij % Q];
}

void ps_periodic_init(const bool along[3], ps_periodic *p) { init(along, false, p); }

void ps_periodic_init_distance(ps_periodic *p) { init(all_axes, true, p); }

/* ---- between cells and the box ---- */

/* values[i] = S(i, x) of the box's points, x in [-1, 1]; slopes may be NULL. */
static void basis_at(const ps_periodic *p, double x, double values[Q], double *slopes)
{
    for (int i = 0; i < Q; ++i) {
        double t[2] = {1, x}, u[2] = {0, 1}, s[2] = {1, p->node[i]};
        double value = 1 + 2 * t[1] * s[1], slope = 2 * s[1];
        for (int n = 2; n < Q; ++n) {
            double tn = 2 * x * t[1] - t[0], un = 2 * x * u[1] - u[0],
                   sn = 2 * p->node[i] * s[1] - s[0];
            t[0] = t[1], t[1] = tn, u[0] = u[1], u[1] = un, s[0] = s[1], s[1] = sn;
            value += 2 * tn * sn;
            slope += 2 * n * un * sn;
        }
        values[i] = value / Q;
        if (slopes) slopes[i] = slope / Q;
    }
}

/* weights[d][m][i]: of box point i at point m of the cell. */
static void weights_of(const ps_periodic *p, const ps_fmm_interpolation *in, const double centre[3],
                       double width, double weights[3][PS_FMM_ORDER_MAX][Q])
{
    for (int d = 0; d < 3; ++d)
        for (int m = 0; m < in->order; ++m)
            basis_at(p, 2 * (centre[d] + 0.5 * width * in->nodes[m]) - 1, weights[d][m], NULL);
}

void ps_periodic_gather(const ps_periodic *p, const ps_fmm_interpolation *in,
                        const double centre[3], double width, const double *multipole,
                        double *moments)
{
    int l = in->order;
    double w[3][PS_FMM_ORDER_MAX][Q];
    weights_of(p, in, centre, width, w);
    for (int a = 0; a < l; ++a) {
        double plane[Q][Q] = {{0}};
        for (int b = 0; b < l; ++b) {
            double line[Q] = {0};
            for (int c = 0; c < l; ++c)
                for (int k = 0; k < Q; ++k) line[k] += multipole[(a * l + b) * l + c] * w[2][c][k];
            for (int j = 0; j < Q; ++j)
                for (int k = 0; k < Q; ++k) plane[j][k] += w[1][b][j] * line[k];
        }
        for (int i = 0; i < Q; ++i)
            for (int jk = 0; jk < Q * Q; ++jk)
                moments[i * Q * Q + jk] += w[0][a][i] * plane[jk / Q][jk % Q];
    }
}

void ps_periodic_add(const ps_periodic *p, const double at[3], double charge, double *moments)
{
    double s[3][Q];
    for (int d = 0; d < 3; ++d) basis_at(p, 2 * at[d] - 1, s[d], NULL);
    for (int n = 0; n < PS_PERIODIC_GRID; ++n)
        moments[n] += charge * s[0][n / (Q * Q)] * s[1][n / Q % Q] * s[2][n % Q];
}

void ps_periodic_spread(const ps_periodic *p, const ps_fmm_interpolation *in,
                        const double centre[3], double width, const double *field, double *local)
{
    int l = in->order;
    double w[3][PS_FMM_ORDER_MAX][Q];
    weights_of(p, in, centre, width, w);
    for (int a = 0; a < l; ++a) {
        double plane[Q][Q] = {{0}};
        for (int i = 0; i < Q; ++i)
            for (int jk = 0; jk < Q * Q; ++jk)
                plane[jk / Q][jk % Q] += w[0][a][i] * field[i * Q * Q + jk];
        for (int b = 0; b < l; ++b) {
            double line[Q] = {0};
            for (int j = 0; j < Q; ++j)
                for (int k = 0; k < Q; ++k) line[k] += w[1][b][j] * plane[j][k];
            for (int c = 0; c < l; ++c)
                for (int k = 0; k < Q; ++k) local[(a * l + b) * l + c] += w[2][c][k] * line[k];
        }
    }
}

void ps_periodic_at(const ps_periodic *p, const double *field, const double at[3], double values[4])
{
    double s[3][2][Q];
    for (int d = 0; d < 3; ++d) basis_at(p, 2 * at[d] - 1, s[d][0], s[d][1]);
    memset(values, 0, 4 * sizeof *values);
    for (int n = 0; n < PS_PERIODIC_GRID; ++n) {
        int i = n / (Q * Q), j = n / Q % Q, k = n % Q;
        values[0] += field[n] * s[0][0][i] * s[1][0][j] * s[2][0][k];
        values[1] += 2 * field[n] * s[0][1][i] * s[1][0][j] * s[2][0][k];
        values[2] += 2 * field[n] * s[0][0][i] * s[1][1][j] * s[2][0][k];
        values[3] += 2 * field[n] * s[0][0][i] * s[1][0][j] * s[2][1][k];
    }
}

/* ---- P between the points of the box ---- */

/* The plane [Q][Q] of the field at the first index i. */
static void act_on_plane(const ps_periodic *p, const double *moments, int i, double *plane)
{
    memset(plane, 0, Q * Q * sizeof *plane);
    for (int a = 0; a < Q; ++a) {
        double first[Q][Q] = {{0}};
        for (int n = 0; n < Q; ++n)
            for (int jk = 0; jk < Q * Q; ++jk)
                first[jk / Q][jk % Q] += p->even[a][i][n] * moments[n * Q * Q + jk];
        for (int b = 0; b < Q; ++b)
            for (int j = 0; j < Q; ++j) {
                double line[Q] = {0};
                for (int n = 0; n < Q; ++n)
                    for (int k = 0; k < Q; ++k) line[k] += p->even[b][j][n] * first[n][k];
                for (int n = 0; n < Q; ++n) /* symmetric in its points */
                    for (int k = 0; k < Q; ++k) plane[j * Q + k] += p->pair[a][b][n][k] * line[n];
            }
    }
}

void ps_periodic_act(const ps_periodic *p, const double *moments, double *field)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < Q; ++i) act_on_plane(p, moments, i, field + i * Q * Q);
}
