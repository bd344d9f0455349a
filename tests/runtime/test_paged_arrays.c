#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/paged_arrays.h"
#include "tests/check.h"

enum { RANGES = 23, ARRAYS = 3 };
static const int64_t row_bytes[ARRAYS] = {64, 4096, 192};
static char paths[2][64];

/* Ranges of 1 to 9 rows. */
static void make_bounds(int64_t bounds[RANGES + 1])
{
    bounds[0] = 0;
    for (int r = 0; r < RANGES; ++r) bounds[r + 1] = bounds[r] + 1 + (r * 7) % 9;
}

static ps_paged *open_paged(int64_t capacity)
{
    int64_t bounds[RANGES + 1];
    ps_paged *paged;
    make_bounds(bounds);
    for (int k = 0; k < 2; ++k)
        snprintf(paths[k], sizeof paths[k], "/tmp/test_paged_arrays.%d.%d", (int)getpid(), k);
    const ps_paged_request request = {RANGES,  bounds, ARRAYS, row_bytes, {paths[0], paths[1]},
                                      capacity};
    check_ok(ps_paged_open(&request, &paged));
    return paged;
}

static void close_paged(ps_paged **paged)
{
    ps_paged_close(paged);
    for (int k = 0; k < 2; ++k) unlink(paths[k]);
}

/* Every byte of a range: of its row, array and `version`. */
static unsigned char byte_of(int64_t row, int array, int version)
{
    return (unsigned char)(row * 31 + array * 7 + version * 13);
}

static void write_range(ps_paged *paged, int64_t r, int version)
{
    int64_t bounds[RANGES + 1];
    make_bounds(bounds);
    for (int k = 0; k < ARRAYS; ++k)
        for (int64_t row = bounds[r]; row < bounds[r + 1]; ++row)
            memset((char *)ps_paged_array(paged, k) + row * row_bytes[k], byte_of(row, k, version),
                   (size_t)row_bytes[k]);
}

static int is_range(ps_paged *paged, int64_t r, int version)
{
    int64_t bounds[RANGES + 1];
    make_bounds(bounds);
    for (int k = 0; k < ARRAYS; ++k)
        for (int64_t row = bounds[r]; row < bounds[r + 1]; ++row)
            for (int64_t i = 0; i < row_bytes[k]; ++i)
                if (((unsigned char *)ps_paged_array(paged, k))[row * row_bytes[k] + i] !=
                    byte_of(row, k, version))
                    return 0;
    return 1;
}

static void fill(ps_paged *paged, int versions[RANGES])
{
    for (int64_t r = 0; r < RANGES; ++r) {
        check_ok(ps_paged_fresh(paged, r));
        write_range(paged, r, versions[r] = (int)r);
        ps_paged_done(paged, r, 1);
    }
}

/* Passes to and fro with read-ahead, and ranges at random, in memory for three to all of them. */
static void values_come_back(void **state)
{
    const int64_t largest = 9 * (64 + 4096 + 192);
    for (int ranges = 3; ranges <= 30; ranges += 9) {
        int versions[RANGES];
        uint64_t seed = 3;
        ps_paged *paged = open_paged(ranges * largest);
        fill(paged, versions);
        for (int pass = 0; pass < 6; ++pass) {
            ps_paged_hold(paged);
            for (int64_t i = 0; i < RANGES; ++i) {
                int64_t r = pass % 2 ? i : RANGES - 1 - i, next = pass % 2 ? r + 1 : r - 1;
                check_ok(ps_paged_need(paged, r));
                if (next >= 0 && next < RANGES) check_ok(ps_paged_prefetch(paged, next));
                assert_true(is_range(paged, r, versions[r]));
                if (pass < 4) write_range(paged, r, ++versions[r]);
                ps_paged_done(paged, r, pass < 4);
            }
        }
        for (int i = 0; i < 200; ++i) {
            int64_t r = (int64_t)(RANGES * check_random(&seed));
            check_ok(ps_paged_need(paged, r));
            assert_true(is_range(paged, r, versions[r]));
            if (i % 3) write_range(paged, r, ++versions[r]);
            ps_paged_done(paged, r, i % 3 != 0);
        }
        ps_paged_stats stats;
        ps_paged_get_stats(paged, &stats);
        int64_t all = 0; /* what fits is never read */
        for (int64_t r = 0; r < RANGES; ++r) all += ps_paged_range_bytes(paged, r);
        assert_true((all <= ranges * largest) == (stats.bytes_read == 0));
        assert_true(ranges > 3 || all > ranges * largest);
        close_paged(&paged);
    }
}

static void too_little_room_is_refused(void **state)
{
    int versions[RANGES];
    ps_paged *paged = open_paged(3 * 9 * (64 + 4096 + 192));
    ps_status status = PS_OK;
    fill(paged, versions);
    ps_paged_hold(paged);
    for (int64_t r = 0; r < RANGES && status == PS_OK; ++r) status = ps_paged_need(paged, r);
    assert_int_equal(status, PS_EXHAUSTED);
    assert_non_null(strstr(ps_message(), "--host-memory"));
    close_paged(&paged);
}

/* A state that was kept survives all that is done afterwards; another process would find it. */
static void kept_states(void **state)
{
    int versions[RANGES];
    int64_t hashes[RANGES];
    ps_paged *paged = open_paged(4 * 9 * (64 + 4096 + 192));
    fill(paged, versions);
    check_ok(ps_paged_flush(paged, hashes));
    int file = ps_paged_file(paged);
    ps_paged_keep(paged);
    assert_int_equal(ps_paged_file(paged), 1 - file);
    for (int pass = 0; pass < 3; ++pass)
        for (int64_t r = 0; r < RANGES; ++r) {
            check_ok(ps_paged_need(paged, r));
            write_range(paged, r, 100 + pass);
            ps_paged_done(paged, r, 1);
        }
    check_ok(ps_paged_adopt(paged, file, hashes));
    for (int64_t r = 0; r < RANGES; ++r) {
        check_ok(ps_paged_need(paged, r));
        assert_true(is_range(paged, r, versions[r]));
        ps_paged_done(paged, r, 0);
    }
    /* one flipped byte is found */
    int descriptor = open(paths[file], O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(descriptor, &byte, 1, 70000), 1);
    byte ^= 1;
    assert_int_equal(pwrite(descriptor, &byte, 1, 70000), 1);
    close(descriptor);
    assert_int_equal(ps_paged_adopt(paged, file, hashes), PS_INVALID);
    assert_non_null(strstr(ps_message(), paths[file]));
    close_paged(&paged);
}
