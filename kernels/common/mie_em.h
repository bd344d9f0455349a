/*
 * mie_em: exact scattering of a plane electromagnetic wave by a sphere in vacuum: dielectric,
 * conducting or perfectly conducting (PEC).
 *
 * Sphere about the origin; e^{-iwt}; incident E = x^ e^{ikz} V/m, H = y^ e^{ikz}/Z0, so that the
 * phasors of E(t) = Re(E^ e^{+iwt}) are the conjugates. With M, N the vector spherical harmonics, x
 * = kR, m = sqrt(eps_c mu), eps_c = eps + i sigma/(w eps0) (Bohren and Huffman 1983, 4.37-4.53):
 *
 *   E_sc = sum E_n (i a_n N_e1n - b_n M_o1n)     E_in = sum E_n (c_n M_o1n - i d_n N_e1n)
 *   E_n = i^n (2n+1)/(n(n+1))
 *
 * Efficiencies: cross-section over pi R^2; Q_ext = 2/x^2 sum (2n+1) Re(a_n + b_n), Q_sca = 2/x^2
 * sum (2n+1)(|a_n|^2 + |b_n|^2), Q_abs = Q_ext - Q_sca. The field at the centre is d_1 x^. Relative
 * accuracy about 1e-12. No allocation; thread-safe. Complex values are pairs (real, imaginary).
 */
#ifndef PS_KERNELS_COMMON_MIE_EM_H
#define PS_KERNELS_COMMON_MIE_EM_H

#include <stdint.h>

#include "runtime/status.h"

enum { PS_MIE_EM_TERMS_MAX = 512 };

typedef struct ps_mie_em_sphere {
    double radius;         /* m                                   */
    double eps, mu, sigma; /* relative, relative, S/m             */
    int pec;               /* perfectly conducting; eps .. unused */
} ps_mie_em_sphere;

/* Coefficients of one sphere at one frequency. */
typedef struct ps_mie_em {
    double k, radius, frequency; /* 1/m, m, Hz        */
    double inside[2];            /* k m inside, 1/m   */
    double mu;
    int pec, terms;                                              /* n = 1 .. terms    */
    double a[PS_MIE_EM_TERMS_MAX][2], b[PS_MIE_EM_TERMS_MAX][2]; /* [n] */
    double c[PS_MIE_EM_TERMS_MAX][2], d[PS_MIE_EM_TERMS_MAX][2];
} ps_mie_em;

/* PS_INVALID for a radius or frequency that is not positive, eps or mu not positive, sigma
 * negative, too many terms (kR of 400), or losses that make the field inside vanish beyond fp64. */
ps_status ps_mie_em_init(ps_mie_em *series, const ps_mie_em_sphere *sphere, double frequency);

typedef struct ps_mie_em_efficiencies {
    double extinction, scattering, absorption,
        backscattering; /* the last: RCS/(pi R^2) backwards */
} ps_mie_em_efficiencies;
void ps_mie_em_efficiency(const ps_mie_em *series, ps_mie_em_efficiencies *out);

typedef enum ps_mie_em_part { PS_MIE_EM_TOTAL, PS_MIE_EM_SCATTERED } ps_mie_em_part;

/* E (V/m) and H (A/m) at a point, inside or outside: the total field, or that less the incident. */
void ps_mie_em_field(const ps_mie_em *series, ps_mie_em_part part, const double point[3],
                     double e[3][2], double h[3][2]);

/* lim r e^{-ikr} E_sc in a unit direction, m (per V/m): RCS = 4 pi |.|^2. */
void ps_mie_em_far(const ps_mie_em *series, const double direction[3], double e[3][2]);

#endif
