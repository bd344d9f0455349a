/*
 * dgtd_slab: a box of tetrahedra that is cut across z into equal slabs, one a device, with what
 * they exchange. All slabs are the same mesh; only what their bottom and top are differs.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_SLAB_H
#define PS_TESTS_SUPPORT_DGTD_SLAB_H

#include "kernels/dgtd/device_halo.h"
#include "kernels/dgtd/mode.h"
#include "runtime/scope.h"
#include "tests/support/dgtd_device.h"

enum { SLAB_BOTTOM, SLAB_TOP };

/* The mesh: elements at the bottom or top last; their faces there in one order for both. */
typedef struct dgtd_slab {
    dgtd_case c;
    int64_t side, height, interior; /* cells; elements away from bottom and top */
    int64_t face_count;             /* 2 side^2 at the bottom, as many at the top */
    int32_t *faces[2];              /* 4 * element + face                         */
} dgtd_slab;

/* Whether all vertices of face f lie in the plane of number z. */
static inline bool dgtd_slab_at(const dgtd_slab *x, int64_t element, int f, int64_t z)
{
    for (int v = 0; v < 3; ++v) {
        int64_t vertex = x->c.mesh.tetrahedra[4 * element + ps_dgtd_face_vertices[f][v]];
        if (vertex / ((x->side + 1) * (x->side + 1)) != z) return false;
    }
    return true;
}

static inline bool dgtd_slab_is_outer(const dgtd_slab *x, int64_t element)
{
    bool outer = false;
    for (int f = 0; f < 4; ++f)
        outer |= dgtd_slab_at(x, element, f, 0) || dgtd_slab_at(x, element, f, x->height);
    return outer;
}

static inline void dgtd_slab_move_outer_last(dgtd_slab *x)
{
    cube_tets *mesh = &x->c.mesh;
    size_t bytes = 4 * (size_t)mesh->elements * sizeof *mesh->tetrahedra;
    PS_SCOPED_MEMORY int32_t *old = malloc(bytes);
    PS_SCOPED_MEMORY bool *outer = malloc((size_t)mesh->elements);
    int64_t at = 0;
    memcpy(old, mesh->tetrahedra, bytes);
    for (int64_t e = 0; e < mesh->elements; ++e) outer[e] = dgtd_slab_is_outer(x, e);
    for (int turn = 0; turn < 2; ++turn) {
        for (int64_t e = 0; e < mesh->elements; ++e)
            if (outer[e] == turn) memcpy(mesh->tetrahedra + 4 * at++, old + 4 * e, 16);
        if (!turn) x->interior = at;
    }
}

/* Place of a face in the common order: that of its lowest cell corner, and which of two triangles.
 */
static inline int64_t dgtd_slab_place(const dgtd_slab *x, int32_t face)
{
    int64_t layer = (x->side + 1) * (x->side + 1), v[3];
    for (int i = 0; i < 3; ++i)
        v[i] = x->c.mesh.tetrahedra[face / 4 * 4 + ps_dgtd_face_vertices[face % 4][i]] % layer;
    int64_t cell = v[0] / (x->side + 1) * x->side + v[0] % (x->side + 1);
    return 2 * cell + (v[1] != v[0] + 1);
}

static inline void dgtd_slab_list_faces(dgtd_slab *x)
{
    x->face_count = 2 * x->side * x->side;
    for (int end = 0; end < 2; ++end) {
        x->faces[end] = dgtd_take(&x->c, (size_t)x->face_count * sizeof **x->faces);
        for (int64_t e = x->interior; e < x->c.mesh.elements; ++e)
            for (int f = 0; f < 4; ++f)
                if (dgtd_slab_at(x, e, f, end == SLAB_TOP ? x->height : 0))
                    x->faces[end][dgtd_slab_place(x, (int32_t)(4 * e + f))] = (int32_t)(4 * e + f);
    }
}

static inline ps_status dgtd_slab_init(dgtd_slab *x, int64_t side, int64_t height)
{
    cube_tets *mesh = &x->c.mesh;
    memset(x, 0, sizeof *x);
    x->side = side;
    x->height = height;
    cube_tets_allocate(mesh, side, height);
    cube_tets_vertices(mesh, 0);
    for (int64_t c = 0; c < side * side * height; ++c)
        cube_tets_cell(mesh->tetrahedra + 24 * c, side,
                       (const int64_t[3]){c % side, c / side % side, c / side / side});
    ps_dgtd_sort_vertices(mesh->tetrahedra, mesh->elements);
    cube_tets_order(mesh, 192);
    dgtd_slab_move_outer_last(x);
    dgtd_slab_list_faces(x);
    return cube_tets_link(mesh, PS_DGTD_PEC);
}

/* Slot of what comes in at face k of an end. */
static inline int64_t dgtd_slab_halo_slot(const dgtd_slab *x, int end, int64_t k)
{
    return x->c.system.groups * ps_dgtd_lanes(x->c.system.precision) + end * x->face_count + k;
}

/* Links the faces of an end to the halo, whose slots hold the other slab's traces, or makes them
 * metal again; before the system is filled. */
static inline void dgtd_slab_open(dgtd_slab *x, int end, bool open)
{
    for (int64_t k = 0; k < x->face_count; ++k) {
        int32_t at = x->faces[end][k], there = x->faces[!end][k] % 4;
        x->c.mesh.links[at] = open ? (int32_t)(4 * dgtd_slab_halo_slot(x, end, k) + there) : -1;
        x->c.mesh.kinds[at] = open ? PS_DGTD_INNER : PS_DGTD_PEC;
    }
}

/* One slab on its device. */
typedef struct dgtd_slab_part {
    dgtd_device d;
    ps_stream *outer;         /* of outer elements and the halo; d.stream has the others  */
    ps_event *swept, *come;   /* inner and outer elements done                            */
    int32_t *send, *place;    /* faces of the open ends, on the device                    */
    ps_dgtd_device_halo halo; /* `arrived` by end                                         */
    void *words;
    bool open[2];
    int64_t inner_groups, face_count; /* of all open ends */
    ps_dgtd_device_faces faces;
} dgtd_slab_part;

static inline void dgtd_slab_part_release(dgtd_slab_part *p)
{
    ps_device_free(p->d.device, p->send);
    ps_device_free(p->d.device, p->place);
    ps_device_free(p->d.device, p->words);
    ps_event_close(&p->swept);
    ps_event_close(&p->come);
    ps_stream_close(&p->outer);
    dgtd_device_release(&p->d);
}

/* Faces of an end, and where the slab beside has their traces. */
static inline ps_status dgtd_slab_part_lists(dgtd_slab_part *p, const dgtd_slab *x, int end)
{
    PS_SCOPED_MEMORY int32_t *list = NULL;
    int64_t bytes = x->face_count * (int64_t)sizeof *list, at = p->face_count;
    PS_TRY(PS_ALLOC(&list, x->face_count, "faces"));
    for (int64_t k = 0; k < x->face_count; ++k)
        list[k] = (int32_t)(4 * dgtd_slab_halo_slot(x, !end, k) + x->faces[end][k] % 4);
    PS_TRY(ps_copy_to_device(p->d.stream, p->send + at, x->faces[end], bytes));
    PS_TRY(ps_copy_to_device(p->d.stream, p->place + at, list, bytes));
    PS_TRY(ps_stream_wait(p->d.stream));
    p->face_count += x->face_count;
    return PS_OK;
}

/* The slab's system as it is filled, with the ends that are open. */
static inline ps_status dgtd_slab_part_init(dgtd_slab_part *p, ps_device *device,
                                            const dgtd_slab *x, double dt)
{
    int64_t list = 2 * x->face_count * (int64_t)sizeof *p->send, words = 64;
    PS_TRY(dgtd_device_init(&p->d, device, &x->c, PS_DGTD_FUSED, dt, 2 * x->face_count));
    p->inner_groups = x->interior / ps_dgtd_lanes(x->c.system.precision);
    PS_TRY(ps_stream_open_ahead(device, &p->outer));
    PS_TRY(ps_event_open(device, &p->swept));
    PS_TRY(ps_event_open(device, &p->come));
    PS_TRY(ps_device_alloc(device, list, (void **)&p->send));
    PS_TRY(ps_device_alloc(device, list, (void **)&p->place));
    PS_TRY(ps_device_alloc(device, words, &p->words));
    PS_TRY(ps_fill_zero(p->d.stream, p->words, words));
    p->halo = (ps_dgtd_device_halo){
        .arrived = p->words, .done = (unsigned *)p->words + 8, .late = (unsigned *)p->words + 9};
    p->faces = (ps_dgtd_device_faces){.send = p->send, .place = p->place};
    for (int end = 0; end < 2; ++end)
        if (p->open[end]) PS_TRY(dgtd_slab_part_lists(p, x, end));
    return ps_stream_wait(p->d.stream);
}

/* The slab beside an open end becomes a peer: parts[g - 1] is below, parts[g + 1] above. */
static inline ps_status dgtd_slab_connect(dgtd_slab_part *parts, int g, const dgtd_slab *x)
{
    dgtd_slab_part *p = parts + g;
    for (int end = 0; end < 2; ++end) {
        if (!p->open[end]) continue;
        dgtd_slab_part *other = parts + (end == SLAB_TOP ? g + 1 : g - 1);
        int k = p->halo.peers++;
        p->halo.peer[k] = (ps_dgtd_device_peer){
            {other->d.field[0], other->d.field[1]}, other->halo.arrived + !end, end, 0};
        p->faces.end[k] = (k + 1) * x->face_count;
        p->faces.with |= 1u << k;
        /* lets this device reach the other's memory */
        PS_TRY(ps_copy_peer(p->d.stream, (char *)p->words + 48, other->d.device, other->words, 8));
        PS_TRY(ps_stream_wait(p->d.stream));
    }
    return PS_OK;
}

/* Half steps of outer elements, and their traces. */
static inline ps_status dgtd_slab_outer(dgtd_slab_part *p, int field)
{
    const ps_dgtd_device_part outer = {0, p->inner_groups, p->d.system.groups};
    PS_TRY(ps_event_record(p->swept, p->d.stream));
    PS_TRY(ps_event_wait(p->swept, p->outer));
    PS_TRY(ps_event_wait(p->come, p->d.stream));
    PS_TRY(ps_dgtd_device_half_step(&p->d.system, (ps_dgtd_field)field, p->d.field[field],
                                    p->d.field[!field], &outer, 1, p->outer));
    PS_TRY(ps_event_record(p->come, p->outer));
    return ps_dgtd_device_push(&p->d.system, &p->halo, &p->faces, field, p->d.field[field],
                               p->outer);
}

static inline ps_status dgtd_slab_inner(dgtd_slab_part *p, int field)
{
    const ps_dgtd_device_part inner = {0, 0, p->inner_groups};
    return ps_dgtd_device_half_step(&p->d.system, (ps_dgtd_field)field, p->d.field[field],
                                    p->d.field[!field], &inner, 1, p->d.stream);
}

#endif
