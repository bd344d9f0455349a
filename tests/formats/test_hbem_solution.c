#include <stdlib.h>

#include "formats/hbem_solution.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "s.hdf";
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

/* A tetrahedron: 4 vertices, 4 triangles. */
static ps_surface_mesh tetrahedron(void)
{
    static const double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    ps_surface_mesh mesh;
    check_ok(ps_surface_mesh_init(&mesh, 4, 4));
    memcpy(mesh.vertices, vertices, sizeof vertices);
    memcpy(mesh.triangles, triangles, sizeof triangles);
    return mesh;
}

static ps_hbem_solution_header header_of(void)
{
    return (ps_hbem_solution_header){.problem = "laplace-dirichlet",
                                     .unknown = PS_LAYER_SINGLE,
                                     .parts = 2,
                                     .count = 3,
                                     .layer = {{.factor = 1, .space = "dp1", .units = "Pa/m"},
                                               {.factor = -1, .space = "p1", .units = "Pa"}},
                                     .converged = true,
                                     .mesh_hash = "0123456789abcdef"};
}

static double number_of(int layer, int64_t index, int64_t i)
{
    return 1000 * layer + 100 * (double)index + (double)i;
}

static void write_all(const ps_hbem_solution_header *header)
{
    ps_hbem_solution out;
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = tetrahedron();
    double values[24];
    check_ok(ps_hbem_solution_create(path, &identity, header, &mesh, &out));
    for (int64_t s = 0; s < header->count; ++s) {
        for (int l = 0; l < PS_LAYERS; ++l) {
            if (header->layer[l].factor == 0) continue;
            for (int64_t i = 0; i < header->parts * out.header.layer[l].dofs; ++i)
                values[i] = number_of(l, s, i);
            check_ok(ps_hbem_solution_put(&out, (ps_layer)l, s, values));
        }
        out.entries[s] = (ps_hbem_solution_entry){.wavenumber = 1 + (double)s,
                                                  .direction = {0, (double)s, 1},
                                                  .residual = 1e-6,
                                                  .iterations = 5 + s};
    }
    check_ok(ps_hbem_solution_commit(&out));
}

static void round_trip(void **state)
{
    PS_SCOPED(ps_hbem_solution_close) ps_hbem_solution in = {0};
    ps_hbem_solution_header h = header_of();
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0}, first = tetrahedron();
    double values[24];
    write_all(&h);
    check_ok(ps_hbem_solution_open(path, &in));
    assert_string_equal(in.header.problem, h.problem);
    assert_string_equal(in.header.mesh_hash, h.mesh_hash);
    assert_string_equal(in.header.layer[0].units, "Pa/m");
    assert_int_equal(in.header.unknown, PS_LAYER_SINGLE);
    assert_int_equal(in.header.count, 3);
    assert_int_equal(in.header.layer[0].dofs, 12);
    assert_int_equal(in.header.layer[1].dofs, 4);
    assert_true(in.header.converged);
    for (int l = 0; l < PS_LAYERS; ++l) {
        check_ok(ps_hbem_solution_get(&in, (ps_layer)l, 2, values));
        for (int64_t i = 0; i < 2 * in.header.layer[l].dofs; ++i)
            check_near(values[i], number_of(l, 2, i), 0, 0);
    }
    check_near(in.entries[2].wavenumber, 3, 0, 0);
    check_near(in.entries[2].direction[1], 2, 0, 0);
    assert_int_equal(in.entries[2].iterations, 7);
    check_fails(ps_hbem_solution_get(&in, PS_LAYER_SINGLE, 3, values), PS_USAGE, "solution 3");
    check_ok(ps_hbem_solution_mesh(&in, &mesh));
    assert_memory_equal(mesh.vertices, first.vertices, 12 * sizeof(double));
    assert_memory_equal(mesh.triangles, first.triangles, 12 * sizeof(int32_t));
}

/* What version 1 does not have; where there is nothing of it, files are of version 1. */
static void mirrors_and_absorption(void **state)
{
    ps_hbem_solution out, in;
    ps_hbem_solution_header h = header_of();
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = tetrahedron();
    ps_store *store;
    double values[24] = {0};
    write_all(&h);
    check_ok(ps_store_open(path, PS_HBEM_SOLUTION_FORMAT, 1, &store));
    ps_store_close(&store);
    check_ok(ps_reflectors_parse("--mirror", 1, (const char *[]){"z=-1.25:soft"}, &h.mirrors));
    h.absorbs = true;
    h.medium[PS_HBEM_SPEED] = 1500;
    h.medium[PS_HBEM_FLUID_DENSITY] = 1.2;
    check_ok(ps_hbem_solution_create(path, &identity, &h, &mesh, &out));
    for (int64_t s = 0; s < 3; ++s) {
        for (int l = 0; l < PS_LAYERS; ++l)
            check_ok(ps_hbem_solution_put(&out, (ps_layer)l, s, values));
        out.entries[s].wavenumber = 1;
        out.entries[s].absorption = .25 * (double)s;
    }
    check_ok(ps_hbem_solution_commit(&out));
    check_fails(ps_store_open(path, PS_HBEM_SOLUTION_FORMAT, 1, &store), PS_INVALID, "version");
    check_ok(ps_hbem_solution_open(path, &in));
    assert_true(in.header.absorbs && !in.header.of_files);
    assert_int_equal(in.header.mirrors.count, 1);
    check_near(in.header.mirrors.planes[0].place[2], -1.25, 0, 0);
    check_near(in.header.medium[PS_HBEM_SPEED], 1500, 0, 0);
    check_near(in.header.medium[PS_HBEM_FLUID_DENSITY], 1.2, 0, 0);
    check_near(in.header.medium[PS_HBEM_DENSITY], 0, 0, 0);
    check_near(in.entries[2].absorption, .5, 0, 0);
    ps_hbem_solution_close(&in);
    check_ok(ps_hbem_solution_create(path, &identity, &h, &mesh, &out));
    for (int64_t s = 0; s < 3; ++s) {
        for (int l = 0; l < PS_LAYERS; ++l)
            check_ok(ps_hbem_solution_put(&out, (ps_layer)l, s, values));
        out.entries[s].absorption = -1;
    }
    check_ok(ps_hbem_solution_commit(&out));
    check_fails(ps_hbem_solution_open(path, &in), PS_INVALID, "an absorption of -1");
}

/* What ParaView shows: means of a dp1 layer by triangle, magnitudes of complex numbers. */
static void shown(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_hbem_solution_header h = header_of();
    float numbers[4];
    write_all(&h);
    check_ok(ps_store_open(path, NULL, 0, &store));
    check_ok(ps_store_read_array(store, "/VTKHDF/CellData/magnitude", PS_F32, 0, 4,
                                 PS_ROOM(numbers, 4), numbers));
    for (int t = 0; t < 4; ++t) check_near(numbers[t], hypot(3 * t + 1, 3 * t + 13), 0, 1e-6);
}

static void refuses(void **state)
{
    ps_hbem_solution out;
    ps_hbem_solution_header h = header_of();
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = tetrahedron();
    double values[24] = {0};
    check_fails_if(h.layer[0].factor, 0, ps_hbem_solution_create(path, &identity, &h, &mesh, &out),
                   PS_INVALID, "single");
    strcpy(h.layer[0].space, "p2");
    check_fails(ps_hbem_solution_create(path, &identity, &h, &mesh, &out), PS_INVALID, "no space");
    h = header_of();
    check_ok(ps_hbem_solution_create(path, &identity, &h, &mesh, &out));
    values[13] = NAN;
    check_fails(ps_hbem_solution_put(&out, PS_LAYER_SINGLE, 1, values), PS_FAILED, "value 1 of");
    ps_hbem_solution_close(&out);
    check_fails(ps_hbem_solution_open("/nowhere/s.hdf", &out), PS_INVALID, "/nowhere/s.hdf");
}

/* A layer of another size than its space says. */
static void refuses_shape(void **state)
{
    ps_store *store;
    ps_hbem_solution in;
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = tetrahedron();
    ps_vtkhdf_grid grid = ps_surface_mesh_grid(&mesh);
    ps_store_identity own = identity;
    double values[6] = {0};
    own.format = PS_HBEM_SOLUTION_FORMAT;
    own.format_version = PS_HBEM_SOLUTION_VERSION;
    check_ok(ps_store_create(path, &own, &store));
    check_ok(ps_vtkhdf_put_grid(store, &grid));
    check_ok(ps_store_put_text(store, "/", "problem", "helmholtz-hard"));
    check_ok(ps_store_put_text(store, "/", "unknown", "double"));
    check_ok(ps_store_put_text(store, "/", "mesh_hash", "0123456789abcdef"));
    check_ok(ps_store_put_int(store, "/", "converged", 1));
    check_ok(ps_store_put_real(store, "/", "single_factor", 0));
    check_ok(ps_store_put_real(store, "/", "double_factor", 1));
    check_ok(ps_store_put_text(store, "/", "double_space", "p1"));
    ps_dataset_spec spec = {.name = "/solutions/double",
                            .type = PS_F64,
                            .rank = 3,
                            .dims = {1, 2, 3},
                            .chunk_rows = 1,
                            .units = "Pa"};
    check_ok(ps_store_write_array(store, &spec, values));
    check_ok(ps_store_commit(&store));
    check_fails(ps_hbem_solution_open(path, &in), PS_INVALID, "shape [1][2][4]");
}
