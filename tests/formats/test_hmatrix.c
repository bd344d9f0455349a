#include <stdlib.h>
#include <unistd.h>

#include "formats/hmatrix.h"
#include "kernels/hbem/block_tree.h"
#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

static const char tree_path[] = "c.h5";
static const char path[] = "h.h5";
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

/* Clusters of a sphere, P1 for both sides or P0 x P1, and numbers as if assembled. */
typedef struct sample {
    hbem_case c;
    ps_hbem_space other;
    ps_clusters clusters;
    ps_hmatrix_tables tables;
    ps_hmatrix matrix;
    ps_hmatrix_leaf *leaves;
} sample;

static void make_clusters(sample *s, bool same)
{
    memset(s, 0, sizeof *s);
    hbem_case_sphere(&s->c, 6);
    hbem_space_make(&s->c.space, PS_SPACE_P1, &s->c.surface);
    ps_clusters *k = &s->clusters;
    k->vertex_count = s->c.vertex_count;
    k->triangle_count = s->c.triangle_count;
    k->vertices = s->c.vertices;
    k->triangles = s->c.corners;
    k->closed = true;
    k->space[1] = PS_SPACE_P1;
    k->space[0] = same ? PS_SPACE_P1 : PS_SPACE_P0;
    k->same = same;
    k->eta = 2;
    strcpy(k->order, "median");
    strcpy(k->mesh_hash, "0123456789abcdef");
    hbem_tree_make(&k->tree[1], &s->c.space, 8);
    k->tree[0] = k->tree[1];
    if (!same) {
        hbem_space_make(&s->other, PS_SPACE_P0, &s->c.surface);
        hbem_tree_make(&k->tree[0], &s->other, 8);
    }
    ps_block_tree blocks = {.rows = &k->tree[0], .columns = &k->tree[1], .eta = 2};
    check_ok(ps_cluster_leaves_init(&k->leaves, ps_block_tree_cut(&blocks, 0, NULL)));
    ps_block_tree_cut(&blocks, 0, &k->leaves);
}

static void free_clusters(sample *s)
{
    s->clusters.vertices = NULL;
    s->clusters.triangles = NULL;
    ps_clusters_release(&s->clusters);
    if (s->other.start) hbem_space_free(&s->other);
    hbem_case_release(&s->c);
}

static void clusters_come_back(void **state)
{
    for (int same = 0; same < 2; ++same) {
        PS_SCOPED(free_clusters) sample s = {0};
        PS_SCOPED(ps_clusters_release) ps_clusters in = {0};
        make_clusters(&s, same);
        check_ok(ps_clusters_save(tree_path, &s.clusters, &identity, NULL));
        check_ok(ps_clusters_load(tree_path, &in));
        assert_int_equal(in.leaves.count, s.clusters.leaves.count);
        for (int side = 0; side < 2; ++side) {
            assert_int_equal(in.tree[side].node_count, s.clusters.tree[side].node_count);
            assert_memory_equal(in.tree[side].nodes, s.clusters.tree[side].nodes,
                                sizeof(ps_cluster_node) * (size_t)in.tree[side].node_count);
            assert_memory_equal(in.tree[side].order, s.clusters.tree[side].order,
                                8 * (size_t)in.tree[side].dofs);
        }
        PS_SCOPED_MEMORY ps_hmatrix_leaf *half = NULL;
        if (same) {
            ps_block_tree upper = {
                .rows = in.tree, .columns = in.tree, .eta = 2, .symmetric = true};
            PS_SCOPED(ps_cluster_leaves_release) ps_cluster_leaves nodes = {0};
            check_ok(ps_clusters_leaves(&in, true, &half, &nodes));
            int64_t count;
            PS_SCOPED_MEMORY ps_hmatrix_leaf *expected = hbem_leaves(&upper, &count);
            assert_int_equal(nodes.count, count);
            for (int64_t l = 0; l < nodes.count; ++l) {
                assert_int_equal(half[l].row_begin, expected[l].row_begin);
                assert_int_equal(half[l].column_end, expected[l].column_end);
            }
        } else {
            check_fails(ps_clusters_leaves(&in, true, &half, NULL), PS_USAGE, "two spaces");
        }
    }
}

static ps_status save_and_load(const ps_clusters *clusters)
{
    ps_clusters in;
    check_ok(ps_clusters_save(tree_path, clusters, &identity, NULL));
    return ps_clusters_load(tree_path, &in);
}

/* Trees and leaves that contradict themselves are refused. */
static void refuses_clusters(void **state)
{
    PS_SCOPED(free_clusters) sample s = {0};
    make_clusters(&s, true);
    ps_clusters *k = &s.clusters;
#define contradiction(place, value, text)                                                          \
    check_fails_if(k->place, value, save_and_load(k), PS_INVALID, text)
    contradiction(leaves.row[3], k->leaves.row[3] ^ 1, "leaf 3 is not the one");
    contradiction(leaves.count, k->leaves.count - 1, "do not tile");
    contradiction(tree[0].order[5], k->tree[0].order[6], "no permutation at position 6");
    contradiction(tree[0].nodes[1].end, k->tree[0].nodes[1].end + 1, "node 0");
}

/* Leaf l: dense where near, else rank l mod 4; numbers by a rule. */
static void make_matrix(sample *s, bool symmetric, int parts, ps_precision precision)
{
    ps_clusters *k = &s->clusters;
    ps_hmatrix_header *h = &s->tables.header;
    *h = (ps_hmatrix_header){.kernel = PS_KERNEL_DLP,
                             .wavenumber = parts - 1,
                             .same = k->same,
                             .symmetric = symmetric,
                             .precision = precision,
                             .mode = "hmatrix",
                             .form = "kernel",
                             .tolerance = 1e-4,
                             .eta = 2,
                             .rules = 1e-4,
                             .check_rows = 8};
    memcpy(h->space, k->space, sizeof h->space);
    memcpy(s->tables.tree, k->tree, sizeof k->tree);
    check_ok(ps_clusters_leaves(k, symmetric, &s->leaves, &s->tables.nodes));
    s->matrix = (ps_hmatrix){.rows = k->tree[0].dofs,
                             .columns = k->tree[1].dofs,
                             .leaf_count = s->tables.nodes.count,
                             .parts = parts,
                             .symmetric = symmetric,
                             .precision = precision,
                             .leaves = s->leaves};
    check_ok(ps_hmatrix_init(&s->matrix));
    for (int64_t l = 0; l < s->matrix.leaf_count; ++l) {
        ps_hmatrix_block block = {.rank = s->leaves[l].far ? l % 4 : PS_RANK_DENSE,
                                  .error = s->leaves[l].far ? 1e-5 * (double)l : 0};
        int64_t count = ps_hmatrix_numbers(&s->matrix, l, block.rank);
        PS_SCOPED_MEMORY double *values = calloc((size_t)count + 1, sizeof *values);
        for (int64_t e = 0; e < count; ++e) values[e] = sin((double)(l * 131 + e));
        block.values = values;
        check_ok(ps_hmatrix_put(&s->matrix, l, &block));
    }
    s->tables.chunks.count = 5;
    s->tables.chunks.first = calloc(6, 8);
    for (int c = 0; c <= 5; ++c) s->tables.chunks.first[c] = s->matrix.leaf_count * c / 5;
}

static ps_hmatrix_part part_of(const sample *s, int64_t c)
{
    const int64_t *first = s->tables.chunks.first;
    return (ps_hmatrix_part){path, &identity, NULL, c, first[c], first[c + 1] - first[c], false, 0};
}

static void save_part(const sample *s, int64_t c)
{
    ps_hmatrix_part part = part_of(s, c);
    ps_hmatrix run = s->matrix;
    run.leaf_count = part.leaf_count;
    run.leaves += part.first_leaf;
    run.blocks += part.first_leaf;
    assert_false(ps_hmatrix_part_done(&part));
    check_ok(ps_hmatrix_part_save(&part, &run));
    assert_true(ps_hmatrix_part_done(&part));
}

static void free_matrix(sample *s)
{
    ps_hmatrix_release(&s->matrix);
    ps_cluster_leaves_release(&s->tables.nodes);
    PS_FREE(s->tables.chunks.first, s->leaves);
    free_clusters(s);
}

static void check_same(const ps_hmatrix *a, const ps_hmatrix *b, int64_t shift)
{
    for (int64_t l = 0; l < b->leaf_count; ++l) {
        const ps_hmatrix_block *x = &a->blocks[shift + l], *y = &b->blocks[l];
        assert_int_equal(x->rank, y->rank);
        check_near(y->error, x->error, 0, 0);
        int64_t bytes = ps_hmatrix_numbers(b, l, y->rank) * (b->precision == PS_SINGLE ? 4 : 8);
        if (bytes) assert_memory_equal(x->values, y->values, (size_t)bytes);
    }
}

typedef struct sweep_check {
    ps_hmatrix_file *file;
    const ps_hmatrix *expected;
    ps_hmatrix_block *blocks;
    int64_t seen;
} sweep_check;

static ps_status check_chunk(void *context, int64_t chunk, const void *unpacked)
{
    sweep_check *s = context;
    ps_hmatrix view;
    ps_hmatrix_view(s->file, chunk, unpacked, s->blocks, &view);
    check_same(s->expected, &view, ps_hmatrix_file_chunks(s->file)->first[chunk]);
    for (int64_t l = 0; l < view.leaf_count; ++l)
        assert_int_equal((uintptr_t)view.blocks[l].values % 64, 0);
    ++s->seen;
    return PS_OK;
}

static void stream_twice(ps_hmatrix_file *file, const ps_hmatrix *expected)
{
    ps_chunk_stream_config config;
    ps_chunk_stream *stream;
    PS_SCOPED_MEMORY ps_hmatrix_block *blocks =
        calloc((size_t)ps_hmatrix_most_leaves(file), sizeof *blocks);
    sweep_check check = {file, expected, blocks, 0};
    ps_hmatrix_stream_config(file, 2 << 20, &config);
    check_ok(ps_chunk_stream_open(&config, &stream));
    for (int sweep = 0; sweep < 2; ++sweep)
        check_ok(ps_chunk_stream_sweep(stream, check_chunk, &check));
    ps_chunk_stream_close(&stream);
    assert_int_equal(check.seen, 10);
}

static void matrices_come_back(void **state)
{
    for (int variant = 0; variant < 8; ++variant) {
        PS_SCOPED(free_matrix) sample s = {0};
        PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
        PS_SCOPED(ps_hmatrix_release) ps_hmatrix in = {0};
        make_clusters(&s, variant & 1);
        make_matrix(&s, variant & 1, variant & 2 ? 2 : 1, variant & 4 ? PS_SINGLE : PS_DOUBLE);
        for (int64_t c = 4; c >= 0; --c) save_part(&s, c);
        check_ok(ps_hmatrix_commit(path, &identity, &s.tables, NULL, 0));
        check_ok(ps_hmatrix_open(path, &file));
        const ps_hmatrix_overview *overview = ps_hmatrix_file_overview(file);
        assert_int_equal(overview->shape.leaf_count, s.matrix.leaf_count);
        assert_int_equal(ps_hmatrix_bytes(&overview->shape), ps_hmatrix_bytes(&s.matrix));
        assert_int_equal(ps_hmatrix_tree(file, PS_SIDE_TRIAL)->order[7], s.tables.tree[1].order[7]);
        check_near(ps_hmatrix_file_header(file)->tolerance, 1e-4, 0, 0);
        check_ok(ps_hmatrix_load(file, &in));
        check_same(&s.matrix, &in, 0);
        stream_twice(file, &s.matrix);
        ps_verify_result result = {0};
        check_ok(ps_hmatrix_verify(file, true, &result));
        assert_int_equal(result.bad_chunks, 0);
        for (int c = 0; c < 5; ++c) {
            char part[4096];
            ps_store_part_path(path, 0, c, part);
            unlink(part);
        }
    }
}

/* Parts that are missing, or of another matrix. */
static void refuses_parts(void **state)
{
    PS_SCOPED(free_matrix) sample s = {0};
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    ps_verify_result result = {0};
    char part[4096];
    make_clusters(&s, true);
    make_matrix(&s, true, 1, PS_DOUBLE);
    check_fails(ps_hmatrix_commit(path, &identity, &s.tables, NULL, 0), PS_INVALID, "part0000");
    for (int64_t c = 0; c < 5; ++c) save_part(&s, c);
    check_ok(ps_hmatrix_commit(path, &identity, &s.tables, NULL, 0));
    ps_store_identity other = identity;
    other.options = "a=2\n";
    ps_hmatrix_part stale = part_of(&s, 2);
    stale.identity = &other;
    assert_false(ps_hmatrix_part_done(&stale));
    ((double *)s.matrix.blocks[s.tables.chunks.first[2]].values)[0] += 1;
    ps_store_part_path(path, 0, 2, part);
    unlink(part);
    check_fails(ps_hmatrix_open(path, &file), PS_INVALID, "chunk 2 is missing");
    save_part(&s, 2);
    check_ok(ps_hmatrix_open(path, &file));
    check_fails(ps_hmatrix_verify(file, false, &result), PS_INVALID, "another H-matrix");
}
