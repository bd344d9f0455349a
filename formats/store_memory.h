/* store_memory: what reading and writing chunks takes, for plans (runtime/ledger.h). */
#ifndef PS_FORMATS_STORE_MEMORY_H
#define PS_FORMATS_STORE_MEMORY_H

#include <stdint.h>

#include "formats/store.h"

/* Bytes of each thread that writes chunks of so many bytes, and of each that reads from a file that
 * is open, beside the caller's own; open files keep them. */
int64_t ps_store_writer_bytes(int64_t chunk_bytes);
int64_t ps_store_reader_bytes(const ps_store *store);

#endif
