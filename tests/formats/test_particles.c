/* Particle and octree files: what is written is read back, by any range; what is wrong is
 * refused. */
#include <stdlib.h>
#include <unistd.h>

#include "formats/octree.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/tree_case.h"
#include "tests/support/temporaries.h"

static ps_store_identity identity_of(const char *format)
{
    return (ps_store_identity){format, 1, "test", "revision", "", 0};
}

/* Particle i has x = i, y = 2 i, z = -i, q_s = i + s / 10. */
static double value_of(int column, int64_t i)
{
    return column == 0   ? (double)i
           : column == 1 ? 2.0 * (double)i
           : column == 2 ? -(double)i
                         : (double)i + (column - 3) / 10.0;
}

static void write_particles(const char *path, int64_t count, int sides, double spoiled)
{
    ps_particle_file *file;
    ps_particle_header header = {
        .count = count, .right_hand_sides = sides, .length_units = "kpc", .charge_units = "kg"};
    ps_store_identity identity = identity_of(PS_PARTICLES_FORMAT);
    check_ok(ps_particles_create(path, &identity, &header, &file));
    int64_t rows = ps_particles_chunk_rows(file);
    PS_SCOPED_MEMORY double *memory = NULL;
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    check_ok(PS_ALLOC(&memory, (3 + sides) * rows, "rows"));
    for (int c = 0; c < 3 + sides; ++c) columns[c] = memory + c * rows;
    for (int64_t k = ps_particles_chunk_count(file) - 1; k >= 0; --k) { /* in any order */
        int64_t here = ps_particles_chunk_size(file, k);
        for (int c = 0; c < 3 + sides; ++c)
            for (int64_t i = 0; i < here; ++i) columns[c][i] = value_of(c, k * rows + i);
        if (k == 0) columns[1][0] += spoiled;
        check_ok(ps_particles_write_chunk(file, k, (const double *const *)columns));
    }
    if (spoiled == 0)
        check_ok(ps_particles_commit(&file));
    else
        check_fails(ps_particles_commit(&file), PS_INVALID, "not finite");
}

static void particles_round_trip(void **state)
{
    const int64_t counts[] = {1, 131072, 300001};
    for (int n = 0; n < 3; ++n) {
        PS_SCOPED(ps_particles_close) ps_particle_file *file = NULL;
        write_particles("p.h5", counts[n], 2, 0);
        check_ok(ps_particles_open("p.h5", &file));
        const ps_particle_header *h = ps_particles_header(file);
        assert_int_equal(h->count, counts[n]);
        assert_int_equal(h->right_hand_sides, 2);
        assert_string_equal(h->length_units, "kpc");
        assert_string_equal(h->charge_units, "kg");
        check_near(h->upper[1], 2 * (double)(counts[n] - 1), 0, 0);
        check_near(h->lower[2], -(double)(counts[n] - 1), 0, 0);
        int64_t first = counts[n] / 3, count = counts[n] - first - counts[n] / 5;
        PS_SCOPED_MEMORY double *memory = NULL;
        double *columns[5];
        check_ok(PS_ALLOC(&memory, 5 * count, "rows"));
        for (int c = 0; c < 5; ++c) columns[c] = memory + c * count;
        check_ok(ps_particles_read(file, first, count, columns, 5));
        for (int64_t i = 0; i < 5 * count; ++i)
            assert_true(memory[i] == value_of((int)(i / count), first + i % count));
        check_fails(ps_particles_read(file, 0, 1, columns, 6), PS_FAILED, "5 columns");
    }
}

/* Version 2 says what columns are; charges stay version 1. */
static void moments_round_trip(void **state)
{
    ps_particle_file *file;
    const double x[5] = {1, 2, 3, 4, 5}, *const columns[11] = {x, x, x, x, x, x, x, x, x, x, x};
    ps_store_identity identity = identity_of(PS_PARTICLES_FORMAT);
    for (int m = 0; m < PS_MOMENTS_COUNT; ++m) {
        ps_particle_header h = {
            .count = 5, .right_hand_sides = 2 * ps_moments_columns((ps_moments)m), .moments = m};
        check_ok(ps_particles_create("m.h5", &identity, &h, &file));
        check_ok(ps_particles_write_chunk(file, 0, columns));
        check_ok(ps_particles_commit(&file));
        check_ok(ps_particles_open("m.h5", &file));
        assert_int_equal(ps_particles_header(file)->moments, m);
        assert_int_equal(ps_store_version(ps_particles_store(file)), m ? 2 : 1);
        ps_particles_close(&file);
    }
    ps_particle_header odd = {.count = 5, .right_hand_sides = 4, .moments = PS_MOMENTS_FORCES};
    check_fails(ps_particles_create("no.h5", &identity, &odd, &file), PS_INVALID, "4 columns of forces");
}

static void bad_particles_are_refused(void **state)
{
    ps_particle_file *file;
    ps_particle_header header = {.count = 0, .right_hand_sides = 1};
    ps_store_identity identity = identity_of(PS_PARTICLES_FORMAT);
    check_fails(ps_particles_create("no.h5", &identity, &header, &file), PS_INVALID, "0 particles");
    header = (ps_particle_header){.count = 5, .right_hand_sides = 9};
    check_fails(ps_particles_create("no.h5", &identity, &header, &file), PS_INVALID, "9 charges");
    write_particles("no.h5", 100, 1, INFINITY);
    assert_int_not_equal(access("no.h5", F_OK), 0);
    assert_int_equal(temporaries_of("no.h5"), 0);
    check_fails(ps_particles_open("no.h5", &file), PS_INVALID, "no.h5");
}

/* Particles are a tree of one leaf; other files are none. */
static void particles_are_an_octree_of_height_1(void **state)
{
    ps_octree_file *tree;
    ps_store *other;
    ps_store_identity identity = identity_of("penstock-trace");
    write_particles("p.h5", 10, 1, 0);
    check_ok(ps_octree_open("p.h5", &tree));
    assert_int_equal(ps_octree_file_header(tree)->height, 1);
    assert_int_equal(ps_octree_file_header(tree)->count[0], 10);
    ps_octree_close(&tree);
    check_ok(ps_store_create("other.h5", &identity, &other));
    check_ok(ps_store_commit(&other));
    check_fails(ps_octree_open("other.h5", &tree), PS_INVALID, "penstock-octree");
}

/* ---- octrees ---- */

static void write_tree(const char *path, const tree_case *t, const tree_case *targets)
{
    ps_octree_file *file;
    ps_store_identity identity = identity_of(PS_OCTREE_FORMAT);
    const tree_case *sides[2] = {t, targets};
    ps_octree_header header = {.height = t->tree.height,
                               .right_hand_sides = 1,
                               .group_size = t->tree.group_size,
                               .box = t->tree.box,
                               .same = !targets,
                               .length_units = "m",
                               .charge_units = "C"};
    header.count[0] = t->count;
    header.count[1] = targets ? targets->count : t->count;
    check_ok(ps_octree_create(path, &identity, &header, &file));
    for (int s = 0; s < (targets ? 2 : 1); ++s) {
        PS_SCOPED_MEMORY int64_t *start = NULL;
        PS_SCOPED_MEMORY double *sorted = NULL;
        int64_t tiles, capacity;
        const tree_case *side = sides[s];
        check_ok(ps_octree_put_tree(file, (ps_octree_side)s, &side->tree));
        check_ok(ps_octree_tiles(&side->tree, &start, &tiles, &capacity));
        const double *in[4] = {side->x, side->y, side->z, side->q};
        check_ok(PS_ALLOC(&sorted, 4 * side->count, "sorted"));
        for (int c = 0; c < 4; ++c)
            ps_tree_gather(in[c], side->order, side->count, sorted + c * side->count);
        for (int64_t k = 0; k < tiles; ++k) {
            const double *columns[4];
            for (int c = 0; c < 4; ++c) columns[c] = sorted + c * side->count + start[k];
            check_ok(
                ps_octree_write_tile(file, (ps_octree_side)s, k, columns, side->order + start[k]));
        }
    }
    int64_t starts[3] = {0, 2, 3}, items[3] = {4, 7, 1};
    ps_group_list list = {2, starts, items};
    check_ok(ps_octree_put_list(file, PS_OCTREE_FAR_GROUPS, 3, &list));
    check_ok(ps_octree_put_forecast(file, PS_OCTREE_FAR_PAIRS, 3, items, 2));
    check_ok(ps_octree_commit(&file, 11, 3));
}

static void check_range(ps_octree_file *file, ps_octree_side side, const tree_case *t,
                        int64_t first, int64_t count)
{
    PS_SCOPED_MEMORY int64_t *permutation = NULL;
    PS_SCOPED_MEMORY double *memory = NULL;
    int width = side == PS_OCTREE_SOURCES ? 4 : 3;
    check_ok(PS_ALLOC(&memory, 4 * count, "range"));
    double *columns[4] = {memory, memory + count, memory + 2 * count, memory + 3 * count};
    check_ok(PS_ALLOC(&permutation, count, "range"));
    check_ok(ps_octree_read(file, side, first, count, columns, width, permutation));
    for (int64_t i = 0; i < count; ++i) {
        int64_t o = t->order[first + i];
        assert_true(permutation[i] == o && columns[0][i] == t->x[o] && columns[2][i] == t->z[o]);
        assert_true(width == 3 || columns[3][i] == t->q[o]);
    }
}

static void octrees_round_trip(void **state)
{
    PS_SCOPED(tree_case_release) tree_case t = {0}, u = {0};
    check_ok(tree_case_random(&t, PS_DISTRIBUTION_CUBE, 300000, 5, 1000));
    check_ok(tree_case_random(&u, PS_DISTRIBUTION_ELLIPSOID, 2000, 5, 1000));
    for (int same = 0; same < 2; ++same) {
        PS_SCOPED(ps_octree_close) ps_octree_file *file = NULL;
        ps_octree back;
        int64_t tiles;
        write_tree("t.h5", &t, same ? NULL : &u);
        check_ok(ps_octree_open("t.h5", &file));
        const ps_octree_header *h = ps_octree_file_header(file);
        assert_int_equal(h->same, same);
        assert_int_equal(h->coincident, 11);
        assert_int_equal(h->clamped, 3);
        assert_int_equal(h->count[1], same ? 300000 : 2000);
        check_ok(ps_octree_load_tree(file, PS_OCTREE_SOURCES, &back));
        assert_memory_equal(back.cells, t.tree.cells, sizeof back.cells);
        assert_memory_equal(back.memory, t.tree.memory, ps_octree_bytes(5, back.cells));
        ps_octree_release(&back);
        check_ok(ps_octree_load_tree(file, PS_OCTREE_TARGETS, &back));
        assert_int_equal(back.particles, same ? 300000 : 2000);
        ps_octree_release(&back);
        assert_int_equal(ps_octree_tile_start(file, PS_OCTREE_SOURCES, &tiles)[0], 0);
        assert_int_equal(tiles, 4); /* of 73,000: one each, the last with the 96 leaves left */
        check_range(file, PS_OCTREE_SOURCES, &t, 0, 300000);
        check_range(file, PS_OCTREE_SOURCES, &t, 70000, 90001);
        check_range(file, PS_OCTREE_SOURCES, &t, 299999, 1);
        if (!same) check_range(file, PS_OCTREE_TARGETS, &u, 17, 1900);
        check_fails(ps_octree_read(file, PS_OCTREE_SOURCES, 1, 300000, NULL, 0, NULL), PS_FAILED,
                    "no particles");
        ps_group_list list;
        PS_SCOPED_MEMORY int64_t *forecast = NULL;
        int64_t groups;
        check_ok(ps_octree_get_list(file, PS_OCTREE_FAR_GROUPS, 3, &list));
        assert_int_equal(list.groups, 2);
        assert_int_equal(list.items[list.start[1]], 1);
        ps_group_list_release(&list);
        check_ok(ps_octree_get_forecast(file, PS_OCTREE_FAR_PAIRS, 3, &forecast, &groups));
        assert_int_equal(groups, 2);
        assert_int_equal(forecast[1], 7);
        check_fails(ps_octree_get_list(file, PS_OCTREE_AUGMENTED, 4, &list), PS_INVALID,
                    "augmented");
        assert_null(list.items);
    }
}

/* Every rule of the page that a tree can break is found. */
static void broken_trees_are_found(void **state)
{
    PS_SCOPED(tree_case_release) tree_case t = {0};
    check_ok(tree_case_random(&t, PS_DISTRIBUTION_CUBE, 5000, 4, 100));
    ps_octree *tree = &t.tree;
    check_ok(ps_octree_check(tree));
#define broken(place, value, text)                                                                 \
    check_fails_if(tree->place, value, ps_octree_check(tree), PS_INVALID, text)
    broken(keys[3][5], tree->keys[3][4], "cell 5 of level 3 is not above");
    broken(keys[3][tree->cells[3] - 1], 512, "within the level");
    broken(child_start[1][3], tree->child_start[1][3] + 1, "is no child of");
    broken(child_start[1][3], tree->child_start[1][2], "children of level 1");
    broken(particle_start[7], tree->particle_start[8], "particles of level 3");
    check_ok(ps_octree_check(tree));
}
