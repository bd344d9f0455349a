/*
 * phasors_sample KIND ORDER CELLS MESH PHASORS: a cube of 60 mm in CELLS^3 cells of six tetrahedra
 * and fields on it as a dgtd run would write them. The lower half (z < 0) is tissue (tag 1,
 * "muscle", 1000 kg/m3, eps 40, sigma 0.8), the upper one air (tag 2). Kinds, for a source of 2i
 * V/m, per unit of it:
 *
 *   uniform  E = (3, 0, 4i) V/m, one frequency, no H
 *   decay    E = (e^{z/d}, 0, 0), d = 16 mm, two frequencies, the second twice the first; only the
 *            tissue's elements
 *   wave     a plane wave along -z in the tissue's medium everywhere (also what is air), with H
 *   sphere   a plane wave along z, in vacuum, and what a ball of 20 mm, eps 4, .3 S/m scatters of
 *            it, 3 GHz
 *   hole     the same of a ball of metal, in a hole of 40 mm in the mesh (CELLS a multiple of 6)
 *   beside   the fields of sphere, but with a hole of 20 mm in the air (CELLS a multiple of 6)
 *   nothing  the plane wave alone, in eps 2
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/phasors.h"
#include "formats/volume_mesh.h"
#include "kernels/common/mie_em.h"
#include "kernels/dgtd/reference.h"
#include "runtime/scope.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"

static const double SIDE = .06, DECAY = .016, FREQUENCY = 9e8, HIGHER = 3e9;

typedef struct sample {
    const char *kind;
    cube_tets cube;
    int64_t count; /* of its tetrahedra that are there */
    ps_volume_mesh mesh;
    ps_phasors_header header;
    ps_dgtd_reference reference;
    ps_mie_em series;
} sample;

static bool is(const sample *s, const char *kind) { return strcmp(s->kind, kind) == 0; }

static void sphere_at(const sample *s, ps_phasors_field field, const double x[3],
                      double complex out[3])
{
    double e[3][2], h[3][2];
    ps_mie_em_field(&s->series, PS_MIE_EM_TOTAL, x, e, h);
    for (int c = 0; c < 3; ++c) { /* e^{+iwt}: conjugates */
        const double *u = field == PS_PHASORS_ELECTRIC ? e[c] : h[c];
        out[c] = u[0] - I * u[1];
    }
}

static void field_at(const sample *s, int frequency, ps_phasors_field field, const double x[3],
                     double complex out[3])
{
    double z = x[2];
    if (is(s, "sphere") || is(s, "hole") || is(s, "beside")) {
        sphere_at(s, field, x, out);
        return;
    }
    out[0] = out[1] = out[2] = 0;
    if (strcmp(s->kind, "uniform") == 0) {
        out[0] = 3;
        out[2] = 4 * I;
    } else if (strcmp(s->kind, "decay") == 0) {
        out[0] = (1 + frequency) * exp(z / DECAY);
    } else if (is(s, "nothing")) {
        double complex e = cexp(-I * 2 * M_PI * HIGHER / 299792458. * sqrt(2) * z);
        out[field == PS_PHASORS_ELECTRIC ? 0 : 1] =
            field == PS_PHASORS_ELECTRIC ? e : e * sqrt(2) / 376.730313668;
    } else {
        double w = 2 * M_PI * FREQUENCY, eps0 = 8.8541878128e-12, mu0 = 1.25663706212e-6;
        double complex eps = 40 * eps0 - I * .8 / w, k = w * csqrt(mu0 * eps);
        double complex e = cexp(I * k * z); /* e^{+iwt}: towards -z, decaying so */
        if (field == PS_PHASORS_ELECTRIC)
            out[0] = e;
        else
            out[1] = -e * csqrt(eps / mu0);
    }
}

static double height(const sample *s, int64_t e)
{
    double z = 0;
    for (int v = 0; v < 4; ++v) z += s->mesh.vertices[3 * s->mesh.tetrahedra[4 * e + v] + 2] / 4;
    return z;
}

static ps_status make_mesh(sample *s, int cells, const char *path)
{
    PS_TRY(cube_tets_init(&s->cube, cells, 0, PS_DGTD_ABSORBING));
    const bool beside = is(s, "beside"), hole = is(s, "hole") || beside;
    const double centre[3] = {.5, .5, beside ? .75 : .5}, half = beside ? 1. / 6 : 1. / 3;
    for (int64_t e = 0, at = 0; e < s->cube.elements; ++e) { /* but those of the hole */
        double largest = 0;
        for (int k = 0; k < 3; ++k) {
            double x = -centre[k];
            for (int v = 0; v < 4; ++v)
                x += s->cube.vertices[3 * s->cube.tetrahedra[4 * e + v] + k] / 4;
            largest = worse_of(largest, fabs(x));
        }
        if (hole && largest < half) continue;
        memmove(s->cube.tetrahedra + 4 * at, s->cube.tetrahedra + 4 * e,
                4 * sizeof *s->cube.tetrahedra);
        s->count = ++at;
    }
    PS_TRY(ps_volume_mesh_init(&s->mesh, s->cube.vertex_count, s->count, 0));
    for (int64_t i = 0; i < 3 * s->mesh.vertex_count; ++i)
        s->mesh.vertices[i] = (s->cube.vertices[i] - .5) * SIDE;
    for (int64_t e = 0; e < s->mesh.tetrahedron_count; ++e) {
        double t[3][3];
        int32_t *v = s->mesh.tetrahedra + 4 * e;
        memcpy(v, s->cube.tetrahedra + 4 * e, 4 * sizeof *v);
        ps_dgtd_tangents(s->mesh.vertices, v, t);
        if (ps_dgtd_determinant(t) < 0) {
            int32_t swap = v[0];
            v[0] = v[1];
            v[1] = swap;
        }
        s->mesh.tags[e] = height(s, e) < 0 ? 1 : 2;
    }
    strcpy(s->mesh.tag_names, "1 muscle\n2 air");
    PS_TRY(ps_volume_mesh_save(path, &s->mesh, "test", ""));
    ps_volume_mesh_release(&s->mesh);
    return ps_volume_mesh_load(path, &s->mesh);
}

static void fill_element(const sample *s, int frequency, ps_phasors_field field, int64_t e,
                         float *out)
{
    const double complex source = 2 * I;
    int n = s->reference.nodes;
    for (int i = 0; i < n; ++i) {
        double l[4], x[3] = {0};
        double complex u[3];
        ps_dgtd_reference_node(&s->reference, i, l);
        for (int k = 0; k < 12; ++k) /* ascending vertices */
            x[k % 3] += l[k / 3] * s->mesh.vertices[3 * s->cube.tetrahedra[4 * e + k / 3] + k % 3];
        field_at(s, frequency, field, x, u);
        for (int c = 0; c < 3; ++c) {
            out[c * n + i] = (float)creal(u[c] * source);
            out[(3 + c) * n + i] = (float)cimag(u[c] * source);
        }
    }
}

static ps_status write_fields(const sample *s, ps_phasors *file, const int32_t *number)
{
    int64_t chunk = ps_phasors_chunk_rows(file), width = 6 * s->reference.nodes;
    PS_SCOPED_MEMORY float *values = malloc((size_t)(chunk * width) * sizeof *values);
    for (int f = 0; f < s->header.frequencies; ++f)
        for (int k = 0; k < 1 + s->header.magnetic; ++k)
            for (int64_t at = 0; at < s->header.rows; at += chunk) {
                for (int64_t r = 0; r < chunk && at + r < s->header.rows; ++r)
                    fill_element(s, f, (ps_phasors_field)k, number[at + r], values + r * width);
                PS_TRY(
                    ps_phasors_write_chunks(file, f, (ps_phasors_field)k, at / chunk, 1, values));
            }
    return PS_OK;
}

static ps_status write_phasors(sample *s, const char *path)
{
    int64_t count = s->mesh.tetrahedron_count;
    PS_SCOPED_MEMORY int32_t *number = malloc((size_t)count * 4),
                             *material = malloc((size_t)count * 4);
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    const ps_store_identity identity = {.creator = "test", .revision = "", .options = ""};
    bool part = strcmp(s->kind, "decay") == 0;
    for (int64_t e = count - 1; e >= 0; --e) {
        if (part && s->mesh.tags[e] != 1) continue;
        number[s->header.rows] = (int32_t)e;
        material[s->header.rows++] = s->mesh.tags[e] - 1;
    }
    PS_TRY(ps_phasors_create(path, &identity, &s->header, &file));
    PS_TRY(ps_phasors_write_elements(file, number, material));
    PS_TRY(write_fields(s, file, number));
    return ps_phasors_commit(&file);
}

static void set_header(sample *s, int order)
{
    bool wave = is(s, "wave"), nothing = is(s, "nothing");
    bool sphere = is(s, "sphere") || is(s, "hole") || is(s, "beside") || nothing;
    double eps = nothing ? 2 : 1;
    s->header = (ps_phasors_header){
        .order = order,
        .mesh_elements = s->mesh.tetrahedron_count,
        .frequencies = strcmp(s->kind, "decay") == 0 ? 2 : 1,
        .materials = 2,
        .frequency = {FREQUENCY, 2 * FREQUENCY},
        .source = {{0, 2}, {0, 2}},
        .source_units = "V/m",
        .magnetic = wave || sphere,
        .material = {{1, sphere ? eps : 40, 1, sphere ? 0 : .8, 1000, "muscle", false},
                     {2, wave ? 40 : eps, 1, wave ? .8 : 0, 0, "air"}}};
    if (sphere) s->header.frequency[0] = HIGHER;
    strcpy(s->header.mesh_hash, s->mesh.content_hash);
}

int main(int argc, char **argv)
{
    static sample s;
    if (argc != 6) return 2;
    s.kind = argv[1];
    ps_dgtd_reference_init(&s.reference, atoi(argv[2]));
    const ps_mie_em_sphere sphere = {.02, 4, 1, .3, is(&s, "hole")};
    ps_status status = ps_mie_em_init(&s.series, &sphere, HIGHER);
    if (status == PS_OK) status = make_mesh(&s, atoi(argv[3]), argv[4]);
    set_header(&s, atoi(argv[2]));
    if (status == PS_OK) status = write_phasors(&s, argv[5]);
    if (status != PS_OK) fprintf(stderr, "%s\n", ps_message());
    cube_tets_release(&s.cube);
    ps_volume_mesh_release(&s.mesh);
    return status;
}
