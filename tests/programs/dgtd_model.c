/*
 * dgtd_model OUT [name=value ...]: a model of the unit cube (tests/support/cube_tets.h), for the
 * stage tests of dgtd-march. Names: order (1), side (4 cells), shake (0), parts (1), dt (.9 of the
 * Kuhn limit), sigma (0, in 1/m), eps (1), and as texts: kind=pec|pmc|absorbing,
 * arrange=hilbert|layers, source=none|mode|wave|current, absorbing=averaged|paper,
 * flux=centred|upwind; total=1: the field is total within the middle third.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dgtd_model.h"
#include "tests/support/dgtd_case.h"

static const char *value_of(int argc, char **argv, const char *name, const char *otherwise)
{
    size_t length = strlen(name);
    for (int i = 2; i < argc; ++i)
        if (!strncmp(argv[i], name, length) && argv[i][length] == '=') return argv[i] + length + 1;
    return otherwise;
}

static double number_of(int argc, char **argv, const char *name, const char *otherwise)
{
    return atof(value_of(argc, argv, name, otherwise));
}

static int64_t layer_vertices;

static int by_layer(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    int64_t p = x[0] / layer_vertices, q = y[0] / layer_vertices;
    if (p != q) return (p > q) - (p < q);
    return memcmp(a, b, 4 * sizeof *x);
}

static ps_status make_mesh(int argc, char **argv, cube_tets *mesh)
{
    const char *kind = value_of(argc, argv, "kind", "pec");
    int face = !strcmp(kind, "pec")   ? PS_DGTD_PEC
               : !strcmp(kind, "pmc") ? PS_DGTD_PMC
                                      : PS_DGTD_ABSORBING;
    int64_t side = (int64_t)number_of(argc, argv, "side", "4");
    PS_TRY(cube_tets_init(mesh, side, number_of(argc, argv, "shake", "0"), face));
    if (strcmp(value_of(argc, argv, "arrange", "hilbert"), "layers")) return PS_OK;
    layer_vertices = (side + 1) * (side + 1);
    qsort(mesh->tetrahedra, (size_t)mesh->elements, 4 * sizeof(int32_t), by_layer);
    return cube_tets_link(mesh, face);
}

static void set_source(const char *kind, ps_dgtd_source *out)
{
    *out = (ps_dgtd_source){.kind = PS_DGTD_SOURCE_MODE,
                            .amplitude = 1,
                            .axis = {1, -1, 0},
                            .extent = {1, 1, 1},
                            .mode = {1, 1, 1}};
    if (!strcmp(kind, "wave"))
        *out = (ps_dgtd_source){.kind = PS_DGTD_SOURCE_PLANE_WAVE,
                                .amplitude = 1,
                                .centre = 1,
                                .width = .25,
                                .axis = {1. / 3, 2. / 3, 2. / 3},
                                .polarisation = {2. / 3, -2. / 3, 1. / 3}};
    if (!strcmp(kind, "current"))
        *out = (ps_dgtd_source){.kind = PS_DGTD_SOURCE_CURRENT,
                                .amplitude = 1,
                                .centre = 1,
                                .width = .25,
                                .axis = {0, 0, 1},
                                .origin = {.5, .45, .55},
                                .radius = .4};
}

/* The partition's own file, which a model names as its input. */
static ps_status save_cut(const ps_partition *cut, ps_store **out)
{
    const ps_store_identity identity = {
        PS_PARTITION_FORMAT, PS_PARTITION_VERSION, "dgtd_model", "test", "", 0};
    PS_TRY(ps_store_create("dgtd_model.cut.h5", &identity, out));
    PS_TRY(ps_partition_write(*out, cut));
    PS_TRY(ps_store_commit(out));
    return ps_store_open("dgtd_model.cut.h5", PS_PARTITION_FORMAT, PS_PARTITION_VERSION, out);
}

static uint8_t in_the_middle(const cube_tets *mesh, int64_t element)
{
    for (int c = 0; c < 3; ++c) {
        double x = -.5;
        for (int v = 0; v < 4; ++v)
            x += mesh->vertices[3 * (int64_t)mesh->tetrahedra[4 * element + v] + c] / 4;
        if (fabs(x) > 1. / 6) return 0;
    }
    return 1;
}

static ps_status save(int argc, char **argv, const cube_tets *mesh)
{
    int64_t n = mesh->elements;
    const char *source_kind = value_of(argc, argv, "source", "mode");
    PS_SCOPED(ps_partition_release)
    ps_partition cut = {.parts = (int64_t)number_of(argc, argv, "parts", "1"),
                        .elements = n,
                        .vertex_count = mesh->vertex_count,
                        .face_count = 0,
                        .components = 1,
                        .method = "hilbert",
                        .order = "hilbert"};
    PS_TRY(ps_partition_allocate(&cut));
    for (int64_t q = 0; q <= cut.parts; ++q) cut.part_start[q] = q * n / cut.parts;
    memcpy(cut.vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double));
    memcpy(cut.tetrahedra, mesh->tetrahedra, 4 * (size_t)n * sizeof(int32_t));
    memcpy(cut.links, mesh->links, 4 * (size_t)n * sizeof(int32_t));
    for (int64_t e = 0; e < n; ++e) cut.source[e] = (int32_t)e;
    if (cut.parts == 1) cut.interior[0] = n;
    ps_dgtd_medium medium = {.tag = 1,
                             .eps = number_of(argc, argv, "eps", "1"),
                             .mu = 1,
                             .sigma = number_of(argc, argv, "sigma", "0") / PS_DGTD_Z0,
                             .density = 1000,
                             .name = "cube"};
    ps_dgtd_source source;
    set_source(source_kind, &source);
    ps_dgtd_model model = {
        .header = {.order = (int)number_of(argc, argv, "order", "1"),
                   .averaged = strcmp(value_of(argc, argv, "absorbing", "averaged"), "paper") != 0,
                   .upwind = !strcmp(value_of(argc, argv, "flux", "centred"), "upwind"),
                   .media = 1,
                   .sources = strcmp(source_kind, "none") != 0},
        .partition = &cut,
        .kinds = mesh->kinds,
        .media = &medium,
        .sources = &source};
    model.header.dt =
        number_of(argc, argv, "dt", ".9") * dgtd_kuhn_limit(model.header.order, mesh->side);
    model.header.dt_rule = dgtd_kuhn_limit(model.header.order, mesh->side);
    PS_SCOPED_MEMORY uint16_t *material = calloc((size_t)n, sizeof *material);
    PS_SCOPED_MEMORY uint8_t *total = calloc((size_t)n, 1);
    model.material = material;
    if (number_of(argc, argv, "total", "0") > 0) {
        model.header.has_total = true;
        model.total = total;
        for (int64_t e = 0; e < n; ++e) total[e] = in_the_middle(mesh, e);
    }
    const ps_store_identity identity = {
        PS_DGTD_MODEL_FORMAT, PS_DGTD_MODEL_VERSION, "dgtd_model", "test", "", 0};
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(save_cut(&cut, &store));
    return ps_dgtd_model_save(argv[1], &model, &identity, store);
}

int main(int argc, char **argv)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    ps_status status = argc < 2 ? ps_fail(PS_USAGE, "dgtd_model OUT [name=value ...]")
                                : make_mesh(argc, argv, &mesh);
    if (status == PS_OK) status = save(argc, argv, &mesh);
    if (status != PS_OK) fprintf(stderr, "dgtd_model: %s\n", ps_message());
    return (int)status;
}
