#include "build.h"

/* Bytes that building holds, leaves apart. */
static int64_t build_bytes(const build_job *job)
{
    int64_t bytes = ps_hbem_setup_bytes(&job->outline) + 40 * job->mesh.vertex_count +
                    24 * job->mesh.triangle_count;
    for (int side = 0; side < (job->outline.same ? 1 : 2); ++side) {
        int64_t dofs = job->outline.space[side] == PS_SPACE_P1   ? job->mesh.vertex_count
                       : job->outline.space[side] == PS_SPACE_P0 ? job->mesh.triangle_count
                                                                 : 3 * job->mesh.triangle_count;
        bytes += 8 * dofs +
                 ps_cluster_nodes(dofs, job->options->leaf_size) * (int64_t)sizeof(ps_cluster_node);
        bytes += ps_cluster_scratch(dofs);
    }
    return bytes;
}

static ps_status check_closed(const build_job *job)
{
    const char *file = "penstock-mesh-import --orient, or --turn, mends a mesh";
    if (!job->mesh.closed)
        return job->options->open
                   ? PS_OK
                   : ps_fail(PS_INVALID,
                             "the surface is open: exterior problems need a closed one; "
                             "--open takes it as a screen");
    if (!job->mesh.oriented)
        return ps_fail(PS_INVALID,
                       "the normals do not point outward everywhere, which would swap "
                       "interior and exterior problem: %s",
                       file);
    return ps_hbem_surface_check_closed(&job->setup.surface);
}

ps_status build_check(const build_job *job, const ps_run *run)
{
    PS_TRY(check_closed(job));
    if (job->options->wavenumber != 0 && !job->options->force_coarse)
        PS_TRY(ps_hbem_check_wavelength(&job->setup.surface, job->options->wavenumber));
    if (build_bytes(job) <= run->host_memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED, "the trees take about %.2f GB, --host-memory is %.2f GB",
                   1e-9 * (double)build_bytes(job), 1e-9 * (double)run->host_memory);
}
