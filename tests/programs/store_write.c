/* store_write PATH MIB [DISK_ESTIMATE]: writes a file of so many MiB that do not compress, for
 * tests of full disks. Ends with the status's code. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/store.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"
#include "tests/support/random.h"

enum { CHUNK = 1 << 20 };

static ps_status write_noise(const char *path, int64_t chunks, int64_t estimate)
{
    static unsigned char noise[CHUNK];
    uint64_t state = 1;
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int id;
    ps_store_identity identity = {
        .format = "penstock-test", .format_version = 1, .disk_estimate = estimate};
    ps_dataset_spec spec = array_spec("/noise", PS_U8, chunks * CHUNK, CHUNK);
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(ps_store_define(store, &spec, &id));
    for (int64_t c = 0; c < chunks; ++c) {
        for (int i = 0; i < CHUNK; ++i) noise[i] = (unsigned char)(congruence_next(&state) >> 56);
        PS_TRY(ps_store_write_chunk(store, id, c, noise, CHUNK, NULL));
    }
    return ps_store_commit(&store);
}

int main(int argc, char **argv)
{
    if (argc < 3) return PS_USAGE;
    ps_status status = write_noise(argv[1], atoll(argv[2]), argc > 3 ? atoll(argv[3]) : 0);
    if (status != PS_OK) fprintf(stderr, "%s\n", ps_message());
    return status;
}
