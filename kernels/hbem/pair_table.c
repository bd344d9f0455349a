#include "kernels/hbem/pair_table.h"

#include <string.h>

/* A place: the pair, then its numbers. busy: a thread reads or writes it. */
typedef struct place {
    int32_t busy, pair[2], spare;
    double numbers[];
} place;

/* Places a triangle at most, and bytes. */
enum { A_TRIANGLE = 32, MOST_BYTES = 12 << 20, NONE = -1 };

static int64_t place_bytes(int numbers)
{
    return (int64_t)sizeof(place) + numbers * (int64_t)sizeof(double);
}

static int64_t places_for(int64_t triangles, int numbers)
{
    int64_t places = 64;
    while (places < A_TRIANGLE * triangles && 2 * places * place_bytes(numbers) <= MOST_BYTES)
        places *= 2;
    return places;
}

int64_t ps_hbem_pair_table_bytes(int64_t triangles, int numbers)
{
    return places_for(triangles, numbers) * place_bytes(numbers);
}

static place *place_at(const ps_hbem_pair_table *table, int64_t index)
{
    return (place *)(void *)(table->memory + index * place_bytes(table->numbers));
}

void ps_hbem_pair_table_init(ps_hbem_pair_table *table, int64_t triangles, int numbers,
                             void *memory)
{
    *table = (ps_hbem_pair_table){places_for(triangles, numbers), numbers, memory};
#pragma omp parallel for
    for (int64_t i = 0; i < table->places; ++i) *place_at(table, i) = (place){.pair = {NONE, NONE}};
}

/* The place of a pair, which is this thread's until it is released; NULL: another has it. */
static place *take(const ps_hbem_pair_table *table, int32_t a, int32_t b)
{
    uint64_t hash = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
    place *at = place_at(table, (int64_t)(hash >> 32 & (uint64_t)(table->places - 1)));
    return __atomic_exchange_n(&at->busy, 1, __ATOMIC_ACQUIRE) ? NULL : at;
}

static void release(place *at) { __atomic_store_n(&at->busy, 0, __ATOMIC_RELEASE); }

bool ps_hbem_pair_table_get(const ps_hbem_pair_table *table, int32_t a, int32_t b, double *out)
{
    place *at = take(table, a, b);
    if (!at) return false;
    bool is = at->pair[0] == a && at->pair[1] == b;
    if (is) memcpy(out, at->numbers, (size_t)table->numbers * sizeof *out);
    release(at);
    return is;
}

void ps_hbem_pair_table_put(const ps_hbem_pair_table *table, int32_t a, int32_t b,
                            const double *numbers)
{
    place *at = take(table, a, b);
    if (!at) return;
    at->pair[0] = a;
    at->pair[1] = b;
    memcpy(at->numbers, numbers, (size_t)table->numbers * sizeof *numbers);
    release(at);
}
