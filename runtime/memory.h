/*
 * memory: allocation with a status, aligned for vector units, and what the machine has.
 */
#ifndef PS_RUNTIME_MEMORY_H
#define PS_RUNTIME_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

/* Allocates `count` items of `size` bytes, zeroed, 64-byte aligned, freed by free().
 * *out is NULL on failure. `what` names the purpose in the message. Counts of 0 give a
 * valid pointer. PS_EXHAUSTED if there is no memory or count * size overflows. */
ps_status ps_alloc(void **out, int64_t count, size_t size, const char *what);

/* The same with the type taken from the pointer: PS_ALLOC(&x, n, "densities"). */
#define PS_ALLOC(pointer, count, what)                                                             \
    ps_alloc((void **)(pointer), (int64_t)(count), sizeof **(pointer), (what))

/* Allocates `bytes` that are neither zeroed nor touched, so that the thread that fills them gets
 * them near; 64-byte aligned, freed by free(). Otherwise as ps_alloc. */
ps_status ps_alloc_untouched(void **out, int64_t bytes, const char *what);

/* `bytes` of memory, not touched, for free(); NULL if there is none. From 4 MiB on in huge pages
 * where the system grants them: sweeps over gigabytes would spend their time on page tables.
 * Aligned to 64 bytes at least. */
void *ps_alloc_pages(size_t bytes);
/* The same with a status, as ps_alloc_untouched. */
ps_status ps_alloc_buffer(void **out, int64_t bytes, const char *what);

/* Grows *array (may be NULL) to hold at least `needed` items; doubles. New items are not
 * initialised. */
ps_status ps_grow(void **array, int64_t *capacity, int64_t needed, size_t size, const char *what);

/* free() of each pointer, in this order: PS_FREE(x->a, x->b, x). */
#define PS_FREE(...)                                                                               \
    ps_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void ps_free_each(void *const *pointers, size_t count);

int64_t ps_memory_available(void); /* bytes that the machine (or its cgroup) has free */
int64_t ps_memory_peak(void);      /* bytes: largest resident set of this process so far */
int64_t ps_memory_resident(void);  /* bytes: resident set of this process now */
void ps_memory_trim(void);         /* gives back to the system what was freed */
/* From here on freed blocks of 128 KiB or more go back to the system at once, so that what is
 * resident is what is allocated: for runs that fill their budget (ps_ledger_check sees to it). */
void ps_memory_tight(void);
double ps_clock(void);             /* seconds, monotonic */
double ps_processor_seconds(void); /* that all threads of this process have used */
double ps_thread_seconds(void);    /* that this thread has used */
int ps_processor_count(void);      /* that this process may use, at least 1 */
/* Their numbers, ascending, at most `most` of them, to out; returns how many. */
int ps_processor_list(int *out, int most);
/* The calling thread, and those that it starts, run on these alone from here on. Where that is not
 * allowed nothing happens. */
void ps_thread_stay(const int *processors, int count);

#endif
