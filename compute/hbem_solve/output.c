/* The file that is made: what it is of, and what is known of it before there is a solution. */
#include <stdio.h>
#include <xxhash.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"

static void hash_field(const solve_problem *p, const ps_surface_field *f, XXH3_state_t *hash)
{
    int64_t rows = f->on_points ? p->mesh.vertex_count : p->mesh.triangle_count;
    if (f->values) XXH3_64bits_update(hash, f->values, (size_t)(rows * f->components) * 8);
}

/* The numbers that came from files. */
static ps_status note_sides(const solve_problem *p, ps_product *product)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) return ps_fail(PS_EXHAUSTED, "no memory for a hash");
    XXH3_64bits_reset(hash);
    for (int64_t i = 0; i < p->load_count; ++i)
        XXH3_64bits_update(hash, p->loads[i].vector, sizeof p->loads[i].vector);
    for (int i = 0; i < p->boundary.vibrations; ++i)
        hash_field(p, &p->boundary.vibration[i].field, hash);
    for (int i = 0; i < 2 * p->incident_count; ++i)
        hash_field(p, &p->incidents[i / 2][i % 2], hash);
    hash_field(p, &p->table, hash);
    unsigned long long digest = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return ps_product_note(product, "sides=%lld %016llx", (long long)p->load_count, digest);
}

static ps_hbem_solution_header header_of(const solve_problem *p)
{
    static const char *const names[] = {"helmholtz-hard", "laplace-dirichlet", "laplace-neumann"};
    const solve_options *o = &p->options;
    bool hard = o->problem == PROBLEM_HARD, direct = !hard && !o->indirect;
    bool general = hard && problem_is_general(p);
    ps_hbem_solution_header h = {.parts = p->parts,
                                 .count = p->load_count * p->group_count,
                                 .unknown = PS_LAYER_SINGLE,
                                 .absorbs = o->absorption > 0,
                                 .mirrors = o->mirrors,
                                 .of_files = p->incident_count > 0};
    if (hard) {
        const condition *fluid = p->boundary.fluid;
        h.medium[PS_HBEM_SPEED] = o->speed;
        h.medium[PS_HBEM_DENSITY] = p->boundary.density;
        h.medium[PS_HBEM_FLUID_SPEED] = fluid ? fluid->speed : 0;
        h.medium[PS_HBEM_FLUID_DENSITY] = fluid ? fluid->density : 0;
    }
    if (hard || (direct && o->problem == PROBLEM_NEUMANN)) h.unknown = PS_LAYER_DOUBLE;
    snprintf(h.problem, sizeof h.problem, "%s", general ? "helmholtz" : names[o->problem]);
    snprintf(h.mesh_hash, sizeof h.mesh_hash, "%s", p->mesh.content_hash);
    h.layer[h.unknown].factor = 1;
    if (direct) {
        h.layer[PS_LAYER_SINGLE].factor = o->interior ? 1 : -1;
        h.layer[PS_LAYER_DOUBLE].factor = o->interior ? -1 : 1;
    }
    if (hard && !boundary_unknown_pressure(&p->boundary)) {
        h.unknown = PS_LAYER_SINGLE;
        h.layer[PS_LAYER_DOUBLE].factor = 0;
    }
    if (general && boundary_is_general(&p->boundary)) h.layer[PS_LAYER_SINGLE].factor = -1;
    for (int l = 0; l < PS_LAYERS; ++l) {
        ps_hbem_space_kind kind = l == (int)h.unknown ? p->unknown : p->data;
        if (hard) kind = l == PS_LAYER_SINGLE ? waves_flux_space(p) : PS_SPACE_P1;
        snprintf(h.layer[l].space, sizeof h.layer[l].space, "%s", ps_hbem_space_name(kind));
        snprintf(h.layer[l].units, sizeof h.layer[l].units, "%s",
                 hard                   ? l == PS_LAYER_SINGLE ? "Pa/m" : "Pa"
                 : l == PS_LAYER_SINGLE ? "1/m"
                                        : "1");
    }
    return h;
}

/* Mesh, then matrices or clusters. */
ps_status output_inputs(const solve_problem *p, ps_product *product)
{
    char role[PS_ROLE_MAX];
    int count = p->scene_count > 0 ? p->scene_files : p->matrix_count;
    ps_hbem_solution_header header = header_of(p);
    product->identity.format_version = ps_hbem_solution_version(&header);
    PS_TRY(note_sides(p, product));
    PS_TRY(ps_product_input(product, "mesh", p->mesh_store));
    for (int i = 0; i < count; ++i) {
        snprintf(role, sizeof role, p->scene_count > 0 ? "clusters%d" : "matrix%d", i + 1);
        PS_TRY(ps_product_input(product, role,
                                p->scene_count > 0 ? p->scenes[i].store
                                                   : ps_hmatrix_store(p->matrices[i].file)));
    }
    return PS_OK;
}

ps_status output_create(solve_problem *p, const ps_product *product)
{
    ps_hbem_solution_header header = header_of(p);
    if (ps_comm_rank() > 0) {
        p->out.header = header;
        return PS_OK;
    }
    PS_TRY(ps_hbem_solution_create(product->path, &product->identity, &header, &p->mesh, &p->out));
    return ps_product_record(product, p->out.store);
}
