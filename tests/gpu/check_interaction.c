/*
 * check_interaction: tiles of the interaction matrices on a CUDA device against those of the
 * processor: all equations and rules, spheres, elongated triangles, triangles strewn at random,
 * cut triangles, rims. An entry may differ by 1e-12 of the largest of its row-vector, and where the
 * processor fuses multiplications and additions (AVX2 and up) not at all. Bits do not depend on
 * the tile, its mirror or the device memory. An argument chooses one kind of mesh ("soup": a
 * second's work, for tools that slow it down). Ends with "N passed, N failed, N skipped".
 */
#include <math.h>
#include <stdio.h>

#include "runtime/isa.h"
#include "tests/gpu/interaction_device_case.h"
#include "tests/support/distance.h"
#include "tests/support/random.h"
#include "tests/support/thin_bodies.h"
#include "tests/support/verdict.h"

static const double tolerance = 1e-12;
static uint64_t seed = 7;

static int64_t any_below(int64_t n)
{
    return (int64_t)((congruence_next(&seed) >> 33) % (uint64_t)n);
}

static double uniform(void) { return (double)any_below(1 << 30) / (1 << 30); }

/* ---- meshes ---- */

/* Triangles that share no vertices, some long and thin, some of them touching others. */
static void soup_init(icosphere *mesh, int64_t triangles)
{
    mesh->triangle_count = triangles;
    mesh->vertex_count = 3 * triangles;
    mesh->vertices = malloc((size_t)(9 * triangles) * sizeof(double));
    mesh->triangles = malloc((size_t)(3 * triangles) * sizeof(int32_t));
    for (int64_t t = 0; t < triangles; ++t) {
        double centre[3], scale = any_below(4) ? .3 : 1.5;
        for (int c = 0; c < 3; ++c) centre[c] = 3 * uniform();
        for (int v = 0; v < 3; ++v)
            for (int c = 0; c < 3; ++c)
                mesh->vertices[9 * t + 3 * v + c] = centre[c] + (c == v ? scale : .2) * uniform();
        for (int v = 0; v < 3; ++v) mesh->triangles[3 * t + v] = (int32_t)(3 * t + v);
    }
}

static void stretch(icosphere *mesh, double x, double z)
{
    for (int64_t v = 0; v < mesh->vertex_count; ++v) {
        mesh->vertices[3 * v] *= x;
        mesh->vertices[3 * v + 2] *= z;
    }
}

/* ---- tiles on both sides ---- */

static void fail(const char *name, const char *what)
{
    printf("%s: FAILED: %s\n", name, what);
    ++verdict.failed;
}

static ps_status device_tile(interaction_device_case *c, ps_interaction_tile *tile,
                             ps_interaction_tile *mirror)
{
    PS_TRY(ps_interaction_device_start(&c->work, tile, mirror != NULL, c->stream));
    return ps_interaction_device_fetch(&c->work, tile, mirror, c->stream);
}

/* Entry (r, s) as M^k from k = 0 on, in out[limit]; its largest. */
static double expand(const ps_interaction_tile *tile, int64_t v, const double *values, double near,
                     double *out, int64_t limit)
{
    double largest = fabs(near);
    memset(out, 0, (size_t)limit * sizeof *out);
    out[0] = near;
    for (int64_t q = 0; q < tile->lengths[v]; ++q) {
        out[tile->starts[v] + q] = values[q];
        largest = worse_of(largest, fabs(values[q]));
    }
    return largest;
}

static double *near_of(const ps_interaction_tile *tile)
{
    double *near = calloc((size_t)(tile->rows * tile->slices), sizeof *near);
    for (int64_t e = 0; e < tile->near_count; ++e)
        near[(tile->near_columns[e] - tile->first_slice) * tile->rows + tile->near_rows[e] -
             tile->first_row] += tile->near_values[e];
    return near;
}

/* Largest difference of an entry, of the largest in its row-vector; *same: no bit differs. */
static double difference(const ps_interaction_tile *a, const ps_interaction_tile *b, bool *same)
{
    int64_t limit = (a->k_max > b->k_max ? a->k_max : b->k_max) + 2, at_a = 0, at_b = 0;
    double worst = 0, *near_a = near_of(a), *near_b = near_of(b);
    double *x = malloc((size_t)limit * sizeof *x), *y = malloc((size_t)limit * sizeof *y);
    *same =
        a->value_count == b->value_count && a->near_count == b->near_count && a->k_max == b->k_max;
    for (int64_t v = 0; v < a->rows * a->slices; ++v) {
        double largest = expand(a, v, a->values + at_a, near_a[v], x, limit);
        largest = worse_of(largest, expand(b, v, b->values + at_b, near_b[v], y, limit));
        *same = *same && a->lengths[v] == b->lengths[v] && a->starts[v] == b->starts[v] &&
                memcmp(x, y, (size_t)limit * sizeof *x) == 0;
        for (int64_t k = 0; k < limit; ++k)
            if (largest > 0 && !(fabs(x[k] - y[k]) <= worst * largest))
                worst = fabs(x[k] - y[k]) / largest;
        at_a += a->lengths[v];
        at_b += b->lengths[v];
    }
    free(x);
    free(y);
    free(near_a);
    free(near_b);
    return worst;
}

/* Row-vectors that the two share, bit for bit. */
static bool overlap_same(const ps_interaction_tile *whole, const ps_interaction_tile *part)
{
    int64_t *offset = calloc((size_t)(whole->rows * whole->slices + 1), sizeof *offset), at = 0;
    double *near = near_of(whole), *near_part = near_of(part);
    bool same = true;
    for (int64_t v = 0; v < whole->rows * whole->slices; ++v)
        offset[v + 1] = offset[v] + whole->lengths[v];
    for (int64_t s = 0; s < part->slices; ++s)
        for (int64_t r = 0; r < part->rows; ++r) {
            int64_t v = s * part->rows + r;
            int64_t w = (part->first_slice + s) * whole->rows + part->first_row + r;
            same = same && part->lengths[v] == whole->lengths[w] &&
                   part->starts[v] == whole->starts[w] && near_part[v] == near[w] &&
                   memcmp(part->values + at, whole->values + offset[w],
                          part->lengths[v] * sizeof(double)) == 0;
            at += part->lengths[v];
        }
    free(offset);
    free(near);
    free(near_part);
    return same;
}

static bool singles_same(const ps_interaction_tile *tile, const float *singles)
{
    for (int64_t i = 0; i < tile->value_count; ++i)
        if (singles[i] != (float)tile->values[i]) return false;
    return true;
}

/* ---- one case ---- */

static ps_status check_parts(const char *name, const ps_interaction *interaction,
                             interaction_device_case *c, const ps_interaction_tile *whole)
{
    int64_t n = interaction->unknowns;
    for (int trial = 0; trial < 4; ++trial) {
        int64_t row = any_below(n), slice = any_below(n), half = n / 2;
        bool unlike = interaction->combined > 0 || interaction->lined;
        if (unlike) { /* mirrors are of ranges that do not meet */
            row = any_below(half);
            slice = half + any_below(n - half);
        }
        int64_t rows = 1 + any_below((unlike ? half : n) - row);
        int64_t slices = 1 + any_below(n - slice);
        ps_interaction_tile part, mirror;
        interaction_tile_init(interaction, row, rows, slice, slices, &part);
        interaction_tile_init(interaction, slice, slices, row, rows, &mirror);
        PS_TRY(device_tile(c, &part, &mirror));
        if (!overlap_same(whole, &part)) fail(name, "a part of the tile has other bits");
        if (!overlap_same(whole, &mirror)) fail(name, "the mirror of a tile has other bits");
        interaction_tile_release(&part);
        interaction_tile_release(&mirror);
    }
    return PS_OK;
}

static ps_status check_single(const char *name, interaction_device_case *c,
                              const ps_interaction_tile *whole)
{
    ps_interaction_tile tile = *whole;
    tile.singles = malloc((size_t)tile.value_capacity * sizeof(float));
    c->work.precision = PS_SINGLE;
    ps_status status = device_tile(c, &tile, NULL);
    c->work.precision = PS_DOUBLE;
    if (status == PS_OK && !singles_same(whole, tile.singles)) fail(name, "singles differ");
    free(tile.singles);
    return status;
}

/* The same in as little device memory as there may be, and a little more. */
static ps_status check_little(const char *name, const ps_interaction *interaction,
                              const ps_interaction_room *room, const ps_interaction_tile *whole)
{
    for (int trial = 0; trial < 2; ++trial) {
        int64_t n = interaction->unknowns, more = (room->whole - room->least) / 3;
        interaction_device_case c;
        ps_interaction_tile tile;
        interaction_tile_init(interaction, 0, n, 0, n, &tile);
        ps_status status = interaction_device_open(interaction, verdict.device, room,
                                                   room->least + trial * more, &c);
        if (status == PS_OK) status = device_tile(&c, &tile, NULL);
        if (status == PS_OK && !overlap_same(whole, &tile)) fail(name, "bands have other bits");
        interaction_tile_release(&tile);
        interaction_device_close(&c);
        PS_TRY(status);
    }
    return PS_OK;
}

static ps_status check_on_device(const char *name, const ps_interaction *interaction,
                                 const ps_interaction_tile *truth)
{
    int64_t n = interaction->unknowns;
    ps_interaction_side side = ps_interaction_side_of(interaction, 0, n);
    ps_interaction_room room = ps_interaction_room_of(interaction, &side, &side, true);
    interaction_device_case c;
    ps_interaction_tile tile;
    bool same;
    interaction_tile_init(interaction, 0, n, 0, n, &tile);
    ps_status status = interaction_device_open(interaction, verdict.device, &room, 0, &c);
    if (status == PS_OK) status = device_tile(&c, &tile, NULL);
    if (status == PS_OK) {
        double worst = difference(truth, &tile, &same);
        printf("%-44s %8lld values, off by %.2g%s\n", name, (long long)tile.value_count, worst,
               same ? ", same bits" : "");
        if (!(worst <= tolerance)) fail(name, "the processor has other values");
        if (ps_isa_here() != PS_ISA_BASE && !same) fail(name, "the processor has other bits");
        status = check_parts(name, interaction, &c, &tile);
    }
    if (status == PS_OK) status = check_single(name, &c, &tile);
    if (status == PS_OK) status = check_little(name, interaction, &room, &tile);
    interaction_tile_release(&tile);
    interaction_device_close(&c);
    return status;
}

/* An equation: the formulation, alpha of the combined field equation, and whether it is of a lining
 * of every triangle but each of so many. */
typedef struct equation {
    ps_formulation formulation;
    double combined;
    int64_t bare;
} equation;
static const equation hard = {PS_SOUND_HARD, 0, 0}, both = {PS_SOUND_HARD, .25, 0};
static const equation equations[] = {{PS_SOUND_SOFT_S, 0, 0}, {PS_SOUND_SOFT_M, 0, 0},
                                     {PS_SOUND_HARD, 0, 0},   {PS_SOUND_HARD, .25, 0},
                                     {PS_SOUND_HARD, 0, 3},   {PS_SOUND_HARD, .25, 2}};
enum { EQUATIONS = sizeof equations / sizeof *equations };

/* rim: every so many vertices are held, as on the rim of a screen; 0: none. */
static void check(const char *mesh_name, const icosphere *mesh, equation of, int points,
                  double shell, int64_t rim)
{
    char name[96];
    interaction_case c;
    ps_interaction_tile truth;
    int before = verdict.failed;
    snprintf(name, sizeof name, "%s, %s%s, %d points, D = %g", mesh_name,
             ps_equation_name(of.formulation, of.combined), of.bare ? " lining" : "", points,
             shell);
    interaction_case_init(&c, mesh, of.formulation, points, shell);
    c.interaction.combined = of.combined;
    int64_t n = c.interaction.unknowns;
    c.interaction.speed = 1.7;
    uint8_t *fixed = calloc((size_t)n, 1);
    for (int64_t v = 0; rim && v < n; v += rim) fixed[v] = 1;
    if (rim) c.interaction.fixed = fixed;
    uint8_t *lined = calloc((size_t)c.interaction.triangle_count, 1);
    for (int64_t t = 0; of.bare && t < c.interaction.triangle_count; ++t)
        lined[t] = t % of.bare != 0;
    if (of.bare) c.interaction.lined = lined;
    interaction_tile_init(&c.interaction, 0, n, 0, n, &truth);
    interaction_tile_compute(&c.interaction, &truth);
    if (check_on_device(name, &c.interaction, &truth) != PS_OK) fail(name, ps_message());
    verdict.passed += verdict.failed == before;
    interaction_tile_release(&truth);
    interaction_case_release(&c);
    free(fixed);
    free(lined);
}

int main(int argc, char **argv)
{
    static const int points[] = {3, 6, 7, 12};
    static const char *const names[] = {"sphere", "stretched sphere", "soup", "sphere80"};
    if (!verdict_open(0)) return verdict_end();
    for (int m = 0; m < 3; ++m) {
        icosphere mesh;
        if (argc > 1 && strcmp(argv[1], names[m])) continue;
        if (m == 2)
            soup_init(&mesh, 67);
        else
            icosphere_init(&mesh, m ? 1 : 2);
        if (m < 2) icosphere_jitter(&mesh, .05);
        if (m == 1) stretch(&mesh, 5, .1);
        for (int e = 0; e < EQUATIONS; ++e)
            for (int p = 0; p < (m ? 4 : 2); ++p)
                check(names[m], &mesh, equations[e], points[p], p % 2 ? .13 : .3, 0);
        check(names[m], &mesh, hard, 3, m ? .06 : .021, 0); /* cut triangles */
        check(names[m], &mesh, both, 3, m ? .06 : .021, 0);
        check(names[m], &mesh, equations[0], 3, m ? .06 : .021, 0);
        if (m < 2) check("rim", &mesh, hard, 3, .25, 5);
        icosphere_release(&mesh);
    }
    if (argc < 2 || strcmp(argv[1], "wedge") == 0) { /* slivers, and sheets that come close */
        icosphere mesh;
        wedge_init(&mesh, &(wedge_shape){8, 6, .02, 1.5, .6, .3});
        for (int e = 0; e < EQUATIONS; ++e) check("wedge", &mesh, equations[e], 3, .1, 0);
        icosphere_release(&mesh);
    }
    if (argc < 2 || strcmp(argv[1], names[3]) == 0) { /* that of the reference entries */
        icosphere mesh;
        icosphere_init(&mesh, 1);
        for (int e = 0; e < EQUATIONS; ++e) check(names[3], &mesh, equations[e], 6, .15, 0);
        icosphere_release(&mesh);
    }
    return verdict_end();
}
