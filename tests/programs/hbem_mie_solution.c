/*
 * hbem_mie_solution MESH OUTPUT RADIUS k,.. x,y,z [x,y,z ...]: the exact total pressure on a rigid
 * sphere about the origin at the vertices of MESH, for every wavenumber and direction of incidence,
 * as penstock-hbem-solve would write it.
 * hbem_mie_solution MESH OUTPUT: instead, k = 0 and the double layer of 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hbem_solution.h"
#include "kernels/common/mie.h"
#include "kernels/common/vec3.h"
#include "runtime/options.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "tests/support/must.h"

static void put_wave(ps_hbem_solution *file, const ps_surface_mesh *mesh, int64_t index, double k,
                     double radius, const double *d)
{
    int64_t n = mesh->vertex_count;
    PS_SCOPED_MEMORY double *values = calloc((size_t)(2 * n), sizeof *values);
    for (int64_t v = 0; v < n; ++v) {
        const double *x = mesh->vertices + 3 * v;
        double value[2], r = ps_norm3(x);
        double cosine = ps_dot3(x, d) / r;
        must(ps_mie(PS_MIE_HARD_SURFACE, NULL, k, radius, 1, &cosine, &value));
        values[v] = value[0];
        values[n + v] = value[1];
    }
    must(ps_hbem_solution_put(file, PS_LAYER_DOUBLE, index, values));
    file->entries[index] =
        (ps_hbem_solution_entry){.wavenumber = k, .direction = {d[0], d[1], d[2]}};
}

int main(int argc, char **argv)
{
    double k[64] = {0};
    int count = 1, waves = argc > 5, directions = waves ? argc - 5 : 1;
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    ps_hbem_solution file;
    must(ps_surface_mesh_load(argv[1], &mesh));
    if (waves) must(ps_parse_reals(argv[4], ',', k, 64, &count));
    ps_store_identity identity = {
        .creator = "hbem_mie_solution", .revision = ps_revision(), .options = ""};
    ps_hbem_solution_header header = {.unknown = PS_LAYER_DOUBLE,
                                      .parts = waves ? 2 : 1,
                                      .count = (int64_t)count * directions,
                                      .converged = true};
    header.layer[PS_LAYER_DOUBLE] =
        (ps_hbem_solution_layer){.factor = 1, .space = "p1", .units = "Pa"};
    strcpy(header.problem, waves ? "helmholtz-hard" : "laplace-neumann");
    snprintf(header.mesh_hash, sizeof header.mesh_hash, "%s", mesh.content_hash);
    must(ps_hbem_solution_create(argv[2], &identity, &header, &mesh, &file));
    for (int i = 0; waves && i < count * directions; ++i) {
        double d[3];
        int parts;
        must(ps_parse_reals(argv[5 + i % directions], ',', d, 3, &parts));
        put_wave(&file, &mesh, i, k[i / directions], atof(argv[3]), d);
    }
    if (!waves) {
        PS_SCOPED_MEMORY double *one = calloc((size_t)mesh.vertex_count, sizeof *one);
        for (int64_t v = 0; v < mesh.vertex_count; ++v) one[v] = 1;
        must(ps_hbem_solution_put(&file, PS_LAYER_DOUBLE, 0, one));
    }
    must(ps_hbem_solution_commit(&file));
    return 0;
}
