/*
 * Writing and reading of chunks by all threads: 2 GiB of noise, which is stored as it is, in
 * chunks of 1 MiB, so that nothing but the file and the lock around HDF5 is measured. Without the
 * commit: into the page cache. The floor of writing is the same threads writing the same bytes to a
 * plain file each, that of reading the same threads reading the store's file; what Linux gives for
 * one plain file that all of them write is recorded, too. Prints JSON records; the folder is the
 * first argument, default the current one, the number of MiB the second.
 */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/store.h"
#include "runtime/memory.h"
#include "runtime/program.h"

enum { CHUNK = 1 << 20, VALUES = CHUNK / 4, NOISE = 64 };

static float *noise;
static int64_t chunks = 2048;
static int threads;

static void stop(ps_status status)
{
    if (status == PS_OK) return;
    fprintf(stderr, "bench_storage_writers: %s\n", ps_message());
    exit(status);
}

static void record(const char *quantity, double value, double floor)
{
    printf("{\"case\": \"store\", \"quantity\": \"%s\", \"value\": %.3f, \"unit\": \"GB/s\", "
           "\"floor\": %.3f, \"fraction\": %.3f, \"size\": \"%lld chunks of 1 MiB, %d threads\", "
           "\"device\": \"cpu\", \"revision\": \"%s\"}\n",
           quantity, value, floor, value / floor, (long long)chunks, threads, ps_revision());
}

static double rate(double start) { return 1e-9 * CHUNK * (double)chunks / (ps_clock() - start); }

static const void *chunk_of(int64_t c) { return noise + c % NOISE * VALUES; }

static void make_noise(void)
{
    uint64_t state = 1;
    stop(PS_ALLOC(&noise, NOISE * VALUES, "noise"));
    for (int64_t i = 0; i < NOISE * VALUES; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (float)(state >> 40);
    }
}

static double write_store(const char *path)
{
    int id;
    ps_store *store;
    ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    ps_dataset_spec spec = {.name = "/noise",
                            .type = PS_F32,
                            .rank = 1,
                            .dims = {chunks * VALUES},
                            .chunk_rows = VALUES,
                            .units = "1",
                            .plain = true};
    stop(ps_store_create(path, &identity, &store));
    stop(ps_store_define(store, &spec, &id));
    double start = ps_clock();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t c = 0; c < chunks; ++c)
        stop(ps_store_write_chunk(store, id, c, chunk_of(c), VALUES, NULL));
    double got = rate(start);
    stop(ps_store_commit(&store));
    return got;
}

/* Stored bytes, by the store or from its file (the addresses do not matter). */
static double read_back(const char *path, bool plain)
{
    ps_store *store;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    stop(ps_store_open(path, "penstock-test", 1, &store));
    double start = ps_clock();
#pragma omp parallel num_threads(threads)
    {
        unsigned char *into = malloc(CHUNK);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < chunks; ++c) {
            if (!plain)
                stop(ps_store_read_stored(store, 0, c, CHUNK, into));
            else if (pread(file, into, CHUNK, c * CHUNK) != CHUNK)
                exit(PS_FAILED);
        }
        free(into);
    }
    double got = rate(start);
    ps_store_close(&store);
    close(file);
    return got;
}

/* To one plain file or to one a thread. */
static double write_plain(const char *path, bool one)
{
    char name[4200];
    int *files = malloc((size_t)threads * sizeof *files);
    for (int t = 0; t < threads; ++t) {
        snprintf(name, sizeof name, "%s.%d", path, one ? 0 : t);
        files[t] = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    double start = ps_clock();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t c = 0; c < chunks; ++c)
        if (pwrite(files[omp_get_thread_num()], chunk_of(c), CHUNK, c * CHUNK) != CHUNK)
            exit(PS_EXHAUSTED);
    double got = rate(start);
    for (int t = 0; t < threads; ++t) {
        close(files[t]);
        snprintf(name, sizeof name, "%s.%d", path, t);
        unlink(name);
    }
    free(files);
    return got;
}

int main(int argc, char **argv)
{
    char path[4096];
    threads = omp_get_max_threads();
    if (argc > 2) chunks = atoll(argv[2]);
    snprintf(path, sizeof path, "%s/bench_writers.h5", argc > 1 ? argv[1] : ".");
    make_noise();
    double written = write_store(path); /* first: on memory not used before, as a run finds it */
    double one = write_plain(path, true), own = write_plain(path, false);
    double again = write_store(path);
    record("write by all threads, first time", written, own);
    record("write by all threads, again", again, own);
    record("write one plain file by all threads", one, own);
    double plain = read_back(path, true);
    record("read stored bytes by all threads", read_back(path, false), plain);
    unlink(path);
    free(noise);
    return 0;
}
