/* Trees and evaluations on a device, as far as that goes without one: what is refused, and where
 * the parts of memory lie. The rest: tests/gpu/check_fmm_tree.c, check_fmm_evaluate.c. */
#include "tests/check.h"

#include "kernels/fmm/device_evaluate.h"
#include "tests/support/cpu_device.h"

static void sorts_refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    int64_t bytes;
    ps_device_sort sort = {.count = 10, .level = 3, .box = {{0, 0, 0}, 1}};
#define no_sort(place, value, text)                                                                \
    check_fails_if(sort.place, value, ps_device_sort_bytes(&sort, stream, &bytes), PS_USAGE, text)
    no_sort(count, 0, "0 particles");
    no_sort(count, (int64_t)INT32_MAX + 1, "2147483648 particles");
    no_sort(level, PS_OCTREE_LEVELS_MAX, "level 21");
    check_fails(ps_device_sort_bytes(&sort, stream, &bytes), PS_FAILED, "needs a CUDA device");
    ps_device_columns none = {.count = 0};
    check_fails(ps_device_gather(&sort, &none, stream), PS_USAGE, "0 columns");
    none.count = 1;
    check_fails(ps_device_scatter(&sort, &none, stream), PS_FAILED, "needs a CUDA device");
}

static void trees_refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    ps_device_sort sort = {.count = 10, .level = 3, .box = {{0, 0, 0}, 1}};
    ps_device_tree tree = {.height = 5}, other = {.height = 4};
    ps_device_lists lists;
    int64_t bytes;
    check_fails(ps_device_tree_fill(&sort, &tree, stream), PS_USAGE,
                "height 5 from keys on level 3");
    check_fails(ps_device_lists_fill(&tree, &other, &lists, stream), PS_USAGE,
                "different boxes or heights");
    tree.cells[4] = (int64_t)INT32_MAX + 1;
    check_fails(ps_device_lists_bytes(&tree, &lists, stream, &bytes), PS_USAGE, "2147483648 cells");
}

static void evaluations_refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    int64_t bytes;
    double seconds[PS_FMM_RESIDENT_STAGES];
    ps_fmm_resident r = {.height = 2, .box = {{0, 0, 0}, 1}, .count = {10, 0}};
    r.lanes.far = r.lanes.near = stream;
    check_fails(ps_fmm_resident_init(&r, &bytes), PS_USAGE, "0 right-hand sides");
    r.method.sides = 1;
#define no_evaluation(place, value, text)                                                          \
    check_fails_if(r.place, value, ps_fmm_resident_init(&r, &bytes), PS_USAGE, text)
    no_evaluation(height, 22, "a height of 22");
    no_evaluation(height, 3, "no operators of order 0 for level 2");
    no_evaluation(box.width, 0, "a box of width 0");
    check_fails(ps_fmm_resident_init(&r, &bytes), PS_FAILED, "needs a CUDA device");
    check_fails(ps_fmm_resident_seconds(&r, seconds), PS_USAGE, "was not timed");
}

/* Parts lie one after the other, on multiples of 256 bytes, and fill what was counted. */
static void parts_do_not_overlap(void **state)
{
    ps_device_tree tree = {.height = 3, .cells = {1, 7, 50}};
    char *block = (char *)(uintptr_t)(1 << 20), *end = block;
    ps_device_tree_attach(&tree, block);
    for (int l = 0; l < 3; ++l) {
        struct {
            void *at;
            int64_t bytes;
        } parts[] = {{tree.keys[l], 8 * tree.cells[l]},
                     {tree.parent[l], l > 0 ? 4 * tree.cells[l] : 0},
                     {tree.child_start[l], l < 2 ? 4 * (tree.cells[l] + 1) : 0},
                     {tree.children[l], l < 2 ? 32 * tree.cells[l] : 0}};
        for (int i = 0; i < 4; ++i) {
            assert_ptr_equal(parts[i].at, end);
            end += (parts[i].bytes + 255) / 256 * 256;
        }
    }
    assert_ptr_equal(tree.particle_start, end);
    assert_int_equal(ps_device_tree_bytes(&tree), end - block + (51 * 4 + 255) / 256 * 256);
    assert_true(ps_device_sparse(&tree, 1) == false && !ps_device_sparse(&tree, 2));
    tree.cells[2] = 48;
    assert_true(ps_device_sparse(&tree, 2));
}
