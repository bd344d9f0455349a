#include <stdlib.h>

#include "formats/phasors.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "p.h5";

static const ps_store_identity identity = {.format = PS_PHASORS_FORMAT,
                                           .format_version = PS_PHASORS_VERSION,
                                           .creator = "test",
                                           .revision = "0",
                                           .options = ""};

static ps_phasors_header sample(int order, int64_t rows)
{
    return (ps_phasors_header){
        .order = order,
        .rows = rows,
        .mesh_elements = 2 * rows + 5,
        .mesh_hash = "0123456789abcdef",
        .frequencies = 2,
        .materials = 2,
        .frequency = {9e8, 1.8e9},
        .source = {{1, 0}, {.5, -2}},
        .source_units = "A m",
        .magnetic = order % 2 == 0,
        .unsettled = order % 2 ? -1 : .25,
        .material = {{1, 41.4, 1, .87, 1100, "skin", false}, {7, 1, 1, 0, 0, "", false}}};
}

static float value(int frequency, int field, int64_t number, int64_t i)
{
    return (float)(number % 97) + .01f * (float)i + 100.f * (float)(2 * frequency + field);
}

static void write_faces(ps_phasors *file, const ps_phasors_header *h, const int32_t *number)
{
    PS_SCOPED_MEMORY uint8_t *faces = malloc((size_t)(4 * h->rows));
    for (int64_t i = 0; i < 4 * h->rows; ++i) faces[i] = (uint8_t)((number[i / 4] + i % 4) % 4);
    check_ok(ps_phasors_write_marks(file, PS_PHASORS_FACES, faces));
    check_ok(ps_phasors_write_marks(file, PS_PHASORS_DRIVEN, faces));
}

static void check_faces(ps_phasors *file, const ps_phasors_header *h, const int32_t *number,
                        int64_t rows)
{
    assert_int_equal(ps_phasors_has_marks(file, PS_PHASORS_FACES), h->magnetic);
    PS_SCOPED_MEMORY uint8_t *faces = malloc((size_t)(4 * rows));
    if (!h->magnetic)
        check_fails(ps_phasors_read_marks(file, PS_PHASORS_FACES, faces), PS_INVALID,
                    "/elements/faces");
    else {
        check_ok(ps_phasors_read_marks(file, PS_PHASORS_FACES, faces));
        for (int64_t i = 0; i < 4 * rows; ++i)
            assert_int_equal(faces[i], (number[i / 4] + i % 4) % 4);
        check_ok(ps_phasors_read_marks(file, PS_PHASORS_DRIVEN, faces));
        assert_true(ps_phasors_has_marks(file, PS_PHASORS_DRIVEN));
    }
}

static void write_rows(const char *name, const ps_phasors_header *h, int64_t first)
{
    ps_phasors *file;
    check_ok(ps_phasors_create(name, &identity, h, &file));
    int64_t width = 6 * ps_phasors_nodes(h->order), chunk = ps_phasors_chunk_rows(file);
    PS_SCOPED_MEMORY int32_t *number = malloc((size_t)h->rows * 4),
                             *material = malloc((size_t)h->rows * 4);
    PS_SCOPED_MEMORY float *values = malloc((size_t)(h->rows * width) * sizeof *values);
    for (int64_t i = 0; i < h->rows; ++i) {
        number[i] = (int32_t)(h->mesh_elements - 1 - (first + i));
        material[i] = (int32_t)(i % 2);
    }
    check_ok(ps_phasors_write_elements(file, number, material));
    if (h->magnetic) write_faces(file, h, number);
    for (int f = 0; f < h->frequencies; ++f)
        for (int k = 0; k < 1 + h->magnetic; ++k) {
            /* The first chunk alone, where there are more; the others at once. */
            int64_t chunks = (h->rows + chunk - 1) / chunk, alone = chunks > 1;
            for (int64_t r = 0; r < h->rows; ++r)
                for (int64_t i = 0; i < width; ++i)
                    values[r * width + i] = value(f, k, number[r], i);
            check_ok(ps_phasors_write_chunks(file, f, (ps_phasors_field)k, 0, alone, values));
            check_ok(ps_phasors_write_chunks(file, f, (ps_phasors_field)k, alone, chunks - alone,
                                             values + alone * chunk * width));
        }
    check_ok(ps_phasors_commit(&file));
}

static void check_rows(const ps_phasors_header *h, int64_t rows)
{
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    check_ok(ps_phasors_open(path, &file));
    const ps_phasors_header *in = ps_phasors_get_header(file);
    int nodes = ps_phasors_nodes(h->order);
    assert_int_equal(in->rows, rows);
    assert_int_equal(in->order, h->order);
    assert_int_equal(in->materials, 2);
    assert_string_equal(in->material[0].name, "skin");
    assert_string_equal(in->material[1].name, "");
    assert_int_equal(in->material[1].tag, 7);
    check_near(in->material[0].sigma, .87, 0, 0);
    assert_string_equal(in->mesh_hash, h->mesh_hash);
    assert_string_equal(in->source_units, "A m");
    check_near(in->unsettled, h->unsettled, 0, 0);
    PS_SCOPED_MEMORY int32_t *number = malloc((size_t)rows * 4),
                             *material = malloc((size_t)rows * 4);
    PS_SCOPED_MEMORY float *values = malloc((size_t)(6 * nodes) * 5 * sizeof *values);
    check_ok(ps_phasors_read_elements(file, number, material));
    check_faces(file, h, number, rows);
    int64_t first = rows - 5;
    for (int f = 0; f < 2; ++f)
        for (int k = 0; k < 1 + h->magnetic; ++k) {
            check_ok(ps_phasors_read_rows(file, f, (ps_phasors_field)k, first, 5, values));
            for (int64_t r = 0; r < 5; ++r)
                for (int i = 0; i < 3 * nodes; ++i) {
                    double re = value(f, k, number[first + r], i), sr = h->source[f][0];
                    double im = value(f, k, number[first + r], i + 3 * nodes), si = h->source[f][1];
                    double norm = sr * sr + si * si;
                    const float *row = values + r * 6 * nodes;
                    check_near(row[i], (re * sr + im * si) / norm, 0, 1e-5);
                    check_near(row[i + 3 * nodes], (im * sr - re * si) / norm, 1e-4, 1e-5);
                }
        }
    if (!h->magnetic)
        check_fails(ps_phasors_read_rows(file, 0, PS_PHASORS_MAGNETIC, 0, 1, values), PS_INVALID,
                    "no magnetic field");
}

static void round_trip(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        ps_phasors_header h = sample(order, order == 1 ? 100000 : 777);
        write_rows(path, &h, 0);
        check_rows(&h, h.rows);
    }
}

static void parts_and_master(void **state)
{
    char part[4096];
    for (int p = 0; p < 2; ++p) {
        ps_phasors_header h = sample(2, 30 + p);
        h.mesh_elements = 100;
        ps_store_part_path(path, 0, p, part);
        write_rows(part, &h, 30 * p);
    }
    check_ok(ps_store_write_master(path, &identity, 0, 2));
    ps_phasors_header h = sample(2, 61);
    check_rows(&h, 61);
}

static void refuses(void **state)
{
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    ps_phasors_header h = sample(2, 10);
#define bad(place, value, text)                                                                    \
    check_fails_if(h.place, value, ps_phasors_create(path, &identity, &h, &file), PS_INVALID, text)
    bad(order, 5, "order 5");
    bad(frequency[1], 1e8, "ascending");
    bad(material[1].sigma, -1, "material 1");
    h.source[1][0] = 0;
    bad(source[1][1], 0, "source has nothing");
    h = sample(1, 3);
    int32_t number[3] = {4, 5, 4}, material[3] = {0, 0, 0};
    float values[3 * 24] = {0};
    check_ok(ps_phasors_create(path, &identity, &h, &file));
    check_ok(ps_phasors_write_elements(file, number, material));
    for (int f = 0; f < 2; ++f) check_ok(ps_phasors_write_chunks(file, f, 0, 0, 1, values));
    check_ok(ps_phasors_commit(&file));
    check_ok(ps_phasors_open(path, &file));
    check_fails(ps_phasors_read_elements(file, number, material), PS_INVALID, "twice");
}
