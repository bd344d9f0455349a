/* Adaptive trees and their lists: every pair of leaves is covered once, on awkward particles. */
#include "tests/check.h"
#include "tests/support/adaptive_case.h"

/* Leaves below each cell: [first, end) along the Morton order. */
typedef struct leaf_ranges {
    int64_t *first, *end;
} leaf_ranges;

static leaf_ranges ranges_of(const ps_adaptive_tree *t)
{
    leaf_ranges r;
    check_ok(PS_ALLOC(&r.first, 2 * t->cells, "ranges"));
    r.end = r.first + t->cells;
    for (int64_t c = 0; c < t->cells; ++c) r.first[c] = t->leaves;
    for (int64_t l = 0; l < t->leaves; ++l)
        for (int32_t c = t->leaf[l]; c >= 0; c = t->cell[c].parent) {
            if (l < r.first[c]) r.first[c] = l;
            if (l >= r.end[c]) r.end[c] = l + 1;
        }
    return r;
}

static void ranges_free(leaf_ranges *r) { free(r->first); }

static void add(const leaf_ranges *ranges, int64_t cell, int *row)
{
    for (int64_t l = ranges->first[cell]; l < ranges->end[cell]; ++l) ++row[l];
}

/* How often each leaf acts on a leaf, by its own lists and those of the cells that hold it. */
static void cover(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                  const leaf_ranges *ranges, int32_t leaf, ps_adaptive_lists *lists, int *row)
{
    int64_t far[PS_ADAPTIVE_FAR_MAX];
    uint16_t codes[PS_ADAPTIVE_FAR_MAX];
    for (int32_t c = leaf; c >= 0; c = t->cell[c].parent) {
        check_ok(ps_adaptive_lists_of(t, rule, c, lists));
        int count = ps_adaptive_far(t, rule, c, far, codes);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(t->cell[far[i]].level, t->cell[c].level);
            assert_false(ps_adaptive_adjacent(&t->cell[far[i]], &t->cell[c]));
            add(ranges, far[i], row);
        }
        for (int64_t i = 0; i < lists->near.count; ++i) add(ranges, lists->near.items[i], row);
        assert_true(c == leaf || lists->direct.count == 0);
        assert_true(c == leaf || lists->far.count == 0);
        for (int64_t i = 0; i < lists->direct.count; ++i) add(ranges, lists->direct.items[i], row);
        for (int64_t i = 0; i < lists->far.count; ++i) {
            assert_false(ps_adaptive_adjacent(&t->cell[lists->far.items[i]], &t->cell[c]));
            add(ranges, lists->far.items[i], row);
        }
    }
}

static int64_t wrong_pairs(const ps_adaptive_tree *t, const ps_adaptive_rule *rule)
{
    PS_SCOPED(ps_adaptive_lists_release) ps_adaptive_lists lists = {0};
    PS_SCOPED(ranges_free) leaf_ranges ranges = ranges_of(t);
    int64_t wrong = 0;
    PS_SCOPED_MEMORY int *row = NULL;
    check_ok(PS_ALLOC(&row, t->leaves, "row"));
    for (int64_t l = 0; l < t->leaves; ++l) {
        int64_t targets = ps_adaptive_size(t->cell[t->leaf[l]].targets);
        memset(row, 0, sizeof *row * (size_t)t->leaves);
        cover(t, rule, &ranges, t->leaf[l], &lists, row);
        for (int64_t s = 0; s < t->leaves; ++s) {
            int64_t sources = ps_adaptive_size(t->cell[t->leaf[s]].sources);
            wrong += targets > 0 && sources > 0 && row[s] != 1;
        }
    }
    return wrong;
}

/* Leaves hold all particles, in order and within their borders; none is too large that could be
 * divided. */
static void check_tree(const ps_adaptive_tree *t, const adaptive_case *c)
{
    int64_t at[2] = {0, 0};
    for (int64_t l = 0; l < t->leaves; ++l) {
        const ps_adaptive_cell *leaf = &t->cell[t->leaf[l]];
        double centre[3], width;
        ps_adaptive_centre(&t->box, leaf, centre, &width);
        for (int set = 0; set < (t->same ? 1 : 2); ++set) {
            ps_fmm_range r = set ? leaf->targets : leaf->sources;
            assert_int_equal(r.begin, at[set]);
            at[set] = r.end;
            for (int64_t i = r.begin; i < r.end; ++i)
                for (int d = 0; d < 3; ++d) {
                    double off = c->sorted[set][d * c->count[set] + i] - centre[d];
                    assert_true(fabs(off) <= 0.5 * width * (1 + 1e-6));
                }
        }
    }
    for (int set = 0; set < (t->same ? 1 : 2); ++set) assert_int_equal(at[set], c->count[set]);
}

static void each_pair_once(void **state)
{
    const int64_t sizes[] = {1, 5, 40};
    const ps_adaptive_rule rules[] = {{0, 0}, {27, 12}, {125, 112}};
    for (int places = 0; places < ADAPTIVE_PLACES; ++places)
        for (int i = 0; i < 3; ++i)
            for (int two = 0; two < 2; ++two) {
                PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
                check_ok(
                    adaptive_case_tree(&c, (adaptive_places)places, 400, two ? 200 : 0, sizes[i]));
                check_tree(&c.tree, &c);
                for (int r = 0; r < 3; ++r) {
                    int64_t wrong = wrong_pairs(&c.tree, &rules[r]);
                    if (wrong)
                        print_message("places %d, leaves of %d, %d sets, rule %d: of %d leaves\n",
                                      places, (int)sizes[i], two + 1, r, (int)c.tree.leaves);
                    assert_int_equal(wrong, 0);
                }
            }
}

static void depths(void **state)
{
    adaptive_case c;
    check_ok(adaptive_case_tree(&c, ADAPTIVE_DEEP_CUSP, 20000, 0, 20));
    assert_true(c.tree.levels > 36);
    for (int64_t l = 0; l < c.tree.leaves; ++l)
        assert_true(ps_adaptive_size(c.tree.cell[c.tree.leaf[l]].sources) <= 20);
    adaptive_case_release(&c);
    /* what no division parts is a leaf at once */
    check_ok(adaptive_case_tree(&c, ADAPTIVE_ONE_PLACE, 500, 0, 10));
    assert_int_equal(c.tree.cells, 1);
    adaptive_case_release(&c);
    check_ok(adaptive_case_tree(&c, ADAPTIVE_COINCIDENT, 600, 0, 10));
    assert_true(c.tree.levels > 30);
    adaptive_case_release(&c);
    /* centres are exact at large coordinates, so the tree ends earlier there */
    check_ok(adaptive_case_tree(&c, ADAPTIVE_FAR_AWAY, 5000, 0, 1));
    assert_true(c.tree.deepest < PS_ADAPTIVE_DEEPEST && c.tree.levels <= c.tree.deepest + 1);
    adaptive_case_release(&c);
}

/* Counted work is that of all ordered pairs where nothing is far. */
static void counts(void **state)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    ps_adaptive_work work;
    const ps_adaptive_rule rule = {0, 0};
    check_ok(adaptive_case_tree(&c, ADAPTIVE_CUBE, 900, 0, 1000));
    check_ok(ps_adaptive_count(&c.tree, &rule, &work));
    assert_int_equal(work.direct, 900 * 900);
    assert_int_equal(work.m2l + work.m2p + work.p2l, 0);
}
