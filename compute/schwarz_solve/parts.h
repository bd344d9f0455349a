/*
 * parts: subdomains of any shape (specs/subdomains.md) with matrices of rows, consecutive ones to
 * each rank.
 *
 * An interface between subdomains i < j has two traces: its first acts on i, its second on j,
 * values at its nodes in order. Traces are numbered by the subdomain they act on, then by
 * interface.
 */
#ifndef PS_SCHWARZ_SOLVE_PARTS_H
#define PS_SCHWARZ_SOLVE_PARTS_H

#include "compute/schwarz_solve/outer.h"
#include "formats/subdomains.h"
#include "runtime/cholesky.h"

enum { PARTS_MODES = 4 };

/* One side of an interface, seen from a subdomain. */
typedef struct side {
    int64_t interface, trace; /* number of the trace that acts here */
    int64_t beyond;           /* that of the one on the other side  */
    int32_t other;            /* the subdomain there                */
    int64_t nodes;
    int32_t *rows;   /* [nodes] of the subdomain  */
    ps_csr transfer; /* S_ij + S_ji               */
    double *modes;   /* [PARTS_MODES][nodes]: M_G times 1, x, y, z; NULL without a coarse space */
} side;

typedef struct part {
    int64_t rows, sides;
    int64_t *nodes;
    side *side;
    ps_csr matrix;   /* with the conditions, while there is no factor */
    double *inverse; /* diagonal */
    ps_cholesky *factor;
    double *load, *u; /* [rows] */
} part;

/* A side whose trace comes from another rank. */
typedef struct remote_side {
    int64_t interface, part, side;
} remote_side;

typedef struct parts_coarse parts_coarse;

typedef struct parts {
    solve_problem *p;
    ps_subdomains file;
    int64_t first, end; /* own */
    part *part;         /* [end - first] */
    double *fields;     /* u of one after the other, [rows] */
    int64_t rows;
    int64_t *start;                     /* [own traces + 1] */
    int64_t base, traces, all, largest; /* first own trace, own ones, all; rows */
    ps_interface problem;
    outer outer;
    int workers;                   /* subdomains at a time, where they have factors */
    double *right, *space, *faces; /* [workers][largest], solver, traces to other ranks */
    remote_side *remote;           /* [remote_count], as neighbours have them: by interface */
    ps_comm_exchange *exchanges;
    int64_t remote_count;
    parts_coarse *coarse; /* NULL: none */
} parts;

/* First subdomain of a rank. */
int64_t parts_first(int64_t subdomains, int64_t rank);
bool parts_own(const parts *s, int64_t subdomain);

/* Reads the own subdomains and their interfaces, adds the conditions, makes factors, shares the
 * loads and lays out traces. Collective; s->p is set. */
ps_status parts_read(parts *s);
/* What parts_read has made, as far as it came. */
void parts_release(parts *s);

/* Makes the coarse space once all else is there, by PARTS_MODES exchanges. Collective. */
ps_status parts_coarse_open(parts *s);
int64_t parts_coarse_doubles(int64_t subdomains, int64_t traces); /* values of own traces */
/* r <- P r of `interface.h`: P = I - A Z E^-1 Z' + Z E^-1 Z' = I + T Z E^-1 Z' with A = I - T, E =
 * Z' A Z. P A is then the identity on the span of Z and a Schur complement beside it (deflation, J.
 * Tang and others, J. Sci. Comput. 39 (2009) 340-370, A-DEF1). Collective. */
ps_status parts_coarse_correct(parts *s, double *r);
void parts_coarse_close(parts_coarse **coarse);

#endif
