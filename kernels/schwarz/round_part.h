/*
 * round_part: what of a disc or a ball about the origin lies within a rectangle or a brick.
 *
 * Integrals of chords, and of such areas along z, by ten points of Gauss in the angle on each piece
 * between the places where a side or an edge enters: discs to rounding, balls to 1e-6 of the smaller
 * of ball and brick.
 */
#ifndef PS_KERNELS_SCHWARZ_ROUND_PART_H
#define PS_KERNELS_SCHWARZ_ROUND_PART_H

/* Lengths of one unit, low before high. The area; the volume. */
double ps_disc_part(double radius, const double x[2], const double y[2]);
double ps_ball_part(double radius, const double x[2], const double y[2], const double z[2]);

#endif
