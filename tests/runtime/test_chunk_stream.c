#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/chunk_plan.h"
#include "runtime/chunk_stream.h"
#include "tests/check.h"

enum { CHUNKS_MAX = 64, SWEEPS = 3 };

/* A source of chunks that can check, delay and fail each callback. */
typedef struct source {
    int64_t chunks, raw[CHUNKS_MAX], unpacked[CHUNKS_MAX];
    int fail_read, fail_unpack, fail_allocate; /* -1: never; else the chunk (or call) */
    int reads_before, reads_of_failing;        /* successful reads of that chunk */
    double read_delay, unpack_delay, compute_delay;
    atomic_int reading, allocations, unpacks_at_once;
    int allocate_calls;
    int64_t allocated; /* bytes */
    /* of compute */
    int64_t next, computed;
    int fail_compute, fail_compute_sweep, sweep;
    uint64_t digest;
    int wrong;
} source;

static void wait_for(double seconds)
{
    if (seconds > 0) usleep((useconds_t)(1e6 * seconds));
}

static unsigned char stored_byte(int64_t chunk, int64_t i)
{
    return (unsigned char)(chunk * 37 + i * 11 + (i >> 8));
}

static ps_status read_chunk(void *context, int64_t chunk, void *raw)
{
    source *s = context;
    unsigned char *bytes = raw;
    if (atomic_fetch_add(&s->reading, 1) != 0) s->wrong = 1; /* one reader only */
    wait_for(s->read_delay);
    for (int64_t i = 0; i < s->raw[chunk]; ++i) bytes[i] = stored_byte(chunk, i);
    atomic_fetch_sub(&s->reading, 1);
    if (chunk == s->fail_read && s->reads_of_failing++ == s->reads_before)
        return ps_fail(PS_INVALID, "read broke at %d", (int)chunk);
    return PS_OK;
}

/* Unpacked byte i is stored byte i mod (stored size), plus one. */
static ps_status unpack_chunk(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    source *s = context;
    const unsigned char *from = raw;
    unsigned char *to = unpacked;
    atomic_fetch_add(&s->unpacks_at_once, 1);
    wait_for(s->unpack_delay);
    for (int64_t i = 0; i < s->unpacked[chunk]; ++i)
        to[i] = (unsigned char)(s->raw[chunk] ? from[i % s->raw[chunk]] + 1 : 7);
    atomic_fetch_sub(&s->unpacks_at_once, 1);
    if (chunk == s->fail_unpack) return ps_fail(PS_INVALID, "unpack broke at %d", (int)chunk);
    return PS_OK;
}

static ps_status count_allocate(void *context, int64_t bytes, void **out)
{
    source *s = context;
    if (s->allocate_calls++ == s->fail_allocate)
        return ps_fail(PS_EXHAUSTED, "allocate broke at %d", s->fail_allocate);
    *out = malloc((size_t)bytes);
    s->allocated += bytes;
    atomic_fetch_add(&s->allocations, 1);
    return PS_OK;
}

static void count_release(void *context, void *memory)
{
    source *s = context;
    free(memory);
    atomic_fetch_sub(&s->allocations, 1);
}

static ps_status compute_chunk(void *context, int64_t chunk, const void *unpacked)
{
    source *s = context;
    const unsigned char *bytes = unpacked;
    if (chunk != s->next) s->wrong = 1;
    s->next = (chunk + 1) % s->chunks;
    wait_for(s->compute_delay);
    for (int64_t i = 0; i < s->unpacked[chunk]; ++i) {
        int64_t raw = s->raw[chunk];
        unsigned char expected = (unsigned char)(raw ? stored_byte(chunk, i % raw) + 1 : 7);
        if (bytes[i] != expected) s->wrong = 1;
        s->digest = (s->digest ^ bytes[i]) * 0x100000001b3u;
    }
    s->computed += 1;
    if (chunk == s->fail_compute && s->sweep == s->fail_compute_sweep)
        return ps_fail(PS_FAILED, "compute broke at %d", (int)chunk);
    return PS_OK;
}

static int64_t largest(const int64_t *sizes, int64_t count)
{
    int64_t most = 0;
    for (int64_t c = 0; c < count; ++c)
        if (ps_chunk_padded(sizes[c]) > most) most = ps_chunk_padded(sizes[c]);
    return most;
}

static source new_source(int64_t chunks, uint64_t seed)
{
    source s = {.chunks = chunks,
                .fail_read = -1,
                .fail_unpack = -1,
                .fail_allocate = -1,
                .fail_compute = -1};
    for (int64_t c = 0; c < chunks; ++c) {
        s.raw[c] = (int64_t)(check_random(&seed) * 700);
        s.unpacked[c] = (int64_t)(check_random(&seed) * 1000);
        if (c % 9 == 4) s.raw[c] = 0;
        if (c % 11 == 5) s.unpacked[c] = 0;
    }
    return s;
}

static ps_chunk_stream_config config_of(source *s, int64_t memory)
{
    return (ps_chunk_stream_config){.chunk_count = s->chunks,
                                    .raw_bytes = s->raw,
                                    .unpacked_bytes = s->unpacked,
                                    .host_memory = memory,
                                    .context = s,
                                    .read = read_chunk,
                                    .unpack = unpack_chunk,
                                    .allocate = count_allocate,
                                    .release = count_release};
}

static int64_t minimum_budget(const source *s)
{
    return largest(s->raw, s->chunks) + largest(s->unpacked, s->chunks);
}

static ps_status sweep_all(source *s, const ps_chunk_stream_config *config, int sweeps,
                           ps_chunk_stream_stats *stats)
{
    ps_chunk_stream *stream;
    PS_TRY(ps_chunk_stream_open(config, &stream));
    ps_status status = PS_OK;
    for (s->sweep = 0; s->sweep < sweeps && status == PS_OK; ++s->sweep)
        status = ps_chunk_stream_sweep(stream, compute_chunk, s);
    ps_chunk_stream_get_stats(stream, stats);
    char message[256];
    snprintf(message, sizeof message, "%s", ps_message());
    ps_chunk_stream_close(&stream);
    assert_null(stream);
    assert_int_equal(s->allocations, 0);
    return status == PS_OK ? PS_OK : ps_fail(status, "%s", message);
}

/* ---- budgets ---- */

static void check_stats(const source *s, int64_t budget, const ps_chunk_stream_stats *stats)
{
    int64_t raw = 0, unpacked = 0;
    for (int64_t c = 0; c < s->chunks; ++c) raw += s->raw[c], unpacked += s->unpacked[c];
    assert_int_equal(stats->sweeps, SWEEPS);
    assert_int_equal(stats->chunks, s->chunks);
    assert_true(stats->resident_bytes + stats->buffer_bytes <= budget);
    assert_true(s->allocated <= stats->resident_bytes + stats->buffer_bytes);
    assert_true(stats->raw_bytes_read >= raw);
    assert_true(stats->raw_bytes_read <= SWEEPS * raw + 9 * largest(s->raw, s->chunks));
    assert_true(stats->bytes_unpacked >= unpacked);
    if (stats->resident_chunks == s->chunks) assert_int_equal(stats->raw_bytes_read, raw);
    check_near(stats->compute_seconds + stats->wait_seconds, stats->sweep_seconds, 1e-9, 1e-9);
    assert_true(stats->fraction >= 0 && stats->fraction <= 1);
}

static void same_for_all_budgets(void **state)
{
    for (int64_t chunks = 1; chunks <= 40; chunks = chunks * 3 - 1) {
        source model = new_source(chunks, (uint64_t)chunks);
        int64_t least = minimum_budget(&model), all = 2 * least;
        for (int64_t c = 0; c < chunks; ++c) all += ps_chunk_padded(model.unpacked[c]);
        uint64_t digest = 0;
        for (int step = 0; step <= 20; ++step) {
            source s = model;
            int64_t budget = least + (all - least) * step / 20;
            ps_chunk_stream_config config = config_of(&s, budget);
            config.unpackers = 1 + step % 4;
            config.buffers = step % 5;
            ps_chunk_stream_stats stats;
            check_ok(sweep_all(&s, &config, SWEEPS, &stats));
            assert_int_equal(s.wrong, 0);
            assert_int_equal(s.computed, SWEEPS * chunks);
            check_stats(&s, budget, &stats);
            if (step == 0) digest = s.digest;
            assert_true(s.digest == digest);
            if (step == 20) assert_int_equal(stats.resident_chunks, chunks);
        }
    }
}

static void too_small_a_budget(void **state)
{
    source s = new_source(7, 3);
    char needed[32];
    snprintf(needed, sizeof needed, "at least %.3f MB", (double)minimum_budget(&s) / 1e6);
    ps_chunk_stream_config config = config_of(&s, minimum_budget(&s) - 1);
    ps_chunk_stream *stream;
    check_fails(ps_chunk_stream_open(&config, &stream), PS_EXHAUSTED, needed);
    assert_null(stream);
    assert_int_equal(s.allocations, 0);
}

static void one_pass_keeps_nothing(void **state)
{
    source s = new_source(30, 5);
    ps_chunk_stream_config config = config_of(&s, (int64_t)1 << 30);
    config.one_pass = true;
    ps_chunk_stream_stats stats;
    check_fails(sweep_all(&s, &config, 2, &stats), PS_FAILED, "swept twice");
    assert_int_equal(stats.resident_bytes, 0);
    assert_int_equal(s.computed, 30);
    assert_int_equal(s.wrong, 0);
}

static unsigned char in_memory[CHUNKS_MAX][1024];

static const void *where_it_lies(void *context, int64_t chunk) { return in_memory[chunk]; }

static ps_status compute_in_place(void *context, int64_t first, int64_t count,
                                  const void *const *unpacked)
{
    source *s = context;
    for (int64_t c = 0; c < count; ++c) {
        if (unpacked[c] != in_memory[first + c]) s->wrong = 1;
        PS_TRY(compute_chunk(context, first + c, unpacked[c]));
    }
    return PS_OK;
}

/* Handed over where they lie, in runs as long as asked for; no budget, nothing read. */
static void chunks_in_memory(void **state)
{
    source s = new_source(30, 5);
    for (int64_t c = 0; c < 30; ++c) {
        unsigned char raw[1024];
        check_ok(read_chunk(&s, c, raw));
        check_ok(unpack_chunk(&s, c, raw, in_memory[c]));
    }
    ps_chunk_stream_config config = config_of(&s, 0);
    ps_chunk_stream_stats stats;
    ps_chunk_stream *stream;
    config.in_place = where_it_lies;
    s.fail_read = s.fail_unpack = 0;
    check_ok(sweep_all(&s, &config, SWEEPS, &stats));
    check_ok(ps_chunk_stream_open(&config, &stream));
    check_ok(ps_chunk_stream_sweep_runs(stream, 7, compute_in_place, &s));
    ps_chunk_stream_close(&stream);
    assert_int_equal(s.computed, (SWEEPS + 1) * 30);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(stats.resident_chunks, 30);
    assert_int_equal(stats.raw_bytes_read, 0);
    assert_int_equal(stats.resident_bytes + stats.buffer_bytes, 0);
    s.fail_compute = 4;
    s.fail_compute_sweep = 0;
    check_fails(sweep_all(&s, &config, SWEEPS, &stats), PS_FAILED, "compute broke at 4");
}

static void no_chunks(void **state)
{
    source s = new_source(0, 1);
    ps_chunk_stream_config config = config_of(&s, 0);
    ps_chunk_stream_stats stats;
    check_ok(sweep_all(&s, &config, 2, &stats));
    assert_int_equal(s.computed, 0);
}

static void default_memory_is_aligned(void **state)
{
    source s = new_source(12, 9);
    ps_chunk_stream_config config = config_of(&s, 20000);
    config.allocate = NULL;
    config.release = NULL;
    ps_chunk_stream_stats stats;
    check_ok(sweep_all(&s, &config, SWEEPS, &stats));
    assert_int_equal(s.wrong, 0);
    assert_int_equal(s.allocate_calls, 0);
}

/* Resident chunks are spread: no long run of streamed ones beside much that is resident. */
static void residents_are_spread(void **state)
{
    enum { N = 60, SIZE = 6400 };
    int64_t sizes[N];
    for (int c = 0; c < N; ++c) sizes[c] = SIZE;
    for (int half = 10; half <= 50; half += 10) {
        PS_SCOPED(ps_chunk_plan_release) ps_chunk_plan plan = {0};
        check_ok(ps_chunk_plan_make(&(ps_chunk_plan_request){.chunk_count = N,
                                                             .raw_bytes = sizes,
                                                             .unpacked_bytes = sizes,
                                                             .raws = 3,
                                                             .slots = 3,
                                                             .host_memory = (half + 6) * SIZE},
                                    &plan));
        assert_int_equal(plan.resident_count, half);
        assert_int_equal(ps_chunk_plan_bytes(&plan), (half + 6) * SIZE);
        int first_half = 0;
        for (int c = 0; c < N / 2; ++c) first_half += plan.resident[c];
        assert_in_range(first_half, half / 2 - 2, half / 2 + 2);
    }
}

/* ---- failures ---- */

static void failures_everywhere(void **state)
{
    enum { N = 13 };
    source model = new_source(N, 21);
    int64_t least = minimum_budget(&model);
    for (int budget = 0; budget < 3; ++budget)
        for (int where = 0; where < 3; ++where)
            for (int chunk = 0; chunk < N; ++chunk) {
                source s = model;
                int *fail[] = {&s.fail_read, &s.fail_unpack, &s.fail_compute};
                const char *names[] = {"read", "unpack", "compute"};
                char text[64];
                *fail[where] = chunk;
                s.fail_compute_sweep = budget;
                snprintf(text, sizeof text, "%s broke at %d", names[where], chunk);
                ps_chunk_stream_config config = config_of(&s, least * (1 + 3 * budget));
                ps_chunk_stream_stats stats;
                check_fails(sweep_all(&s, &config, SWEEPS, &stats),
                            where == 2 ? PS_FAILED : PS_INVALID, text);
                assert_true(s.computed <= budget * N + chunk + 1);
            }
}

/* A disk that breaks in the third sweep, at the minimal budget. */
static void late_failure(void **state)
{
    source s = new_source(13, 21);
    s.fail_read = 6;
    s.reads_before = 2;
    ps_chunk_stream_config config = config_of(&s, minimum_budget(&s));
    ps_chunk_stream_stats stats;
    check_fails(sweep_all(&s, &config, SWEEPS, &stats), PS_INVALID, "read broke at 6");
    assert_in_range(s.computed, 13 + 1, 2 * 13 + 6);
    assert_int_equal(s.wrong, 0);
}

static void a_failed_stream_stays_failed(void **state)
{
    source s = new_source(9, 2);
    s.fail_unpack = 4;
    ps_chunk_stream_config config = config_of(&s, (int64_t)1 << 20);
    ps_chunk_stream *stream;
    check_ok(ps_chunk_stream_open(&config, &stream));
    check_fails(ps_chunk_stream_sweep(stream, compute_chunk, &s), PS_INVALID, "unpack broke at 4");
    check_fails(ps_chunk_stream_sweep(stream, compute_chunk, &s), PS_INVALID, "unpack broke at 4");
    ps_chunk_stream_close(&stream);
    ps_chunk_stream_close(&stream); /* NULL by now */
    assert_int_equal(s.allocations, 0);
}

static void failing_allocation(void **state)
{
    for (int call = 0; call < 2; ++call) {
        source s = new_source(20, 8);
        s.fail_allocate = call;
        ps_chunk_stream_config config = config_of(&s, minimum_budget(&s) * 5);
        ps_chunk_stream *stream;
        check_fails(ps_chunk_stream_open(&config, &stream), PS_EXHAUSTED, "allocate broke");
        assert_null(stream);
        assert_int_equal(s.allocations, 0);
    }
    source s = new_source(3, 8);
    s.raw[1] = -1;
    ps_chunk_stream_config config = config_of(&s, 1 << 20);
    ps_chunk_stream *stream;
    check_fails(ps_chunk_stream_open(&config, &stream), PS_INVALID, "chunk 1");
    config.read = NULL;
    check_fails(ps_chunk_stream_open(&config, &stream), PS_FAILED, "callbacks");
}

/* Closed at once, after part of the first sweep's reading, and with the reader far ahead. */
static void closes_at_any_moment(void **state)
{
    for (int moment = 0; moment < 12; ++moment) {
        source s = new_source(40, 4);
        s.read_delay = s.unpack_delay = 2e-4;
        ps_chunk_stream_config config = config_of(&s, minimum_budget(&s) * (1 + moment % 4));
        ps_chunk_stream *stream;
        check_ok(ps_chunk_stream_open(&config, &stream));
        wait_for(4e-4 * moment);
        if (moment % 3 == 2) check_ok(ps_chunk_stream_sweep(stream, compute_chunk, &s));
        ps_chunk_stream_close(&stream);
        assert_int_equal(s.allocations, 0);
        assert_int_equal(s.wrong, 0);
    }
}

/* ---- overlap ---- */

static double overlap(source *s, double resident_share, ps_chunk_stream_stats *stats)
{
    for (int64_t c = 0; c < s->chunks; ++c) s->raw[c] = s->unpacked[c] = 640;
    int64_t resident = (int64_t)(resident_share * (double)s->chunks);
    ps_chunk_stream_config config = config_of(s, 640 * (6 + resident));
    check_ok(sweep_all(s, &config, SWEEPS, stats));
    assert_int_equal(stats->resident_chunks, resident);
    assert_int_equal(s->wrong, 0);
    print_message("resident %.0f %%: sweeps %.3f s, read %.3f, unpack %.3f, compute %.3f, "
                  "fraction %.3f\n",
                  100 * resident_share, stats->sweep_seconds, stats->read_seconds,
                  stats->unpack_seconds, stats->compute_seconds, stats->fraction);
    return stats->fraction;
}

static void reading_overlaps_computing(void **state)
{
    ps_chunk_stream_stats stats;
    source s = new_source(40, 1);
    s.read_delay = s.unpack_delay = s.compute_delay = 4e-3;
    check_at_most(0.6, overlap(&s, 0, &stats)); /* one after the other would be 0.33 */

    /* Half resident, reading twice as slow: after the first sweep both take equally long. */
    s = new_source(40, 1);
    s.read_delay = 6e-3, s.compute_delay = 3e-3;
    overlap(&s, 0.5, &stats);
    double ideal = 6e-3 * (40 + 2 * 20); /* first sweep reads all; then half, behind computing */
    check_at_most(stats.sweep_seconds, ideal / 0.6);
}

static void workers_unpack_at_once(void **state)
{
    source s = new_source(40, 1);
    s.unpack_delay = 8e-3;
    ps_chunk_stream_stats stats;
    overlap(&s, 0, &stats);
    check_at_most(stats.sweep_seconds, 0.8 * stats.unpack_seconds); /* two workers: 0.5 */
}
