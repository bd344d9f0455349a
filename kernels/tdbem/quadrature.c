#include "kernels/tdbem/quadrature.h"

#include <string.h>

const double ps_gauss3_node[3] = {0.11270166537925831, 0.5, 0.88729833462074169};
const double ps_gauss3_weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

static void add_point(ps_triangle_rule *rule, double a, double b, double weight)
{
    double *point = rule->barycentric[rule->count];
    point[0] = a;
    point[1] = b;
    point[2] = 1 - a - b;
    rule->weight[rule->count++] = weight;
}

/* The three permutations of (a, (1-a)/2, (1-a)/2). */
static void add_three(ps_triangle_rule *rule, double a, double weight)
{
    double b = (1 - a) / 2;
    add_point(rule, a, b, weight);
    add_point(rule, b, a, weight);
    add_point(rule, b, b, weight);
}

/* The six permutations of (a, b, 1-a-b). */
static void add_six(ps_triangle_rule *rule, double a, double b, double weight)
{
    double c = 1 - a - b;
    add_point(rule, a, b, weight);
    add_point(rule, b, a, weight);
    add_point(rule, a, c, weight);
    add_point(rule, c, a, weight);
    add_point(rule, b, c, weight);
    add_point(rule, c, b, weight);
}

static void normalise(ps_triangle_rule *rule)
{
    double sum = 0;
    for (int q = 0; q < rule->count; ++q) sum += rule->weight[q];
    for (int q = 0; q < rule->count; ++q) rule->weight[q] /= sum;
}

ps_status ps_triangle_rule_init(int points, ps_triangle_rule *out)
{
    memset(out, 0, sizeof *out);
    switch (points) {
    case 1:
        add_point(out, 1.0 / 3, 1.0 / 3, 1);
        break;
    case 3:
        add_three(out, 2.0 / 3, 1.0 / 3);
        break;
    case 6:
        add_three(out, .108103018168070, .223381589678011);
        add_three(out, .816847572980459, .109951743655322);
        break;
    case 7:
        add_point(out, 1.0 / 3, 1.0 / 3, .225);
        add_three(out, .059715871789770, .132394152788506);
        add_three(out, .797426985353087, .125939180544827);
        break;
    case 12:
        add_three(out, .501426509658179, .116786275726379);
        add_three(out, .873821971016996, .050844906370207);
        add_six(out, .053145049844817, .310352451033784, .082851075618374);
        break;
    default:
        return ps_fail(PS_USAGE, "no triangle rule has %d points; choose 3, 6, 7 or 12", points);
    }
    normalise(out);
    return PS_OK;
}

/* Sub-triangle with lower corner (row, column) of the regular division; `up` or reversed. */
static int add_sub_triangle(const ps_triangle *triangle, const ps_triangle_rule *rule, int parts,
                            const int corner[3], ps_point *out)
{
    int row = corner[0], column = corner[1], down = corner[2];
    for (int q = 0; q < rule->count; ++q) {
        const double *p = rule->barycentric[q];
        double u = (column + (down ? 1 - p[1] : p[1])) / parts;
        double v = (row + (down ? 1 - p[2] : p[2])) / parts;
        out[q] = (ps_point){.barycentric = {1 - u - v, u, v}};
        for (int c = 0; c < 3; ++c)
            out[q].x[c] = (1 - u - v) * triangle->vertex[0][c] + u * triangle->vertex[1][c] +
                          v * triangle->vertex[2][c];
        out[q].weight = rule->weight[q] * triangle->area / ((double)parts * parts);
    }
    return rule->count;
}

void ps_triangle_points(const ps_triangle *triangle, const ps_triangle_rule *rule, int parts,
                        ps_point *out)
{
    for (int row = 0; row < parts; ++row)
        for (int column = 0; column < parts - row; ++column)
            for (int down = 0; down < (column + row + 1 < parts ? 2 : 1); ++down)
                out += add_sub_triangle(triangle, rule, parts, (int[3]){row, column, down}, out);
}
