/*
 * How fast the device stream feeds a device that cannot hold its data.
 *
 * "stream-host": 8 GB through 2 GB of device memory from pinned host memory, with nothing to
 * compute (the floor is a plain pinned copy in the same run), and with computing (copies within the
 * device) that takes about as long as the copy of what is streamed: then what counts is the
 * fraction max(link, compute) / elapsed.
 * "stream-disk": a file read again in every sweep, its pages dropped behind the reader, through
 * pinned slots; the floor is a plain reading of the same file in the same run.
 * "pinned-allocation": how fast host memory is pinned; the floor is eight threads that touch new
 * memory.
 *
 * bench_device_stream [FOLDER [GB]]: the folder of the file, default the current one, and its size,
 * default 8. Prints JSON records.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device_stream.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/gpu/device_rates.h"
#include "tests/support/record.h"

enum { CHUNK = 16 << 20, SWEEPS = 5 };

typedef struct bench {
    ps_device *device;
    ps_stream *on;
    char *scratch; /* device memory, a batch */
    int rounds;    /* of copying a batch on the device: the compute */
    int file;      /* -1: nothing is read */
    int64_t chunks, *sizes, *raw;
} bench;

static void record(const bench *b, const char *name, const char *quantity, double value,
                   const char *unit, double floor, const char *size)
{
    bench_record(bench_device(b->device), name, quantity, value, unit, floor, size);
}

/* ---- callbacks ---- */

static ps_status read_piece(int file, int64_t chunk, void *raw)
{
    int64_t done = 0, start = chunk * CHUNK;
    while (done < CHUNK) {
        ssize_t got = pread(file, (char *)raw + done, (size_t)(CHUNK - done), start + done);
        if (got <= 0) return ps_fail(PS_FAILED, "the file of the benchmark cannot be read");
        done += got;
    }
    (void)posix_fadvise(file, start, CHUNK, POSIX_FADV_DONTNEED);
    return PS_OK;
}

static ps_status read_chunk(void *context, int64_t chunk, void *raw)
{
    const bench *b = context;
    return b->file < 0 ? PS_OK : read_piece(b->file, chunk, raw);
}

static ps_status unpack_chunk(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    const bench *b = context;
    if (b->file < 0)
        memset(unpacked, (int)chunk + 1, CHUNK);
    else
        memcpy(unpacked, raw, CHUNK);
    return PS_OK;
}

static ps_status compute_batch(void *context, const ps_batch_work *work, ps_stream *stream)
{
    const bench *b = context;
    for (int round = 0; round < b->rounds; ++round)
        PS_TRY(ps_copy_on_device(stream, b->scratch, work->base, work->bytes));
    return PS_OK;
}

/* ---- one stream ---- */

static ps_status run(bench *b, int64_t host, int64_t device, int64_t batch,
                     ps_device_stream_stats *stats)
{
    ps_device_stream *stream;
    ps_device_stream_config config = {.device = b->device,
                                      .chunk_count = b->chunks,
                                      .raw_bytes = b->raw,
                                      .unpacked_bytes = b->sizes,
                                      .count = -1,
                                      .host_memory = host,
                                      .device_memory = device,
                                      .batch_bytes = batch,
                                      .context = b,
                                      .read = read_chunk,
                                      .unpack = unpack_chunk};
    double start = ps_clock();
    PS_TRY(ps_device_stream_open(&config, &stream));
    ps_status status = PS_OK;
    for (int i = 0; i <= SWEEPS && status == PS_OK; ++i) {
        status = ps_device_stream_sweep(stream, compute_batch, b, b->on);
        if (status == PS_OK && i == 0) status = ps_stream_wait(b->on);
        if (i == 0) fprintf(stderr, "loading: %.2f s\n", ps_clock() - start);
    }
    if (status == PS_OK) status = ps_stream_wait(b->on);
    ps_device_stream_get_stats(stream, stats);
    ps_device_stream_close(&stream);
    const ps_device_stream_times *t = &stats->streaming;
    fprintf(stderr,
            "tiers %lld %lld %lld: read %.2f unpack %.2f copy %.2f compute %.2f elapsed "
            "%.2f s, %.1f GB copied, %.1f GB read\n",
            (long long)stats->batches[0], (long long)stats->batches[1],
            (long long)stats->batches[2], t->read_seconds, t->unpack_seconds, t->copy_seconds,
            t->compute_seconds, t->elapsed_seconds, (double)t->bytes_copied / 1e9,
            (double)t->raw_bytes_read / 1e9);
    return status;
}

static ps_status make_chunks(bench *b, int64_t bytes, bool stored)
{
    free(b->sizes);
    b->chunks = bytes / CHUNK;
    PS_TRY(PS_ALLOC(&b->sizes, 2 * b->chunks, "sizes"));
    b->raw = b->sizes + b->chunks;
    for (int64_t c = 0; c < b->chunks; ++c) b->sizes[c] = CHUNK, b->raw[c] = stored ? CHUNK : 0;
    return PS_OK;
}

/* ---- the cases ---- */

static ps_status bench_pinning(const bench *b)
{
    enum { PIECES = 16 };
    void *pieces[PIECES] = {0};
    const int64_t bytes = (int64_t)128 << 20;
    ps_status status = PS_OK;
    double start = ps_clock();
    for (int i = 0; i < PIECES && status == PS_OK; ++i)
        status = ps_device_alloc_pinned(b->device, bytes, &pieces[i]);
    double seconds = ps_clock() - start;
    for (int i = 0; i < PIECES; ++i) ps_device_free_pinned(b->device, pieces[i]);
    if (status == PS_OK)
        record(b, "pinned-allocation", "bandwidth", PIECES * (double)bytes / seconds / 1e9, "GB/s",
               18, "16 pieces of 128 MiB");
    return status;
}

static ps_status bench_host(bench *b)
{
    const int64_t GB = 1000000000, batches[] = {32 << 20, 128 << 20, 256 << 20};
    ps_device_stream_stats stats;
    double rates[4];
    char size[64];
    b->file = -1;
    PS_TRY(device_rates(b->device, rates));
    PS_TRY(make_chunks(b, 8 * GB, false));
    for (int i = 0; i < 3; ++i) {
        PS_TRY(run(b, 20 * GB, 2 * GB, batches[i], &stats));
        const ps_device_stream_times *t = &stats.streaming;
        /* Three slots were filled before the first sweep that counts began. */
        double streamed =
            (double)stats.bytes[PS_TIER_HOST] * (double)t->sweeps - 3.0 * (double)batches[i];
        snprintf(size, sizeof size, "8 GB in 2 GB, batches of %d MiB", (int)(batches[i] >> 20));
        record(b, "stream-host", "bandwidth", streamed / t->elapsed_seconds / 1e9, "GB/s", rates[0],
               size);
    }
    /* 2 copies of a byte at the card's 4.3 TB/s, for each of 8 GB, against 6.4 GB at 55 GB/s. */
    b->rounds = 30;
    PS_TRY(run(b, 20 * GB, 2 * GB, (int64_t)128 << 20, &stats));
    record(b, "stream-host", "overlap", stats.streaming.fraction, "1", 1,
           "8 GB in 2 GB, computing as long as copying");
    b->rounds = 0;
    return PS_OK;
}

static ps_status write_file(const bench *b, const char *path)
{
    uint64_t *data, state = 88172645463325252u;
    PS_TRY(ps_alloc_untouched((void **)&data, CHUNK, "a chunk"));
    for (int64_t i = 0; i < CHUNK / 8; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        data[i] = state;
    }
    ps_status status = PS_OK;
    for (int64_t c = 0; c < b->chunks && status == PS_OK; ++c) {
        data[0] = (uint64_t)c;
        if (pwrite(b->file, data, CHUNK, c * CHUNK) != CHUNK)
            status = ps_fail(PS_EXHAUSTED, "%s: %lld MiB cannot be written", path,
                             (long long)(b->chunks * CHUNK >> 20));
    }
    free(data);
    if (status == PS_OK && fsync(b->file) != 0)
        status = ps_fail(PS_EXHAUSTED, "%s cannot be written to the disk", path);
    return status;
}

/* GB/s of reading the file chunk by chunk, from the disk. */
static ps_status plain_reading(const bench *b, double *rate)
{
    void *raw;
    ps_status status = PS_OK;
    (void)posix_fadvise(b->file, 0, 0, POSIX_FADV_DONTNEED);
    PS_TRY(PS_ALLOC((char **)&raw, CHUNK, "a chunk"));
    double start = ps_clock();
    for (int64_t c = 0; c < b->chunks && status == PS_OK; ++c) status = read_piece(b->file, c, raw);
    *rate = (double)b->chunks * CHUNK / (ps_clock() - start) / 1e9;
    free(raw);
    return status;
}

static ps_status bench_disk(bench *b, const char *folder, double gigabytes)
{
    char path[4096], size[64];
    ps_device_stream_stats stats;
    double plain, after;
    ps_status status;
    snprintf(path, sizeof path, "%s/bench_device_stream.tmp", folder);
    snprintf(size, sizeof size, "%g GB read in each sweep", gigabytes);
    b->file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (b->file < 0) return ps_fail(PS_FAILED, "%s cannot be created", path);
    (void)unlink(path);
    PS_GUARD(status, done, make_chunks(b, (int64_t)(1e9 * gigabytes), true));
    PS_GUARD(status, done, write_file(b, path));
    PS_GUARD(status, done, plain_reading(b, &plain));
    PS_GUARD(status, done, run(b, 600000000, 500000000, (int64_t)64 << 20, &stats));
    PS_GUARD(status, done, plain_reading(b, &after));
    const ps_device_stream_times *t = &stats.streaming;
    fprintf(stderr, "plain reading %.2f GB/s before, %.2f after\n", plain, after);
    record(b, "stream-disk", "bandwidth", (double)t->raw_bytes_read / t->elapsed_seconds / 1e9,
           "GB/s", 0.5 * (plain + after), size);
done:
    close(b->file);
    return status;
}

int main(int count, char **arguments)
{
    bench b = {.file = -1};
    ps_status status;
    PS_GUARD(status, done, ps_device_open("cuda:0", 0, &b.device));
    PS_GUARD(status, done, ps_stream_open(b.device, &b.on));
    PS_GUARD(status, done, ps_device_alloc(b.device, (int64_t)512 << 20, (void **)&b.scratch));
    PS_GUARD(status, done, bench_pinning(&b));
    PS_GUARD(status, done, bench_host(&b));
    PS_GUARD(status, done,
             bench_disk(&b, count > 1 ? arguments[1] : ".", count > 2 ? atof(arguments[2]) : 8));
done:
    if (status != PS_OK) fprintf(stderr, "bench_device_stream: %s\n", ps_message());
    ps_device_free(b.device, b.scratch);
    ps_stream_close(&b.on);
    ps_device_close(&b.device);
    free(b.sizes);
    return (int)status;
}
