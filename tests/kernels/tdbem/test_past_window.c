/* The window of the past against a plain history (kernels/tdbem/past_window.h). */
#include "tests/check.h"
#include "tests/support/past_case.h"

static void appended_steps_are_where_products_read(void **state)
{
    const int64_t sizes[] = {1, 31, 33, 200}, groups[] = {1, 3, 16, 32};
    for (int s = 0; s < 4; ++s)
        for (int g = 0; g < 4; ++g)
            for (int precision = 0; precision < 2; ++precision)
                check_ok(past_case_check("cpu", sizes[s], groups[g], (ps_precision)precision));
}

static void shape_has_room(void **state)
{
    for (int64_t k_max = 1; k_max < 400; k_max = 2 * k_max + 1)
        for (int64_t group = 1; group <= 32; group += 5) {
            ps_slice_header header = {.unknowns = 10, .k_max = k_max, .precision = PS_SINGLE};
            ps_past_window w = ps_past_window_shape(&header, 13, group);
            assert_true(w.kept >= 2 && w.kept >= k_max && w.before >= w.kept);
            assert_true(w.before >= ps_product_past_before(k_max, 13));
            assert_true(w.origin == w.before && !ps_past_window_is_full(&w, group));
            assert_true(w.after >= ps_product_past_after(group));
            assert_int_equal(ps_past_window_bytes(&w), 10 * w.stride * 4);
        }
}
