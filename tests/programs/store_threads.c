/* store_threads PATH CHUNKS: eight threads write /noise, CHUNKS ragged chunks of up to 96 KiB of
 * noise on either side of 64 KiB stored, and /ramp, as many small ones of whole numbers; each
 * thread also sets attributes on the way, so that HDF5 works on the file while chunks are under
 * way. The values are told by their place: noise() and the row's number. After a failed write every
 * thread goes on, and a commit is tried. Ends with the status's code. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/store.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"

enum { THREADS = 8, ROOM = 24576, RAMP = 512 };

typedef struct job {
    ps_store *store;
    int noise, ramp;
    int64_t chunks;
    atomic_llong next, failures;
} job;

/* Mixes the bits of a place (the finaliser of MurmurHash3). */
static uint32_t noise(uint32_t place)
{
    place = (place ^ place >> 16) * 0x85ebca6bu;
    place = (place ^ place >> 13) * 0xc2b2ae35u;
    return place ^ place >> 16;
}

static ps_status write_pair(job *j, int64_t c)
{
    uint32_t values[ROOM];
    int64_t ramp[RAMP], count = 1 + (int64_t)noise((uint32_t)c) % ROOM;
    for (int64_t i = 0; i < count; ++i) values[i] = noise((uint32_t)(c * ROOM + i));
    for (int64_t i = 0; i < RAMP; ++i) ramp[i] = c * RAMP + i;
    PS_TRY(ps_store_write_chunk(j->store, j->noise, c, values, count, NULL));
    if (c % 64 == 0) {
        char name[32];
        snprintf(name, sizeof name, "chunk%lld", (long long)c);
        PS_TRY(ps_store_put_int(j->store, "/ramp", name, count));
    }
    return ps_store_write_chunk(j->store, j->ramp, c, ramp, RAMP, NULL);
}

static void *work(void *context)
{
    job *j = context;
    for (int64_t c; (c = atomic_fetch_add(&j->next, 1)) < j->chunks;)
        if (write_pair(j, c) != PS_OK && atomic_fetch_add(&j->failures, 1) == 0)
            fprintf(stderr, "first failure: %s\n", ps_message());
    return NULL;
}

static void job_end(job *j) { ps_store_close(&j->store); }

static ps_status write_all(const char *path, int64_t chunks)
{
    PS_SCOPED(job_end) job j = {.chunks = chunks};
    pthread_t threads[THREADS];
    ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    ps_dataset_spec ragged = table_spec("/noise", PS_U32, chunks, ROOM, 1);
    ps_dataset_spec rows = array_spec("/ramp", PS_I64, chunks * RAMP, RAMP);
    PS_TRY(ps_store_create(path, &identity, &j.store));
    PS_TRY(ps_store_define(j.store, &ragged, &j.noise));
    PS_TRY(ps_store_define(j.store, &rows, &j.ramp));
    for (int t = 0; t < THREADS; ++t)
        if (pthread_create(&threads[t], NULL, work, &j) != 0) abort();
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
    ps_status status = ps_store_commit(&j.store);
    if (status == PS_OK && j.failures) fprintf(stderr, "committed in spite of failures\n");
    return status == PS_OK && j.failures ? PS_FAILED : status;
}

int main(int argc, char **argv)
{
    if (argc != 3) return PS_USAGE;
    ps_status status = write_all(argv[1], atoll(argv[2]));
    if (status != PS_OK) fprintf(stderr, "%s\n", ps_message());
    return status;
}
