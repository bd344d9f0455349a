#include "kernels/hbem/strata.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double normal_step = 2e-4, offset_step = 2e-5;

/* An open hash table of keys and their counts, in regions that are filled side by side; the number
 * of a key is its place. */
typedef struct table {
    uint64_t *key; /* 0: free */
    int32_t *count;
    int64_t size; /* a power of 2, twice the keys at least */
    int64_t regions;
} table;

enum { REGIONS = 16, REGIONS_FROM = 1 << 16 };

static int64_t size_for(int64_t keys)
{
    int64_t size = 64;
    while (size < 2 * keys) size *= 2;
    return size;
}

int64_t ps_hbem_strata_bytes(int64_t triangle_count, int64_t dofs, int64_t other_dofs)
{
    int64_t keys = triangle_count > dofs ? triangle_count : dofs;
    keys = keys > other_dofs ? keys : other_dofs;
    return 12 * size_for(keys) + 8 * keys + 64;
}

/* In the scratch; keys of the items follow. */
static table table_in(void *scratch, int64_t keys, uint64_t **own)
{
    table t = {.key = scratch, .size = size_for(keys)};
    t.count = (int32_t *)(t.key + t.size);
    t.regions = t.size < REGIONS_FROM ? 1 : REGIONS;
    *own = (uint64_t *)(t.count + t.size);
    memset(t.key, 0, (size_t)t.size * sizeof *t.key);
    return t;
}

static uint64_t mix(uint64_t a)
{
    a = (a ^ (a >> 31)) * 0x9e3779b97f4a7c15u;
    a = (a ^ (a >> 29)) * 0xbf58476d1ce4e5b9u;
    return a ^ (a >> 32);
}

/* Counts a key of a region in; where it is. */
static int32_t count_in(table *t, uint64_t hash, uint64_t key)
{
    int64_t size = t->size / t->regions, first = (int64_t)(hash % (uint64_t)t->regions) * size;
    int64_t at = (int64_t)(hash / (uint64_t)t->regions & (uint64_t)(size - 1));
    while (t->key[first + at] && t->key[first + at] != key) at = (at + 1) & (size - 1);
    if (!t->key[first + at]) t->count[first + at] = 0;
    t->key[first + at] = key;
    ++t->count[first + at];
    return (int32_t)(first + at);
}

/* Numbers of keys[count] (0: none) that are there `least` times. */
static void number_keys(table *t, const uint64_t *keys, int64_t count, int32_t least, int32_t *out)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t region = 0; region < t->regions; ++region)
        for (int64_t i = 0; i < count; ++i) {
            uint64_t hash = mix(keys[i]);
            if (hash % (uint64_t)t->regions != (uint64_t)region) continue;
            out[i] = keys[i] ? count_in(t, hash, keys[i]) : PS_HBEM_NO_STRATUM;
        }
#pragma omp parallel for
    for (int64_t i = 0; i < count; ++i)
        if (out[i] >= 0 && t->count[out[i]] < least) out[i] = PS_HBEM_NO_STRATUM;
}

static double size_of(const ps_hbem_surface *surface)
{
    double size = 0;
    for (int64_t t = 0; t < surface->triangle_count; ++t)
        for (int c = 0; c < 3; ++c)
            size = fmax(
                size, fabs(surface->triangles[t].centroid[c] - surface->triangles[0].centroid[c]));
    return size;
}

static uint64_t plane_key(const ps_hbem_triangle *t, const double origin[3], double size)
{
    double offset = 0;
    uint64_t key = 0;
    for (int c = 0; c < 3; ++c) {
        offset += t->normal[c] * (t->centroid[c] - origin[c]);
        key = mix(key + (uint64_t)(int64_t)llround(t->normal[c] / normal_step));
    }
    key = mix(key + (uint64_t)(int64_t)llround(offset / (offset_step * size)));
    return key ? key : 1;
}

void ps_hbem_planes(const ps_hbem_surface *surface, int32_t *plane, void *scratch)
{
    uint64_t *keys;
    int64_t count = surface->triangle_count;
    if (count == 0) return;
    table t = table_in(scratch, count, &keys);
    double size = size_of(surface);
#pragma omp parallel for
    for (int64_t i = 0; i < count; ++i)
        keys[i] = plane_key(&surface->triangles[i], surface->triangles[0].centroid, size);
    number_keys(&t, keys, count, PS_HBEM_PLANE_LEAST, plane);
}

/* Of the set of planes, whatever their order; 0: none. */
static uint64_t set_key(const ps_hbem_space *space, const int32_t *plane, int64_t dof)
{
    int32_t planes[3];
    int count = 0;
    uint64_t key = 0;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e) {
        int32_t own = plane[space->item[e] / 3];
        bool known = false;
        for (int p = 0; p < count; ++p) known = known || planes[p] == own;
        if (known) continue;
        if (own < 0 || count == 3) return 0;
        planes[count++] = own;
        key += mix((uint64_t)own + 1);
    }
    return key;
}

void ps_hbem_strata(const ps_hbem_space *space, const int32_t *plane, int32_t *stratum,
                    void *scratch)
{
    uint64_t *keys;
    table t = table_in(scratch, space->dofs, &keys);
#pragma omp parallel for
    for (int64_t i = 0; i < space->dofs; ++i) keys[i] = set_key(space, plane, i);
    number_keys(&t, keys, space->dofs, 1, stratum);
}

/* ---- of a block ---- */

/* Candidates for having more than 1/65 of the rows: none that has is left out (J. Misra, D. Gries,
 * Sci. Comput. Program. 2 (1982) 143). rows: what their counters say. */
static int list_candidates(const int32_t *stratum, int64_t rows,
                           ps_hbem_stratum out[PS_HBEM_STRATA_SHARE])
{
    int count = 0;
    for (int64_t i = 0; i < rows; ++i) {
        int32_t own = stratum[i];
        int e = 0;
        if (own < 0) continue;
        while (e < count && out[e].number != own) ++e;
        if (e < count) {
            ++out[e].rows;
        } else if (count < PS_HBEM_STRATA_SHARE) {
            out[count++] = (ps_hbem_stratum){own, i, 1};
        } else {
            for (e = 0; e < count; ++e) --out[e].rows;
            for (int kept = e = 0; e < PS_HBEM_STRATA_SHARE; ++e, count = kept)
                if (out[e].rows > 0) out[kept++] = out[e];
        }
    }
    return count;
}

static int by_first_row(const void *a, const void *b)
{
    int64_t left = ((const ps_hbem_stratum *)a)->first, right = ((const ps_hbem_stratum *)b)->first;
    return (left > right) - (left < right);
}

int ps_hbem_strata_of(const int32_t *stratum, int64_t rows,
                      ps_hbem_stratum out[PS_HBEM_STRATA_SHARE])
{
    int count = list_candidates(stratum, rows, out), kept = 0;
    for (int e = 0; e < count; ++e) {
        ps_hbem_stratum own = {out[e].number, -1, 0};
        for (int64_t i = 0; i < rows; ++i) {
            if (stratum[i] != own.number) continue;
            if (own.first < 0) own.first = i;
            ++own.rows;
        }
        if (own.rows * PS_HBEM_STRATA_SHARE >= rows) out[kept++] = own;
    }
    qsort(out, (size_t)kept, sizeof *out, by_first_row);
    return kept;
}
