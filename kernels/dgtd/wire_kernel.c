/* The part of a wire's own static field that the field of its spread current lacks. */
#include <math.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/wire_tube.h"

/* Points along a segment, graded ones of the other one on either side of the nearest place, and of
 * the density of the tube. */
enum { OUTER = 6, INNER = 8, TUBE = 10 };
/* In R: from where moments describe the spread currents, to 1e-7. */
static const double far = 4;

static const double pi = 3.14159265358979323846;

/* The mean of 1/(4 pi distance) over two rings about one axis, by the arithmetic-geometric mean
 * (Gauss): the complete elliptic integral of its formula is pi/2 over it. */
static double rings(double z, double r, double s)
{
    double a = sqrt(z * z + (r + s) * (r + s)), b = sqrt(z * z + (r - s) * (r - s));
    for (int k = 0; k < 40 && fabs(a - b) > 1e-15 * a; ++k) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return 1 / (2 * pi * (a + b));
}

/* 2 pi rho g(rho) d rho in u = rho/R. */
static double density(double u) { return 2 * pi * u * ps_dgtd_wire_density(u * u); }

/* K_R: twice the part with the second ring inside of the first one, graded towards it; far away by
 * the moments of rho, of which the second one is 0. */
static double spread(double z, double width)
{
    double x[TUBE], w[TUBE], sum = 0, q = width * width / (z * z);
    if (z > far * width)
        return (1 + q * q * (-1. / 20 + q * (1. / 28 + q * (13. / 640)))) / (4 * pi * z);
    ps_dgtd_gauss(TUBE, x, w);
    for (int i = 0; i < TUBE; ++i)
        for (int j = 0; j < TUBE; ++j) {
            double inner = x[i] * (1 - x[j] * x[j]);
            sum += 4 * w[i] * w[j] * x[j] * x[i] * density(x[i]) * density(inner) *
                   rings(z, width * x[i], width * inner);
        }
    return sum;
}

double ps_dgtd_wire_kernel(double z, double radius, double width)
{
    return rings(z, radius, radius) - spread(z, width);
}

/* ---- two segments ---- */

typedef struct line {
    double from[3], along[3], length; /* along: from one end to the other */
} line;

typedef struct block {
    double all;        /* int int dK, of a unit of both        */
    double hats[2][2]; /* likewise with the hats of both ends */
} block;

static void place_on(const line *x, double s, double out[3])
{
    for (int c = 0; c < 3; ++c) out[c] = x->from[c] + s * x->along[c];
}

/* Graded towards the place of the second segment that is nearest to a point of the first one, where
 * dK has a logarithm. */
static void add_inner(const ps_dgtd_wire_shape *shape, const line *other, const double point[3],
                      double s, double weight, block *out)
{
    double x[INNER], w[INNER], away[3], nearest;
    ps_dgtd_gauss(INNER, x, w);
    for (int c = 0; c < 3; ++c) away[c] = point[c] - other->from[c];
    nearest = ps_dot3(away, other->along) / (other->length * other->length);
    nearest = fmin(1, fmax(0, nearest));
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < INNER; ++i) {
            double reach = side ? 1 - nearest : -nearest, there[3];
            double v = nearest + reach * pow(x[i], 4);
            double part = weight * w[i] * 4 * pow(x[i], 3) * fabs(reach) * other->length;
            if (part == 0) continue;
            place_on(other, v, there);
            part *= ps_dgtd_wire_kernel(ps_distance3(point, there), shape->radius, shape->width);
            out->all += part;
            for (int k = 0; k < 4; ++k)
                out->hats[k / 2][k % 2] += part * (k / 2 ? s : 1 - s) * (k % 2 ? v : 1 - v);
        }
}

static block integrate(const ps_dgtd_wire_shape *shape, const line *one, const line *other)
{
    block out = {0};
    double x[OUTER], w[OUTER], point[3];
    ps_dgtd_gauss(OUTER, x, w);
    for (int i = 0; i < OUTER; ++i) {
        place_on(one, x[i], point);
        add_inner(shape, other, point, x[i], w[i] * one->length, &out);
    }
    return out;
}

/* ---- the matrices ---- */

static line segment_of(const ps_dgtd_wire_shape *shape, int64_t k)
{
    line out;
    for (int c = 0; c < 3; ++c) {
        out.from[c] = shape->points[k][c];
        out.along[c] = shape->points[k + 1][c] - shape->points[k][c];
    }
    out.length = ps_norm3(out.along);
    return out;
}

/* In the metal that an end is on; charges change their sign, and so does current along the metal.
 */
static line image_of(const ps_dgtd_wire_shape *shape, int end, const line *x)
{
    line out = *x;
    const double *normal = shape->normal[end], *foot = shape->points[end ? shape->nodes - 1 : 0];
    double height = 0, climb = ps_dot3(x->along, normal);
    for (int c = 0; c < 3; ++c) height += (x->from[c] - foot[c]) * normal[c];
    for (int c = 0; c < 3; ++c) {
        out.from[c] -= 2 * height * normal[c];
        out.along[c] -= 2 * climb * normal[c];
    }
    return out;
}

static void add_pair(const ps_dgtd_wire_shape *shape, ps_dgtd_wire *x, int64_t k, int64_t l,
                     const line *one, const line *other, double sign)
{
    block b = integrate(shape, one, other), turned = integrate(shape, other, one);
    double both = one->length * other->length;
    double cosine = sign * ps_dot3(one->along, other->along) / both;
    double charge = sign * (b.all + turned.all) / (2 * both * shape->eps);
    x->elastance[k * x->segments + l] += charge;
    if (k != l) x->elastance[l * x->segments + k] += charge;
    for (int i = 0; i < 4; ++i) {
        int32_t m = x->ends[k][i / 2], n = x->ends[l][i % 2];
        double part = shape->mu * cosine * (b.hats[i / 2][i % 2] + turned.hats[i % 2][i / 2]) / 2;
        if (m < 0 || n < 0) continue;
        x->inductance[m * x->currents + n] += part;
        if (k != l) x->inductance[n * x->currents + m] += part;
    }
}

void ps_dgtd_wire_matrices(const ps_dgtd_wire_shape *shape, ps_dgtd_wire *x)
{
    for (int64_t k = 0; k < x->segments; ++k)
        for (int64_t l = k; l < x->segments; ++l) {
            line one = segment_of(shape, k), other = segment_of(shape, l);
            add_pair(shape, x, k, l, &one, &other, 1);
            for (int end = 0; end < 2; ++end) {
                if (!shape->ground[end]) continue;
                line image = image_of(shape, end, &other);
                add_pair(shape, x, k, l, &one, &image, -1);
            }
        }
}
