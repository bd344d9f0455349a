/*
 * space_curve: order of points in space along the Morton or the Hilbert curve.
 *
 * Positions are quantised on the cube of the largest extent, 21 bits an axis, so that a key
 * fits 63 bits.
 */
#ifndef PS_KERNELS_COMMON_SPACE_CURVE_H
#define PS_KERNELS_COMMON_SPACE_CURVE_H

#include <stddef.h>
#include <stdint.h>

typedef enum ps_space_curve {
    PS_CURVE_NONE, /* all keys 0: a stable sort leaves the order as it is */
    PS_CURVE_MORTON,
    PS_CURVE_HILBERT,
    PS_CURVE_RANDOM /* no curve: scattered, the same way every time; the worst order, to compare
                       with */
} ps_space_curve;

enum { PS_CURVE_BITS = 21 };

/* "none", "morton", "hilbert", "random". */
const char *ps_space_curve_name(ps_space_curve curve);

/* Interleaves the lowest 21 bits (Morton 1966): bit i of x goes to bit 3i+2, of y to 3i+1, of
 * z to 3i. */
uint64_t ps_morton_key(uint32_t x, uint32_t y, uint32_t z);

/* Position along the Hilbert curve through the cube of 2^bits cells an axis (bits 1..21), by
 * the transpose of J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004)
 * 381-387: consecutive positions are cells that share a face. */
uint64_t ps_hilbert_key(uint32_t x, uint32_t y, uint32_t z, int bits);

/* The cube on which positions[count][3] are quantised: lower corner and largest extent. */
void ps_space_curve_cube(const double *positions, int64_t count, double lower[3], double *extent);

/* keys[count] of positions[count][3] on the cube: cell = floor((x - lower)/extent 2^21), held
 * within 0 .. 2^21 - 1. An extent of 0 gives keys of 0. Threads: OpenMP inside. */
void ps_space_curve_keys(ps_space_curve curve, const double *positions, int64_t count,
                         const double lower[3], double extent, uint64_t *keys);

/* Bytes of workspace that ps_space_curve_order needs. */
size_t ps_space_curve_workspace(int64_t count);

/* order[count]: old index of the item at each new place, along the curve; items in the same
 * cell keep their order. workspace: ps_space_curve_workspace(count) bytes, 8-byte aligned.
 * count < 2^31. */
void ps_space_curve_order(ps_space_curve curve, const double *positions, int64_t count,
                          void *workspace, int32_t *order);

#endif
