/*
 * distribution: particles at random for tests and benchmarks, by counters: particle i is the same
 * whatever the number of threads and whatever range is asked for.
 */
#ifndef PS_KERNELS_FMM_DISTRIBUTION_H
#define PS_KERNELS_FMM_DISTRIBUTION_H

#include <stdint.h>

typedef enum ps_distribution {
    PS_DISTRIBUTION_CUBE,      /* uniform in [0, 1)^3                                        */
    PS_DISTRIBUTION_ELLIPSOID, /* on the surface of an ellipsoid 1 : 5 : 1, dense at its tips,
                                  turned, within the unit cube: a = 0.5, b = 0.1; p in [-a, a] with
                                  density rho(p) (1 + 10 |p| / a), rho = b sqrt(1 - p^2 / a^2); the
                                  angle uniform; 0.5 + Rz(pi/4) Ry(pi/8) (p, rho cos, rho sin)
                                  (guide 3)                                                  */
    PS_DISTRIBUTION_PLUMMER,   /* Plummer's model of scale length 1 around 0, mass within r: r^3 /
                                  (1 + r^2)^(3/2) (Aarseth, Henon, Wielen 1974), cut where
                                  0.1 % of the mass lie outside: r < 38.7                    */
    PS_DISTRIBUTION_CLUSTERS   /* PS_CLUSTERS such spheres, around the unit cube, each with as
                                  many particles as its mass says: see ps_cluster             */
} ps_distribution;

/* Spheres of the kind of a survey of galaxies. Masses: number ~ mass^-1.9 (the slope of poor halos,
 * Press and Schechter 1974) over three decades, 1 the poorest that is possible; scale lengths: .01
 * (mass / 1000)^(1/3), equal densities. Centres: 16 trees of five levels, two children each, at
 * random within radii that shrink by 2^(1 / 1.23), which gives pairs at distance r an excess ~
 * r^-1.77 (Soneira and Peebles 1978). */
enum { PS_CLUSTERS = 512 };
typedef struct ps_cluster {
    double mass, length, centre[3];
} ps_cluster;
ps_cluster ps_cluster_of(uint64_t seed, int k);

typedef enum ps_charges {
    PS_CHARGES_UNIT,    /* 1 */
    PS_CHARGES_UNIFORM, /* uniform in [0, 1) */
    PS_CHARGES_SIGNED   /* uniform in [-1, 1) */
} ps_charges;

/* Positions of particles [first, first + count), columns x, y, z. Threads: OpenMP inside. */
void ps_distribution_positions(ps_distribution distribution, uint64_t seed, int64_t first,
                               int64_t count, double *const *columns);
/* Charges of right-hand side s. */
void ps_distribution_charges(ps_charges charges, uint64_t seed, int s, int64_t first, int64_t count,
                             double *q);

#endif
