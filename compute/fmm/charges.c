/*
 * --charges: other charges of the particles that the octree was built of, from a particle file that
 * has them at the same places in the same order, so that what depends on places alone serves again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/fmm/fmm.h"
#include "kernels/common/counter_random.h"
#include "kernels/fmm/p2p_close.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

ps_status fmm_charges_open(const char *path, fmm_problem *p)
{
    p->fmm.sides = p->header->right_hand_sides;
    p->sum.moments = p->header->moments;
    if (!path) return PS_OK;
    PS_TRY(ps_particles_open(path, &p->charge_file));
    const ps_particle_header *h = ps_particles_header(p->charge_file);
    if (h->count != p->header->count[0])
        return ps_fail(
            PS_INVALID,
            "--charges %s: %lld particles, and %s was built of %lld; give the file that it "
            "was built of with other charges",
            path, (long long)h->count, ps_store_path(ps_octree_file_store(p->file)),
            (long long)p->header->count[0]);
    p->fmm.sides = h->right_hand_sides;
    p->sum.moments = h->moments;
    return PS_OK;
}

/* The largest magnitude in a column of the file that charges come from; its chunk table tells it.
 */
static ps_status largest_charge(const fmm_problem *p, int side, double *largest)
{
    const ps_store *store =
        p->charge_file ? ps_particles_store(p->charge_file) : ps_octree_file_store(p->file);
    bool sorted = !p->charge_file && p->header->sorted;
    char name[16];
    int id;
    ps_dataset_info info;
    snprintf(name, sizeof name, "%s/q%d", sorted ? "/sources" : "", side);
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    *largest = 0;
    for (int64_t c = 0; c < info.chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(store, id, c, &chunk));
        *largest = fmax(*largest, fmax(chunk.maximum, -chunk.minimum));
    }
    return PS_OK;
}

ps_status fmm_charges_check(const fmm_problem *p)
{
    static const double least = 1e-30; /* 1e8 of the least normal number of fp32 */
    double width = fmin(p->header->box.width, PS_FMM_FP32_MOST_WIDTH), largest;
    int degree = -1;
    if (p->fmm.near == PS_DOUBLE) return PS_OK;
    if (!ps_fmm_kernel_degree(p->fmm.function.kernel, &degree)) degree = -1;
    for (int side = 0; side < p->fmm.sides; ++side) {
        PS_TRY(largest_charge(p, side, &largest));
        if (largest == 0 || largest * fmin(1, pow(width, degree - 2)) >= least) continue;
        return ps_fail(PS_INVALID,
                       "charges of at most %.3g in a box %.3g wide: what they sum to are no "
                       "numbers of single precision; give "
                       "charges in another unit, or take --precision fp64",
                       largest, p->header->box.width);
    }
    return PS_OK;
}

const char *fmm_charge_units(const fmm_problem *p)
{
    return p->charge_file ? ps_particles_header(p->charge_file)->charge_units
                          : p->header->charge_units;
}

/* A number that places in an order have: sums over particles, each of them a hash. */
static uint64_t hash_of(double *const columns[3], const int64_t *places, int64_t first,
                        int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
        uint64_t place = (uint64_t)(places ? places[i] : first + i);
        uint64_t point = ps_point_hash(columns[0][i], columns[1][i], columns[2][i]);
        sum += ps_counter_mix(point + place * 0x9e3779b97f4a7c15u);
    }
    return sum;
}

static ps_status hash_tile(fmm_source *source, int64_t first, int64_t count, double *room,
                           int64_t *places, uint64_t *sum)
{
    double *const columns[3] = {room, room + count, room + 2 * count};
    PS_TRY(fmm_source_read(source, PS_OCTREE_SOURCES, first, count, columns, 3, places));
    *sum += hash_of(columns, places, 0, count);
    return PS_OK;
}

static ps_status hash_octree(const fmm_problem *p, uint64_t *out)
{
    int64_t tiles, largest = 0;
    const int64_t *start = ps_octree_tile_start(p->file, PS_OCTREE_SOURCES, &tiles);
    ps_failure failure = {0};
    uint64_t sum = 0;
    for (int64_t t = 0; t < tiles; ++t) largest = ps_larger(largest, start[t + 1] - start[t]);
#pragma omp parallel reduction(+ : sum)
    {
        fmm_source source;
        double *room = NULL;
        fmm_source_init(&source, p);
        ps_note_failure(&failure, ps_alloc_untouched((void **)&room, 32 * largest, "a tile"));
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < tiles; ++t)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, hash_tile(&source, start[t], start[t + 1] - start[t],
                                                    room, (int64_t *)(room + 3 * largest), &sum));
        free(room);
        fmm_source_release(&source);
    }
    *out = sum;
    return ps_first_failure(&failure);
}

/* Keeps the charges of a chunk, and adds its places to the hash. */
static ps_status load_chunk(fmm_problem *p, int64_t first, int64_t count, double *room,
                            uint64_t *sum)
{
    int64_t all = p->header->count[0];
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    for (int d = 0; d < 3; ++d) columns[d] = room + d * count;
    for (int s = 0; s < p->fmm.sides; ++s) columns[3 + s] = p->charges + s * all + first;
    PS_TRY(ps_particles_read(p->charge_file, first, count, columns, 3 + p->fmm.sides));
    *sum += hash_of(columns, NULL, first, count);
    return PS_OK;
}

ps_status fmm_charges_load(const ps_run *run, fmm_problem *p)
{
    enum { CHUNK = 1 << 18 };
    int64_t all = p->header->count[0], bytes = 8 * p->fmm.sides * all;
    uint64_t file = 0, octree;
    PS_SCOPED_MEMORY double *room = NULL;
    if (!p->charge_file) return PS_OK;
    if (bytes + 8 * 3 * CHUNK > run->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "--charges keeps all charges in memory: %.1f MB, --host-memory is %.1f MB",
                       1e-6 * (double)bytes, 1e-6 * (double)run->host_memory);
    PS_TRY(hash_octree(p, &octree));
    PS_TRY(ps_alloc_buffer((void **)&p->charges, bytes, "charges"));
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * 3 * CHUNK, "particles"));
    for (int64_t first = 0; first < all; first += CHUNK)
        PS_TRY(load_chunk(p, first, ps_smaller(CHUNK, all - first), room, &file));
    ps_memory_trim();
    if (file == octree) return PS_OK;
    return ps_fail(PS_INVALID,
                   "--charges %s: its particles are at other places, or in another order, than "
                   "those that %s was "
                   "built of; give the file that it was built of with other charges",
                   ps_store_path(ps_particles_store(p->charge_file)),
                   ps_store_path(ps_octree_file_store(p->file)));
}
