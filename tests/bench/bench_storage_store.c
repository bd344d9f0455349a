/*
 * Throughput of the store: 1 GiB of f32 (compressible about 1.5 : 1) in chunks of 4 MiB by two
 * threads, written to disk with commit, read cold and warm. The floor is the slower of plain
 * file I/O of the stored bytes and of two free cores coding without any file; in GB/s of values.
 * Prints JSON records; the folder is the first argument, default the current one.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/store.h"
#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"
#include "tests/support/must.h"
#include "tests/support/random.h"
#include "tests/support/record.h"
#include "tests/support/thread_clock.h"

enum { CHUNKS = 256, VALUES = 1 << 20, THREADS = 2, SOURCE = 24 * VALUES };

static const double gigabytes = 4e-9 * CHUNKS * VALUES;
static float *source;

static const float *chunk_of(int64_t c) { return source + c * 7919 * 16 % (SOURCE - VALUES); }

/* A wave with rounding noise: sign and exponent compress, most of the mantissa does not. */
static void fill_source(void)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < SOURCE; ++i)
        source[i] = (float)((1.5 + sin(1e-3 * (double)i)) *
                            (1 + 1e-2 * (double)(congruence_next(&state) >> 40) * 0x1p-24));
}

static void record(const char *quantity, double value, double floor)
{
    bench_record("cpu", "store", quantity, value, "GB/s", floor,
                 "1 GiB f32, 4 MiB chunks, 2 threads");
}

static double write_store(const char *path)
{
    ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    ps_dataset_spec spec = array_spec("/values", PS_F32, (int64_t)CHUNKS * VALUES, VALUES);
    ps_store *store;
    int id;
    double start = ps_clock();
    must(ps_store_create(path, &identity, &store));
    must(ps_store_define(store, &spec, &id));
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
    for (int64_t c = 0; c < CHUNKS; ++c)
        must(ps_store_write_chunk(store, id, c, chunk_of(c), VALUES, NULL));
    must(ps_store_commit(&store));
    return gigabytes / (ps_clock() - start);
}

static double read_store(const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    double start = ps_clock();
    must(ps_store_open(path, "penstock-test", 1, &store));
#pragma omp parallel num_threads(THREADS)
    {
        PS_SCOPED_MEMORY float *data = malloc(4 * VALUES);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < CHUNKS; ++c)
            must(ps_store_read_chunk(store, 0, c, 4 * VALUES, data));
    }
    return gigabytes / (ps_clock() - start);
}

/* GB/s of one core without any file, by its own time: it does not matter what else runs. */
typedef struct core_rates {
    double encode, decode, pack, unpack; /* pack, unpack: zstd alone */
} core_rates;

static core_rates measure_core(void)
{
    enum { ROUNDS = 24 };
    ps_codec codec = {.type = PS_F32, .elements = VALUES};
    ps_scratch_pool pool;
    ps_scratch *a, *b;
    ps_chunk_info info = {0};
    const void *stored = NULL;
    size_t size = 4 * VALUES, packed = 0;
    PS_SCOPED_MEMORY float *data = malloc(size);
    double times[5];
    ps_scratch_pool_init(&pool);
    must(ps_scratch_take(&pool, &a));
    must(ps_scratch_take(&pool, &b));
    must(ps_codec_encode(&codec, chunk_of(0), VALUES, a, &info, &stored));
    must(ps_codec_decode(&codec, &info, stored, b, VALUES, data));
    times[0] = thread_seconds();
    for (int c = 0; c < ROUNDS; ++c)
        must(ps_codec_encode(&codec, chunk_of(c), VALUES, a, &info, &stored));
    times[1] = thread_seconds();
    for (int c = 0; c < ROUNDS; ++c) must(ps_codec_decode(&codec, &info, stored, b, VALUES, data));
    times[2] = thread_seconds();
    for (int c = 0; c < ROUNDS; ++c) packed = ZSTD_compress2(a->compressor, a->b, size, a->a, size);
    times[3] = thread_seconds();
    for (int c = 0; c < ROUNDS; ++c)
        if (ZSTD_decompressDCtx(b->decompressor, b->a, size, a->b, packed) != size) exit(PS_FAILED);
    times[4] = thread_seconds();
    ps_scratch_give(&pool, a);
    ps_scratch_give(&pool, b);
    ps_scratch_pool_release(&pool);
    double bytes = 1e-9 * (double)size * ROUNDS;
    return (core_rates){.encode = bytes / (times[1] - times[0]),
                        .decode = bytes / (times[2] - times[1]),
                        .pack = bytes / (times[3] - times[2]),
                        .unpack = bytes / (times[4] - times[3])};
}

static void forget(const char *path)
{
    int file = open(path, O_RDONLY);
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

/* Plain I/O of the same file: write and fsync a copy, or read it. Seconds. */
static double plain_read(const char *path)
{
    PS_SCOPED_MEMORY char *block = malloc(4 << 20);
    double start = ps_clock();
    int file = open(path, O_RDONLY);
    while (read(file, block, 4 << 20) > 0) continue;
    close(file);
    return ps_clock() - start;
}

static double plain_write(const char *path, int64_t bytes)
{
    double start = ps_clock();
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int64_t done = 0; done < bytes; done += 4 << 20)
        if (write(file, source, 4 << 20) < 0) exit(PS_EXHAUSTED);
    fsync(file);
    close(file);
    unlink(path);
    return ps_clock() - start;
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int argc, char **argv)
{
    char path[4096], copy[4096 + 8];
    snprintf(path, sizeof path, "%s/bench_store.h5", argc > 1 ? argv[1] : ".");
    snprintf(copy, sizeof copy, "%s.copy", path);
    must(PS_ALLOC(&source, SOURCE, "values"));
    fill_source();
    core_rates core = measure_core();
    double encode = THREADS * core.encode, decode = THREADS * core.decode;
    record("encode, a core (floor: zstd alone)", core.encode, core.pack);
    record("decode, a core (floor: zstd alone)", core.decode, core.unpack);
    double written = write_store(path);
    written = fmax(written, write_store(path));
    int64_t bytes = (int64_t)lseek(open(path, O_RDONLY | O_CLOEXEC), 0, SEEK_END);
    fprintf(stderr, "ratio %.3f, peak memory %.0f MB\n", gigabytes * 1e9 / (double)bytes,
            (double)ps_memory_peak() / 1e6);
    record("write and commit", written, least(encode, gigabytes / plain_write(copy, bytes)));
    forget(path);
    double cold_plain = gigabytes / plain_read(path);
    forget(path);
    record("read cold", read_store(path), least(decode, cold_plain));
    plain_read(path);
    double warm_plain = gigabytes / plain_read(path);
    double warm = fmax(read_store(path), read_store(path));
    record("read warm", warm, least(decode, warm_plain));
    unlink(path);
    free(source);
    return 0;
}
