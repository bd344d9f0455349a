/*
 * entry_check: whether the rules for pairs of triangles are good enough for a mesh, before anything
 * is assembled.
 *
 * The pairs are those that fixed rules take worst: by aspect, by the angle at a shared edge, by the
 * gap over the size, and a sample. The program's own integrals of the static kernel are compared
 * with closed inner integrals under an adaptive outer rule. Waves have the same singularity, hence
 * the same errors; HYPS takes by parts the integrals of SLP, ADLP those of DLP transposed.
 */
#ifndef PS_HBEM_ASSEMBLY_ENTRY_CHECK_H
#define PS_HBEM_ASSEMBLY_ENTRY_CHECK_H

#include "kernels/hbem/entries.h"

typedef struct ps_hbem_entry_check {
    double error;  /* largest: DLP, ADLP over half the area of the row's triangle; SLP, HYPS
                      over twice the root of the product of both diagonal entries. Areas count as a
                      thirtieth of the mean at least, but for HYPS          */
    int64_t pairs; /* that were looked at */
    int64_t above; /* of them: above the limit */
    int32_t worst[2];
    double place[3]; /* of the middle of the worst pair's first triangle, m   */
    double aspect;   /* the worse one of the two: longest edge over height    */
    double angle;    /* between the two faces, degrees; 180: straight on      */
    double gap;      /* between triangles that do not touch, over the larger longest edge; 0 where
                        they touch                                                            */
} ps_hbem_entry_check;

/* By all threads; what comes out does not depend on their number. PS_EXHAUSTED. */
ps_status ps_hbem_entry_check_run(const ps_hbem_operator *op, double limit,
                                  ps_hbem_entry_check *out);

/* 10 eps, eps the larger of the tolerances of crosses and rules, 1e-6 at least, which are the
 * finest rules. */
double ps_hbem_entry_check_limit(double tolerance, double rules);

/* What a program says of a check above its limit, after "operands: ". */
#define PS_HBEM_ENTRY_CHECK_REFUSED                                                                \
    "entries are wrong: the rules err by %.2g (at most %.2g, 10 eps, is allowed) on %lld of %lld " \
    "pairs of triangles looked at; the worst is at (%.6g, %.6g, %.6g): aspect %.3g, %.3g degrees " \
    "between the two, a gap of %.2g. Mesh it with better shaped triangles, or take finer --rules"
#define PS_HBEM_ENTRY_CHECK_FIGURES(check, limit)                                                  \
    (check).error, (limit), (long long)(check).above, (long long)(check).pairs, (check).place[0],  \
        (check).place[1], (check).place[2], (check).aspect, (check).angle, (check).gap

#endif
