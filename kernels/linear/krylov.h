/*
 * krylov: the three Krylov methods of Magoules, Cheik Ahamed and Putanowicz (2015), section 5, with
 * Jacobi preconditioning: the scalars and decisions alone.
 *
 * The arithmetic on vectors is a team's: it runs a method as a chain of passes over the vectors and
 * returns the sums that a pass asks for, added over all ranks and devices where there are several.
 * So one control serves CPU cores (krylov_team.h), GPUs and ranks. D is the diagonal of A.
 *
 *   P-CG           A symmetric, positive definite
 *   BiCGStab       any A, preconditioned from the right
 *   P-BiCGCR       A symmetric, maybe indefinite: conjugate residuals
 *
 * Stop at |r| <= tolerance |b|, r by its recurrence.
 */
#ifndef PS_KERNELS_LINEAR_KRYLOV_H
#define PS_KERNELS_LINEAR_KRYLOV_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_krylov_method {
    PS_KRYLOV_CG,
    PS_KRYLOV_BICGSTAB,
    PS_KRYLOV_BICGCR,
    PS_KRYLOV_METHODS
} ps_krylov_method;

/* What a pass does with scalars s0, s1, and the sums it returns, in order. */
typedef enum ps_krylov_pass {
    PS_CG_START,       /* r = b - A x, p = 0            | b.b, r.r, r.D^-1 r               */
    PS_CG_DIRECTION,   /* p = D^-1 r + s0 p, q = A p    | p.q                              */
    PS_CG_ADVANCE,     /* x += s0 p, r -= s0 q          | r.r, r.D^-1 r                    */
    PS_STAB_START,     /* r = h = b - A x, p = v = 0    | b.b, r.r (h: the shadow residual) */
    PS_STAB_DIRECTION, /* p = r + s0 (p - s1 v), v = A D^-1 p | h.v                        */
    PS_STAB_HALF,      /* r -= s0 v                     | r.r                              */
    PS_STAB_TURN,      /* t = A D^-1 r                  | t.r, t.t                         */
    PS_STAB_ADVANCE,   /* x += D^-1 (s0 p + s1 r), r -= s1 t | r.r, h.r                    */
    PS_CR_START,       /* r = b - A x, z = D^-1 r, p = q = 0, w = A z | b.b, r.r, z.w      */
    PS_CR_DIRECTION,   /* p = z + s0 p, q = w + s0 q    | q.D^-1 q                         */
    PS_CR_ADVANCE,     /* x += s0 p, r -= s0 q, z -= s0 D^-1 q, w = A z | r.r, z.w         */
    PS_KRYLOV_PASSES
} ps_krylov_pass;

/* The vectors of a method, wherever they live; u is D^-1 times what A multiplies next, h the shadow
 * residual. Which ones a method has beside x and b, krylov.c knows. */
typedef struct ps_krylov_vectors {
    const void *b, *scale; /* scale: D^-1, or NULL: uniform */
    void *x, *r, *p, *q, *z, *w, *h, *u;
    double uniform; /* D^-1 of the rows at hand, where scale is NULL */
} ps_krylov_vectors;

static inline bool ps_krylov_starts(ps_krylov_pass pass)
{
    return pass == PS_CG_START || pass == PS_STAB_START || pass == PS_CR_START;
}

typedef struct ps_krylov_team {
    void *context;
    ps_status (*run)(void *context, ps_krylov_pass pass, const double scalars[2], double sums[3]);
    /* After every iteration; a status other than PS_OK ends the solve with it. May be NULL. */
    ps_status (*watch)(void *context, int64_t iteration, double residual);
} ps_krylov_team;

typedef struct ps_krylov_result {
    int64_t iterations;
    double residual; /* |r| / |b|; 0 for b = 0 */
    bool converged;
} ps_krylov_result;

/* A method between two passes: what it is to do next, and all it remembers. Its arithmetic is
 * krylov_step_body.h, which the control of the host and that of a device (krylov_device.h) share.
 */
typedef enum ps_krylov_verdict {
    PS_KRYLOV_RUNNING,
    PS_KRYLOV_CONVERGED,
    PS_KRYLOV_LIMIT,      /* too many iterations                                        */
    PS_KRYLOV_NOT_FINITE, /* the residual                                               */
    PS_KRYLOV_INDEFINITE, /* `below` should be above 0: singular, indefinite or no number */
    PS_KRYLOV_SINGULAR    /* `below` should not be 0                                    */
} ps_krylov_verdict;
typedef struct ps_krylov_state {
    int32_t method, verdict;
    int32_t pass;      /* to be run next; PS_KRYLOV_PASSES: none, the verdict is there */
    int32_t reserved;  /* 0 */
    double scalars[2]; /* of that pass            */
    double sums[3];    /* of the pass that was run */
    int64_t iterations, limit;
    double tolerance, size, residual; /* size: |b| */
    double alpha, rho, below;         /* rho: r.z, h.r or z.w of the iteration; alpha: of BiCGStab,
                                         for P-CG the rho of the iteration before */
} ps_krylov_state;

/* Vectors of a method beside x and b. */
int64_t ps_krylov_vector_count(ps_krylov_method method);
/* Puts them into memory, `stride` bytes from one to the next; returns what is behind the last. */
void *ps_krylov_lay_out(ps_krylov_method method, void *memory, int64_t stride,
                        ps_krylov_vectors *vectors);
/* What A multiplies in a pass once vectors have changed, and where the product goes; NULL: nothing.
 * (A pass that starts a method makes q = A x before that.) */
void ps_krylov_product_of(ps_krylov_pass pass, const ps_krylov_vectors *vectors, void **in,
                          void **out);
ps_krylov_pass ps_krylov_first_pass(ps_krylov_method method);

/* The state before the first pass, and after a pass whose sums are in state->sums. */
void ps_krylov_state_begin(ps_krylov_method method, double tolerance, int64_t limit,
                           ps_krylov_state *out);
void ps_krylov_state_step(ps_krylov_state *state);
/* Whether a state that was put back is one that a solve of this method has after so many
 * iterations: files are not believed. */
bool ps_krylov_state_sound(const ps_krylov_state *state, ps_krylov_method method,
                           int64_t iterations);
/* What the verdict says: PS_OK if converged, else PS_FAILED. */
ps_status ps_krylov_state_judge(const ps_krylov_state *state);

/* Solves A x = b, x being the first guess and then the solution. A half step of BiCGStab that
 * ends it counts as an iteration. PS_FAILED, x being the last iterate, if `limit` iterations are
 * not enough, if A shows itself indefinite or singular where the method needs it not to be, or if
 * numbers stop being finite. */
ps_status ps_krylov_solve(ps_krylov_method method, const ps_krylov_team *team, double tolerance,
                          int64_t limit, ps_krylov_result *result);

/* The same from a state on: one that ps_krylov_state_begin made, or that was kept in `watch` with
 * the team's vectors, and its limit and tolerance set anew. */
ps_status ps_krylov_continue(const ps_krylov_team *team, ps_krylov_state *state,
                             ps_krylov_result *result);

const char *ps_krylov_name(ps_krylov_method method);

#endif
