/*
 * subdomains: the system of a grid cut into subdomains without overlap, written to a file
 * (formats/subdomains.h).
 */
#ifndef PS_GRAVITY_ASSEMBLE_SUBDOMAINS_H
#define PS_GRAVITY_ASSEMBLE_SUBDOMAINS_H

#include "kernels/schwarz/grid.h"
#include "stage/product.h"

enum { PARTITION_SCOTCH, PARTITION_SLABS };

typedef struct subdomains_request {
    const char *path;
    int64_t count;
    int partition;
} subdomains_request;

typedef struct subdomains_figures {
    int64_t interfaces, interface_nodes, cross_points; /* of three subdomains or more */
    double imbalance; /* largest number of elements over the mean */
} subdomains_figures;

/* Bytes needed beside the output's. */
int64_t subdomains_memory(const ps_q1_grid *grid);
/* PS_USAGE for a number of subdomains that cannot be, or without Scotch. model: an input. */
ps_status subdomains_write(const ps_product *product, const ps_q1_grid *grid,
                           const subdomains_request *request, subdomains_figures *out);

#endif
