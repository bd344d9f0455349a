/* store_memory: what reading and writing chunks takes, for plans (runtime/ledger.h). */
#ifndef PS_FORMATS_STORE_MEMORY_H
#define PS_FORMATS_STORE_MEMORY_H

#include <stdint.h>

/* Bytes of each thread that reads or writes chunks of so many bytes, unpacked, beside the caller's
 * own; an open file keeps them. */
int64_t ps_store_thread_bytes(int64_t chunk_bytes);

#endif
