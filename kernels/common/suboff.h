/*
 * suboff: the bare hull of DARPA SUBOFF, a body of revolution whose profile is published
 * (N. C. Groves, T. T. Huang, M. S. Chang, Geometric Characteristics of DARPA SUBOFF Models,
 * DTRC/SHD-1298-01, 1989): bow, parallel middle body, afterbody, rounded cap. With x in feet from
 * the nose, R = 5/6 ft, and u = (13.979167 - x)/3.333333:
 *
 *   bow, x < 10/3    R {1.126395101 x (.3x-1)^4 + .442874707 x^2 (.3x-1)^3 + 1
 *                       - (.3x-1)^4 (1.2x+1)}^(1/2.1)
 *   middle           R
 *   afterbody        R {h^2 + h a u^2 + (20 - 20 h^2 - 4 h a - b/3) u^3
 *                       + (-45 + 45 h^2 + 6 h a + b) u^4 + (36 - 36 h^2 - 4 h a - b) u^5
 *                       + (-10 + 10 h^2 + h a + b/3) u^6}^(1/2),  h = .1175, a = 10, b = 44.6244,
 *                    from x = 10.645833 on
 *   cap              h R {1 - (3.2 x - 44.733333)^2}^(1/2), from 13.979167 to 14.291667
 */
#ifndef PS_KERNELS_COMMON_SUBOFF_H
#define PS_KERNELS_COMMON_SUBOFF_H

/* Length of the hull, m: 14.291667 ft = 4.356 m. */
double ps_suboff_length(void);

/* Radius at a distance x from the nose, m; 0 outside of 0 .. length. */
double ps_suboff_radius(double x);

#endif
