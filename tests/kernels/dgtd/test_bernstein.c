/* bernstein: the two bases, the sparsity and the factors that the device kernels are built on. */
#include "kernels/dgtd/bernstein.h"

#include "tests/check.h"
#include "tests/support/dgtd_case.h"
#include "tests/support/distance.h"

enum { N = PS_DGTD_MAX_NODES };

static ps_dgtd_reference nodal, coefficients;
static ps_dgtd_bernstein bases;

static void prepare(int order)
{
    ps_dgtd_reference_init(&nodal, order);
    ps_dgtd_bernstein_init(&bases, &nodal);
    ps_dgtd_bernstein_reference(&bases, &nodal, &coefficients);
}

/* Norms as the header states them; constants are constants in both bases. */
static void matrices_are_inverse(void **state)
{
    static const double growth[4] = {1, 3, 10, 35};
    for (int order = 1; order <= 4; ++order) {
        double most = 0;
        prepare(order);
        for (int i = 0; i < nodal.nodes; ++i) {
            double sum = 0, norm = 0;
            for (int j = 0; j < nodal.nodes; ++j) {
                double product = 0;
                for (int k = 0; k < nodal.nodes; ++k)
                    product +=
                        bases.to_nodes[i * nodal.nodes + k] * bases.from_nodes[k * nodal.nodes + j];
                check_near(product, i == j, 1e-14, 0);
                assert_true(bases.to_nodes[i * nodal.nodes + j] >= 0);
                sum += bases.from_nodes[i * nodal.nodes + j];
                norm += fabs(bases.from_nodes[i * nodal.nodes + j]);
            }
            check_near(sum, 1, 1e-14, 0);
            most = worse_of(most, norm);
        }
        print_message("order %d: %.2f\n", order, most);
        check_near(most, growth[order - 1], 0.5, 0);
    }
}

/* Number of the node of barycentric index a, -1 if there is none. */
static int number(const int a[4])
{
    for (int n = 0; n < nodal.nodes; ++n)
        if (nodal.index[n][0] == a[0] && nodal.index[n][1] == a[1] && nodal.index[n][2] == a[2] &&
            nodal.index[n][3] == a[3])
            return n;
    return -1;
}

/* d/dl_k: row a has a_l in column a - e_l + e_k; D_b = (d/dl_{b+1} - d/dl_0)/2. */
static void derivatives_are_sparse(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        prepare(order);
        for (int b = 0; b < 3; ++b)
            for (int row = 0; row < nodal.nodes; ++row) {
                double expected[N] = {0};
                for (int l = 0; l < 4; ++l)
                    for (int side = 0; side < 2; ++side) {
                        int a[4];
                        for (int v = 0; v < 4; ++v)
                            a[v] = nodal.index[row][v] - (v == l) + (v == (side ? b + 1 : 0));
                        if (nodal.index[row][l])
                            expected[number(a)] += (side ? .5 : -.5) * nodal.index[row][l];
                    }
                for (int c = 0; c < nodal.nodes; ++c)
                    check_near(coefficients.derivative[b][row * nodal.nodes + c], expected[c],
                               1e-12, 0);
            }
    }
}

static int triangle(int m1, int m2, int degree)
{
    return m2 * (degree + 1) - m2 * (m2 - 1) / 2 + m1;
}

/* out = one column of the lift by the factors, by layers; in: Nf. */
static void factored_lift(int f, const double *in, double *out)
{
    static const int opposite[4] = {3, 2, 0, 1};
    int p = nodal.order;
    double v[15] = {0}, binomial = 1;
    for (int m2 = 0; m2 <= p; ++m2) /* L_0 = E'E/2 of the unscaled elevation */
        for (int m1 = 0; m1 + m2 <= p; ++m1) {
            int m[3] = {p - m1 - m2, m1, m2};
            for (int l = 0; l < 3; ++l) {
                int up[3] = {m[0], m[1], m[2]};
                ++up[l];
                for (int k = 0; k < 3; ++k) {
                    int w[3] = {up[0], up[1], up[2]};
                    if (--w[k] < 0) continue;
                    v[triangle(m1, m2, p)] += .5 * (m[l] + 1) * up[k] * in[triangle(w[1], w[2], p)];
                }
            }
        }
    for (int j = 0; j <= p; ++j) {
        for (int m2 = 0; m2 <= p - j; ++m2)
            for (int m1 = 0; m1 + m2 <= p - j; ++m1) {
                int m[3] = {p - j - m1 - m2, m1, m2}, a[4];
                for (int s = 0; s < 3; ++s) a[ps_dgtd_face_vertices[f][s]] = m[s];
                a[opposite[f]] = j;
                out[number(a)] = binomial / (1 + j) * v[triangle(m1, m2, p - j)];
            }
        double next[15] = {0};
        for (int m2 = 0; m2 < p - j; ++m2)
            for (int m1 = 0; m1 + m2 < p - j; ++m1) {
                int m[3] = {p - j - 1 - m1 - m2, m1, m2}, d = p - j;
                next[triangle(m1, m2, d - 1)] =
                    ((m[0] + 1) * v[triangle(m1, m2, d)] + (m1 + 1) * v[triangle(m1 + 1, m2, d)] +
                     (m2 + 1) * v[triangle(m1, m2 + 1, d)]) /
                    d;
            }
        memcpy(v, next, sizeof v);
        binomial *= -(double)(p - j) / (j + 1);
    }
}

static void lifts_factorise(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        prepare(order);
        for (int f = 0; f < 4; ++f)
            for (int c = 0; c < nodal.face_nodes; ++c) {
                double in[15] = {0}, out[N];
                in[c] = 1;
                factored_lift(f, in, out);
                for (int i = 0; i < nodal.nodes; ++i)
                    check_near(coefficients.lift[f][i * nodal.face_nodes + c], out[i], 1e-11, 0);
            }
    }
}

/* component by component, all fields of the case to the other basis: by from_nodes or to_nodes */
static void convert(dgtd_case *x, const double *matrix)
{
    int n = nodal.nodes;
    for (int64_t i = 0; i < 2 * x->mesh.elements * 3; ++i) {
        double in[N], sum;
        void *field = x->field[i % 2];
        for (int k = 0; k < n; ++k)
            in[k] = ps_dgtd_get(&x->system, field, i / 6, (int)(i / 2 % 3), k);
        for (int k = 0; k < n; ++k) {
            sum = 0;
            for (int j = 0; j < n; ++j) sum += matrix[k * n + j] * in[j];
            ps_dgtd_set_node(&x->system, field, i / 6, (int)(i / 2 % 3), k, sum);
        }
    }
}

/* The CPU kernels, given the operators of coefficients, march to the same fields. */
static void a_march_is_the_same_in_both_bases(void **state)
{
    ps_dgtd_material material = {2, 1.5, .3};
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(dgtd_case_release) dgtd_case a = {0}, b = {0};
        uint64_t seed = 5;
        prepare(order);
        dgtd_case *cases[2] = {&a, &b};
        for (int k = 0; k < 2; ++k) {
            check_ok(cube_tets_init(&cases[k]->mesh, 2, .3, PS_DGTD_PEC));
            check_ok(dgtd_case_init(cases[k], order, PS_DOUBLE, &material, 1));
        }
        size_t bytes = dgtd_case_field_bytes(&a);
        for (size_t i = 0; i < 2 * bytes / sizeof(double); ++i)
            ((double *)a.field[i % 2])[i / 2] = check_random(&seed) - .5;
        for (int f = 0; f < 2; ++f) memcpy(b.field[f], a.field[f], bytes);
        convert(&b, bases.from_nodes);
        ps_dgtd_operators_init(b.operators, &coefficients);
        for (int k = 0; k < 2; ++k) {
            ps_dgtd_march m = dgtd_case_march(cases[k], .5 * dgtd_kuhn_limit(order, 2));
            ps_dgtd_march_steps(&m, 20);
        }
        convert(&b, bases.to_nodes);
        for (int k = 0; k < 2; ++k)
            check_at_most(dgtd_field_apart(&a, a.field[k], &b, b.field[k]), 2e-13);
    }
}
