/*
 * scope: a local variable that is released where its block ends, on every way out, in the reverse
 * order of the definitions. So what can fail is a line of PS_TRY, not a ladder of conditions.
 *
 *     PS_SCOPED(ps_store_close) ps_store *mesh = NULL;
 *     PS_TRY(ps_store_open(path, FORMAT, VERSION, &mesh));
 *
 * `release` gets the address: ps_thing_close(ps_thing **) of a pointer, ps_thing_release(ps_thing *)
 * of a structure, ps_scoped_free of what malloc gave. The variable is initialised where it is
 * defined, since the release comes in any case, and release takes NULL and what is zero.
 */
#ifndef PS_RUNTIME_SCOPE_H
#define PS_RUNTIME_SCOPE_H

#include <stdlib.h>

#define PS_SCOPED(release) __attribute__((cleanup(release)))
#define PS_SCOPED_MEMORY PS_SCOPED(ps_scoped_free)

static inline void ps_scoped_free(void *pointer) { free(*(void **)pointer); }

#endif
