#include <stdlib.h>

#include "runtime/scope.h"
#include "runtime/worker_balance.h"
#include "tests/check.h"
#include "tests/support/balance_case.h"

enum { MANY = 1000 };

static ps_worker_balance *open_balance(int workers, int64_t items, const int64_t *caps)
{
    ps_worker_balance *b;
    ps_worker_balance_config config = {
        .workers = workers, .items = items, .iterations = MANY, .item_caps = caps};
    check_ok(ps_worker_balance_open(&config, &b));
    return b;
}

static int64_t count_of(const ps_worker_balance *b, int worker)
{
    int64_t first, end;
    ps_worker_balance_interval(b, worker, &first, &end);
    return end - first;
}

/* The intervals are these long and follow one another. */
static void check_counts(const ps_worker_balance *b, int workers, const int64_t *expected)
{
    int64_t begin = 0;
    for (int i = 0; i < workers; ++i) {
        int64_t first, end;
        ps_worker_balance_interval(b, i, &first, &end);
        assert_int_equal(first, begin);
        assert_int_equal(end - first, expected[i]);
        begin = end;
    }
}

/* A balance by the published rule alone that holds these counts: times that ask for them. */
static ps_worker_balance *open_with(int workers, int64_t items, const int64_t *counts)
{
    double seconds[8];
    ps_worker_balance *b;
    ps_worker_balance_config config = {
        .workers = workers, .items = items, .iterations = MANY, .plain = true};
    check_ok(ps_worker_balance_open(&config, &b));
    for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < workers; ++i) seconds[i] = (double)count_of(b, i) / (double)counts[i];
        check_ok(ps_worker_balance_update(b, seconds));
    }
    check_counts(b, workers, counts);
    return b;
}

/* The paper's example with its mean put right (guide, section 3): s = 10, 3 and t = 10, 4 s. */
static void example_of_two_workers(void **state)
{
    static const int64_t start[2] = {10, 3}, expected[2] = {7, 6};
    static const double seconds[2] = {10, 4};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = open_with(2, 13, start);
    check_ok(ps_worker_balance_update(b, seconds));
    check_counts(b, 2, expected);
}

/* The paper's figure 11: workers 1 and 3 drop 3 and 1 items, 0 and 2 take 1/4 and 3/4 of them.
 * It gives no times; here t_a = 8, r_1 = 9 (12 - 8)/12 = 3, r_3 = 5 (10 - 8)/10 = 1,
 * o_0 = 1 (8 - 4)/4 = 1, o_2 = 9 (8 - 6)/6 = 3. */
static void example_of_figure_11(void **state)
{
    static const int64_t start[4] = {1, 9, 9, 5}, expected[4] = {2, 6, 12, 4};
    static const double seconds[4] = {4, 12, 6, 10};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = open_with(4, 24, start);
    check_ok(ps_worker_balance_update(b, seconds));
    check_counts(b, 4, expected);
}

static void starts_with_equal_numbers(void **state)
{
    static const int64_t expected[4] = {3, 3, 2, 2}, few[4] = {1, 1, 0, 0}, none[4] = {0};
    static const double seconds[4] = {1, 9, 0, 0};
    PS_SCOPED(ps_worker_balance_close)
    ps_worker_balance *ten = open_balance(4, 10, NULL), *two = open_balance(4, 2, NULL),
                      *no = open_balance(4, 0, NULL);
    check_counts(ten, 4, expected);
    check_ok(ps_worker_balance_update(two, seconds));
    check_counts(two, 4, few);
    check_counts(no, 4, none);
}

/* However slow a worker is, it keeps an item, and times of 0 do no harm. */
static void keeps_an_item(void **state)
{
    static const double slow[3] = {1e9, 1, 1}, zero[3] = {0, 0, 1}, nothing[3] = {0};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = open_balance(3, 12, NULL);
    for (int n = 0; n < 3; ++n) check_ok(ps_worker_balance_update(b, slow));
    assert_int_equal(count_of(b, 0), 1);
    check_ok(ps_worker_balance_update(b, nothing));
    assert_int_equal(count_of(b, 0), 1);
    check_ok(ps_worker_balance_update(b, zero));
    for (int i = 0; i < 3; ++i) assert_true(count_of(b, i) >= 1);
}

static void respects_caps(void **state)
{
    static const int64_t caps[3] = {0, 4, 0}, start[3] = {13, 4, 13};
    static const double fast[3] = {10, 1, 10};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = open_balance(3, 30, caps);
    check_counts(b, 3, start);
    check_ok(ps_worker_balance_update(b, fast));
    assert_int_equal(count_of(b, 1), 4);
    check_counts(b, 3, start); /* the others are alike */
    static const int64_t small[3] = {2, 2, 2}, equal[3] = {10, 10, 10};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *all = open_balance(3, 30, small);
    check_counts(all, 3, equal); /* they cannot take all: as if there were none */
}

/* A worker with 100 bytes never gets more than 100 bytes of items, wherever its interval lies. */
static void respects_bytes(void **state)
{
    enum { ITEMS = 60 };
    int64_t bytes[ITEMS], caps[3] = {0, 100, 150};
    for (int k = 0; k < ITEMS; ++k) bytes[k] = 1 + k % 17;
    ps_worker_balance_config config = {
        .workers = 3, .items = ITEMS, .iterations = MANY, .byte_caps = caps, .item_bytes = bytes};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = NULL;
    check_ok(ps_worker_balance_open(&config, &b));
    uint64_t seed = 3;
    for (int round = 0; round < 200; ++round) {
        double seconds[3];
        for (int i = 0; i < 3; ++i) {
            int64_t first, end, held = 0;
            ps_worker_balance_interval(b, i, &first, &end);
            for (int64_t k = first; k < end; ++k) held += bytes[k];
            assert_true(!caps[i] || held <= caps[i]);
            assert_true(end > first);
            seconds[i] = (double)(end - first) * (i == 0 ? 10 : 1) * (0.5 + check_random(&seed));
        }
        check_ok(ps_worker_balance_update(b, seconds));
    }
    assert_true(count_of(b, 1) >= 8); /* and it uses them */
}

/* Any times: the intervals cover the items, within the caps; the same times, the same intervals. */
static void always_a_partition(void **state)
{
    uint64_t seed = 11;
    for (int round = 0; round < 300; ++round) {
        int workers = 1 + (int)(check_random(&seed) * 8);
        int64_t items = (int64_t)(check_random(&seed) * 200), caps[8];
        for (int i = 0; i < workers; ++i)
            caps[i] = i && check_random(&seed) < 0.5 ? 1 + (int64_t)(check_random(&seed) * 40) : 0;
        ps_worker_balance *pair[2] = {open_balance(workers, items, caps),
                                      open_balance(workers, items, caps)};
        for (int n = 0; n < 30; ++n) {
            double seconds[8];
            int64_t counts[8], sum = 0;
            for (int i = 0; i < workers; ++i) {
                seconds[i] = check_random(&seed) < 0.1 ? 0 : exp(20 * check_random(&seed) - 10);
                counts[i] = count_of(pair[0], i);
                sum += counts[i];
                assert_true(counts[i] >= (items >= workers));
                assert_true(!caps[i] || counts[i] <= caps[i]);
            }
            assert_int_equal(sum, items);
            check_counts(pair[1], workers, counts);
            for (int p = 0; p < 2; ++p) check_ok(ps_worker_balance_update(pair[p], seconds));
        }
        for (int p = 0; p < 2; ++p) ps_worker_balance_close(&pair[p]);
    }
}

/* The best of three iterations was the second: its intervals come back and stay. */
static void rolls_back_and_settles(void **state)
{
    static const double times[4][2] = {{3, 1}, {2, 1.9}, {1, 2.5}, {9, 1}};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = NULL;
    ps_worker_balance_config config = {.workers = 2, .items = 100, .iterations = 3};
    int64_t second = 0;
    check_ok(ps_worker_balance_open(&config, &b));
    for (int n = 0; n < 4; ++n) {
        if (n == 1) second = count_of(b, 0);
        assert_int_equal(ps_worker_balance_settled(b), n >= 3);
        check_ok(ps_worker_balance_update(b, times[n]));
    }
    assert_int_equal(count_of(b, 0), second);
}

static void refuses_nonsense(void **state)
{
    static const int64_t good[3] = {0, 4, 10}, falls[3] = {0, 11, 10}, shared[2] = {4, 6};
    static const double bad[2] = {1, -1}, nan_time[2] = {NAN, 1}, seconds[2] = {1, 2};
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *b = NULL;
    ps_worker_balance_config config = {.workers = 0, .items = 4};
    check_fails(ps_worker_balance_open(&config, &b), PS_USAGE, "0 workers");
    config = (ps_worker_balance_config){.workers = 2, .items = 4, .byte_caps = good};
    check_fails(ps_worker_balance_open(&config, &b), PS_USAGE, "out of range");
    b = open_balance(2, 10, NULL);
    check_fails(ps_worker_balance_update(b, bad), PS_USAGE, "worker 1");
    check_fails(ps_worker_balance_update(b, nan_time), PS_USAGE, "worker 0");
    check_fails(ps_worker_balance_fix(b, falls), PS_USAGE, "do not rise");
    check_ok(ps_worker_balance_fix(b, good));
    check_ok(ps_worker_balance_update(b, seconds));
    check_counts(b, 2, shared);
}

/* Table 1: at most 0.2 % over the optimum in every case, many seeds. It takes the rollback, as the
 * last iteration alone is worse in some, and more than the published rule, which is worse too. */
static void table_1(void **state)
{
    double worst_last = 0, worst_plain = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed)
        for (int which = 0; which < BALANCE_COSTS * BALANCE_FACTORS; ++which) {
            balance_case item = {which / BALANCE_FACTORS, which % BALANCE_FACTORS, 100 * seed};
            balance_outcome outcome;
            check_ok(balance_simulate(&item, true, &outcome));
            worst_plain = fmax(worst_plain, balance_extra(&outcome, outcome.rolled_back));
            check_ok(balance_simulate(&item, false, &outcome));
            worst_last = fmax(worst_last, balance_extra(&outcome, outcome.last));
            double kept = balance_extra(&outcome, outcome.rolled_back);
            assert_true(kept >= -1e-6); /* the optimum is one */
            if (kept > 0.2)
                print_error("costs %s, workers %s, seed %d:\n", balance_cost_names[item.costs],
                            balance_factor_names[item.factors], (int)seed);
            check_at_most(kept, 0.2);
        }
    assert_true(worst_last > 0.2);
    assert_true(worst_plain > 0.2);
}
