#include "kernels/fmm/moment_sum.h"

#include <string.h>

bool ps_fmm_sum_is_plain(const ps_fmm_sum *s)
{
    return s->field == PS_FIELD_POTENTIAL && s->moments == PS_MOMENTS_CHARGES && s->derivatives < 2;
}

int ps_fmm_sum_components(const ps_fmm_sum *s)
{
    return s->field == PS_FIELD_STOKESLET ? 3 : s->field == PS_FIELD_HELMHOLTZ ? 2 : 1;
}

static int rows_of(int values, int derivatives) { return values * (derivatives > 1 ? 10 : 4); }

int ps_fmm_sum_rows(const ps_fmm_sum *s)
{
    return rows_of(s->sides * ps_fmm_sum_components(s), s->derivatives);
}

int ps_fmm_sum_passes(const ps_fmm_sum *s) { return s->field == PS_FIELD_POTENTIAL ? 1 : 2; }

/* Of potentials: charges of all sides come before the dipoles. */
static ps_fmm_pass potential_pass(const ps_fmm_sum *s)
{
    ps_fmm_pass pass = {s->function, s->sides, s->derivatives > 1 ? 2 : 1, 0, -1, 1};
    if (s->moments == PS_MOMENTS_DIPOLES) pass.charges = -1, pass.dipoles = 0;
    if (s->moments == PS_MOMENTS_CHARGES_AND_DIPOLES) pass.dipoles = s->sides;
    return pass;
}

ps_fmm_pass ps_fmm_sum_pass(const ps_fmm_sum *s, int number)
{
    double k = s->function.parameter;
    if (s->field == PS_FIELD_POTENTIAL) return potential_pass(s);
    if (s->field == PS_FIELD_STOKESLET)
        return number == 0
                   ? (ps_fmm_pass){{PS_FMM_INVERSE, 0}, 3 * s->sides, 1, 0, -1, 1}
                   : (ps_fmm_pass){{PS_FMM_DISTANCE, 0}, s->sides, 1 + s->derivatives, -1, 0, .1};
    ps_fmm_function function = {number ? PS_FMM_SINE : PS_FMM_COSINE, k};
    return (ps_fmm_pass){function, 2 * s->sides, s->derivatives > 1 ? 2 : 1, 0, -1, 1};
}

int ps_fmm_pass_rows(const ps_fmm_pass *pass) { return rows_of(pass->sides, pass->derivatives); }

ps_fmm_particles ps_fmm_pass_sources(const ps_fmm_pass *pass, const double *columns, int64_t stride)
{
    ps_fmm_particles sources = {.stride = stride};
    for (int d = 0; d < 3; ++d) sources.position[d] = columns + d * stride;
    if (pass->charges >= 0) sources.charges = columns + (3 + pass->charges) * stride;
    if (pass->dipoles >= 0) sources.dipoles = columns + (3 + pass->dipoles) * stride;
    return sources;
}

void ps_fmm_pass_targets(const ps_fmm_pass *pass, double *rows, int64_t stride,
                         ps_fmm_particles *targets)
{
    targets->potential = rows;
    targets->gradient = rows + pass->sides * stride;
    targets->hessian = pass->derivatives > 1 ? rows + 4 * pass->sides * stride : NULL;
}

/* to += factor from, of a row each. */
static void add_row(const ps_fmm_rows *from, int row, double factor, const ps_fmm_rows *to,
                    int to_row)
{
    const double *a = from->at + row * from->stride;
    double *b = to->at + to_row * to->stride;
    for (int64_t i = 0; i < to->count; ++i) b[i] += factor * a[i];
}

/* All rows of value `from` of `all`, to those of value `to`. */
static void add_value(const ps_fmm_rows *pass, int from, double factor, int all, int derivatives,
                      const ps_fmm_rows *results, int to)
{
    add_row(pass, from, factor, results, to);
    for (int d = 0; d < 3; ++d)
        add_row(pass, all + 3 * from + d, factor, results, all + 3 * to + d);
    for (int d = 0; d < 6 && derivatives > 1; ++d)
        add_row(pass, 4 * all + 6 * from + d, factor, results, 4 * all + 6 * to + d);
}

/* 2 phi_i of the charges f_i; the gradient of the dipoles, whose own is their Hessian. */
static void add_stokeslet(const ps_fmm_sum *s, int number, const ps_fmm_rows *pass,
                          const ps_fmm_rows *results)
{
    static const int second[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    int all = 3 * s->sides;
    for (int i = 0; i < all; ++i) {
        int side = i / 3;
        add_row(pass, number ? s->sides + i : i, number ? 1 : 2, results, i);
        for (int d = 0; d < 3 && s->derivatives; ++d)
            add_row(pass, number ? 4 * s->sides + 6 * side + second[i % 3][d] : all + 3 * i + d,
                    number ? 1 : 2, results, all + 3 * i + d);
    }
}

void ps_fmm_sum_add(const ps_fmm_sum *s, int number, const ps_fmm_rows *pass,
                    const ps_fmm_rows *results)
{
    int all = s->sides * ps_fmm_sum_components(s);
    if (s->field == PS_FIELD_STOKESLET) {
        add_stokeslet(s, number, pass, results);
        return;
    }
    for (int value = 0; value < all; ++value)
        if (number == 0)
            add_value(pass, value, 1, all, s->derivatives, results, value);
        else /* i sin(k r)/r of a real part is imaginary, and the other way round */
            add_value(pass, value, value % 2 ? -1 : 1, all, s->derivatives, results, value ^ 1);
}

int64_t ps_fmm_sum_room(const ps_fmm_sum *s, int64_t targets)
{
    int most = 0;
    for (int i = 0; i < ps_fmm_sum_passes(s); ++i) {
        ps_fmm_pass pass = ps_fmm_sum_pass(s, i);
        if (ps_fmm_pass_rows(&pass) > most) most = ps_fmm_pass_rows(&pass);
    }
    return most * targets;
}

void ps_fmm_sum_direct(const ps_fmm_sum *s, const double *const positions[3],
                       const ps_fmm_rows *sources, double *room, const ps_fmm_rows *results)
{
    const ps_fmm_range all = {0, sources->count};
    for (int i = 0; i < ps_fmm_sum_passes(s); ++i) {
        ps_fmm_pass pass = ps_fmm_sum_pass(s, i);
        ps_fmm_rows found = {room, results->count, results->count};
        ps_fmm_particles from = ps_fmm_pass_sources(&pass, sources->at, sources->stride);
        ps_fmm_particles targets = {.position = {positions[0], positions[1], positions[2]},
                                    .stride = results->count};
        ps_fmm_pass_targets(&pass, room, results->count, &targets);
        memset(room, 0, (size_t)(ps_fmm_pass_rows(&pass) * results->count) * sizeof *room);
        ps_fmm_p2p p2p = {.function = pass.function,
                          .sides = pass.sides,
                          .targets = &targets,
                          .sources = &from,
                          .target = {0, results->count},
                          .runs = &all,
                          .one_sided = 1,
                          .run_count = 1,
                          .width = 1};
        ps_fmm_interact(PS_DOUBLE, &p2p);
        ps_fmm_sum_add(s, i, &found, results);
    }
}
