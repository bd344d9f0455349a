#include "tests/check.h"
#include "tests/device_stream_checks.h"
#include "tests/support/cpu_device.h"

static streamed new_source(int64_t chunks)
{
    streamed s;
    check_ok(streamed_open(&s, cpu_device(), chunks, 3000, 5000));
    return s;
}

static void end_source(streamed *s)
{
    streamed_close(s);
    ps_device_close(&s->device);
}

/* ---- plans ---- */

enum { N = 48, SIZE = 2560 };

static ps_device_plan_request request_of(int64_t *sizes, int64_t host, int64_t device)
{
    for (int c = 0; c < N; ++c) sizes[c] = SIZE;
    return (ps_device_plan_request){.chunk_count = N,
                                    .raw_bytes = sizes,
                                    .unpacked_bytes = sizes,
                                    .count = N,
                                    .host_memory = host,
                                    .device_memory = device,
                                    .batch_bytes = 2 * SIZE,
                                    .slots = 3,
                                    .host_slots = 3,
                                    .raws = 3};
}

static void plan_tiers(void **state)
{
    int64_t sizes[N], all = N * SIZE, batch = 2 * SIZE, buffers = 3 * SIZE + 2 * batch;
    const struct {
        int64_t host, device, on_device, in_host;
        int slots, host_slots;
    } cases[] = {
        {buffers, all, 24, 0, 0, 0},
        {buffers + 12 * batch, 15 * batch, 12, 12, 3, 0},
        {buffers + 6 * batch, 15 * batch, 12, 3, 3, 3},
        {all + 2 * batch, 3 * batch, 0, 24, 3, 0},
        {all, 2 * batch, 0, 19, 2, 3},
        {SIZE + batch, batch, 0, 0, 1, 1},
    };
    for (int i = 0; i < 6; ++i) {
        PS_SCOPED(ps_device_plan_release) ps_device_plan plan = {0};
        ps_device_plan_request request = request_of(sizes, cases[i].host, cases[i].device);
        check_ok(ps_device_plan_make(&request, &plan));
        assert_int_equal(plan.batch_count, 24);
        assert_int_equal(plan.slot_bytes, batch);
        assert_int_equal(plan.tier_batches[PS_TIER_DEVICE], cases[i].on_device);
        assert_int_equal(plan.tier_batches[PS_TIER_HOST], cases[i].in_host);
        assert_int_equal(plan.slots, cases[i].slots);
        assert_int_equal(plan.host_slots, cases[i].host_slots);
        assert_true(plan.device_bytes <= cases[i].device && plan.host_bytes <= cases[i].host);
        for (int64_t b = 0; b < 24; ++b) assert_int_equal(plan.batches[b].first, 2 * b);
    }
}

static void plan_spreads_and_joins(void **state)
{
    int64_t sizes[N], batch = 2 * SIZE;
    ps_device_plan plan;
    ps_device_plan_request request = request_of(sizes, 1 << 20, 15 * batch);
    check_ok(ps_device_plan_make(&request, &plan));
    int first_half = 0;
    for (int b = 0; b < 12; ++b) first_half += plan.batches[b].tier == PS_TIER_DEVICE;
    assert_in_range(first_half, 5, 7);
    ps_device_plan_release(&plan);

    request.device_memory = N * SIZE;
    request.resident_batch_bytes = 5 * batch;
    check_ok(ps_device_plan_make(&request, &plan));
    assert_int_equal(plan.batch_count, 5); /* 5 + 5 + 5 + 5 + 4 */
    assert_int_equal(plan.batches[1].count, 10);
    assert_int_equal(plan.staging_bytes, 5 * batch);
    ps_device_plan_release(&plan);

    /* Little host memory: smaller batches rather than a refusal. */
    request.host_memory = 3 * SIZE + 3 * batch;
    check_ok(ps_device_plan_make(&request, &plan));
    assert_true(plan.host_bytes <= request.host_memory);
    assert_in_range(plan.staging_bytes, batch, 4 * batch);
    ps_device_plan_release(&plan);
}

/* Joined batches lie in cells too: all but those at the ends stay when the interval moves. */
static void joins_are_steady(void **state)
{
    int64_t sizes[N], batch = 2 * SIZE;
    PS_SCOPED(ps_device_plan_release) ps_device_plan all = {0}, part = {0};
    ps_device_plan_request request = request_of(sizes, 1 << 20, N * SIZE);
    request.resident_batch_bytes = 4 * batch;
    check_ok(ps_device_plan_make(&request, &all));
    assert_int_equal(all.batch_count, 6);
    request.first = 3, request.count = N - 8;
    check_ok(ps_device_plan_make(&request, &part));
    assert_int_equal(part.batch_count, 6);
    assert_int_equal(part.batches[0].count, 5);
    for (int b = 1; b < 5; ++b) {
        assert_int_equal(part.batches[b].first, all.batches[b].first);
        assert_int_equal(part.batches[b].count, all.batches[b].count);
    }
}

/* More memory moves batches up and none down; an interval inside another has the same batches. */
static void plan_is_steady(void **state)
{
    int64_t sizes[N], batch = 2 * SIZE;
    ps_tier before[24];
    for (int b = 0; b < 24; ++b) before[b] = PS_TIER_DISK;
    for (int step = 0; step <= 20; ++step) {
        ps_device_plan plan;
        ps_device_plan_request request = request_of(sizes, (8 + step) * batch, (3 + step) * batch);
        check_ok(ps_device_plan_make(&request, &plan));
        for (int b = 0; b < 24; ++b) {
            assert_true(plan.batches[b].tier <= before[b]);
            before[b] = plan.batches[b].tier;
        }
        ps_device_plan_release(&plan);
        request.first = 5, request.count = 30;
        check_ok(ps_device_plan_make(&request, &plan));
        assert_int_equal(plan.batch_count, 16);
        assert_int_equal(plan.batches[0].count, 1);
        for (int b = 1; b < 15; ++b) assert_int_equal(plan.batches[b].first, 4 + 2 * b);
        ps_device_plan_release(&plan);
    }
}

static void plan_refuses(void **state)
{
    int64_t sizes[N], batch = 2 * SIZE;
    PS_SCOPED(ps_device_plan_release) ps_device_plan plan = {0};
    ps_device_plan_request request = request_of(sizes, 1 << 20, batch - 1);
    check_fails(ps_device_plan_make(&request, &plan), PS_EXHAUSTED,
                "give --device-memory at least 0.005 MB");
    request = request_of(sizes, SIZE + batch - 1, batch);
    check_fails(ps_device_plan_make(&request, &plan), PS_EXHAUSTED,
                "give --host-memory at least 0.008 MB");
    request = request_of(sizes, SIZE + batch - 1, N * SIZE);
    check_fails(ps_device_plan_make(&request, &plan), PS_EXHAUSTED, "--host-memory");
    assert_null(plan.batches);
    request.first = 40;
    check_fails(ps_device_plan_make(&request, &plan), PS_FAILED, "40 to 88 of 48");
    request.count = 0;
    check_ok(ps_device_plan_make(&request, &plan));
    assert_int_equal(plan.batch_count, 0);
    /* Without a size of batches one is chosen that the budgets can take. */
    request = request_of(sizes, 64000, 40000);
    request.batch_bytes = 0;
    check_ok(ps_device_plan_make(&request, &plan));
    assert_int_equal(plan.batch_bytes, 4096);
}

/* ---- sweeps ---- */

static void all_budgets(void **state)
{
    for (int64_t chunks = 1; chunks <= 80; chunks = 3 * chunks + 2) {
        PS_SCOPED(end_source) streamed s = new_source(chunks);
        check_ok(streamed_check_budgets(&s, chunks > 5 ? 6 : 3));
    }
}

static void resets(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(60);
    for (int step = 1; step <= 6; ++step)
        for (int host = 1; host <= 4; ++host)
            check_ok(streamed_check_resets(&s, 3 * s.least + s.total * host / 3,
                                           s.least + s.total * step / 6));
}

/* With all on the device or in host memory, an interval that shrinks reads the batch at its end
 * and nothing else. */
static void reset_keeps_batches(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(60);
    for (int tier = PS_TIER_DEVICE; tier <= PS_TIER_HOST; ++tier) {
        PS_SCOPED(ps_device_stream_close) ps_device_stream *stream = NULL;
        ps_device_stream_config config =
            streamed_config(&s, 3 * s.total, tier == PS_TIER_HOST ? s.total / 2 : 2 * s.total);
        config.slots = 5; /* takes all of the device memory where it is little */
        check_ok(ps_device_stream_open(&config, &stream));
        check_ok(streamed_sweep(&s, stream, 0));
        assert_int_equal(atomic_load(&s.reads), 60);
        check_ok(ps_device_stream_reset(stream, 0, 59));
        s.end = 59;
        check_ok(streamed_sweep(&s, stream, 0));
        assert_in_range(atomic_load(&s.reads), 60, 60 + 20);
        check_ok(ps_device_stream_reset(stream, 0, 59));
        check_ok(streamed_sweep(&s, stream, 0));
        assert_in_range(atomic_load(&s.reads), 60, 60 + 20);
        s.end = 60;
        atomic_store(&s.reads, 0);
    }
}

static unsigned char *lying[STREAMED_MAX]; /* chunks that are on the device */

static const void *where(void *context, int64_t chunk, const void **host)
{
    *host = lying[chunk];
    return lying[chunk];
}

/* Chunks that lie on the device are gathered there, and nothing is read, where all of them stay;
 * otherwise they are read like others. */
static void placed_chunks(void **state)
{
    enum { CHUNKS = 60 };
    PS_SCOPED(end_source) streamed s = new_source(CHUNKS);
    for (int64_t c = 0; c < CHUNKS; ++c) {
        lying[c] = malloc((size_t)s.unpacked[c] + 1);
        for (int64_t i = 0; i < s.unpacked[c]; ++i) lying[c][i] = streamed_image(&s, c, i);
    }
    for (int whole = 0; whole < 2; ++whole) {
        ps_device_stream *stream;
        ps_device_stream_config config =
            streamed_config(&s, 3 * s.total, whole ? 2 * s.total : s.total / 2);
        config.placed = where;
        check_ok(ps_device_stream_open(&config, &stream));
        check_ok(streamed_sweep(&s, stream, 0));
        check_ok(streamed_sweep(&s, stream, 0));
        assert_int_equal(atomic_load(&s.reads), whole ? 0 : CHUNKS);
        check_ok(ps_device_stream_reset(stream, 0, CHUNKS - 1));
        s.end = CHUNKS - 1;
        check_ok(streamed_sweep(&s, stream, 0));
        s.end = CHUNKS;
        ps_device_stream_close(&stream);
        assert_int_equal(atomic_load(&s.prepared), 0);
        atomic_store(&s.reads, 0);
    }
    for (int64_t c = 0; c < CHUNKS; ++c) free(lying[c]);
}

static void no_chunks(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(1);
    ps_device_stream_config config = streamed_config(&s, 0, 0);
    ps_device_stream_stats stats;
    config.count = 0;
    s.end = 0;
    check_ok(streamed_run(&s, &config, 3, &stats));
}

static void figures(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(80);
    int64_t unpacked = 0, raw = 0;
    for (int c = 0; c < 80; ++c) unpacked += s.unpacked[c], raw += s.raw[c];
    ps_device_stream_stats stats;
    ps_device_stream_config config = streamed_config(&s, 3 * s.total, 3 * s.total);
    check_ok(streamed_run(&s, &config, 3, &stats));
    assert_int_equal(stats.bytes[PS_TIER_DEVICE], s.total);
    assert_int_equal(stats.loading.raw_bytes_read, raw);
    assert_int_equal(stats.loading.bytes_unpacked, unpacked);
    assert_int_equal(stats.loading.bytes_copied, s.total);
    assert_int_equal(stats.streaming.bytes_copied + stats.streaming.raw_bytes_read, 0);
    check_near(stats.streaming.wait_seconds + stats.streaming.compute_seconds,
               stats.streaming.elapsed_seconds, 1e-9, 1e-9);

    config = streamed_config(&s, 3 * s.total, s.total / 2);
    check_ok(streamed_run(&s, &config, 5, &stats));
    int64_t streamed_bytes = s.total - stats.bytes[PS_TIER_DEVICE];
    assert_true(stats.bytes[PS_TIER_HOST] == streamed_bytes && streamed_bytes > 0);
    assert_int_equal(stats.streaming.raw_bytes_read, 0);
    assert_in_range(stats.streaming.bytes_copied, 4 * streamed_bytes - s.total,
                    4 * streamed_bytes + s.total);
    assert_true(stats.streaming.fraction > 0 && stats.streaming.fraction <= 1);
}

/* Reading as slow as computing: they overlap, so a sweep takes about as long as either. */
static void reading_overlaps_computing(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(72);
    for (int c = 0; c < 72; ++c) s.raw[c] = s.unpacked[c] = 2560, s.place[c] = 2560 * c;
    s.total = 72 * 2560;
    ps_device_free_pinned(s.device, s.fetched);
    check_ok(ps_device_alloc_pinned(s.device, s.total, (void **)&s.fetched));
    s.read_delay = 1e-3, s.compute_delay = 6e-3; /* batches of six */
    ps_device_stream_config config = streamed_config(&s, 8 * s.total / 12, 4 * s.total / 12);
    config.batch_bytes = s.total / 12;
    ps_device_stream_stats stats;
    check_ok(streamed_run(&s, &config, 5, &stats));
    assert_true(stats.batches[PS_TIER_DISK] >= 6);
    print_message("streaming: %.3f s, read %.3f, compute %.3f, fraction %.3f\n",
                  stats.streaming.elapsed_seconds, stats.streaming.read_seconds,
                  stats.streaming.compute_seconds, stats.streaming.fraction);
    check_at_most(stats.streaming.elapsed_seconds, /* one after the other would be 1 */
                  0.85 * (stats.streaming.read_seconds + stats.streaming.compute_seconds));
}

/* ---- failures ---- */

static void failures_everywhere(void **state)
{
    PS_SCOPED(end_source) streamed model = new_source(40);
    for (int budget = 1; budget <= 3; ++budget)
        for (int where = 0; where < 4; ++where)
            for (int chunk = 0; chunk < 40; chunk += where == 2 ? 40 : 3) {
                streamed s = model;
                int *fail[] = {&s.fail_read, &s.fail_unpack, &s.fail_prepare, &s.fail_compute};
                const char *names[] = {"read", "unpack", "prepare", "compute"};
                char text[64];
                *fail[where] = chunk;
                snprintf(text, sizeof text, "%s broke at %d", names[where], chunk);
                ps_device_stream_config config = streamed_config(
                    &s, 3 * s.least + s.total * budget / 3, s.least + s.total * budget / 3);
                ps_device_stream_stats stats;
                check_fails(streamed_run(&s, &config, 2, &stats),
                            where == 3 ? PS_FAILED : PS_INVALID, text);
            }
}

/* A disk that breaks in the third sweep, and what comes after a failure. */
static void late_failure(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(40);
    ps_device_stream *stream;
    s.fail_read = 6, s.fail_after = 2;
    ps_device_stream_config config =
        streamed_config(&s, 3 * s.least + s.total / 3, s.least + s.total / 4);
    check_ok(ps_device_stream_open(&config, &stream));
    ps_status status = PS_OK;
    int sweeps = 0;
    while (status == PS_OK && sweeps < 5) status = streamed_sweep(&s, stream, 0), ++sweeps;
    assert_in_range(sweeps, 2, 3);
    check_fails(status, PS_INVALID, "read broke at 6");
    check_fails(streamed_sweep(&s, stream, 0), PS_INVALID, "read broke at 6");
    check_fails(ps_device_stream_reset(stream, 0, 10), PS_INVALID, "read broke at 6");
    ps_device_stream_close(&stream);
    ps_device_stream_close(&stream);
    assert_int_equal(atomic_load(&s.prepared), 0);
}

static void refusals(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(20);
    ps_device_stream *stream;
    ps_device_stream_config config = streamed_config(&s, 1 << 20, 100);
    check_fails(ps_device_stream_open(&config, &stream), PS_EXHAUSTED, "--device-memory");
    assert_null(stream);
    config = streamed_config(&s, 100, 1 << 20);
    check_fails(ps_device_stream_open(&config, &stream), PS_EXHAUSTED, "--host-memory");
    config = streamed_config(&s, 1 << 20, 1 << 20);
    config.first = 3, config.count = 18;
    check_fails(ps_device_stream_open(&config, &stream), PS_FAILED, "3 to 21 of 20");
    config.read = NULL;
    check_fails(ps_device_stream_open(&config, &stream), PS_FAILED, "callbacks");
}

/* A reset that the budget cannot take leaves the stream as it was. */
static void refused_reset(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(40);
    ps_device_stream *stream;
    ps_device_stream_config config =
        streamed_config(&s, 3 * s.least + s.total / 3, s.least + s.total / 4);
    check_ok(ps_device_stream_open(&config, &stream));
    check_ok(streamed_sweep(&s, stream, 0));
    check_fails(ps_device_stream_reset(stream, 30, 20), PS_FAILED, "30 to 50 of 40");
    check_ok(streamed_sweep(&s, stream, 0));
    ps_device_stream_close(&stream);
}

static void closes_at_any_moment(void **state)
{
    PS_SCOPED(end_source) streamed s = new_source(60);
    s.read_delay = s.unpack_delay = 2e-4;
    for (int moment = 0; moment < 12; ++moment) {
        PS_SCOPED(ps_device_stream_close) ps_device_stream *stream = NULL;
        ps_device_stream_config config = streamed_config(
            &s, 3 * s.least + s.total * (moment % 4) / 3, s.least + s.total * (moment % 5) / 4);
        check_ok(ps_device_stream_open(&config, &stream));
        streamed_pause(4e-4 * moment);
        if (moment % 3 == 2) check_ok(streamed_sweep(&s, stream, 0));
        if (moment % 3 == 1) check_ok(ps_device_stream_reset(stream, 5, 50));
    }
    assert_int_equal(atomic_load(&s.prepared), 0);
}
