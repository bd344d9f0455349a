/* partition and dgtd_model: round trips, what is refused, and domains of ranks: a half step over
 * three domains with their exchanges gives the bits of the whole mesh. */
#include "formats/dgtd_model.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"

enum { SIDE = 4, PARTS = 5, RANKS = 3 };

static const char *const file = "model.h5";

static const ps_store_identity identity = {
    PS_DGTD_MODEL_FORMAT, PS_DGTD_MODEL_VERSION, "test", "test", "", 0};

static const ps_dgtd_medium media[2] = {
    {.tag = 3, .eps = 4, .mu = 1.5, .sigma = .25, .density = 1000, .name = "skin"},
    {.tag = 8,
     .eps = 1.5,
     .mu = 1,
     .pole_count = 3,
     .poles = {{PS_DGTD_DEBYE, 5, 0, 2}, {PS_DGTD_DRUDE, 1, 7, 0}, {PS_DGTD_LORENTZ, 2, 3, .5}},
     .anisotropic = true,
     .tensor = {2, 3, 4, .5, -.25, .1},
     .band = {1e8, 6e9}}};

/* The shaken cube in five runs of the curve, of two media. */
static void make_partition(const cube_tets *mesh, ps_partition *p)
{
    *p = (ps_partition){.parts = PARTS,
                        .elements = mesh->elements,
                        .vertex_count = mesh->vertex_count,
                        .face_count = 3,
                        .components = 1,
                        .method = "hilbert",
                        .order = "hilbert",
                        .tag_names = "3 skin\n101 x-",
                        .mesh_uuid = "some-uuid",
                        .mesh_hash = "0123456789abcdef"};
    check_ok(ps_partition_allocate(p));
    for (int64_t q = 0; q <= PARTS; ++q) p->part_start[q] = q * mesh->elements / PARTS;
    memcpy(p->vertices, mesh->vertices, 24 * (size_t)mesh->vertex_count);
    memcpy(p->tetrahedra, mesh->tetrahedra, 16 * (size_t)mesh->elements);
    memcpy(p->links, mesh->links, 16 * (size_t)mesh->elements);
    for (int64_t e = 0; e < mesh->elements; ++e) {
        p->tags[e] = mesh->tags[e] ? 8 : 3;
        p->source[e] = (int32_t)((7 * e) % mesh->elements);
    }
    for (int i = 0; i < 3; ++i) p->faces[i] = 5 * i + 1;
    for (int i = 0; i < 3; ++i) p->face_tags[i] = 101 + i;
}

typedef struct sample {
    cube_tets mesh;
    ps_partition partition;
    uint8_t *total;
    ps_dgtd_source sources[2];
    ps_dgtd_model model;
} sample;

static void sample_init(sample *s)
{
    check_ok(cube_tets_init(&s->mesh, SIDE, .2, PS_DGTD_PMC));
    for (int64_t e = 0; e < s->mesh.elements; ++e) s->mesh.tags[e] = e % 3 == 0;
    make_partition(&s->mesh, &s->partition);
    s->total = pool_take(&s->mesh.memory, 6 * SIDE * SIDE * SIDE);
    for (int64_t e = 0; e < s->mesh.elements; ++e) s->total[e] = e % 7 < 3;
    s->sources[0] = (ps_dgtd_source){PS_DGTD_SOURCE_CURRENT, 1,  2,   3,  4, 5, {0, 0, 1}, {0},
                                     {.1, .2, .3},           .4, {0}, {0}};
    s->sources[1] = (ps_dgtd_source){PS_DGTD_SOURCE_MODE, 0,   1,   0, 1,         0,
                                     {1, -1, 0},          {0}, {0}, 0, {1, 2, 3}, {1, 1, 0}};
    s->model = (ps_dgtd_model){.header = {.order = 2,
                                          .averaged = true,
                                          .dt = .01,
                                          .dt_rule = .02,
                                          .dt_power = .025,
                                          .media = 2,
                                          .sources = 2},
                               .partition = &s->partition,
                               .kinds = s->mesh.kinds,
                               .material = s->mesh.tags,
                               .total = s->total,
                               .media = media,
                               .sources = s->sources};
}

static void sample_release(sample *s)
{
    cube_tets_release(&s->mesh);
    ps_partition_release(&s->partition);
}

static void sample_save(const sample *s)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity own = {PS_PARTITION_FORMAT, PS_PARTITION_VERSION, "test", "test", "", 0};
    check_ok(ps_store_create("partition.h5", &own, &store));
    check_ok(ps_partition_write(store, &s->partition));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("partition.h5", PS_PARTITION_FORMAT, 1, &store));
    check_ok(ps_dgtd_model_save(file, &s->model, &identity, store));
}

static void round_trip(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    ps_partition back;
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    sample_init(&s);
    sample_save(&s);
    ps_store *store;
    check_ok(ps_store_open("partition.h5", PS_PARTITION_FORMAT, PS_PARTITION_VERSION, &store));
    check_ok(ps_partition_read(store, &back));
    ps_store_close(&store);
    size_t n = (size_t)back.elements;
    assert_int_equal(back.elements, s.mesh.elements);
    assert_memory_equal(back.tetrahedra, s.partition.tetrahedra, 16 * n);
    assert_memory_equal(back.links, s.partition.links, 16 * n);
    assert_memory_equal(back.vertices, s.partition.vertices, 24 * (size_t)back.vertex_count);
    assert_memory_equal(back.source, s.partition.source, 4 * n);
    assert_int_equal(back.face_count, 3);
    assert_int_equal(back.face_tags[2], 103);
    assert_string_equal(back.tag_names, "3 skin\n101 x-");
    assert_string_equal(back.mesh_hash, "0123456789abcdef");
    ps_partition_release(&back);
    check_ok(ps_dgtd_model_open(file, &model));
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    assert_int_equal(h->order, 2);
    assert_true(h->averaged && !h->upwind && h->has_total);
    check_near(h->dt, .01, 0, 0);
    check_near(h->dt_power, .025, 0, 0);
    assert_memory_equal(ps_dgtd_model_media(model), media, sizeof media);
    const ps_dgtd_source *x = ps_dgtd_model_sources(model);
    check_near(x[0].radius + x[0].omega + x[0].axis[2], 6.4, 0, 1e-15);
    assert_int_equal(x[0].shape, 1);
    assert_int_equal(x[1].kind, PS_DGTD_SOURCE_MODE);
    assert_int_equal(x[1].mode[1], 1);
    check_near(x[1].extent[2], 3, 0, 0);
}

/* Levels of local steps, with those of the halo; more than the file has levels are refused. */
static void local_steps_are_read(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    ps_dgtd_model_file *model;
    ps_dgtd_domain d;
    const int64_t parts[] = {0, 2, PARTS};
    uint8_t reach[6 * SIDE * SIDE * SIDE];
    sample_init(&s);
    for (int e = 0; e < 6 * SIDE * SIDE * SIDE; ++e)
        reach[e] = (uint8_t)(e % 11 == 0 ? 255 : e % 3 + 16 * (e % 3 + (e % 5 == 0)));
    s.model.reach = reach;
    for (s.model.header.local_levels = 3; s.model.header.local_levels > 1;
         --s.model.header.local_levels) {
        sample_save(&s);
        check_ok(ps_dgtd_model_open(file, &model));
        assert_int_equal(ps_dgtd_model_head(model)->local_levels, s.model.header.local_levels);
        ps_status status = ps_dgtd_model_load(model, parts, 2, 1, 8, &d);
        assert_int_equal(status, s.model.header.local_levels == 3 ? PS_OK : PS_INVALID);
        if (status == PS_OK) {
            assert_memory_equal(d.reach, reach + d.first, (size_t)d.elements);
            for (int64_t i = 0; i < d.halo_count; ++i)
                assert_int_equal(d.reach[d.halo_base + i], reach[d.halo[i]]);
            ps_dgtd_domain_release(&d);
        }
        ps_dgtd_model_close(&model);
    }
}

/* ---- domains ---- */

typedef struct rank {
    ps_dgtd_domain domain;
    dgtd_case x;
} rank;

/* The same in all divisions: a function of the element's row in the mesh file. */
static double value_of(int32_t source, int field, int k)
{
    uint64_t state = (uint64_t)source * 1000 + (uint64_t)(field * 300 + k);
    return check_random(&state) - .5;
}

static void fill(const ps_dgtd_system *system, void *field, int which, const int32_t *source)
{
    int nodes = system->reference->nodes;
    for (int64_t e = 0; e < system->elements; ++e)
        for (int k = 0; k < 3 * nodes; ++k)
            ps_dgtd_set_node(system, field, e, k / nodes, k % nodes, value_of(source[e], which, k));
}

static void rank_open(ps_dgtd_model_file *model, const int64_t *parts, int ranks, int r, rank *out)
{
    static const ps_dgtd_material materials[2] = {{4, 1.5, .25 * PS_DGTD_Z0}, {1, 1, 0}};
    memset(out, 0, sizeof *out);
    check_ok(ps_dgtd_model_load(model, parts, ranks, r, ps_dgtd_lanes(PS_DOUBLE), &out->domain));
    const ps_dgtd_domain *d = &out->domain;
    /* The case takes the domain's arrays as a mesh, and has room for the halo behind its fields. */
    out->x.mesh = (cube_tets){.vertex_count = d->vertex_count,
                              .elements = d->elements,
                              .vertices = d->vertices,
                              .tetrahedra = d->tetrahedra,
                              .links = d->links,
                              .kinds = d->kinds,
                              .tags = d->material};
    check_ok(dgtd_case_init(&out->x, 2, PS_DOUBLE, materials, 2));
    size_t bytes = dgtd_case_field_bytes(&out->x);
    size_t slot = bytes / (size_t)(out->x.system.groups * ps_dgtd_lanes(PS_DOUBLE));
    for (int f = 0; f < 2; ++f) {
        out->x.field[f] = dgtd_take(&out->x, bytes + slot * (size_t)(d->halo_count + 16));
        fill(&out->x.system, out->x.field[f], f, d->source);
    }
    ps_dgtd_set_step(&out->x.system, materials, .01);
}

static void rank_close(rank *r)
{
    r->x.mesh = (cube_tets){0};
    dgtd_case_release(&r->x);
    ps_dgtd_domain_release(&r->domain);
}

/* Packs what each rank sends, unpacks it in the other. */
static void exchange(rank *ranks, int count, int field)
{
    for (int a = 0; a < count; ++a)
        for (int n = 0; n < ranks[a].domain.neighbour_count; ++n) {
            const ps_dgtd_neighbour *to = ranks[a].domain.neighbours + n, *from = NULL;
            rank *b = ranks + to->rank;
            for (int m = 0; m < b->domain.neighbour_count; ++m)
                if (b->domain.neighbours[m].rank == a) from = b->domain.neighbours + m;
            assert_non_null(from);
            assert_int_equal(from->count, to->count);
            PS_SCOPED_MEMORY double *buffer = calloc((size_t)to->count * 18, sizeof *buffer);
            ps_dgtd_halo_pack(&ranks[a].x.system, ranks[a].x.field[field], to->send, to->count,
                              buffer);
            ps_dgtd_halo_unpack(&b->x.system, b->x.field[field], from->receive, from->count,
                                buffer);
        }
}

static void half(rank *ranks, int count, int field)
{
    exchange(ranks, count, !field);
    for (int r = 0; r < count; ++r)
        ps_dgtd_half_step(&ranks[r].x.system, (ps_dgtd_field)field, ranks[r].x.field[field],
                          ranks[r].x.field[!field], 0, ranks[r].x.system.groups);
}

static void domains_give_the_bits_of_the_whole(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    int64_t whole_parts[2], parts[RANKS + 1], compared = 0;
    rank whole, ranks[RANKS];
    sample_init(&s);
    sample_save(&s);
    check_ok(ps_dgtd_model_open(file, &model));
    check_ok(ps_dgtd_model_share(model, 1, whole_parts));
    check_ok(ps_dgtd_model_share(model, RANKS, parts));
    assert_int_equal(parts[0], 0);
    assert_int_equal(parts[RANKS], PARTS);
    rank_open(model, whole_parts, 1, 0, &whole);
    assert_int_equal(whole.domain.neighbour_count, 0);
    assert_int_equal(whole.domain.halo_count, 0);
    for (int r = 0; r < RANKS; ++r) rank_open(model, parts, RANKS, r, ranks + r);
    for (int step = 0; step < 3; ++step)
        for (int field = 0; field < 2; ++field) {
            half(&whole, 1, field);
            half(ranks, RANKS, field);
        }
    for (int r = 0; r < RANKS; ++r) {
        const ps_dgtd_domain *d = &ranks[r].domain;
        for (int64_t e = 0; e < d->elements; ++e)
            for (int k = 0; k < 30; ++k, ++compared)
                if (ps_dgtd_get(&ranks[r].x.system, ranks[r].x.field[1], e, k / 10, k % 10) !=
                    ps_dgtd_get(&whole.x.system, whole.x.field[1], d->first + e, k / 10, k % 10))
                    fail_msg("rank %d, element %d differs", r, (int)e);
        for (int64_t h = 0; h < d->halo_count; ++h)
            assert_int_equal(d->total[d->halo_base + h], s.total[d->halo[h]]);
        for (int64_t e = 0; e < d->elements; ++e)
            assert_int_equal(d->total[e], s.total[d->first + e]);
    }
    assert_int_equal(compared, 30 * s.mesh.elements);
    for (int r = 0; r < RANKS; ++r) rank_close(ranks + r);
    rank_close(&whole);
}

static void shares(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    int64_t parts[PARTS + 2];
    sample_init(&s);
    sample_save(&s);
    check_ok(ps_dgtd_model_open(file, &model));
    check_ok(ps_dgtd_model_share(model, PARTS, parts));
    for (int q = 0; q <= PARTS; ++q) assert_int_equal(parts[q], q);
    check_fails(ps_dgtd_model_share(model, PARTS + 1, parts), PS_USAGE, "5 parts for 6 ranks");
}

#define fault(p, place, value, text)                                                               \
    check_fails_if((p)->place, value, ps_partition_check(p), PS_INVALID, text)

static void partition_faults(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    sample_init(&s);
    ps_partition *p = &s.partition;
    check_ok(ps_partition_check(p));
    fault(p, links[9], p->links[10], "not linked back");
    fault(p, links[9], 8, "not linked back");
    fault(p, interior[2], 1000000, "interior elements");
    fault(p, interior[2], p->part_start[3] - p->part_start[2], "touches another part");
    fault(p, tetrahedra[5], p->tetrahedra[4], "ascend");
    fault(p, faces[1], 0, "tagged face 1");
    fault(p, part_start[1], 0, "part 1 begins at 0");
    fault(p, vertices[7], NAN, "finite");
    check_ok(ps_partition_check(p));
}

/* Layers of one element each: neighbours in the curve's order are not. */
static void layer_faults(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    sample_init(&s);
    ps_partition *p = &s.partition;
    p->layer_count = p->elements;
    p->layer_start = malloc((size_t)(p->elements + 1) * sizeof *p->layer_start);
    for (int64_t e = 0; e <= p->elements; ++e) p->layer_start[e] = e;
    check_fails(ps_partition_check(p), PS_INVALID, "not in a neighbouring layer");
    p->layer_count = PARTS;
    memcpy(p->layer_start, p->part_start, (PARTS + 1) * sizeof *p->layer_start);
    check_ok(ps_partition_check(p));
}

/* The model is saved, and what opening it says. */
static ps_status save_and_open(const sample *s)
{
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    sample_save(s);
    return ps_dgtd_model_open(file, &model);
}

static void model_faults(void **state)
{
    PS_SCOPED(sample_release) sample s = {0};
    ps_dgtd_model_file *model;
    ps_dgtd_domain domain;
    int64_t parts[2];
    ps_dgtd_medium bad[2] = {media[0], media[1]};
    sample_init(&s);
    s.model.media = bad;
    check_fails_if(s.model.header.dt, -1, save_and_open(&s), PS_INVALID, "time step of -1");
    check_fails_if(bad[1].poles[0].strength, -5, save_and_open(&s), PS_INVALID, "not passive");
    check_fails_if(bad[1].tensor[3], 3, save_and_open(&s), PS_INVALID, "not positive definite");
    s.mesh.kinds[0] = (uint8_t)(s.mesh.links[0] < 0 ? PS_DGTD_INNER : PS_DGTD_PEC);
    sample_save(&s);
    check_ok(ps_dgtd_model_open(file, &model));
    check_ok(ps_dgtd_model_share(model, 1, parts));
    check_fails(ps_dgtd_model_load(model, parts, 1, 0, 16, &domain), PS_INVALID, "element 0");
    ps_dgtd_model_close(&model);
    check_fails(ps_dgtd_model_open("partition.h5", &model), PS_INVALID, "penstock-dgtd-model");
    check_fails(ps_dgtd_model_open("missing.h5", &model), PS_INVALID, "missing.h5");
}
