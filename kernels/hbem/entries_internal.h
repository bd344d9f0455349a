/* entries_internal: what the near and the far part of entries share. */
#ifndef PS_KERNELS_HBEM_ENTRIES_INTERNAL_H
#define PS_KERNELS_HBEM_ENTRIES_INTERNAL_H

#include "kernels/hbem/entries.h"

/* Items of the functions in a range: at least the triangles of their supports. */
static inline int64_t ps_hbem_items(const ps_hbem_space *space, ps_hbem_range range)
{
    return space->start[range.end] - space->start[range.begin];
}

/* The triangles of the supports, each once: list[items]; returns their number. */
int64_t ps_hbem_triangles_of(const ps_hbem_space *space, ps_hbem_range range, int32_t *list);

/* The group of a normal: its largest component and the sign of that, 0 .. 5. */
uint8_t ps_hbem_normal_group(const ps_hbem_triangle *triangle);

/* Whether the sum of the moments of a pair is all that is wanted: of P0, and of Laplace's HYPS, as
 * curls do not vary on a triangle. */
static inline bool ps_hbem_wants_sums(const ps_hbem_operator *op)
{
    return op->kernel == PS_KERNEL_HYPS
               ? op->wavenumber == 0
               : op->test->kind == PS_SPACE_P0 && op->trial->kind == PS_SPACE_P0;
}

/* Numbers of a pair that is kept for other blocks; 0: of P0, where no other block has it. */
static inline int ps_hbem_pair_numbers(const ps_hbem_operator *op)
{
    bool sums = ps_hbem_wants_sums(op);
    return sums ? op->kernel == PS_KERNEL_HYPS : 9 * ps_hbem_parts(op);
}

/* The kernel with x and y exchanged: K'(x, y) = K(y, x). */
ps_hbem_kernel ps_hbem_exchanged(ps_hbem_kernel kernel);

#endif
