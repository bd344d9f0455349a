/* far_field: total fields of the exact series of a sphere, on a cube around it, against its far
 * field. */
#include "kernels/dgtd/far_field.h"

#include "kernels/common/mie_em.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"

enum { DIRECTIONS = 24 };

static double worst_error(int order, int side, int both_sides)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    ps_dgtd_reference reference;
    ps_mie_em series;
    const ps_mie_em_sphere sphere = {.25, 4, 1, .05, 0};
    check_ok(ps_mie_em_init(&series, &sphere, 2e8));
    check_ok(cube_tets_init(&mesh, side, 0, PS_DGTD_ABSORBING));
    for (int64_t i = 0; i < 3 * mesh.vertex_count; ++i) mesh.vertices[i] -= .5;
    ps_dgtd_reference_init(&reference, order);
    int n = reference.nodes;
    size_t rows = (size_t)mesh.elements;
    PS_SCOPED_MEMORY int32_t *number = malloc(rows * sizeof *number);
    int64_t *faces = pool_take(&mesh.memory, 8 * rows * sizeof *faces), count = 0;
    PS_SCOPED_MEMORY int8_t *outward = malloc(8 * rows);
    PS_SCOPED_MEMORY double *weight = malloc(8 * rows * sizeof *weight);
    PS_SCOPED_MEMORY float *e = calloc(rows * 6 * (size_t)n, sizeof *e),
                           *h = calloc(rows * 6 * (size_t)n, sizeof *h);
    for (int64_t r = 0; r < mesh.elements; ++r) {
        number[r] = (int32_t)r;
        for (int i = 0; i < n; ++i) {
            double l[4], x[3] = {0}, u[3][2], v[3][2];
            ps_dgtd_reference_node(&reference, i, l);
            for (int k = 0; k < 12; ++k)
                x[k % 3] += l[k / 3] * mesh.vertices[3 * mesh.tetrahedra[4 * r + k / 3] + k % 3];
            ps_mie_em_field(&series, PS_MIE_EM_TOTAL, x, u, v);
            for (int c = 0; c < 3; ++c)
                for (int part = 0; part < 2; ++part) { /* e^{+iwt}: conjugates */
                    e[(r * 6 + 3 * part + c) * n + i] = (float)(part ? -u[c][1] : u[c][0]);
                    h[(r * 6 + 3 * part + c) * n + i] = (float)(part ? -v[c][1] : v[c][0]);
                }
        }
        for (int f = 0; f < 4; ++f) {
            int32_t link = mesh.links[4 * r + f];
            if (link >= 0) continue;
            for (int k = 0; k <= both_sides; ++k) { /* the same face twice, with half the weight */
                faces[count] = 4 * r + f;
                outward[count] = 1;
                weight[count++] = both_sides ? .5 : 1;
            }
        }
    }
    double direction[DIRECTIONS][3], out[DIRECTIONS][3][2], worst = 0, largest = 0;
    double sums[DIRECTIONS][2][3][2] = {{{{0}}}};
    for (int d = 0; d < DIRECTIONS; ++d) {
        double z = -1 + 2. * d / (DIRECTIONS - 1), phi = 2.4 * d, s = sqrt(fmax(1 - z * z, 0));
        memcpy(direction[d], (double[3]){s * cos(phi), s * sin(phi), z}, sizeof direction[d]);
    }
    ps_dgtd_far far = {series.k, 1, DIRECTIONS, (const double(*)[3])direction, sums};
    ps_dgtd_tets tets = {mesh.vertices, mesh.tetrahedra, mesh.elements};
    ps_dgtd_rows all = {mesh.elements, number, e};
    ps_dgtd_far_add(&far, &reference, &tets, &all, h, count, faces, outward, weight);
    ps_dgtd_far_field(&far, out);
    for (int d = 0; d < DIRECTIONS; ++d) {
        double exact[3][2];
        ps_mie_em_far(&series, direction[d], exact);
        for (int c = 0; c < 3; ++c) {
            worst = worse_of(worst, hypot(out[d][c][0] - exact[c][0], out[d][c][1] + exact[c][1]));
            largest = worse_of(largest, hypot(exact[c][0], exact[c][1]));
        }
    }
    return worst / largest;
}

/* Interpolation on the cube is all that is lost: it falls with the order 2 p and more. */
static void sphere_in_a_cube(void **state)
{
    static const double bound[4][2] = {{.17, .044}, {1.3e-3, 9e-5}, {3.5e-4, 2.3e-5}, {6e-6, 5e-7}};
    for (int order = 1; order <= 4; ++order)
        for (int k = 0; k < 2; ++k) {
            double error = worst_error(order, 4 << k, 0);
            print_message("P%d n = %d: %.2e\n", order, 4 << k, error);
            check_at_most(error, bound[order - 1][k]);
        }
    check_near(worst_error(3, 4, 1), worst_error(3, 4, 0), 0, 1e-9);
}
