#include "runtime/balance.h"
#include "tests/check.h"

enum { ITEMS_MAX = 40, PARTS_MAX = 12 };

/* The smallest largest sum by dynamic programming over all contiguous splits. */
static int64_t optimum(const int64_t *weights, int count, int parts)
{
    int64_t best[PARTS_MAX + 1][ITEMS_MAX + 1];
    for (int p = 0; p <= parts; ++p)
        for (int i = 0; i <= count; ++i) {
            best[p][i] = i == 0 ? 0 : INT64_MAX;
            int64_t sum = 0;
            for (int j = i; p > 0 && j >= 0; --j) {
                int64_t largest = best[p - 1][j] > sum ? best[p - 1][j] : sum;
                if (largest < best[p][i]) best[p][i] = largest;
                if (j > 0) sum += weights[j - 1];
            }
        }
    return best[parts][count];
}

/* What the slowest has to do. */
static int64_t largest_part(const int64_t *weights, int parts, const int64_t *first)
{
    int64_t largest = 0;
    for (int p = 0; p < parts; ++p) {
        int64_t sum = 0;
        for (int64_t i = first[p]; i < first[p + 1]; ++i) sum += weights[i];
        if (sum > largest) largest = sum;
    }
    return largest;
}

static void check_split(const int64_t *weights, int count, int parts)
{
    int64_t first[PARTS_MAX + 1];
    ps_split_equal(weights, count, parts, first);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[parts], count);
    for (int p = 0; p < parts; ++p) assert_true(first[p] <= first[p + 1]);
    assert_int_equal(largest_part(weights, parts, first), optimum(weights, count, parts));
}

static void optimal_for_random_weights(void **state)
{
    uint64_t seed = 7;
    for (int round = 0; round < 400; ++round) {
        int64_t weights[ITEMS_MAX];
        int count = (int)(check_random(&seed) * (ITEMS_MAX + 1));
        double top = round % 3 == 0 ? 3 : round % 3 == 1 ? 100 : 1e12;
        for (int i = 0; i < count; ++i) weights[i] = (int64_t)(check_random(&seed) * top);
        for (int parts = 1; parts <= PARTS_MAX; ++parts) check_split(weights, count, parts);
    }
}

static void evens_out_the_rest(void **state)
{
    int64_t weights[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, first[5];
    ps_split_equal(weights, 10, 4, first); /* 3 3 3 1 would have the same largest part */
    for (int p = 0; p < 4; ++p) assert_in_range(first[p + 1] - first[p], 2, 3);
}

static void extremes(void **state)
{
    int64_t zeros[4] = {0}, heavy[3] = {INT64_MAX / 2, 0, INT64_MAX / 2}, first[4];
    check_split(zeros, 4, 3);
    check_split(zeros, 0, 5);
    ps_split_equal(heavy, 3, 2, first);
    assert_int_equal(largest_part(heavy, 2, first), INT64_MAX / 2);
    ps_split_equal(heavy, 3, 1, first);
    assert_int_equal(first[1], 3);
}
