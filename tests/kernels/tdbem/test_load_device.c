/* Loads of several steps on the CPU device against those of the host, and the corners of vertices
 * (kernels/tdbem/load_device.h). */
#include "tests/check.h"
#include "tests/support/load_case.h"

static void steps_are_those_of_the_host(void **state)
{
    check_ok(load_case_check("cpu", 0, 0));
    check_ok(load_case_check("cpu", 2, 0));
}

static void every_corner_is_at_its_vertex(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0};
    icosphere_init(&sphere, 1);
    ps_surface_mesh mesh = {.vertex_count = sphere.vertex_count,
                            .triangle_count = sphere.triangle_count,
                            .vertices = sphere.vertices,
                            .triangles = sphere.triangles};
    ps_incident incident = {.speed = 1};
    ps_load load = {PS_SOUND_HARD, &mesh, &incident, 1, 0};
    ps_device_load there = ps_device_load_shape(&load);
    PS_SCOPED_MEMORY void *memory = malloc((size_t)ps_device_load_bytes(&there));
    ps_device_load_attach(&there, memory);
    ps_device_load_fill(&load, &there);
    assert_int_equal(there.corner_start[0], 0);
    assert_int_equal(there.corner_start[mesh.vertex_count], 3 * mesh.triangle_count);
    for (int64_t v = 0; v < mesh.vertex_count; ++v)
        for (int32_t c = there.corner_start[v]; c < there.corner_start[v + 1]; ++c) {
            assert_int_equal(mesh.triangles[there.corners[c]], v);
            assert_true(c == there.corner_start[v] || there.corners[c] > there.corners[c - 1]);
        }
    assert_memory_equal(there.vertices, mesh.vertices,
                        (size_t)(3 * mesh.vertex_count) * sizeof(double));
    assert_memory_equal(there.triangles, mesh.triangles,
                        (size_t)(3 * mesh.triangle_count) * sizeof(int32_t));
}
