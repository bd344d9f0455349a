/* Surface meshes, volume meshes and field snapshots: what is written is read back; what is
 * wrong is refused and leaves nothing behind. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/field.h"
#include "formats/surface_mesh.h"
#include "formats/volume_mesh.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/temporaries.h"

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3.5}};
static const int32_t faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void fill_surface(ps_surface_mesh *mesh)
{
    check_ok(ps_surface_mesh_init(mesh, 4, 4));
    memcpy(mesh->vertices, corners, sizeof corners);
    memcpy(mesh->triangles, faces, sizeof faces);
    for (int32_t i = 0; i < 4; ++i) {
        mesh->tags[i] = 10 + i;
        mesh->vertex_source[i] = 3 - i;
        mesh->triangle_source[i] = i ^ 1;
    }
    mesh->closed = mesh->oriented = true;
    strcpy(mesh->order, "hilbert");
    strcpy(mesh->tag_names, "10 slope\n11 side");
}

static void surface_round_trip(void **state)
{
    ps_surface_mesh mesh, back;
    fill_surface(&mesh);
    check_ok(ps_surface_mesh_save("s.hdf", &mesh, "test", "unit=m\n"));
    check_ok(ps_surface_mesh_load("s.hdf", &back));
    assert_int_equal(back.vertex_count, 4);
    assert_int_equal(back.triangle_count, 4);
    assert_memory_equal(back.vertices, corners, sizeof corners);
    assert_memory_equal(back.triangles, faces, sizeof faces);
    assert_memory_equal(back.tags, mesh.tags, 16);
    assert_memory_equal(back.vertex_source, mesh.vertex_source, 16);
    assert_memory_equal(back.triangle_source, mesh.triangle_source, 16);
    assert_true(back.closed && back.oriented);
    assert_string_equal(back.order, "hilbert");
    assert_string_equal(back.tag_names, "10 slope\n11 side");
    assert_int_equal(strlen(back.content_hash), 16);
    ps_surface_mesh_release(&mesh);
    ps_surface_mesh_release(&back);
    assert_null(back.vertices);
}

/* Equal content has an equal hash, whatever the name and the time; other content another. */
static void content_hash_is_of_the_content(void **state)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0}, a = {0}, b = {0}, c = {0};
    fill_surface(&mesh);
    check_ok(ps_surface_mesh_save("a.hdf", &mesh, "test", ""));
    check_ok(ps_surface_mesh_save("b.hdf", &mesh, "test", ""));
    mesh.vertices[0] = -1e-9;
    check_ok(ps_surface_mesh_save("c.hdf", &mesh, "test", ""));
    check_ok(ps_surface_mesh_load("a.hdf", &a));
    check_ok(ps_surface_mesh_load("b.hdf", &b));
    check_ok(ps_surface_mesh_load("c.hdf", &c));
    assert_string_equal(a.content_hash, b.content_hash);
    assert_string_not_equal(a.content_hash, c.content_hash);
    assert_string_not_equal(a.uuid, b.uuid);
}

static void bad_surfaces_are_refused(void **state)
{
    ps_surface_mesh mesh;
    fill_surface(&mesh);
    check_fails_if(mesh.triangles[5], 4, ps_surface_mesh_save("bad.hdf", &mesh, "test", ""),
                   PS_INVALID, "triangle 1 names vertex 4");
    check_fails_if(mesh.vertices[7], NAN, ps_surface_mesh_save("bad.hdf", &mesh, "test", ""),
                   PS_INVALID, "vertex 2 has a coordinate");
    check_fails_if(mesh.triangles[0], 2, ps_surface_mesh_check(&mesh), PS_INVALID,
                   "triangle 0 (vertices 2 2 3) has no area");
    assert_false(exists("bad.hdf") || temporaries_of("bad.hdf"));
    ps_surface_mesh_release(&mesh);
    check_fails(ps_surface_mesh_load("missing.hdf", &mesh), PS_INVALID, "missing.hdf");
}

static void fill_volume(ps_volume_mesh *mesh)
{
    const int32_t cell[4] = {0, 1, 2, 3};
    check_ok(ps_volume_mesh_init(mesh, 4, 1, 2));
    memcpy(mesh->vertices, corners, sizeof corners);
    memcpy(mesh->tetrahedra, cell, sizeof cell);
    memcpy(mesh->triangles, faces, 2 * sizeof faces[0]);
    mesh->tags[0] = 5;
    mesh->triangle_tags[0] = 6;
    mesh->triangle_tags[1] = 7;
    mesh->triangle_source[1] = 1;
}

static void volume_round_trip(void **state)
{
    ps_volume_mesh mesh, back;
    fill_volume(&mesh);
    check_ok(ps_volume_mesh_save("v.hdf", &mesh, "test", ""));
    check_ok(ps_volume_mesh_load("v.hdf", &back));
    assert_int_equal(back.tetrahedron_count, 1);
    assert_int_equal(back.triangle_count, 2);
    assert_memory_equal(back.vertices, corners, sizeof corners);
    assert_memory_equal(back.tetrahedra, mesh.tetrahedra, 16);
    assert_memory_equal(back.triangles, faces, 24);
    assert_memory_equal(back.triangle_tags, mesh.triangle_tags, 8);
    assert_memory_equal(back.triangle_source, mesh.triangle_source, 8);
    assert_int_equal(back.tags[0], 5);
    ps_volume_mesh_release(&back);
    mesh.triangle_count = 0; /* no boundary at all is fine */
    check_ok(ps_volume_mesh_save("v0.hdf", &mesh, "test", ""));
    check_ok(ps_volume_mesh_load("v0.hdf", &back));
    assert_int_equal(back.triangle_count, 0);
    ps_volume_mesh_release(&back);
    mesh.tetrahedra[0] = 1;
    mesh.tetrahedra[1] = 0;
    check_fails(ps_volume_mesh_save("bad.hdf", &mesh, "test", ""), PS_INVALID,
                "tetrahedron 0 (vertices 1 0 2 3) has no positive volume");
    assert_false(exists("bad.hdf"));
    ps_volume_mesh_release(&mesh);
    check_fails(ps_surface_mesh_load("v.hdf", (ps_surface_mesh *)&(ps_surface_mesh){0}), PS_INVALID,
                "penstock-volume-mesh");
}

/* Chunks that are made while writing (offsets, types, f32 points) over several chunks. */
static void large_grid(void **state)
{
    enum { COUNT = 300000 };
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0}, back = {0};
    check_ok(ps_surface_mesh_init(&mesh, COUNT + 2, COUNT));
    for (int32_t v = 0; v < COUNT + 2; ++v) {
        mesh.vertices[3 * v] = v;
        mesh.vertices[3 * v + 1] = v % 2;
        mesh.vertices[3 * v + 2] = v % 3;
    }
    for (int32_t i = 0; i < 3 * COUNT; ++i) mesh.triangles[i] = i / 3 + i % 3;
    check_ok(ps_surface_mesh_save("large.hdf", &mesh, "test", ""));
    check_ok(ps_surface_mesh_load("large.hdf", &back));
    assert_memory_equal(back.triangles, mesh.triangles, 12 * COUNT);
    assert_memory_equal(back.vertices, mesh.vertices, 24 * (COUNT + 2));
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int32_t offsets[3];
    uint8_t type;
    check_ok(ps_store_open("large.hdf", PS_SURFACE_MESH_FORMAT, 1, &store));
    check_ok(ps_store_read_array(store, "/VTKHDF/Offsets", PS_I32, COUNT - 2, 3, sizeof offsets,
                                 offsets));
    assert_int_equal(offsets[0], 3 * (COUNT - 2));
    assert_int_equal(offsets[2], 3 * COUNT);
    check_ok(ps_store_read_array(store, "/VTKHDF/Types", PS_U8, COUNT - 1, 1, sizeof type, &type));
    assert_int_equal(type, 5);
}

static void snapshot_round_trip(void **state)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    ps_store *store;
    const double pressure[4] = {1, -2, 3, 4.25};
    const float velocity[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    double read_pressure[4], time;
    float read_velocity[4][3], points[4][3];
    fill_surface(&mesh);
    ps_field fields[] = {{"pressure", "Pa", PS_F64, 1, false, pressure},
                         {"velocity", "m/s", PS_F32, 3, true, velocity}};
    ps_field_snapshot snapshot = {ps_surface_mesh_grid(&mesh), 2, fields, 0.125, "test", "", ""};
    snapshot.grid.single = true;
    check_ok(ps_field_save("p.000001.hdf", &snapshot));
    check_ok(ps_store_open("p.000001.hdf", PS_FIELD_FORMAT, PS_FIELD_VERSION, &store));
    check_ok(ps_store_get_real(store, "/", "time", &time));
    check_near(time, 0.125, 0, 0);
    check_ok(ps_vtkhdf_get_f64(store, "/VTKHDF/CellData/pressure", 4, 1, read_pressure));
    assert_memory_equal(read_pressure, pressure, sizeof pressure);
    check_ok(ps_store_read_array(store, "/VTKHDF/PointData/velocity", PS_F32, 0, 4,
                                 sizeof read_velocity, read_velocity));
    assert_memory_equal(read_velocity, velocity, sizeof velocity);
    check_ok(ps_store_read_array(store, "/VTKHDF/Points", PS_F32, 0, 4, sizeof points, points));
    check_near(points[3][2], 3.5, 0, 0);
    ps_store_close(&store);
    check_fails_if(fields[1].name, "a/b", ps_field_save("bad.hdf", &snapshot), PS_INVALID,
                   "no name for a field");
    check_fails_if(fields[1].type, PS_I32, ps_field_save("bad.hdf", &snapshot), PS_INVALID,
                   "neither f32 nor f64");
    assert_false(exists("bad.hdf") || temporaries_of("bad.hdf"));
}

static void series_keeps_times_in_order(void **state)
{
    char path[4096], name[4096];
    PS_SCOPED_MEMORY char *names = NULL, *no_names = NULL;
    PS_SCOPED_MEMORY double *times = NULL, *no_times = NULL;
    int64_t count;
    ps_field_series_path("out", path);
    assert_string_equal(path, "out.hdf.series");
    check_ok(ps_field_series_read(path, &count, &no_times, &no_names));
    assert_int_equal(count, 0);
    const double at[] = {0.1, 0.3, 0.2, 0.30000000000000004};
    for (int64_t i = 0; i < 4; ++i) {
        ps_field_snapshot_path("some/where/out", i, name);
        check_ok(ps_field_series_add(path, name, at[i]));
    }
    ps_field_snapshot_path("out", 0, name); /* another time for an entry that is there */
    check_ok(ps_field_series_add(path, name, 0.25));
    check_ok(ps_field_series_read(path, &count, &times, &names));
    assert_int_equal(count, 4);
    const double sorted[] = {0.2, 0.25, 0.3, 0.30000000000000004};
    assert_memory_equal(times, sorted, sizeof sorted);
    assert_string_equal(names, "out.000002.hdf");
    assert_string_equal(names + PS_NAME_MAX, "out.000000.hdf");
    assert_string_equal(names + 3 * PS_NAME_MAX, "out.000003.hdf");
    assert_false(temporaries_of("out.hdf.series"));
    check_fails(ps_field_series_add(path, "a\"b", 1), PS_INVALID, "cannot be listed");
    check_fails(ps_field_series_add(path, "ab", NAN), PS_INVALID, "cannot be listed");
    assert_int_equal(truncate(path, 150), 0);
    check_fails(ps_field_series_add(path, "ab", 1), PS_INVALID, "out.hdf.series");
}
