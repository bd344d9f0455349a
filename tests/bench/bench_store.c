/*
 * Throughput of the store: 1 GiB of f32 (compressible about 1.25 : 1) in chunks of 4 MiB by two
 * threads, written to disk with commit, read cold and warm. The floor is the slower of plain
 * file I/O of the stored bytes and of the two threads coding without any file; in GB/s of values.
 * Prints JSON records; the folder is the first argument, default the current one.
 */
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/store.h"
#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/program.h"

enum { CHUNKS = 256, VALUES = 1 << 20, THREADS = 2, SOURCE = 24 * VALUES };

static const double gigabytes = 4e-9 * CHUNKS * VALUES;
static float *source;

static const float *chunk_of(int64_t c) { return source + c * 7919 * 16 % (SOURCE - VALUES); }

/* A wave with rounding noise: sign and exponent compress, most of the mantissa does not. */
static void fill_source(void)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < SOURCE; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        source[i] = (float)((1.5 + sin(1e-3 * (double)i)) * (1 + 1e-2 * (double)(state >> 40) * 0x1p-24));
    }
}

static void record(const char *quantity, double value, double floor)
{
    printf("{\"case\": \"store\", \"quantity\": \"%s\", \"value\": %.3f, \"unit\": \"GB/s\", "
           "\"floor\": %.3f, \"fraction\": %.3f, \"size\": \"1 GiB f32, 4 MiB chunks, 2 threads\", "
           "\"device\": \"cpu\", \"revision\": \"%s\"}\n",
           quantity, value, floor, value / floor, ps_revision());
}

static void stop(ps_status status)
{
    if (status == PS_OK) return;
    fprintf(stderr, "bench_store: %s\n", ps_message());
    exit(status);
}

static double write_store(const char *path)
{
    ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    ps_dataset_spec spec = {.name = "/values", .type = PS_F32, .rank = 1, .dims = {(int64_t)CHUNKS * VALUES},
                            .chunk_rows = VALUES, .units = "1"};
    ps_store *store;
    int id;
    double start = ps_clock();
    stop(ps_store_create(path, &identity, &store));
    stop(ps_store_define(store, &spec, &id));
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
    for (int64_t c = 0; c < CHUNKS; ++c)
        stop(ps_store_write_chunk(store, id, c, chunk_of(c), VALUES, NULL));
    stop(ps_store_commit(&store));
    return gigabytes / (ps_clock() - start);
}

static double read_store(const char *path)
{
    ps_store *store;
    double start = ps_clock();
    stop(ps_store_open(path, "penstock-test", 1, &store));
#pragma omp parallel num_threads(THREADS)
    {
        float *data = malloc(4 * VALUES);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < CHUNKS; ++c) stop(ps_store_read_chunk(store, 0, c, data));
        free(data);
    }
    ps_store_close(&store);
    return gigabytes / (ps_clock() - start);
}

/* The two threads alone, in both directions. */
static void code_only(double *encode, double *decode)
{
    ps_codec codec = {PS_F32, 0, VALUES};
    double times[2] = {0, 0};
    ps_scratch_pool pool;
    ps_scratch_pool_init(&pool);
#pragma omp parallel num_threads(THREADS)
    {
        ps_scratch *a, *b;
        ps_chunk_info info;
        const void *stored;
        float *data = malloc(4 * VALUES);
        stop(ps_scratch_take(&pool, &a));
        stop(ps_scratch_take(&pool, &b));
        double start = ps_clock();
        for (int c = 0; c < 24; ++c)
            stop(ps_codec_encode(&codec, chunk_of(c), VALUES, a, &info, &stored));
        double middle = ps_clock();
        for (int c = 0; c < 24; ++c) stop(ps_codec_decode(&codec, &info, stored, b, VALUES, data));
        double end = ps_clock();
#pragma omp critical
        {
            times[0] += middle - start;
            times[1] += end - middle;
        }
        ps_scratch_give(&pool, a);
        ps_scratch_give(&pool, b);
        free(data);
    }
    ps_scratch_pool_release(&pool);
    *encode = 4e-9 * VALUES * 24 * THREADS * THREADS / times[0];
    *decode = 4e-9 * VALUES * 24 * THREADS * THREADS / times[1];
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
    char *block = malloc(4 << 20);
    double start = ps_clock();
    int file = open(path, O_RDONLY);
    while (read(file, block, 4 << 20) > 0) continue;
    close(file);
    free(block);
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
    double encode, decode;
    snprintf(path, sizeof path, "%s/bench_store.h5", argc > 1 ? argv[1] : ".");
    snprintf(copy, sizeof copy, "%s.copy", path);
    stop(PS_ALLOC(&source, SOURCE, "values"));
    fill_source();
    code_only(&encode, &decode);
    double written = write_store(path);
    written = fmax(written, write_store(path));
    int64_t bytes = (int64_t)lseek(open(path, O_RDONLY | O_CLOEXEC), 0, SEEK_END);
    fprintf(stderr, "ratio %.3f, coding alone %.2f and %.2f GB/s, peak memory %.0f MB\n",
            gigabytes * 1e9 / (double)bytes, encode, decode, (double)ps_memory_peak() / 1e6);
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
