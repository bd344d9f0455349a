/* Keys, order and levels of octrees against plain definitions; lists against brute force and
 * against the closed formulas for full trees. */
#include <omp.h>

#include "kernels/fmm/tree_lists.h"
#include "tests/check.h"
#include "tests/support/tree_case.h"

/* The definition of a key, bit by bit. */
static uint64_t plain_key(const ps_octree_box *box, int level, const double p[3])
{
    uint64_t key = 0, cell[3], last = ((uint64_t)1 << level) - 1;
    for (int d = 0; d < 3; ++d) {
        double c = floor((p[d] - box->corner[d]) * ((double)(last + 1) / box->width));
        cell[d] = c < 0 ? 0 : c > (double)last ? last : (uint64_t)c;
    }
    for (int b = level - 1; b >= 0; --b)
        for (int d = 0; d < 3; ++d) key = key << 1 | (cell[d] >> b & 1);
    return key;
}

static void keys_are_those_of_the_definition(void **state)
{
    const ps_octree_box box = {{-1, 0.25, 3}, 1.7};
    uint64_t random = 7, keys[500];
    double x[500], y[500], z[500];
    int64_t outside = 0;
    for (int i = 0; i < 500; ++i) {
        x[i] = -1.2 + 2.1 * check_random(&random);
        y[i] = 0.25 + 1.7 * check_random(&random);
        z[i] = 3 + 1.7 * check_random(&random);
        outside += x[i] < -1 || x[i] > 0.7;
    }
    x[0] = 0.7, y[0] = 1.95, z[0] = 4.7; /* the far corner belongs to the last cell */
    ps_tree_points points = {500, x, y, z};
    for (int level = 0; level <= 20; level += 5) {
        int64_t got = ps_tree_keys(&box, level, &points, keys);
        check_near((double)got, (double)outside, 1, 0); /* of the corner, by an ulp */
        for (int i = 0; i < 500; ++i)
            assert_true(keys[i] == plain_key(&box, level, (double[3]){x[i], y[i], z[i]}));
    }
    ps_tree_keys(&box, 4, &points, keys);
    assert_int_equal(keys[0], 4095);
}

/* Below, squares of distances are 0 in fp64 and particles would be taken for one. */
static void spans_of_fp64_are_taken(void **state)
{
    const double lower[3] = {0}, sizes[4] = {0, 1e-59, 1, 1e59}, odd[3] = {1e-160, 1e-61, 1e61};
    for (int i = 0; i < 4; ++i) check_ok(ps_tree_check_span(lower, (double[3]){0, sizes[i], 0}));
    for (int i = 0; i < 3; ++i)
        check_fails(ps_tree_check_span(lower, (double[3]){0, 0, odd[i]}), PS_INVALID,
                    "another unit");
}

static void order_is_stable_and_ascends(void **state)
{
    /* levels 6 and 10 pack key and number into a word, 20 takes two */
    for (int level = 6; level <= 20; level += level == 6 ? 4 : 10) {
        PS_SCOPED(tree_case_release) tree_case t = {0};
        check_ok(tree_case_random(&t, PS_DISTRIBUTION_ELLIPSOID, 50000, level + 1, 100));
        const ps_octree_box *box = &t.tree.box;
        for (int64_t i = 0; i < t.count; ++i) {
            int64_t o = t.order[i];
            assert_true(t.keys[i] == plain_key(box, level, (double[3]){t.x[o], t.y[o], t.z[o]}));
            if (i == 0) continue;
            assert_true(t.keys[i] > t.keys[i - 1] ||
                        (t.keys[i] == t.keys[i - 1] && o > t.order[i - 1]));
        }
        check_ok(ps_octree_check(&t.tree));
    }
}

static void trees_do_not_depend_on_threads(void **state)
{
    PS_SCOPED(tree_case_release) tree_case a = {0}, b = {0};
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    check_ok(tree_case_random(&a, PS_DISTRIBUTION_ELLIPSOID, 100000, 9, 100));
    omp_set_num_threads(5);
    check_ok(tree_case_random(&b, PS_DISTRIBUTION_ELLIPSOID, 100000, 9, 100));
    omp_set_num_threads(threads);
    assert_memory_equal(a.order, b.order, 8 * a.count);
    assert_memory_equal(a.tree.cells, b.tree.cells, sizeof a.tree.cells);
    assert_memory_equal(a.tree.memory, b.tree.memory, ps_octree_bytes(9, a.tree.cells));
}

/* One particle, all in one place, heights of 1 and 21. */
static void degenerate_trees(void **state)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    const int heights[] = {1, 2, 21};
    for (int h = 0; h < 3; ++h) {
        for (int64_t count = 1; count <= 1000; count += 999) {
            PS_SCOPED(tree_case_release) tree_case t = {0};
            check_ok(tree_case_alloc(&t, count, heights[h] - 1));
            for (int64_t i = 0; i < count; ++i) t.x[i] = t.y[i] = t.z[i] = 0.3;
            check_ok(tree_case_build(&t, &unit, heights[h], 7));
            check_ok(ps_octree_check(&t.tree));
            assert_int_equal(ps_octree_leaves(&t.tree), 1);
            assert_int_equal(t.tree.particle_start[1], count);
        }
    }
    double at[3] = {2, 2, 2};
    ps_octree_box box = ps_octree_bounding_box(at, at);
    check_near(box.width, 1, 0, 0);
    check_near(box.corner[1], 1.5, 0, 0);
    ps_octree bad;
    check_fails(ps_octree_init(&bad, 22, &unit, (int64_t[22]){1}, 1), PS_USAGE, "1 to 21");
}

/* ---- lists ---- */

static bool touch(const int64_t a[3], const int64_t b[3])
{
    for (int d = 0; d < 3; ++d)
        if (a[d] - b[d] > 1 || b[d] - a[d] > 1) return false;
    return true;
}

static void check_entry(const ps_octree *targets, const ps_octree *sources, int level,
                        const int64_t pair[2], int code)
{
    int64_t a[3], b[3];
    ps_tree_cell(targets->keys[level][pair[0]], a);
    ps_tree_cell(sources->keys[level][pair[1]], b);
    int t[3] = {(int)(b[0] - a[0]), (int)(b[1] - a[1]), (int)(b[2] - a[2])};
    assert_int_equal(code, ps_tree_code(t[0], t[1], t[2]));
}

/* Every pair of cells of a level is near, far or neither, as the definitions say. */
static void check_level(const ps_octree *targets, const ps_octree *sources, int level)
{
    int64_t n = targets->cells[level], m = sources->cells[level], start[2], items[PS_TREE_FAR_MAX];
    uint16_t codes[PS_TREE_FAR_MAX];
    ps_tree_list list = {start, items, codes};
    PS_SCOPED_MEMORY char *near = calloc((size_t)m, 1), *far = calloc((size_t)m, 1);
    for (int64_t c = 0; c < n; ++c) {
        int64_t a[3], b[3], pa[3], pb[3];
        memset(near, 0, (size_t)m);
        memset(far, 0, (size_t)m);
        ps_tree_far(targets, sources, level, c, c + 1, &list);
        for (int64_t i = 0; i < start[1]; ++i) {
            far[items[i]]++;
            check_entry(targets, sources, level, (int64_t[2]){c, items[i]}, codes[i]);
        }
        if (level == targets->height - 1) ps_tree_near(targets, sources, c, c + 1, &list);
        for (int64_t i = 0; level == targets->height - 1 && i < start[1]; ++i) {
            near[items[i]]++;
            check_entry(targets, sources, level, (int64_t[2]){c, items[i]}, codes[i]);
            assert_true(i == 0 || items[i] > items[i - 1]);
        }
        ps_tree_cell(targets->keys[level][c], a);
        for (int d = 0; d < 3; ++d) pa[d] = a[d] / 2;
        for (int64_t s = 0; s < m; ++s) {
            ps_tree_cell(sources->keys[level][s], b);
            for (int d = 0; d < 3; ++d) pb[d] = b[d] / 2;
            assert_int_equal(far[s], level >= 2 && touch(pa, pb) && !touch(a, b));
            if (level == targets->height - 1) assert_int_equal(near[s], touch(a, b));
        }
    }
}

static void lists_are_those_of_brute_force(void **state)
{
    PS_SCOPED(tree_case_release) tree_case a = {0}, b = {0}, c = {0};
    check_ok(tree_case_random(&a, PS_DISTRIBUTION_ELLIPSOID, 3000, 6, 10));
    check_ok(tree_case_random(&b, PS_DISTRIBUTION_CUBE, 500, 6, 10));
    check_ok(tree_case_random(&c, PS_DISTRIBUTION_CUBE, 30, 21, 10));
    for (int level = 0; level < 6; ++level) {
        check_level(&a.tree, &a.tree, level);
        check_level(&a.tree, &b.tree, level);
        check_level(&b.tree, &a.tree, level);
    }
    for (int level = 0; level < 21; ++level) check_level(&c.tree, &c.tree, level);
}

/* Full levels (guide 6): (6n - 8)^3 - (3n - 2)^3 pairs of M2L, (3n - 2)^3 neighbours, n =
 * 2^level. */
static void full_levels_have_the_counts_of_the_formulas(void **state)
{
    const int height = 6, level = height - 1;
    int64_t n = 1 << level, cells = n * n * n, far_all = 0;
    ps_octree_box box = {{0, 0, 0}, (double)n};
    PS_SCOPED(tree_case_release) tree_case t = {0};
    check_ok(tree_case_alloc(&t, cells, level));
    for (int64_t i = 0; i < cells; ++i) {
        t.x[i] = (double)(i / (n * n)) + 0.5;
        t.y[i] = (double)(i / n % n) + 0.5;
        t.z[i] = (double)(i % n) + 0.5;
    }
    check_ok(tree_case_build(&t, &box, height, 100));
    ps_tree_list list;
    check_ok(PS_ALLOC(&list.start, cells + 1, "list"));
    check_ok(PS_ALLOC(&list.sources, PS_TREE_FAR_MAX * cells, "list"));
    list.codes = NULL;
    ps_tree_near(&t.tree, &t.tree, 0, cells, &list);
    assert_int_equal(list.start[cells], (3 * n - 2) * (3 * n - 2) * (3 * n - 2));
    for (int l = 0; l < height; ++l) {
        int64_t m = 1 << l, a = 6 * m - 8, b = 3 * m - 2, count = t.tree.cells[l];
        assert_int_equal(count, m * m * m);
        ps_tree_far(&t.tree, &t.tree, l, 0, count, &list);
        assert_int_equal(list.start[count], l < 2 ? 0 : a * a * a - b * b * b);
        far_all += list.start[count];
    }
    /* with level 6: 52,337,880 in all (guide 6) */
    assert_int_equal(far_all + (376 * 376 * 376 - 190 * 190 * 190), 52337880);
    PS_FREE(list.start, list.sources);
}

/* ---- groups ---- */

/* The paper's example in one dimension of thought: leaves A..K, n_g = 6: the first group takes the
 * neighbours of later groups, the second none. Against brute force on a real tree. */
static void augmented_leaves_and_pairs(void **state)
{
    enum { N_G = 6 };
    PS_SCOPED(tree_case_release) tree_case t = {0};
    check_ok(tree_case_random(&t, PS_DISTRIBUTION_ELLIPSOID, 4000, 6, N_G));
    const ps_octree *tree = &t.tree;
    int64_t leaves = ps_octree_leaves(tree), start[N_G + 1], items[27 * N_G], found[27 * N_G];
    int64_t *stamp, groups = ps_octree_groups(tree, 5), pairs_all = 0, due = 0;
    int64_t outside = 0, augmented = 0;
    check_ok(PS_ALLOC(&stamp, groups, "stamps"));
    ps_tree_list near = {start, items, NULL};
    for (int64_t g = 0; g < groups; ++g) {
        int64_t first, end;
        ps_octree_group(tree, 5, g, &first, &end);
        ps_tree_near(tree, tree, first, end, &near);
        int64_t count = ps_tree_augmented(&near, first, end, found), at = 0;
        for (int64_t s = end; s < leaves; ++s) {
            bool needed = false;
            for (int64_t i = 0; i < start[end - first]; ++i) needed |= items[i] == s;
            if (needed) assert_true(at < count && found[at++] == s);
        }
        assert_int_equal(at, count);
        ps_tree_pairs pairs = ps_tree_count_pairs(tree, tree, &near, first, end);
        pairs_all += pairs.inside + pairs.augmented;
        augmented += pairs.augmented;
        outside += pairs.outside;
        count = ps_tree_source_groups(items, start[end - first], N_G, g, g + 1, stamp, found);
        for (int64_t s = 0, j = 0; s < groups; ++s) {
            bool needed = false;
            for (int64_t i = 0; i < start[end - first]; ++i)
                needed |= items[i] / N_G == s && s != g;
            if (needed) assert_true(j < count && found[j++] == s);
        }
    }
    /* mutual pairs of all groups together: each pair of touching leaves once */
    for (int64_t c = 0; c < leaves; ++c) {
        int64_t here[2], own = tree->particle_start[c + 1] - tree->particle_start[c];
        ps_tree_list one = {here, items, NULL};
        ps_tree_near(tree, tree, c, c + 1, &one);
        for (int64_t i = 0; i < here[1]; ++i) {
            int64_t s = items[i];
            due += own * (tree->particle_start[s + 1] - tree->particle_start[s] - (s == c));
        }
    }
    assert_int_equal(2 * pairs_all, due);
    assert_int_equal(outside, 2 * augmented); /* met from both groups */
    free(stamp);
}

static void tiles_hold_whole_groups(void **state)
{
    PS_SCOPED(tree_case_release) tree_case t = {0};
    int64_t *start, tiles, capacity;
    check_ok(tree_case_random(&t, PS_DISTRIBUTION_CUBE, 400000, 4, 100)); /* 512 leaves, 6 groups */
    check_ok(ps_octree_tiles(&t.tree, &start, &tiles, &capacity));
    assert_int_equal(tiles, 5); /* of 78,125: one each, but the last has 12 leaves only */
    for (int64_t i = 0; i < tiles; ++i) assert_int_equal(start[i], t.tree.particle_start[100 * i]);
    free(start);
    t.tree.group_size = 1000; /* one group of 400,000: cut into parts */
    check_ok(ps_octree_tiles(&t.tree, &start, &tiles, &capacity));
    assert_int_equal(tiles, 4);
    for (int64_t i = 0; i < 4; ++i) assert_int_equal(start[i], 131072 * i);
    assert_int_equal(start[4], 400000);
    free(start);
    t.tree.group_size = 1;
    check_ok(ps_octree_tiles(&t.tree, &start, &tiles, &capacity));
    assert_int_equal(tiles, 4);
    for (int64_t i = 0; i < 4; ++i) assert_true(start[i + 1] - start[i] <= capacity);
    free(start);
}

/* Ranges of a distribution are parts of one whole; the ellipsoid's points lie on it. */
static void distributions(void **state)
{
    double all[3][1000], part[3][100], *whole[3] = {all[0], all[1], all[2]};
    double *few[3] = {part[0], part[1], part[2]};
    for (int kind = PS_DISTRIBUTION_CUBE; kind <= PS_DISTRIBUTION_CLUSTERS; ++kind) {
        ps_distribution_positions((ps_distribution)kind, 5, 0, 1000, whole);
        ps_distribution_positions((ps_distribution)kind, 5, 900, 100, few);
        for (int d = 0; d < 3; ++d) assert_memory_equal(all[d] + 900, part[d], 800);
    }
    ps_distribution_positions(PS_DISTRIBUTION_ELLIPSOID, 5, 0, 1000, whole);
    double c = cos(M_PI / 8), s = sin(M_PI / 8), tips = 0;
    for (int i = 0; i < 1000; ++i) {
        double x = all[0][i] - .5, y = all[1][i] - .5, w = all[2][i] - .5;
        double u = (y - x) * sqrt(.5), v = (x + y) * sqrt(.5);
        double p = c * v - s * w, r = s * v + c * w;
        check_near(p * p / 0.25 + (u * u + r * r) / 0.01, 1, 1e-12, 0);
        tips += fabs(p) > 0.25;
    }
    /* of the density sqrt(1 - s^2) (1 + 10 |s|), 0.600 lie in |s| > 1/2 */
    check_near(tips / 1000, 0.6, 0.05, 0);
    double half = 0;
    ps_distribution_positions(PS_DISTRIBUTION_PLUMMER, 5, 0, 1000, whole);
    for (int i = 0; i < 1000; ++i)
        half += all[0][i] * all[0][i] + all[1][i] * all[1][i] + all[2][i] * all[2][i] < 1.6987;
    check_near(half / 1000, 0.5, 0.06, 0); /* half the mass within 1.3034 */
}

static double distance(const double a[3], const double b[3])
{
    double sum = 0;
    for (int d = 0; d < 3; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sqrt(sum);
}

/* Masses of many seeds follow their law, pairs of centres theirs, and the particles of the richest
 * sphere lie as Plummer's model says. */
static void clusters(void **state)
{
    enum { SEEDS = 20, PARTICLES = 20000 };
    static ps_cluster of[PS_CLUSTERS];
    static double at[3][PARTICLES];
    double *columns[3] = {at[0], at[1], at[2]}, above = 0, pairs[2] = {0, 0}, all = 0, most = 0;
    int richest = 0, inner = 0;
    for (uint64_t seed = SEEDS; seed-- > 0;) {
        for (int k = 0; k < PS_CLUSTERS; ++k) {
            of[k] = ps_cluster_of(seed, k);
            assert_true(of[k].mass >= 1 && of[k].mass <= 1e3);
            check_near(pow(of[k].length / .01, 3), of[k].mass / 1e3, 1e-12, 0);
            above += of[k].mass > 10;
            for (int j = 0; j < k; ++j)
                for (int far = 0; far < 2; ++far)
                    pairs[far] += distance(of[j].centre, of[k].centre) < (far ? .12 : .03);
        }
    }
    /* of the law m^-1.9 on [1, 1000] */
    check_near(above / (SEEDS * PS_CLUSTERS), (pow(10, -.9) - pow(1e3, -.9)) / (1 - pow(1e3, -.9)),
               .01, 0);
    /* within r there are as many as r^(3 - 1.77): 5.5, and at random 64 */
    check_near(pairs[1] / pairs[0], pow(4, 1.23), 1.2, 0);
    assert_true(pairs[0] > 10 * SEEDS * .5 * PS_CLUSTERS * PS_CLUSTERS * 4. / 3 * M_PI * 2.7e-5);
    for (int k = 0; k < PS_CLUSTERS; ++k) {
        all += of[k].mass;
        if (of[k].mass > most) most = of[richest = k].mass;
    }
    ps_distribution_positions(PS_DISTRIBUTION_CLUSTERS, 0, 0, PARTICLES, columns);
    for (int i = 0; i < PARTICLES; ++i)
        inner += distance((double[]){at[0][i], at[1][i], at[2][i]}, of[richest].centre) <
                 of[richest].length;
    /* within the scale length: 2^-1.5 of its own, and few of others */
    check_near(inner, PARTICLES * most / all * pow(2, -1.5), .1 * inner, 0);
}
