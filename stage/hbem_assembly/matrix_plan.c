#include "stage/hbem_assembly/matrix_plan.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hbem/block_tree.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* What ranks may exceed the expected by, in memory; what crosses may, before recompression. */
static const double slack = 1.5, more_crosses = 3;

static double spread_of(const ps_hbem_problem *p, int64_t leaf)
{
    const ps_cluster_leaves *nodes = &p->tables.nodes;
    const ps_cluster_tree *tree = p->scene->clusters.tree;
    return ps_cluster_spread(&tree[0].nodes[nodes->row[leaf]], &tree[1].nodes[nodes->column[leaf]]);
}

/* Whether a leaf is expected to be kept by crosses. */
static bool is_low(const ps_hmatrix_leaf *leaf, int64_t numbers, int64_t parts)
{
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    return numbers < parts * m * n;
}

/* Numbers that each leaf is expected to take, and may take; bytes of a thread's workspace that
 * leaves touch. */
static int64_t expect(const ps_hbem_problem *p, int64_t *numbers, int64_t *most)
{
    const ps_hbem_assembly *a = &p->assembly;
    int64_t touched = 0;
#pragma omp parallel for reduction(max : touched)
    for (int64_t l = 0; l < a->leaf_count; ++l) {
        double spread = spread_of(p, l);
        double rank = ps_hbem_expected_rank(a->tolerance, p->op.wavenumber, spread);
        int64_t bytes = ps_hbem_leaf_bytes(a, l, (int64_t)(more_crosses * rank));
        numbers[l] =
            ps_hbem_expected_numbers(&p->leaves[l], a->tolerance, p->op.wavenumber, spread);
        most[l] = is_low(&p->leaves[l], numbers[l], ps_hbem_parts(&p->op))
                      ? (int64_t)(slack * (double)numbers[l])
                      : numbers[l];
        touched = bytes > touched ? bytes : touched;
    }
    return touched;
}

/* Cuts after the leaf with which a chunk reaches its size. first NULL: counts. */
static int64_t cut(const int64_t *numbers, const int64_t *most, int64_t leaves, int64_t wanted,
                   int64_t *first, ps_hbem_matrix_plan *plan)
{
    int64_t count = 0, here = 0, most_here = 0;
    plan->numbers = plan->largest = plan->most = 0;
    for (int64_t l = 0; l < leaves; ++l) {
        if (first && here == 0) first[count] = l;
        here += numbers[l];
        most_here += most[l];
        if (here < wanted && l + 1 < leaves) continue;
        plan->numbers += here;
        plan->largest = here > plan->largest ? here : plan->largest;
        plan->most = most_here > plan->most ? most_here : plan->most;
        here = most_here = 0;
        ++count;
    }
    if (first) first[count] = leaves;
    return count;
}

static ps_status cut_chunks(const ps_hbem_problem *p, int64_t wanted, ps_hbem_matrix_plan *out)
{
    int64_t leaves = p->assembly.leaf_count;
    PS_SCOPED_MEMORY int64_t *numbers = NULL;
    PS_TRY(PS_ALLOC(&numbers, 2 * leaves, "leaves"));
    int64_t *most = numbers + leaves;
    out->touched = expect(p, numbers, most);
    out->chunks.count = cut(numbers, most, leaves, wanted, NULL, out);
    PS_TRY(PS_ALLOC(&out->chunks.first, out->chunks.count + 1, "chunks"));
    cut(numbers, most, leaves, wanted, out->chunks.first, out);
    return PS_OK;
}

/* Chunks have nearly the same numbers, and so costs, each: ranks take equal numbers of them. */
static void share(ps_hbem_matrix_plan *plan)
{
    int64_t rank = ps_comm_rank(), ranks = ps_comm_size();
    plan->first_chunk = plan->chunks.count * rank / ranks;
    plan->end_chunk = plan->chunks.count * (rank + 1) / ranks;
}

ps_status ps_hbem_matrix_plan_init(const ps_hbem_problem *problem,
                                   const ps_hbem_matrix_options *options, ps_hbem_matrix_plan *out)
{
    memset(out, 0, sizeof *out);
    out->item_bytes = options->precision ? 4 : 8;
    out->pairs = ps_hbem_pairs_bytes(&problem->assembly);
    PS_TRY(cut_chunks(problem, options->chunk_bytes / out->item_bytes, out));
    share(out);
    return PS_OK;
}

void ps_hbem_matrix_plan_release(ps_hbem_matrix_plan *plan)
{
    free(plan->chunks.first);
    memset(plan, 0, sizeof *plan);
}

int64_t ps_hbem_matrix_plan_workspaces(const ps_hbem_matrix_plan *plan, int threads)
{
    return threads * plan->touched + plan->pairs;
}

int64_t ps_hbem_matrix_plan_chunk_bytes(const ps_hbem_matrix_plan *plan)
{
    return plan->most * plan->item_bytes;
}
