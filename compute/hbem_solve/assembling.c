/* Matrices of a wave number, assembled in memory. */
#include <omp.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* What is on its way besides the values: places that tiles pad, and tables of products. */
static const double beside = 1.3;

/* ---- budgets ---- */

static int64_t expected_bytes(const assembling *a)
{
    int64_t bytes = 0;
    for (int i = 0; i < a->count; ++i) bytes += a->each[i].m->bytes;
    return bytes;
}

static ps_status does_not_fit(const char *option, double needed, int64_t there)
{
    return ps_fail(PS_EXHAUSTED,
                   "%s: the matrices are expected to take %.2f GB where %.2f are left for them: "
                   "write them to files by penstock-hmatrix-assemble, which are streamed",
                   option, 1e-9 * needed, 1e-9 * (double)there);
}

/* A device keeps the values, and what is left of it is shared for assembling, by what matrices are
 * expected to take: with equal shares the larger one makes many small waves. */
static ps_status divide_device(assembling *a)
{
    const ps_run *run = a->p->run;
    int64_t there = run->device_memory > 0 ? run->device_memory : free_on_device(a->p);
    double needed = beside * (double)expected_bytes(a);
    if (needed > (double)there) return does_not_fit("--device-memory", needed, there);
    for (int i = 0; i < a->count; ++i) {
        double share = beside * (double)a->each[i].m->bytes / needed;
        a->each[i].means = a->means;
        a->each[i].means.device_memory = (int64_t)(share * (double)there);
        a->each[i].means.work = (int64_t)(share * ((double)there - needed));
    }
    return PS_OK;
}

/* What is left for values on the cores, for all matrices. */
static ps_status host_room(const assembling *a, int64_t *there)
{
    const solve_problem *p = a->p;
    int64_t expected = expected_bytes(a);
    *there = p->room - batch_bytes(p, a->sides);
    for (int i = 0; i < a->count; ++i)
        *there -=
            ps_hbem_matrix_plan_workspaces(&a->each[i].m->core->plan, p->run->threads) / a->count;
    return expected > *there ? does_not_fit("--host-memory", (double)expected, *there) : PS_OK;
}

/* ---- the work ---- */

/* Tables of products follow at once where a device has the values. */
static ps_status assemble(void *argument)
{
    const struct assembling_matrix *own = argument;
    const assembling *a = own->all;
    omp_set_num_threads(own->means.threads); /* of this thread's teams */
    PS_TRY(matrix_assemble(own->m, &own->means));
    if (!own->means.device) return PS_OK;
    double start = ps_clock();
    PS_TRY(matrix_use_device(own->m, own->means.device, a->sides));
    if (own->m->device) PS_TRY(matrix_prepare(own->m, a->sides, 0, 0));
    ps_debug("%s: tables of products in %.3f s", own->m->name, ps_clock() - start);
    return PS_OK;
}

static ps_status send_tables(assembling *a)
{
    double start = ps_clock();
    for (int i = 0; i < a->count; ++i) PS_TRY(core_scene_send(a->each[i].m->core, &a->means));
    ps_debug("tables of clusters on the device in %.3f s", ps_clock() - start);
    return PS_OK;
}

/* All at once on a device: a tenth faster than one after the other. */
static ps_status start_on_device(assembling *a)
{
    PS_TRY(divide_device(a));
    PS_TRY(send_tables(a));
    for (; a->started < a->count; ++a->started)
        PS_TRY(ps_background_start(&a->each[a->started].work, assemble, &a->each[a->started],
                                   "a thread that assembles"));
    return PS_OK;
}

/* One after the other: each may take what those before it and what is expected of those after it
 * leave. What a single one takes may be far from what was expected (of the image of a body, say),
 * what all take together is not. */
static ps_status do_on_cores(assembling *a)
{
    int64_t there;
    PS_TRY(host_room(a, &there));
    there -= expected_bytes(a);
    for (int i = 0; i < a->count; ++i) {
        there += a->each[i].m->bytes;
        a->each[i].means = a->means;
        a->each[i].means.host_memory = there;
        PS_TRY(assemble(&a->each[i]));
        there -= a->each[i].m->bytes;
    }
    return PS_OK;
}

ps_status assembling_start(assembling *a, solve_problem *p, const solve_group *group, int64_t sides)
{
    matrix *m[SLOTS];
    *a = (assembling){.p = p, .sides = sides, .start = ps_clock()};
    if (p->scene_count == 0) return PS_OK;
    a->means = (core_means){
        .device = p->device, .device_name = p->run->device, .threads = (int)p->run->threads};
    a->count = group_matrices(p, group, m);
    for (int i = 0; i < a->count; ++i) {
        a->each[i].all = a;
        a->each[i].m = m[i];
        PS_TRY(core_matrix_prepare(m[i]->core));
    }
    return p->device ? start_on_device(a) : do_on_cores(a);
}

ps_status assembling_wait(assembling *a)
{
    ps_failure failure = {0};
    for (int i = 0; i < a->started; ++i)
        ps_note_failure(&failure, ps_background_wait(&a->each[i].work));
    if (a->count > 0) a->p->seconds[SECONDS_ASSEMBLY] += ps_clock() - a->start;
    return ps_first_failure(&failure);
}
