/*
 * store_behind: a store that is written beside other work comes to the disk meanwhile, so that its
 * commit has less to wait for.
 */
#ifndef PS_FORMATS_STORE_BEHIND_H
#define PS_FORMATS_STORE_BEHIND_H

#include "formats/store.h"

/* Lets the system begin to bring to disk what was written so far. Nothing depends on it; a store
 * that is not being written is left alone. */
void ps_store_write_behind(const ps_store *store);

#endif
