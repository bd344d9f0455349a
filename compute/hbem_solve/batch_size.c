/* How many right-hand sides there are at a time, and what they take. */
#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"

ps_lockstep_system batch_system(const solve_problem *p, int64_t sides)
{
    return (ps_lockstep_system){.shape = {p->parts, p->fields * problem_dofs(p)}, .sides = sides};
}

int64_t batch_bytes(const solve_problem *p, int64_t sides)
{
    ps_lockstep_system system = batch_system(p, sides);
    int64_t doubles[PS_LOCKSTEP_PIECES], total = 0;
    ps_lockstep_memory(&system, &p->options.krylov, doubles);
    for (int i = 0; i < PS_LOCKSTEP_PIECES; ++i) total += doubles[i];
    total += sides * (problem_size(p) + equation_data_size(p)); /* b and data */
    return 8 * (total + equation_doubles(p, sides));
}

int64_t state_bytes(const solve_problem *p, int64_t sides)
{
    ps_lockstep_system system = batch_system(p, sides);
    int64_t doubles[PS_LOCKSTEP_PIECES];
    ps_lockstep_memory(&system, &p->options.krylov, doubles);
    return 8 * (doubles[PS_LOCKSTEP_SMALL] + doubles[PS_LOCKSTEP_VECTORS]);
}

int64_t choose_batch(const solve_problem *p)
{
    int64_t most = p->options.batch > 0 ? p->options.batch : p->load_count;
    if (most > p->load_count) most = p->load_count;
    while (p->options.batch == 0 && most > 1 && batch_bytes(p, most) > p->room / 2)
        most -= (most + 7) / 8;
    return most;
}

/* A fluid with the speed of the medium shares its matrices. */
static bool is_listed(const solve_group *group, int at)
{
    bool found = false;
    for (int k = 0; k < at; ++k) found = found || group->matrix[k] == group->matrix[at];
    return found;
}

int group_matrices(const solve_problem *p, const solve_group *group, matrix **out)
{
    int count = 0;
    for (int k = 0; k < SLOTS; ++k)
        if (group->matrix[k] >= 0 && !is_listed(group, k))
            out[count++] = &p->matrices[group->matrix[k]];
    return count;
}

int64_t free_on_device(const solve_problem *p)
{
    int devices = ps_device_count() > 0 ? ps_device_count() : 1;
    int sharing = (ps_comm_local_size() + devices - 1) / devices;
    return ps_device_describe(p->device).memory_free / 10 * 9 / sharing;
}
