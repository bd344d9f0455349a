/*
 * Interaction matrices: reference entries, invariants, structure, bitwise symmetry, whatever the
 * tile. The passivity of both formulations is in test_passivity.c.
 */
#include "tests/check.h"

#include <stdbool.h>

#include "tests/support/interaction_case.h"

/* Converged entries S_l(i,j) of sphere80 with D = 0.15: shared/numerics/tdbem-ref/
 * sphere80-single-layer-entries.txt (inner integral exact, outer adaptive). */
static const struct { int i, j, l; double value; } reference[] = {
    {0, 0, 0, 7.68493372378522e-03},   {0, 0, 1, 3.36432258823944e-03},
    {0, 0, 2, 8.50526214118986e-04},   {0, 0, 3, 4.19538676490491e-05},
    {0, 0, 4, 2.50562943658297e-09},   {0, 4, 0, 8.24968889443371e-04},
    {0, 4, 1, 1.75846355800037e-03},   {0, 4, 2, 1.61729356185640e-03},
    {0, 4, 3, 6.81230130180460e-04},   {0, 4, 4, 1.55147980003647e-04},
    {0, 4, 5, 2.07920101527254e-05},   {0, 4, 6, 4.55168848024714e-07},
    {0, 1, 3, 1.03575750359162e-03},   {0, 56, 11, 2.80778446602820e-05},
    {0, 56, 12, 7.92650449397379e-04}, {0, 56, 13, 4.13731839392574e-06},
    {0, 50, 10, 1.76850505981953e-06}, {0, 50, 11, 5.20414873724124e-04},
    {0, 50, 12, 3.41517231702959e-04}, {0, 50, 13, 1.14881792603497e-06}};
enum { REFERENCES = sizeof reference / sizeof reference[0] };

static double largest_of_pair(int i, int j)
{
    double largest = 0;
    for (int n = 0; n < REFERENCES; ++n)
        if (reference[n].i == i && reference[n].j == j) largest = fmax(largest, reference[n].value);
    return largest;
}

static void test_reference_entries_six_points(void **state)
{
    icosphere mesh;
    interaction_case c;
    icosphere_init(&mesh, 1);
    interaction_case_init(&c, &mesh, PS_SOUND_SOFT_S, 6, .15);
    int64_t k_max, n = 80;
    double *m = interaction_dense(&c.interaction, &k_max);
    for (int e = 0; e < REFERENCES; ++e) {
        double actual = m[(reference[e].l * n + reference[e].j) * n + reference[e].i];
        check_near(actual, reference[e].value,
                   .05 * largest_of_pair(reference[e].i, reference[e].j), 0);
    }
    free(m);
    interaction_case_release(&c);
    icosphere_release(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_entries_six_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
