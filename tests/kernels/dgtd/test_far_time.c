/* far_time: exact fields of a pulsed dipole off the middle of a cube, on points of its faces,
 * against its exact far field. */
#include "kernels/dgtd/far_time.h"

#include <math.h>

#include "kernels/dgtd/face_rule.h"
#include "kernels/dgtd/source.h"
#include "tests/check.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"

enum { DIRECTIONS = 6, POINTS = 2 * 6 * 16 * 49 };

typedef struct far_case {
    cube_tets mesh;
    ps_dgtd_far_time far;
    double point[POINTS][3], normal[POINTS][3], values[POINTS][3], work[POINTS][3];
    double direction[DIRECTIONS][3];
} far_case;

static void place(far_case *x, int side)
{
    static ps_dgtd_reference reference;
    static ps_dgtd_face_rule rule;
    ps_dgtd_reference_init(&reference, 1);
    ps_dgtd_face_rule_init(&rule, &reference, side);
    for (int64_t i = 0; i < 4 * x->mesh.elements; ++i) {
        double tangents[3][3], areas[4], normals[4][3];
        const int32_t *element = x->mesh.tetrahedra + i / 4 * 4;
        if (x->mesh.links[i] >= 0) continue;
        ps_dgtd_tangents(x->mesh.vertices, element, tangents);
        ps_dgtd_faces(tangents, areas, normals);
        for (int q = 0; q < rule.count; ++q) {
            int64_t at = x->far.points++;
            ps_dgtd_face_rule_point(&rule, x->mesh.vertices, element, (int)(i % 4), q,
                                    x->point[at]);
            for (int c = 0; c < 3; ++c)
                x->normal[at][c] = areas[i % 4] * rule.weight[q] * normals[i % 4][c];
        }
    }
}

/* Largest distance from the exact far field of any direction and time, of the largest field; with a
 * pulse that is `samples` steps wide, in a medium of this index, whose impedance is z. */
static double worst_error(double samples, double index, double z)
{
    const double width = .5 * index;
    static far_case x;
    const double axis[3] = {.6, 0, .8};
    const ps_dgtd_pulse pulse = {1, 5 * width, width, 0, PS_DGTD_GAUSSIAN};
    ps_dgtd_incident dipole = {.kind = PS_DGTD_DIPOLE, .pulse = pulse, .origin = {.4, .55, .5}};
    memcpy(dipole.axis, axis, sizeof axis);
    /* A dipole of a medium is one of vacuum with times c0 t/index. */
    dipole.pulse.centre /= index, dipole.pulse.width /= index;
    memset(&x, 0, sizeof x);
    check_ok(cube_tets_init(&x.mesh, 4, 0, PS_DGTD_ABSORBING));
    place(&x, 4);
    for (int d = 0; d < DIRECTIONS; ++d) {
        double c = -1 + 2. * d / (DIRECTIONS - 1), s = sqrt(fmax(1 - c * c, 0)), phi = 2.4 * d;
        memcpy(x.direction[d], (double[3]){s * cos(phi), s * sin(phi), c}, sizeof x.direction[d]);
    }
    ps_dgtd_far_time *far = &x.far;
    far->step = width / samples, far->index = index, far->impedance = z;
    far->point = (const double(*)[3])x.point, far->normal = (const double(*)[3])x.normal;
    far->directions = DIRECTIONS, far->direction = (const double(*)[3])x.direction;
    double end = 14 * width;
    ps_dgtd_far_time_bins(far, ps_dgtd_far_time_reach(far), end);
    far->sums = pool_take(&x.mesh.memory, (size_t)(DIRECTIONS * far->bins) * sizeof *far->sums);
    for (int n = 0; n * far->step <= end - far->step; ++n)
        for (int field = 0; field < 2; ++field) {
            double t = (n + .5 * field) * far->step;
            for (int64_t q = 0; q < far->points; ++q) {
                double e[3], h[3];
                ps_dgtd_incident_at(&dipole, x.point[q], t / index, e, h);
                for (int c = 0; c < 3; ++c) x.values[q][c] = field ? h[c] / z : e[c];
            }
            ps_dgtd_far_time_add(far, (ps_dgtd_field)field, t, (const double(*)[3])x.values,
                                 x.work);
        }
    double worst = 0, largest = 0;
    for (int d = 0; d < DIRECTIONS; ++d)
        for (int64_t b = 4; b < far->bins - 4; ++b) {
            const double *e = x.direction[d];
            double along = axis[0] * e[0] + axis[1] * e[1] + axis[2] * e[2], ahead = 0, p[3],
                   out[3];
            double tau = (double)(far->first + b) * far->step;
            if (tau > 11 * width) continue;
            for (int c = 0; c < 3; ++c) ahead += e[c] * dipole.origin[c];
            ps_dgtd_pulse_at(&dipole.pulse, tau / index + ahead, p);
            ps_dgtd_far_time_field(far, d, b, out);
            for (int c = 0; c < 3; ++c) {
                double exact = (e[c] * along - axis[c]) * p[2] / (4 * M_PI);
                worst = worse_of(worst, fabs(out[c] - exact));
                largest = worse_of(largest, fabs(exact));
            }
        }
    cube_tets_release(&x.mesh);
    return worst / largest;
}

/* The fourth order of samples in time, down to what the rule on the faces leaves; in another medium
 * the same. */
static void dipole_in_a_cube(void **state)
{
    double coarse = worst_error(4, 1, 1), fine = worst_error(8, 1, 1),
           finer = worst_error(16, 1, 1);
    print_message("4, 8, 16 samples a width: %.2e %.2e %.2e\n", coarse, fine, finer);
    check_at_most(coarse, 3e-2);
    check_at_most(fine, coarse / 11);
    check_at_most(finer, fine / 11);
    check_near(worst_error(8, 1.5, 2), fine, 0, 1e-9);
}
