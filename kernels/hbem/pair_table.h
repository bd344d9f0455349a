/*
 * pair_table: moments of close pairs of triangles, kept for the next blocks that have the same
 * pair: functions P1 of several clusters share triangles, so that a pair is in three to four blocks
 * (specs/hbem.md, "Hard pairs").
 *
 * A table of fixed size that all threads share: a pair has one place, where the last one that was
 * put stays. What is got is what was put, so numbers do not depend on who was there first; a place
 * that another thread has at the moment counts as empty.
 */
#ifndef PS_KERNELS_HBEM_PAIR_TABLE_H
#define PS_KERNELS_HBEM_PAIR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Of one operator on one surface: another one wants another table. */
typedef struct ps_hbem_pair_table {
    int64_t places; /* a power of 2 */
    int numbers;    /* of a pair    */
    char *memory;
} ps_hbem_pair_table;

/* Bytes of a table for a surface of so many triangles, with `numbers` for each pair; 64-byte
 * aligned. */
int64_t ps_hbem_pair_table_bytes(int64_t triangles, int numbers);

/* An empty table in the caller's memory. */
void ps_hbem_pair_table_init(ps_hbem_pair_table *table, int64_t triangles, int numbers,
                             void *memory);

/* The numbers of a pair to out[numbers]; false: they are not there. (a, b) and (b, a) are two
 * pairs. */
bool ps_hbem_pair_table_get(const ps_hbem_pair_table *table, int32_t a, int32_t b, double *out);

void ps_hbem_pair_table_put(const ps_hbem_pair_table *table, int32_t a, int32_t b,
                            const double *numbers);

#endif
