/*
 * The bounds of squares hold for every square of the matrix, that of a last tile with fewer but
 * wider supports among them, for which the squares on the diagonal alone are too small.
 */
#include "tests/check.h"

#include <stdbool.h>

#include "tests/support/interaction_case.h"

/* A sphere whose last vertices are drawn outwards, so that supports there are wider. */
static void stretch(icosphere *mesh, int64_t from, double factor)
{
    for (int64_t n = 3 * from; n < 3 * mesh->vertex_count; ++n) mesh->vertices[n] *= factor;
}

/* True if some square takes more than all of those on the diagonal. */
static bool check_squares(const ps_interaction *interaction, int64_t side)
{
    int64_t n = interaction->unknowns, bounds[2], diagonal = 0, most = 0;
    ps_interaction_square_bounds(interaction, side, &bounds[0], &bounds[1]);
    for (int64_t row = 0; row < n; row += side)
        for (int64_t slice = 0; slice < n; slice += side) {
            int64_t rows = side < n - row ? side : n - row;
            int64_t slices = side < n - slice ? side : n - slice;
            int64_t values = ps_interaction_value_bound(interaction, row, rows, slice, slices);
            int64_t work = ps_interaction_workspace(interaction, row, rows, slice, slices);
            assert_true(values <= bounds[0]);
            assert_true(work <= bounds[1]);
            if (row == slice && values > diagonal) diagonal = values;
            if (values > most) most = values;
        }
    return most > diagonal;
}

static void test_squares(void **state)
{
    bool beyond = false;
    for (int64_t side = 84; side < 100; side += 4)
        for (double factor = 1; factor < 3; factor += .25) {
            PS_SCOPED(icosphere_release) icosphere mesh = {0};
            PS_SCOPED(interaction_case_release) interaction_case c = {0};
            icosphere_init(&mesh, 2);
            stretch(&mesh, side, factor);
            interaction_case_init(&c, &mesh, PS_SOUND_HARD, 3, icosphere_mean_edge(&mesh) / 4);
            beyond = check_squares(&c.interaction, side) || beyond;
        }
    assert_true(beyond); /* the case is among them */
}
