/*
 * subdomains: a grid's system cut into subdomains without overlap, "penstock-subdomains"
 * (specs/subdomains.md): the matrix of each, and mass and tangential stiffness matrices of the
 * interfaces between them. A chunk holds a subdomain or an interface.
 */
#ifndef PS_FORMATS_SUBDOMAINS_H
#define PS_FORMATS_SUBDOMAINS_H

#include "formats/csr.h"
#include "formats/store.h"

#define PS_SUBDOMAINS_FORMAT "penstock-subdomains"
enum { PS_SUBDOMAINS_VERSION = 1 };

typedef struct ps_subdomains_header {
    int64_t nodes[3];
    double spacing[3]; /* m */
    double lumped;     /* share of lumped masses */
    int64_t subdomains, interfaces;
    int64_t rows_max, entries_max;           /* of a subdomain  */
    int64_t face_rows_max, face_entries_max; /* of an interface */
    char partition[16];                      /* "slabs", "scotch" */
} ps_subdomains_header;

/* A subdomain: rows are the grid nodes nodes[rows], ascending; columns count rows. */
typedef struct ps_subdomain {
    int64_t *nodes; /* [matrix.rows] */
    ps_csr matrix;  /* m; natural at interfaces, fixed rows those of the identity */
} ps_subdomain;

/* An interface of subdomains sides[0] < sides[1]: its nodes that are not fixed, ascending, and two
 * matrices of the same pattern, columns counting its nodes. */
typedef struct ps_subdomain_face {
    int32_t sides[2];
    int64_t *nodes;    /* [mass.rows] */
    ps_csr mass;       /* m2 */
    double *stiffness; /* [mass.nnz], 1 */
} ps_subdomain_face;

typedef struct ps_subdomains {
    ps_subdomains_header header;
    ps_store *store; /* borrowed by who adds inputs */
    int id[10];      /* of the datasets */
} ps_subdomains;

/* Sizes are those of the header; subdomains and interfaces are then written in any order. */
ps_status ps_subdomains_create(const char *path, const ps_store_identity *identity,
                               const ps_subdomains_header *header, ps_subdomains *out);
ps_status ps_subdomains_write(ps_subdomains *file, int64_t number, const ps_subdomain *subdomain);
ps_status ps_subdomains_write_face(ps_subdomains *file, int64_t number,
                                   const ps_subdomain_face *face);
ps_status ps_subdomains_commit(ps_subdomains *file); /* closes, on failure too */
void ps_subdomains_close(ps_subdomains *file);

/* PS_INVALID, naming file and reason. What is read is checked: rows and columns in range,
 * ascending, finite. */
ps_status ps_subdomains_open(const char *path, ps_subdomains *out);
ps_status ps_subdomains_read(ps_subdomains *file, int64_t number, ps_subdomain *out);
ps_status ps_subdomains_read_face(ps_subdomains *file, int64_t number, ps_subdomain_face *out);

void ps_subdomain_release(ps_subdomain *subdomain);
void ps_subdomain_face_release(ps_subdomain_face *face);

#endif
