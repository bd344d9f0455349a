/*
 * dgtd_pole: one term of a permittivity that depends on the frequency, as files and kernels have
 * it. Of e^{+iwt}, w and rates over c0 (1/m):
 *
 *   Debye    strength / (1 + i w / rate)
 *   Lorentz  strength frequency^2 / (frequency^2 - w^2 + i w rate)
 *   Drude    frequency^2 / (-w^2 + i w rate)
 */
#ifndef PS_FORMATS_DGTD_POLE_H
#define PS_FORMATS_DGTD_POLE_H

enum { PS_DGTD_POLES_MAX = 16 }; /* of a medium */

typedef enum ps_dgtd_pole_kind {
    PS_DGTD_DEBYE,
    PS_DGTD_LORENTZ,
    PS_DGTD_DRUDE,
    PS_DGTD_POLE_KINDS
} ps_dgtd_pole_kind;

typedef struct ps_dgtd_pole {
    ps_dgtd_pole_kind kind;
    double strength;  /* 1, > 0; Drude: 1                                            */
    double frequency; /* 1/m, > 0: of the resonance or of the plasma; Debye: 0       */
    double rate;      /* 1/m: 1/tau > 0, or the damping >= 0                         */
} ps_dgtd_pole;

#endif
