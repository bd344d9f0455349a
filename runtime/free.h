/*
 * free: several blocks given back in a line.
 */
#ifndef PS_RUNTIME_FREE_H
#define PS_RUNTIME_FREE_H

#include <stddef.h>

/* free() of each pointer, in this order. */
#define PS_FREE(...)                                                                               \
    ps_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void ps_free_each(void *const *pointers, size_t count);

#endif
