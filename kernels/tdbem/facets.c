#include "kernels/tdbem/facets.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"

/* A part of a triangle: its corners in barycentric coordinates of the whole. */
typedef struct facet {
    double corner[3][3];
    double share; /* of the area */
} facet;

typedef struct visit {
    const ps_triangle *triangle;
    const double *x;
    const ps_triangle_rule *rule;
    ps_facet_visit *take;
    void *context;
} visit;

enum { SPLITS_MAX = 10 };

/* Barycentric point q of a rule on a facet. */
static void facet_point(const facet *part, const ps_triangle_rule *rule, int q, double out[3])
{
    const double *b = rule->barycentric[q];
    for (int d = 0; d < 3; ++d)
        out[d] = b[0] * part->corner[0][d] + b[1] * part->corner[1][d] + b[2] * part->corner[2][d];
}

static double longest_edge_of(const ps_triangle *triangle, const facet *part, double centre[3])
{
    double v[3][3], longest = 0;
    for (int k = 0; k < 3; ++k) ps_triangle_place(triangle, part->corner[k], v[k]);
    for (int k = 0; k < 3; ++k) longest = fmax(longest, ps_distance3(v[k], v[(k + 1) % 3]));
    for (int d = 0; d < 3; ++d) centre[d] = (v[0][d] + v[1][d] + v[2][d]) / 3;
    return longest;
}

/* The four halves-sized parts of a facet. */
static void split(const facet *whole, facet out[4])
{
    double middle[3][3]; /* of the edges k, k+1 */
    for (int k = 0; k < 3; ++k)
        for (int d = 0; d < 3; ++d)
            middle[k][d] = (whole->corner[k][d] + whole->corner[(k + 1) % 3][d]) / 2;
    for (int k = 0; k < 3; ++k) {
        memcpy(out[k].corner[0], whole->corner[k], sizeof middle[0]);
        memcpy(out[k].corner[1], middle[k], sizeof middle[0]);
        memcpy(out[k].corner[2], middle[(k + 2) % 3], sizeof middle[0]);
    }
    memcpy(out[3].corner, middle, sizeof middle);
    for (int k = 0; k < 4; ++k) out[k].share = whole->share / 4;
}

static void visit_facet(const visit *v, const facet *part, int depth)
{
    double centre[3], edge = longest_edge_of(v->triangle, part, centre);
    if (depth < SPLITS_MAX && edge > ps_distance3(centre, v->x) / 2) {
        facet parts[4];
        split(part, parts);
        for (int k = 0; k < 4; ++k) visit_facet(v, &parts[k], depth + 1);
        return;
    }
    for (int q = 0; q < v->rule->count; ++q) {
        double barycentric[3];
        facet_point(part, v->rule, q, barycentric);
        v->take(v->context, barycentric, v->rule->weight[q] * part->share * v->triangle->area);
    }
}

void ps_facets_visit(const ps_triangle *triangle, const double x[3], const ps_triangle_rule *rule,
                     ps_facet_visit *take, void *context)
{
    static const facet whole = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 1};
    const visit v = {triangle, x, rule, take, context};
    visit_facet(&v, &whole, 0);
}
