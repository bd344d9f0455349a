/* store_damage PATH DATASET CHUNK: flips one bit in the stored bytes of a chunk, in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store.h"
#include "runtime/scope.h"

/* The stored bytes of the chunk; NULL on failure. */
static unsigned char *stored_bytes(const char *path, const char *name, int64_t chunk, size_t *size)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_chunk_info info;
    int id;
    unsigned char *stored = NULL;
    if (ps_store_open(path, NULL, 0, &store) != PS_OK) return NULL;
    if (ps_store_find(store, name, &id) == PS_OK &&
        ps_store_chunk(store, id, chunk, &info) == PS_OK) {
        *size = (size_t)info.stored_bytes;
        stored = malloc(*size);
        if (ps_store_read_stored(store, id, chunk, info.stored_bytes, stored) != PS_OK) *size = 0;
    }
    return stored;
}

int main(int argc, char **argv)
{
    if (argc != 4) return PS_USAGE;
    size_t size = 0, length = 0;
    unsigned char *stored = stored_bytes(argv[1], argv[2], atoll(argv[3]), &size);
    FILE *file = fopen(argv[1], "r+b");
    unsigned char *bytes = malloc(1 << 26);
    if (!stored || !size || !file || !bytes) return PS_INVALID;
    length = fread(bytes, 1, 1 << 26, file);
    unsigned char *place = memmem(bytes, length, stored, size);
    if (!place) return PS_FAILED;
    fseek(file, (long)(place - bytes + (long)(size / 2)), SEEK_SET);
    fputc(place[size / 2] ^ 8, file);
    return fclose(file) == 0 ? PS_OK : PS_FAILED;
}
