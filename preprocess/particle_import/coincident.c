/* coincident: places that occur more than once, by their hashes, in bounded memory. */
#include <stdlib.h>
#include <unistd.h>

#include "kernels/common/counter_random.h"
#include "kernels/common/word_sort.h"
#include "preprocess/particle_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"

enum { BLOCK = 1 << 17 };

ps_status coincidence_start(coincidence *c, const char *beside)
{
    c->particles = 0;
    return ps_scratch_open(beside, &c->file);
}

ps_status coincidence_add(coincidence *c, const double *const *columns, int64_t count)
{
    uint64_t *hashes;
    PS_TRY(PS_ALLOC(&hashes, count, "hashes of places"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i)
        hashes[i] = ps_point_hash(columns[0][i], columns[1][i], columns[2][i]);
    ps_status status = ps_scratch_write(c->file, hashes, 8 * count, 8 * c->particles);
    c->particles += count;
    free(hashes);
    return status;
}

typedef struct finding {
    int64_t count;
    uint64_t smallest; /* of the hashes that occur more than once */
} finding;

/* Sorted by the upper half alone: what is equal there is put in order here. */
static void count_equal(uint64_t *hashes, int64_t count, finding *out)
{
    for (int64_t i = 1; i < count; ++i) {
        uint64_t own = hashes[i];
        int64_t j = i;
        for (; j > 0 && hashes[j - 1] > own; --j) hashes[j] = hashes[j - 1];
        hashes[j] = own;
    }
    for (int64_t i = 1; i < count; ++i) {
        if (hashes[i] != hashes[i - 1]) continue;
        ++out->count;
        if (hashes[i] < out->smallest) out->smallest = hashes[i];
    }
}

/* Those hashes that this pass is for: hash mod passes = pass. */
static ps_status collect(const coincidence *c, int64_t pass, int64_t passes, uint64_t *out,
                         int64_t capacity, int64_t *count)
{
    uint64_t *block;
    PS_TRY(PS_ALLOC(&block, BLOCK, "hashes of places"));
    ps_status status = PS_OK;
    *count = 0;
    for (int64_t first = 0; first < c->particles && status == PS_OK; first += BLOCK) {
        int64_t here = c->particles - first < BLOCK ? c->particles - first : BLOCK;
        status = ps_scratch_read(c->file, block, 8 * here, 8 * first);
        for (int64_t i = 0; i < here && *count < capacity && status == PS_OK; ++i)
            if (passes == 1 || block[i] % (uint64_t)passes == (uint64_t)pass)
                out[(*count)++] = block[i];
    }
    free(block);
    if (status == PS_OK && *count == capacity && passes > 1)
        status = ps_fail(PS_EXHAUSTED, "too many particles at few places to count them within "
                                       "--host-memory");
    return status;
}

static ps_status find_two(const coincidence *c, uint64_t hash, int64_t *first, int64_t *second)
{
    PS_SCOPED_MEMORY uint64_t *block = NULL;
    PS_TRY(PS_ALLOC(&block, BLOCK, "hashes of places"));
    ps_status status = PS_OK;
    *first = *second = -1;
    for (int64_t from = 0; from < c->particles && *second < 0 && status == PS_OK; from += BLOCK) {
        int64_t here = c->particles - from < BLOCK ? c->particles - from : BLOCK;
        status = ps_scratch_read(c->file, block, 8 * here, 8 * from);
        for (int64_t i = 0; i < here && *second < 0 && status == PS_OK; ++i)
            if (block[i] == hash) *(*first < 0 ? first : second) = from + i;
    }
    return status;
}

static ps_status run_pass(const coincidence *c, int64_t pass, int64_t passes, int64_t capacity,
                          finding *out)
{
    PS_SCOPED_MEMORY uint64_t *hashes = NULL;
    int64_t count;
    PS_TRY(ps_alloc_untouched((void **)&hashes, 16 * capacity, "hashes of places"));
    PS_TRY(collect(c, pass, passes, hashes, capacity, &count));
    uint64_t *sorted = ps_word_sort(hashes, count, 1, 32, 32, hashes + capacity);
    count_equal(sorted, count, out);
    return PS_OK;
}

static int64_t passes_for(int64_t particles, int64_t memory)
{
    return 16 * particles / (memory / 4 + 1) + 1;
}

static int64_t capacity_of(int64_t particles, int64_t passes)
{
    return passes == 1 ? particles : particles / passes * 5 / 4 + BLOCK;
}

int64_t coincidence_bytes(int64_t particles, int64_t memory)
{
    int64_t block = particles < BLOCK ? particles : BLOCK; /* the rest is not touched */
    return 8 * block + 16 * capacity_of(particles, passes_for(particles, memory));
}

ps_status coincidence_count(coincidence *c, int64_t memory, int64_t *found, int64_t *first,
                            int64_t *second)
{
    finding all = {0, UINT64_MAX};
    int64_t passes = passes_for(c->particles, memory);
    int64_t capacity = capacity_of(c->particles, passes);
    for (int64_t p = 0; p < passes; ++p) PS_TRY(run_pass(c, p, passes, capacity, &all));
    *found = all.count;
    return all.count ? find_two(c, all.smallest, first, second) : PS_OK;
}

void coincidence_release(coincidence *c)
{
    if (c->file >= 0) close(c->file);
    c->file = -1;
}
