#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/check.h"

static void allocations_are_aligned_and_zeroed(void **state)
{
    for (int64_t count = 0; count < 300; count += 7) {
        PS_SCOPED_MEMORY double *numbers = NULL;
        PS_SCOPED_MEMORY void *bytes = NULL;
        check_ok(PS_ALLOC(&numbers, count, "numbers"));
        assert_int_equal((uintptr_t)numbers % 64, 0);
        for (int64_t i = 0; i < count; ++i) check_near(numbers[i], 0, 0, 0);
        check_ok(ps_alloc_untouched(&bytes, count, "bytes"));
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
    }
}

static void impossible_sizes(void **state)
{
    double *numbers = (double *)state;
    check_fails(PS_ALLOC(&numbers, -1, "the matrix"), PS_EXHAUSTED, "no memory for the matrix");
    assert_null(numbers);
    check_fails(PS_ALLOC(&numbers, INT64_MAX / 4, "the matrix"), PS_EXHAUSTED, "do not fit");
    check_fails(PS_ALLOC(&numbers, (int64_t)1 << 57, "the matrix"), PS_EXHAUSTED, "--host-memory");
    void *bytes;
    check_fails(ps_alloc_untouched(&bytes, INT64_MAX, "bytes"), PS_EXHAUSTED, "bytes");
    check_fails(ps_alloc_untouched(&bytes, -5, "bytes"), PS_EXHAUSTED, "bytes");
    assert_null(bytes);
}

static void growing_keeps_what_is_there(void **state)
{
    PS_SCOPED_MEMORY int *items = NULL;
    int64_t capacity = 0, grown = 0;
    for (int i = 0; i < 5000; ++i) {
        int64_t before = capacity;
        check_ok(ps_grow((void **)&items, &capacity, i + 1, sizeof *items, "items"));
        assert_true(capacity > i);
        grown += capacity != before;
        items[i] = i * i;
    }
    for (int i = 0; i < 5000; ++i) assert_int_equal(items[i], i * i);
    assert_in_range(grown, 1, 15); /* doubling */
    int64_t before = capacity;
    check_fails(ps_grow((void **)&items, &capacity, INT64_MAX / 2, sizeof *items, "items"),
                PS_EXHAUSTED, "no memory for items");
    assert_int_equal(capacity, before);
    assert_int_equal(items[4999], 4999 * 4999);
}

static void the_machine(void **state)
{
    enum { TOUCHED = 64 << 20 };
    assert_true(ps_memory_available() > 0);
    int64_t peak = ps_memory_peak();
    PS_SCOPED_MEMORY char *memory = NULL;
    check_ok(PS_ALLOC(&memory, TOUCHED, "a peak"));
    memset(memory, 1, TOUCHED);
    assert_true(ps_memory_peak() >= peak && ps_memory_peak() >= TOUCHED);
    double before = ps_clock();
    while (ps_clock() == before) {
    }
    assert_true(ps_clock() > before);
}
