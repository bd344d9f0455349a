/* Files of subdomains and interfaces (formats/subdomains.h). */
#include "formats/subdomains.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

static const ps_store_identity identity = {
    PS_SUBDOMAINS_FORMAT, PS_SUBDOMAINS_VERSION, "test", "0", "", 0};
static const char path[] = "s.h5";
static const ps_subdomains_header header = {{2, 2, 3}, {1, 2, 3}, .5, 2, 1, 3, 5, 2, 3, "scotch"};

static int64_t nodes[2][3] = {{0, 4, 7}, {4, 9, 0}}, face_nodes[2] = {4, 9};
static int64_t starts[2][4] = {{0, 2, 3, 5}, {0, 1, 3, 0}}, face_starts[3] = {0, 1, 3};
static int32_t columns[2][5] = {{0, 2, 1, 0, 2}, {0, 0, 1}}, face_columns[3] = {0, 0, 1};
static double values[2][5] = {{2, -1, 1, -1, 3}, {5, .5, 6}}, mass[3] = {1, 2, 3};
static double stiffness[3] = {4, 5, 6};

static ps_subdomain piece(int which)
{
    int64_t rows = 3 - which;
    return (ps_subdomain){
        nodes[which], {rows, starts[which][rows], starts[which], columns[which], values[which]}};
}

static void write_sample(int32_t second)
{
    ps_subdomains file;
    ps_subdomain_face face = {
        {0, second}, face_nodes, {2, 3, face_starts, face_columns, mass}, stiffness};
    check_ok(ps_subdomains_create(path, &identity, &header, &file));
    for (int i = 1; i >= 0; --i) {
        ps_subdomain one = piece(i);
        check_ok(ps_subdomains_write(&file, i, &one));
    }
    check_ok(ps_subdomains_write_face(&file, 0, &face));
    check_ok(ps_subdomains_commit(&file));
}

static void what_is_written_is_read(void **unused)
{
    ps_subdomains file;
    ps_subdomain_face face;
    write_sample(1);
    check_ok(ps_subdomains_open(path, &file));
    assert_true(file.header.lumped == .5);
    assert_int_equal(file.header.subdomains, 2);
    assert_string_equal(file.header.partition, "scotch");
    for (int i = 0; i < 2; ++i) {
        ps_subdomain one, expected = piece(i);
        check_ok(ps_subdomains_read(&file, i, &one));
        assert_int_equal(one.matrix.rows, 3 - i);
        assert_int_equal(one.matrix.nnz, expected.matrix.nnz);
        assert_memory_equal(one.nodes, nodes[i], (size_t)one.matrix.rows * sizeof(int64_t));
        assert_memory_equal(one.matrix.values, values[i], (size_t)one.matrix.nnz * sizeof(double));
        assert_memory_equal(one.matrix.columns, columns[i], (size_t)one.matrix.nnz * 4);
        ps_subdomain_release(&one);
    }
    check_ok(ps_subdomains_read_face(&file, 0, &face));
    assert_int_equal(face.sides[1], 1);
    assert_memory_equal(face.nodes, face_nodes, sizeof face_nodes);
    assert_memory_equal(face.mass.values, mass, sizeof mass);
    assert_memory_equal(face.stiffness, stiffness, sizeof stiffness);
    ps_subdomain_face_release(&face);
    ps_subdomains_close(&file);
    unlink(path);
}

/* The sample is written, and what reading a subdomain says. */
static ps_status write_and_read(int which)
{
    ps_subdomains file;
    ps_subdomain one;
    write_sample(1);
    check_ok(ps_subdomains_open(path, &file));
    ps_status status = ps_subdomains_read(&file, which, &one);
    ps_subdomains_close(&file);
    return status;
}

static void refused(void **unused)
{
    ps_subdomains file;
    ps_subdomain_face face;
    check_fails_if(columns[0][2], 7, write_and_read(0), PS_INVALID, path);
    check_fails_if(nodes[1][1], 3, write_and_read(1), PS_INVALID, "not in order");
    write_sample(2);
    check_ok(ps_subdomains_open(path, &file));
    check_fails(ps_subdomains_read_face(&file, 0, &face), PS_INVALID, "between subdomains 0 and 2");
    ps_subdomains_close(&file);
    unlink(path);
    check_fails(ps_subdomains_open(path, &file), PS_INVALID, path);
}
