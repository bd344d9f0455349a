/* mesh and system: links, geometry, what is refused, halos. */
#include "kernels/dgtd/system.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"

/* Nodes m of both sides of a face are one point; links are mutual; 12 n^2 faces are open. */
static void linked_face_nodes_meet(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    int64_t open = 0;
    check_ok(dgtd_case_cube(&x, 4, PS_DOUBLE, 3, .3));
    for (int64_t face = 0; face < 4 * x.mesh.elements; ++face) {
        int32_t other = x.mesh.links[face];
        open += other < 0;
        if (other < 0) continue;
        assert_int_equal(x.mesh.links[other], face);
        for (int m = 0; m < x.reference.face_nodes; ++m) {
            double l[4], a[3], b[3];
            ps_dgtd_reference_node(&x.reference, x.reference.face[face % 4][m], l);
            dgtd_case_point(&x, face / 4, l, a);
            ps_dgtd_reference_node(&x.reference, x.reference.face[other % 4][m], l);
            dgtd_case_point(&x, other / 4, l, b);
            for (int c = 0; c < 3; ++c) check_near(a[c], b[c], 1e-14, 0);
        }
    }
    assert_int_equal(open, 12 * 9);
}

/* Volumes add up to 1; normals times areas of an element to 0, and outwards. */
static void geometry_closes(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    double volume = 0;
    check_ok(cube_tets_init(&mesh, 3, .3, PS_DGTD_PEC));
    for (int64_t e = 0; e < mesh.elements; ++e) {
        double t[3][3], areas[4], normals[4][3], flux = 0;
        ps_dgtd_tangents(mesh.vertices, mesh.tetrahedra + 4 * e, t);
        ps_dgtd_faces(t, areas, normals);
        for (int c = 0; c < 3; ++c) {
            double sum = 0;
            for (int f = 0; f < 4; ++f) sum += areas[f] * normals[f][c];
            check_near(sum, 0, 1e-14, 0);
            for (int f = 0; f < 4; ++f) /* int x . n dA over the faces, by centroids */
                for (int v = 0; v < 3; ++v)
                    flux +=
                        areas[f] * normals[f][c] *
                        mesh.vertices[3 * (int64_t)
                                              mesh.tetrahedra[4 * e + ps_dgtd_face_vertices[f][v]] +
                                      c] /
                        3;
        }
        check_near(flux / 3, 4. / 3 * fabs(ps_dgtd_determinant(t)), 1e-15, 1e-12);
        volume += flux / 3;
    }
    check_near(volume, 1, 1e-13, 0);
    check_ok(ps_dgtd_check_volumes(mesh.vertices, mesh.tetrahedra, mesh.elements, 1e-3));
    memcpy(mesh.vertices + 3 * (int64_t)mesh.tetrahedra[9],
           mesh.vertices + 3 * (int64_t)mesh.tetrahedra[8], 3 * sizeof(double));
    check_fails(ps_dgtd_check_volumes(mesh.vertices, mesh.tetrahedra, mesh.elements, 0), PS_INVALID,
                "flat");
}

static void faces_of_three_are_refused(void **state)
{
    int32_t elements[12] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5}, links[12];
    uint32_t start[7], ids[12];
    check_fails(ps_dgtd_link_faces(elements, 3, 6, start, ids, links), PS_INVALID,
                "3 elements share a face");
    check_ok(ps_dgtd_link_faces(elements, 2, 6, start, ids, links));
    assert_int_equal(links[0], 4);
    assert_int_equal(links[4], 0);
    assert_int_equal(links[1], -1);
}

static void wrong_bodies_are_refused(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    ps_dgtd_material bad = {1, 0, 0};
    check_ok(dgtd_case_cube(&x, 1, PS_SINGLE, 2, 0));
    int64_t inner = 0, outer = 0;
    while (x.mesh.links[inner] < 0) ++inner;
    while (x.mesh.links[outer] >= 0) ++outer;
#define refused(place, value, text)                                                                \
    check_fails_if(place, value, ps_dgtd_system_fill(&x.system, &x.body), PS_INVALID, text)
    refused(x.mesh.kinds[outer], PS_DGTD_INNER, "has no condition");
    refused(x.mesh.kinds[outer], 9, "unknown kind 9");
    refused(x.mesh.kinds[inner], PS_DGTD_PEC, "and a neighbour");
    refused(x.mesh.tags[5], 1, "element 5 has material 1");
    refused(x.body.material, &bad, "mu 0");
}

/* Half of the elements as a part of their own, with halo slots behind them: same bits. */
static void a_part_with_halo_gives_the_same_bits(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    uint64_t seed = 5;
    check_ok(dgtd_case_cube(&x, 3, PS_SINGLE, 4, .3));
    ps_dgtd_set_step(&x.system, &dgtd_vacuum, .01);
    for (int64_t e = 0; e < x.mesh.elements; ++e)
        for (int i = 0; i < 60; ++i)
            ps_dgtd_set_node(&x.system, x.field[1], e, i / 20, i % 20, check_random(&seed));
    int64_t half = x.mesh.elements / 2, halo = 0;
    int32_t *links = dgtd_take(&x, (size_t)half * 4 * sizeof *links);
    int32_t *from = dgtd_take(&x, (size_t)half * 4 * sizeof *from);
    int32_t *to = dgtd_take(&x, (size_t)half * 4 * sizeof *to);
    for (int64_t f = 0; f < 4 * half; ++f) {
        links[f] = x.mesh.links[f];
        if (links[f] < 4 * half) continue;
        from[halo] = links[f];
        to[halo] = (int32_t)(4 * (half + halo) + links[f] % 4);
        links[f] = to[halo++];
    }
    assert_true(halo > 0 && half % 16 == 0);
    ps_dgtd_half_step(&x.system, PS_DGTD_E, x.field[0], x.field[1], 0, x.system.groups);
    size_t bytes = dgtd_case_field_bytes(&x), own = (size_t)half * 60 * sizeof(float);
    PS_SCOPED_MEMORY float *buffer = malloc((size_t)halo * 30 * sizeof *buffer);
    PS_SCOPED_MEMORY void *source = dgtd_array(own + (size_t)(halo + 16) * 60 * sizeof(float));
    memcpy(x.former, x.field[0], bytes);
    memcpy(source, x.field[1], own);
    ps_dgtd_halo_pack(&x.system, x.field[1], from, halo, buffer);
    ps_dgtd_halo_unpack(&x.system, source, to, halo, buffer);
    ps_dgtd_system_count(&x.system, half, 1);
    x.body.elements = half;
    x.body.links = links;
    check_ok(ps_dgtd_system_fill(&x.system, &x.body));
    memset(x.field[0], 0, bytes);
    ps_dgtd_half_step(&x.system, PS_DGTD_E, x.field[0], source, 0, x.system.groups);
    assert_memory_equal(x.field[0], x.former, own);
}
