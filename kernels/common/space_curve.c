#include "kernels/common/space_curve.h"

#include <float.h>

#include "kernels/common/radix_sort.h"

const char *ps_space_curve_name(ps_space_curve curve)
{
    static const char *const names[] = {"none", "morton", "hilbert", "random"};
    return names[curve];
}

/* Spreads 21 bits to every third bit, by halving the groups that are moved. */
static uint64_t spread(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & 0x001f00000000ffff;
    v = (v | v << 16) & 0x001f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    v = (v | v << 2) & 0x1249249249249249;
    return v;
}

uint64_t ps_morton_key(uint32_t x, uint32_t y, uint32_t z)
{
    return spread(x) << 2 | spread(y) << 1 | spread(z);
}

/* Undoes the rotations and reflections that the curve makes on its way down to one cell. */
static void undo_turns(uint32_t axis[3], int bits)
{
    for (uint32_t bit = (uint32_t)1 << (bits - 1); bit > 1; bit >>= 1) {
        uint32_t below = bit - 1;
        for (int i = 0; i < 3; ++i) {
            if (axis[i] & bit) {
                axis[0] ^= below; /* reflect */
            } else {
                uint32_t swap = (axis[0] ^ axis[i]) & below;
                axis[0] ^= swap;
                axis[i] ^= swap;
            }
        }
    }
}

uint64_t ps_hilbert_key(uint32_t x, uint32_t y, uint32_t z, int bits)
{
    uint32_t axis[3] = {x, y, z};
    undo_turns(axis, bits);
    axis[1] ^= axis[0]; /* Gray code, across the axes of each bit ... */
    axis[2] ^= axis[1];
    uint32_t carry = 0; /* ... and from each bit to the lower ones */
    for (uint32_t bit = (uint32_t)1 << (bits - 1); bit > 1; bit >>= 1)
        if (axis[2] & bit) carry ^= bit - 1;
    return ps_morton_key(axis[0] ^ carry, axis[1] ^ carry, axis[2] ^ carry);
}

void ps_space_curve_cube(const double *positions, int64_t count, double lower[3], double *extent)
{
    double upper[3];
    for (int c = 0; c < 3; ++c) {
        lower[c] = count ? DBL_MAX : 0;
        upper[c] = count ? -DBL_MAX : 0;
    }
    for (int64_t i = 0; i < count; ++i)
        for (int c = 0; c < 3; ++c) {
            double x = positions[3 * i + c];
            if (x < lower[c]) lower[c] = x;
            if (x > upper[c]) upper[c] = x;
        }
    *extent = 0;
    for (int c = 0; c < 3; ++c)
        if (upper[c] - lower[c] > *extent) *extent = upper[c] - lower[c];
}

static uint32_t cell_of(double x, double lower, double scale)
{
    const double last = (double)((1 << PS_CURVE_BITS) - 1);
    double cell = (x - lower) * scale;
    return (uint32_t)(cell < 0 ? 0 : cell > last ? last : cell);
}

/* The position along a curve, or 63 bits that look like chance (the mixing of splitmix64, Steele,
 * Lea and Flood 2014). */
static uint64_t key_of(ps_space_curve curve, const uint32_t cell[3])
{
    uint64_t key = ps_morton_key(cell[0], cell[1], cell[2]);
    switch (curve) {
    case PS_CURVE_MORTON:
        return key;
    case PS_CURVE_HILBERT:
        return ps_hilbert_key(cell[0], cell[1], cell[2], PS_CURVE_BITS);
    case PS_CURVE_RANDOM:
        key += 0x9e3779b97f4a7c15u;
        key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
        key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
        return (key ^ (key >> 31)) >> 1;
    default:
        return 0;
    }
}

void ps_space_curve_keys(ps_space_curve curve, const double *positions, int64_t count,
                         const double lower[3], double extent, uint64_t *keys)
{
    double scale = extent > 0 ? (double)(1 << PS_CURVE_BITS) / extent : 0;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        uint32_t cell[3];
        for (int c = 0; c < 3; ++c) cell[c] = cell_of(positions[3 * i + c], lower[c], scale);
        keys[i] = key_of(curve, cell);
    }
}

size_t ps_space_curve_workspace(int64_t count)
{
    return (size_t)count * (2 * sizeof(uint64_t) + sizeof(int32_t));
}

void ps_space_curve_order(ps_space_curve curve, const double *positions, int64_t count,
                          void *workspace, int32_t *order)
{
    uint64_t *keys = workspace, *keys_scratch = keys + count;
    int32_t *items_scratch = (int32_t *)(keys_scratch + count);
    double lower[3], extent;
    ps_space_curve_cube(positions, count, lower, &extent);
    ps_space_curve_keys(curve, positions, count, lower, extent, keys);
    for (int64_t i = 0; i < count; ++i) order[i] = (int32_t)i;
    ps_radix_sort(keys, order, count, 3 * PS_CURVE_BITS, keys_scratch, items_scratch);
}
