/* Near matrices by warps, built from tiles of every layout and tiling
 * (kernels/tdbem/near_build.h). */
#include "kernels/tdbem/near_build.h"

#include "tests/support/near_tiles.h"

enum { WARPS = (UNKNOWNS + 31) / 32 };
static const near_tiling tilings[] = {{64, 40}, {UNKNOWNS, UNKNOWNS}, {32, 7}};

static void take(void *build, const ps_slice_product *tile) { ps_near_build_take(build, tile); }

typedef struct built {
    ps_packed_near packed;
    void *memory;
} built;

static void drop(built *b) { free(b->memory); }

static built make(int layout, near_tiling tiling, ps_precision precision, int64_t group)
{
    built out = {.packed = {.unknowns = UNKNOWNS, .group = group, .precision = precision}};
    ps_near_build build;
    PS_SCOPED_MEMORY void *scratch =
        malloc((size_t)ps_near_build_bytes(UNKNOWNS, group, precision));
    memset(scratch, 0xee, (size_t)ps_near_build_bytes(UNKNOWNS, group, precision));
    ps_near_build_init(&build, &out.packed, scratch);
    over_tiles(tiling, layout, precision, &build, take);
    check_ok(ps_near_build_measure(&build));
    out.memory = aligned_alloc(64, (size_t)ps_packed_near_bytes(&out.packed));
    memset(out.memory, 0, (size_t)ps_packed_near_bytes(&out.packed));
    ps_packed_near_attach(&out.packed, out.memory);
    ps_near_build_fill(&build);
    over_tiles(tiling, layout, precision, &build, take);
    ps_near_build_finish(&build);
    return out;
}

/* dense[m][row][column], every value added where its vector says. */
static double *unpack(const ps_packed_near *p)
{
    double *dense = calloc((size_t)(p->group * UNKNOWNS * UNKNOWNS), sizeof *dense);
    for (int64_t w = 0; w < WARPS; ++w)
        for (int64_t v = p->vector_start[w]; v < p->vector_start[w + 1]; ++v)
            for (int64_t lane = 0; lane < 32; ++lane)
                for (int64_t q = 0; q < p->vectors[v].width; ++q) {
                    int64_t m = p->starts[v * 32 + lane] + q, row = 32 * w + lane;
                    double value = ((double *)p->values)[(p->vectors[v].offset + q) * 32 + lane];
                    assert_true(m < p->group && (row < UNKNOWNS || value == 0));
                    if (row < UNKNOWNS)
                        dense[(m * UNKNOWNS + row) * UNKNOWNS + p->vectors[v].column] += value;
                }
    return dense;
}

static void every_entry_is_there_once(void **state)
{
    for (int64_t group = 1; group <= 32; group *= 2) {
        PS_SCOPED(drop) built b = make(PS_BLOCK_WARP, tilings[0], PS_DOUBLE, group);
        PS_SCOPED_MEMORY double *dense = unpack(&b.packed);
        assert_false(b.packed.inner);
        for (int64_t m = 0; m < group; ++m)
            for (int64_t i = 0; i < UNKNOWNS; ++i)
                for (int64_t j = 0; j < UNKNOWNS; ++j)
                    check_near(dense[(m * UNKNOWNS + i) * UNKNOWNS + j], m ? entry(i, j, m) : 0, 0,
                               0);
        if (group > 4) assert_true(b.packed.value_count * 32 > UNKNOWNS);
    }
}

static void vectors_come_by_their_first_step_and_column(void **state)
{
    PS_SCOPED(drop) built b = make(-1, tilings[0], PS_SINGLE, 16);
    const ps_packed_near *p = &b.packed;
    assert_int_equal(p->vector_start[WARPS], p->vector_count);
    for (int64_t w = 0; w < WARPS; ++w)
        for (int64_t v = p->vector_start[w]; v < p->vector_start[w + 1]; ++v) {
            const ps_near_vector *vector = &p->vectors[v];
            int64_t rank = v - p->vector_start[w];
            assert_true(rank < p->reach[w * 16 + vector->first]);
            assert_true(rank >= p->reach[w * 16 + vector->first - 1]);
            if (v > p->vector_start[w] && vector[-1].first == vector->first)
                assert_true(vector[-1].column < vector->column);
            for (int lane = 0; lane < 32; ++lane)
                assert_true(p->starts[v * 32 + lane] + vector->width <= 16);
        }
}

static void layouts_and_tilings_give_the_same(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(drop) built first = make(-1, tilings[0], (ps_precision)precision, 16);
        int64_t bytes = ps_packed_near_bytes(&first.packed);
        for (int layout = -1; layout < 3; ++layout)
            for (int t = 0; t < 3; ++t) {
                PS_SCOPED(drop) built b = make(layout, tilings[t], (ps_precision)precision, 16);
                assert_int_equal(ps_packed_near_bytes(&b.packed), bytes);
                assert_memory_equal(b.memory, first.memory, (size_t)bytes);
            }
    }
}

/* Values of halves: the same places, to rounding. */
static void halves_are_near_the_entries(void **state)
{
    PS_SCOPED(drop) built b = make(HALVES, tilings[0], PS_DOUBLE, 8);
    PS_SCOPED_MEMORY double *dense = unpack(&b.packed);
    for (int64_t m = 1; m < 8; ++m)
        for (int64_t i = 0; i < UNKNOWNS; ++i)
            for (int64_t j = 0; j < UNKNOWNS; ++j)
                check_near(dense[(m * UNKNOWNS + i) * UNKNOWNS + j], entry(i, j, m), 0, 0x1p-11);
}
