/* reference: exact derivatives, mass and lift against what they must do to polynomials. */
#include "kernels/dgtd/reference.h"

#include "tests/check.h"

static const int nonzeros[4][2] = {{8, 48}, {42, 216}, {142, 680}, {376, 1920}};

static int count_nonzeros(const double *a, int count)
{
    int found = 0;
    for (int i = 0; i < count; ++i) found += a[i] != 0;
    return found;
}

static void sizes_and_sparsity(void **state)
{
    static ps_dgtd_reference x;
    for (int p = 1; p <= 4; ++p) {
        int lifts = 0;
        ps_dgtd_reference_init(&x, p);
        assert_int_equal(x.nodes, (p + 1) * (p + 2) * (p + 3) / 6);
        assert_int_equal(x.face_nodes, (p + 1) * (p + 2) / 2);
        for (int b = 0; b < 3; ++b)
            assert_int_equal(count_nonzeros(x.derivative[b], x.nodes * x.nodes),
                             nonzeros[p - 1][0]);
        for (int f = 0; f < 4; ++f) lifts += count_nonzeros(x.lift[f], x.nodes * x.face_nodes);
        assert_int_equal(lifts, nonzeros[p - 1][1]);
    }
}

static double power(const ps_dgtd_reference *x, int n, const int e[3])
{
    double value = 1;
    for (int b = 0; b < 3; ++b) value *= pow(-1 + 2. * x->index[n][b + 1] / x->order, e[b]);
    return value;
}

/* D_b of r^i s^j t^k, i + j + k <= p. */
static void derivatives_of_monomials(void **state)
{
    static ps_dgtd_reference x;
    for (int p = 1; p <= 4; ++p) {
        ps_dgtd_reference_init(&x, p);
        for (int code = 0; code < 125; ++code) {
            int e[3] = {code % 5, code / 5 % 5, code / 25};
            if (e[0] + e[1] + e[2] > p) continue;
            for (int b = 0; b < 3; ++b)
                for (int n = 0; n < x.nodes; ++n) {
                    int less[3] = {e[0], e[1], e[2]};
                    double sum = 0, expected = e[b];
                    if (less[b]) --less[b];
                    for (int c = 0; c < x.nodes; ++c)
                        sum += x.derivative[b][n * x.nodes + c] * power(&x, c, e);
                    expected *= power(&x, n, less);
                    check_near(sum, expected, 1e-13, 0);
                }
        }
    }
}

static void mass_and_face_mass_are_exact(void **state)
{
    static ps_dgtd_reference x;
    ps_dgtd_reference_init(&x, 1); /* 4/3 (1 + delta)/20; 2 (1 + delta)/12 */
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) check_near(x.mass[4 * i + j], (1 + (i == j)) / 15., 1e-16, 0);
    for (int i = 0; i < 9; ++i) check_near(x.face_mass[i], (1 + (i % 4 == 0)) / 6., 1e-16, 0);
    for (int p = 1; p <= 4; ++p) {
        double sum = 0, face = 0;
        ps_dgtd_reference_init(&x, p);
        for (int i = 0; i < x.nodes * x.nodes; ++i) sum += x.mass[i];
        for (int i = 0; i < x.face_nodes * x.face_nodes; ++i) face += x.face_mass[i];
        check_near(sum, 4. / 3, 1e-14, 0);
        check_near(face, 2, 1e-14, 0);
    }
}

/* M^ LIFT_f = R_f' M^f; and by parts: M^ D_b + D_b' M^ is the sum over faces of nu_b R' M^f R. */
static void integration_by_parts(void **state)
{
    static const int nu[4][3] = {{0, 0, -1}, {0, -1, 0}, {1, 1, 1}, {-1, 0, 0}};
    static ps_dgtd_reference x;
    for (int p = 1; p <= 4; ++p) {
        ps_dgtd_reference_init(&x, p);
        int n = x.nodes, nf = x.face_nodes;
        for (int b = 0; b < 3; ++b)
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    double sum = 0, faces = 0;
                    for (int k = 0; k < n; ++k) {
                        sum += x.mass[i * n + k] * x.derivative[b][k * n + j] +
                               x.mass[j * n + k] * x.derivative[b][k * n + i];
                        for (int f = 0; f < 4; ++f)
                            for (int q = 0; nu[f][b] && q < nf; ++q)
                                if (x.face[f][q] == j)
                                    faces += nu[f][b] * x.mass[i * n + k] * x.lift[f][k * nf + q];
                    }
                    check_near(sum, faces, 1e-13, 0);
                }
    }
}

static void values_are_one_at_their_nodes(void **state)
{
    static ps_dgtd_reference x;
    for (int p = 1; p <= 4; ++p) {
        ps_dgtd_reference_init(&x, p);
        for (int n = 0; n < x.nodes; ++n) {
            double l[4], values[PS_DGTD_MAX_NODES];
            ps_dgtd_reference_node(&x, n, l);
            ps_dgtd_reference_values(&x, l, values);
            for (int c = 0; c < x.nodes; ++c) check_near(values[c], c == n, 1e-14, 0);
        }
    }
}
