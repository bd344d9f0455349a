/*
 * pool: memory that a case of a test takes piece by piece and gives back at once.
 */
#ifndef PS_TESTS_SUPPORT_POOL_H
#define PS_TESTS_SUPPORT_POOL_H

#include <stdlib.h>
#include <string.h>

#include "runtime/scope.h"

/* Zeroed: empty. Each piece begins with the address of the one taken before it. */
typedef struct memory_pool {
    void *last;
} memory_pool;

enum { POOL_ALIGN = 64 };

/* Zeroed, and aligned for vector units. There is enough memory, or the test ends. */
static inline void *pool_take(memory_pool *p, size_t bytes)
{
    void *piece;
    if (posix_memalign(&piece, POOL_ALIGN, POOL_ALIGN + bytes)) abort();
    memset(piece, 0, POOL_ALIGN + bytes);
    *(void **)piece = p->last;
    p->last = piece;
    return (char *)piece + POOL_ALIGN;
}

static inline void pool_release(memory_pool *p)
{
    while (p->last) {
        PS_SCOPED_MEMORY void *piece = p->last;
        p->last = *(void **)piece;
    }
}

#endif
