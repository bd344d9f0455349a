/*
 * leaf_tables: what leaves of every operator on the same spaces need on a CUDA device: tables of
 * the spaces and their trees, triangles, rules.
 */
#ifndef PS_HBEM_ASSEMBLY_LEAF_TABLES_H
#define PS_HBEM_ASSEMBLY_LEAF_TABLES_H

#include "kernels/hbem/assembly.h"
#include "kernels/hbem/device_assembly.h"

typedef struct ps_leaf_tables ps_leaf_tables;

/* Sends them; trees: one and the same where the spaces are. Of the assembly, spaces, quadrature and
 * strata are taken. The device stays borrowed. */
ps_status ps_leaf_tables_open(ps_device *device, const ps_hbem_assembly *assembly,
                              const ps_cluster_tree *test, const ps_cluster_tree *trial,
                              ps_leaf_tables **out);
void ps_leaf_tables_close(ps_leaf_tables **tables); /* NULL is fine */

/* Sides, triangles and rules for ps_hbem_device_operator, of memory of the device; kernel,
 * wavenumber and precision are the caller's to set. */
ps_hbem_device_operator ps_leaf_tables_operator(const ps_leaf_tables *tables);

#endif
