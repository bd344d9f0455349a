/*
 * How well chunk_stream hides reading behind computing, and what it costs a chunk.
 *
 * "sweep": a file of 384 MiB of f32 in chunks of 4 MiB, streamed at several budgets, cold (its
 * pages dropped before each sweep), with one computing thread that works about as long as
 * reading takes: the fraction reached of the slowest of reading, computing, and the CPU time of
 * all threads over the cores there are. "chunk": microseconds that the
 * engine adds to an empty chunk; the floor is a clock pair and a lock where it is resident, two
 * threads waking each other where it is streamed (reader to worker to sweep).
 * Prints JSON records; the folder is the first argument, default the current one.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "formats/store.h"
#include "runtime/chunk_stream.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"
#include "tests/support/must.h"
#include "tests/support/random.h"
#include "tests/support/record.h"

enum { CHUNKS = 96, VALUES = 1 << 20, SWEEPS = 3, SMALL = 20000 };

static const char *path;
static int rounds; /* of computing a chunk */
static volatile float sink;

static void record(const char *quantity, double value, const char *unit, double floor,
                   const char *size)
{
    bench_record("cpu", "stream", quantity, value, unit, floor, size);
}

/* ---- a file ---- */

static void write_file(void)
{
    ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    ps_dataset_spec spec = array_spec("/values", PS_F32, (int64_t)CHUNKS * VALUES, VALUES);
    ps_store *store;
    PS_SCOPED_MEMORY float *values = NULL;
    int id;
    uint64_t state = 1;
    must(PS_ALLOC(&values, VALUES, "values"));
    must(ps_store_create(path, &identity, &store));
    must(ps_store_define(store, &spec, &id));
    for (int64_t c = 0; c < CHUNKS; ++c) {
        for (int64_t i = 0; i < VALUES; ++i)
            values[i] = 1 + 0x1p-24f * (float)(congruence_next(&state) >> 40);
        must(ps_store_write_chunk(store, id, c, values, VALUES, NULL));
    }
    must(ps_store_commit(&store));
}

static ps_status read_stored(void *context, int64_t chunk, void *raw)
{
    return ps_store_read_stored(context, 0, chunk, 4 * VALUES, raw);
}

static ps_status decode(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    return ps_store_decode(context, 0, chunk, raw, 4 * VALUES, unpacked);
}

static ps_status add_up(void *context, int64_t chunk, const void *unpacked)
{
    const float *values = unpacked;
    for (int round = 0; round < rounds; ++round) {
        float sums[16] = {0};
        for (int64_t i = 0; i < VALUES; i += 16)
            for (int k = 0; k < 16; ++k) sums[k] += values[i + k];
        sink = sums[0] + sums[15];
    }
    return PS_OK;
}

static void forget(void)
{
    int file = open(path, O_RDONLY);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

/* *processor: CPU seconds of all threads over the cores. */
static ps_chunk_stream_stats sweep_file(ps_store *store, double share, double *processor)
{
    int64_t raw[CHUNKS], unpacked[CHUNKS];
    for (int c = 0; c < CHUNKS; ++c) {
        ps_chunk_info info;
        must(ps_store_chunk(store, 0, c, &info));
        raw[c] = info.stored_bytes;
        unpacked[c] = info.raw_bytes;
    }
    ps_chunk_stream_config config = {.chunk_count = CHUNKS,
                                     .raw_bytes = raw,
                                     .unpacked_bytes = unpacked,
                                     .context = store,
                                     .host_memory = (int64_t)(share * 4.0 * CHUNKS * VALUES),
                                     .read = read_stored,
                                     .unpack = decode};
    ps_chunk_stream *stream;
    ps_chunk_stream_stats stats;
    forget();
    clock_t before = clock();
    must(ps_chunk_stream_open(&config, &stream));
    for (int s = 0; s < SWEEPS; ++s) {
        must(ps_chunk_stream_sweep(stream, add_up, NULL));
        forget();
    }
    ps_chunk_stream_get_stats(stream, &stats);
    ps_chunk_stream_close(&stream);
    *processor = (double)(clock() - before) / CLOCKS_PER_SEC;
    *processor /= (double)sysconf(_SC_NPROCESSORS_ONLN);
    return stats;
}

/* Rounds of computing that take about as long as reading a chunk. */
static void balance(ps_store *store)
{
    double processor;
    rounds = 1;
    ps_chunk_stream_stats stats = sweep_file(store, 0.1, &processor);
    rounds = 1 + (int)(stats.read_seconds / stats.compute_seconds);
    fprintf(stderr, "reading %.2f GB/s stored, %d rounds of computing a chunk\n",
            1e-9 * (double)stats.raw_bytes_read / stats.read_seconds, rounds);
}

static void measure_file(void)
{
    const double shares[] = {0.1, 0.3, 0.6};
    ps_store *store;
    write_file();
    must(ps_store_open(path, "penstock-test", 1, &store));
    balance(store);
    for (int i = 0; i < 3; ++i) {
        char size[64];
        double processor;
        ps_chunk_stream_stats stats = sweep_file(store, shares[i], &processor);
        double bound = fmax(processor, fmax(stats.read_seconds, stats.compute_seconds));
        snprintf(size, sizeof size, "384 MiB f32, memory %.0f %%", 100 * shares[i]);
        record("sweep, cold", stats.sweep_seconds / SWEEPS, "s", bound / SWEEPS, size);
        fprintf(stderr,
                "%s: read %.2f, unpack %.2f, compute %.2f, CPU %.2f, sweeps %.2f s; %d of "
                "%d resident\n",
                size, stats.read_seconds, stats.unpack_seconds, stats.compute_seconds, processor,
                stats.sweep_seconds, (int)stats.resident_chunks, CHUNKS);
    }
    ps_store_close(&store);
    unlink(path);
}

/* ---- overhead ---- */

static ps_status nothing_read(void *context, int64_t chunk, void *raw) { return PS_OK; }
static ps_status nothing_unpacked(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    return PS_OK;
}
static ps_status nothing_computed(void *context, int64_t chunk, const void *unpacked)
{
    return PS_OK;
}

static double overhead(int64_t memory)
{
    PS_SCOPED_MEMORY int64_t *sizes = NULL;
    must(PS_ALLOC(&sizes, SMALL, "sizes"));
    for (int c = 0; c < SMALL; ++c) sizes[c] = 64;
    ps_chunk_stream_config config = {.chunk_count = SMALL,
                                     .raw_bytes = sizes,
                                     .unpacked_bytes = sizes,
                                     .host_memory = memory,
                                     .read = nothing_read,
                                     .unpack = nothing_unpacked};
    PS_SCOPED(ps_chunk_stream_close) ps_chunk_stream *stream = NULL;
    must(ps_chunk_stream_open(&config, &stream));
    must(ps_chunk_stream_sweep(stream, nothing_computed, NULL));
    double start = ps_clock();
    for (int s = 0; s < SWEEPS; ++s) must(ps_chunk_stream_sweep(stream, nothing_computed, NULL));
    double seconds = ps_clock() - start;
    return 1e6 * seconds / SWEEPS / SMALL;
}

static double clock_and_lock(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    double start = ps_clock();
    for (int c = 0; c < SMALL; ++c) {
        pthread_mutex_lock(&mutex);
        sink = (float)ps_clock();
        pthread_mutex_unlock(&mutex);
        sink = (float)ps_clock();
    }
    return 1e6 * (ps_clock() - start) / SMALL;
}

typedef struct ball {
    pthread_mutex_t mutex;
    pthread_cond_t thrown;
    int side, throws;
} ball;

static void *play(void *argument)
{
    ball *b = argument;
    pthread_mutex_lock(&b->mutex);
    int mine = b->side++; /* the first to come plays side 0 */
    while (b->throws < 2 * SMALL) {
        if (b->throws % 2 == mine) {
            b->throws += 1;
            pthread_cond_signal(&b->thrown);
        } else {
            pthread_cond_wait(&b->thrown, &b->mutex);
        }
    }
    pthread_cond_signal(&b->thrown);
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* Microseconds for two threads to wake each other once. */
static double two_wakes(void)
{
    ball b = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    pthread_t other;
    double start = ps_clock();
    if (pthread_create(&other, NULL, play, &b) != 0) exit(PS_EXHAUSTED);
    play(&b);
    pthread_join(other, NULL);
    return 1e6 * (ps_clock() - start) / SMALL;
}

int main(int argc, char **argv)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/bench_stream.h5", argc > 1 ? argv[1] : ".");
    path = name;
    const char *size = "20000 empty chunks";
    record("chunk, resident", overhead((int64_t)1 << 30), "us", clock_and_lock(), size);
    record("chunk, streamed", overhead(64 * 6), "us", two_wakes(), size);
    measure_file();
    return 0;
}
