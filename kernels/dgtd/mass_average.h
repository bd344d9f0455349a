/*
 * mass_average: SAR averaged over cubes of a mass (1 g, 10 g), after IEC/IEEE 62704-1, 6.2.2
 * (specs/dgtd_sar.md says from where the rule is known).
 *
 * Voxels of a uniform grid hold tissue (mass density > 0) or air. About the centre of every tissue
 * voxel a cube along the axes grows, shell of voxels by shell, until it holds the mass exactly: the
 * outer shell counts by the fraction that is inside. The cube is valid if at most 10 % of its
 * volume are air and no face of a shell lay in air throughout while it grew; its power over its
 * mass is then the value of the voxel in its centre. Other tissue voxels that lie entirely in valid
 * cubes (used) take the largest of their values. For what is left (unused) six cubes grow, each
 * with the voxel at the centre of one face and whatever air there is; of those whose volume is
 * within 5 % of the smallest the largest value counts.
 *
 * Shells that hold less than the mass even if all of them were of the densest tissue there is are
 * not looked at.
 *
 * Sums over boxes with fractional ends come from one table of sums over [0,i) x [0,j) x [0,k),
 * which is trilinear between its entries: 64 loads a box, whatever its size. Grows by the secant
 * method on the cubic root of the mass. Results do not depend on threads.
 *
 * Per tissue voxel about 4 boxes of 64 loads of 32 bytes. Values spread from valid cubes to the
 * voxels inside them, separately for cubes of equal extent in voxels, by sliding maxima along the
 * axes.
 */
#ifndef PS_KERNELS_DGTD_MASS_AVERAGE_H
#define PS_KERNELS_DGTD_MASS_AVERAGE_H

#include <stdint.h>

typedef enum ps_mass_status {
    PS_MASS_AIR,    /* no tissue                                    */
    PS_MASS_CENTRE, /* of a valid cube                              */
    PS_MASS_INSIDE, /* of a valid cube of another voxel             */
    PS_MASS_FACE,   /* a cube that it is at the face of             */
    PS_MASS_NONE    /* the tissue there is has less than the mass   */
} ps_mass_status;

/* Numbers of voxels: i + size[0] (j + size[1] k). */
typedef struct ps_mass_average {
    int64_t size[3];
    double step;          /* m                                                               */
    const float *density; /* [voxels] kg/m3; 0: air                                          */
    double (*sums)[4];    /* [(size[0]+1)(size[1]+1)(size[2]+1)]: mass (kg), power (W), number of
                             tissue voxels, 0; 32-byte aligned; by ps_mass_average_sum        */
    double mass;          /* kg                                                              */
    float *value;         /* [voxels] out, W/kg; 0 where there is none                       */
    float *side;          /* [voxels] out: of the cube about the voxel, in voxels; 0 if not valid */
    uint8_t *status;      /* [voxels] out: ps_mass_status                                    */
    float *work;          /* [2 voxels]                                                      */
    int64_t core;         /* set by ps_mass_average_run: shells that no cube can end in      */
} ps_mass_average;

int64_t ps_mass_average_entries(const int64_t size[3]); /* of sums */

/* Fills sums from the density and power[voxels], W/m3. */
void ps_mass_average_sum(const ps_mass_average *x, const float *power);

/* Fills value, side and status. */
void ps_mass_average_run(const ps_mass_average *x);

/* Voxels on each side of its centre's that lie in a cube entirely (.999 of the volume, so that
 * rounding does not matter); at most PS_MASS_HALVES - 1. */
enum { PS_MASS_HALVES = 512 };
static inline int64_t ps_mass_half(float side)
{
    float half = (side - 1) / 2 + 1.f / 3000;
    return half < 0 ? 0 : half < PS_MASS_HALVES - 1 ? (int64_t)half : PS_MASS_HALVES - 1;
}

/* Of the instruction sets: a row (j, k) of voxels. spread: the largest value of the cubes of one
 * half within reach, axis by axis. */
typedef struct ps_mass_average_functions {
    void (*centres)(const ps_mass_average *x, int64_t j, int64_t k);
    void (*spread[3])(const ps_mass_average *x, int64_t half, int64_t j, int64_t k);
    void (*faces)(const ps_mass_average *x, int64_t j, int64_t k);
} ps_mass_average_functions;

#endif
