/*
 * An H-matrix against rows that are integrated anew by nothing that matrix entries use: the error
 * of compression, of quadrature and of the far field's own form together.
 */
#include "postprocess/verify/hmatrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hmatrix.h"
#include "kernels/common/counter_random.h"
#include "kernels/common/reals.h"
#include "kernels/hbem/exact_row.h"
#include "kernels/hbem/setup.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/search.h"
#include "stage/hbem_assembly/cluster_making.h"

/* Of the tolerance: what near pairs are integrated to, and what may be left of a row. */
static const double pair_error = .03, row_error = .5;

typedef struct comparison {
    ps_hmatrix_file *file;
    const ps_hmatrix *shape;
    ps_clusters clusters;
    ps_hbem_setup setup;
    ps_hbem_operator op;
    ps_hbem_exact exact;
    void *memory;
    ps_hmatrix_block *blocks; /* [most leaves of a chunk]         */
    int64_t rows, *row;       /* [rows] positions, ascending      */
    double *values;           /* [rows][part][columns]: H - exact */
    double *error, *norm;     /* [rows] squares                   */
    double *left;             /* [rows] of the exact row          */
} comparison;

/* ---- setting up ---- */

/* Of a matrix of an image: the body's clusters become those of both. */
static ps_status take_image(comparison *c)
{
    const ps_hmatrix_header *h = ps_hmatrix_file_header(c->file);
    ps_clusters own = c->clusters;
    if (h->absorption > 0)
        return ps_fail(PS_USAGE,
                       "%s: rows of a medium that absorbs are not integrated anew: verify "
                       "one without --absorption, or without --error",
                       ps_store_path(ps_hmatrix_store(c->file)));
    if (h->image == 0) return PS_OK;
    ps_status status = ps_hbem_mirror_clusters(&own, &h->mirrors, h->image, &c->clusters);
    ps_clusters_release(&own);
    return status;
}

/* The clusters that the matrix was assembled from. */
static ps_status load_clusters(comparison *c, const char *path, const char *given)
{
    char name[4096];
    ps_input *inputs;
    int count, found = -1;
    PS_TRY(ps_store_list_inputs(ps_hmatrix_store(c->file), &inputs, &count));
    for (int i = 0; i < count; ++i)
        if (strcmp(inputs[i].role, "clusters") == 0) found = i;
    snprintf(name, sizeof name, "%.*s%s", (int)(ps_path_last(path) - path), path,
             found >= 0 ? inputs[found].file : "");
    free(inputs);
    if (!given && found < 0)
        return ps_fail(PS_USAGE, "%s names no clusters: give them by --clusters", path);
    PS_TRY(ps_clusters_load(given ? given : name, &c->clusters));
    if (strcmp(c->clusters.content_hash, ps_hmatrix_file_header(c->file)->cluster_hash) == 0)
        return take_image(c);
    return ps_fail(PS_INVALID, "%s was not assembled from %s", path, given ? given : name);
}

static ps_status set_operator(comparison *c)
{
    const ps_hmatrix_header *h = ps_hmatrix_file_header(c->file);
    ps_hbem_outline outline = ps_hbem_outline_of(&c->clusters);
    PS_TRY(ps_alloc_untouched(&c->memory, ps_hbem_setup_bytes(&outline), "the surface"));
    PS_TRY(ps_hbem_setup_init(&c->setup, &outline, c->memory));
    ps_hbem_setup_order(&c->setup, c->clusters.tree);
    c->op = (ps_hbem_operator){.kernel = h->kernel,
                               .wavenumber = h->wavenumber,
                               .test = &c->setup.space[0],
                               .trial = &c->setup.space[1],
                               .far_precision = PS_DOUBLE};
    ps_hbem_exact_init(&c->op, pair_error * h->tolerance, &c->exact);
    return ps_hbem_operator_check(&c->op);
}

/* One row at random of each of equal stretches. */
static ps_status choose_rows(comparison *c, const hmatrix_request *request)
{
    int64_t n = c->shape->rows;
    c->rows = request->rows < n ? request->rows : n;
    int64_t bytes = 8 * c->rows * c->shape->parts * c->shape->columns;
    if (bytes > request->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "--error %lld: these rows take %.1f GB, --host-memory is %.1f GB; "
                       "ask for fewer",
                       (long long)c->rows, 1e-9 * (double)bytes,
                       1e-9 * (double)request->host_memory);
    PS_TRY(PS_ALLOC(&c->row, c->rows, "sampled rows"));
    PS_TRY(PS_ALLOC(&c->error, c->rows, "sampled rows"));
    PS_TRY(PS_ALLOC(&c->norm, c->rows, "sampled rows"));
    PS_TRY(PS_ALLOC(&c->left, c->rows, "sampled rows"));
    PS_TRY(PS_ALLOC(&c->values, bytes / 8, "sampled rows"));
    for (int64_t r = 0; r < c->rows; ++r) {
        int64_t begin = n * r / c->rows, end = n * (r + 1) / c->rows;
        c->row[r] =
            begin + (int64_t)(ps_counter_uniform(17, (uint64_t)r, 0) * (double)(end - begin));
    }
    return PS_OK;
}

/* ---- rows of the H-matrix ---- */

static double number(const ps_hmatrix *m, int64_t leaf, int64_t index)
{
    return ps_real_at(m->precision, m->blocks[leaf].values, index);
}

/* Row i of a leaf of low rank (its column i with `across`), added to out[part][stride]. */
static void add_factors(const ps_hmatrix *m, int64_t leaf, int64_t i, bool across, double *out,
                        int64_t stride)
{
    const ps_hmatrix_leaf *at = &m->leaves[leaf];
    int64_t height = at->row_end - at->row_begin, width = at->column_end - at->column_begin;
    int64_t parts = m->parts, rank = m->blocks[leaf].rank, split = rank * parts * height;
    for (int64_t l = 0; l < rank; ++l) {
        int64_t u = l * parts * height, v = split + l * parts * width;
        int64_t own = across ? v : u, own_step = across ? width : height;
        int64_t other = across ? u : v, length = across ? height : width;
        double a = number(m, leaf, own + i);
        double b = parts > 1 ? number(m, leaf, own + own_step + i) : 0;
        for (int64_t j = 0; j < length; ++j) {
            double x = number(m, leaf, other + j);
            double y = parts > 1 ? number(m, leaf, other + length + j) : 0;
            out[j] += a * x - b * y;
            if (parts > 1) out[stride + j] += a * y + b * x;
        }
    }
}

static void add_dense(const ps_hmatrix *m, int64_t leaf, int64_t i, bool across, double *out,
                      int64_t stride)
{
    const ps_hmatrix_leaf *at = &m->leaves[leaf];
    int64_t height = at->row_end - at->row_begin, width = at->column_end - at->column_begin;
    for (int64_t part = 0; part < m->parts; ++part)
        for (int64_t j = 0; j < (across ? height : width); ++j)
            out[part * stride + j] +=
                number(m, leaf, (part * width + (across ? i : j)) * height + (across ? j : i));
}

static void add_leaf(const ps_hmatrix *m, int64_t leaf, int64_t i, bool across, double *row)
{
    const ps_hmatrix_leaf *at = &m->leaves[leaf];
    double *out = row + (across ? at->row_begin : at->column_begin);
    if (m->blocks[leaf].rank == PS_RANK_DENSE)
        add_dense(m, leaf, i, across, out, m->columns);
    else
        add_factors(m, leaf, i, across, out, m->columns);
}

/* First sampled row at or after `position`. */
static int64_t first_from(const comparison *c, int64_t position)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, c->rows, at, c->row[at] < position);
    return low;
}

static ps_status add_chunk(void *context, int64_t chunk, const void *unpacked)
{
    comparison *c = context;
    ps_hmatrix m;
    ps_hmatrix_view(c->file, chunk, unpacked, c->blocks, &m);
    int64_t size = m.parts * m.columns;
    for (int64_t l = 0; l < m.leaf_count; ++l) {
        const ps_hmatrix_leaf *at = &m.leaves[l];
        for (int64_t r = first_from(c, at->row_begin); r < c->rows && c->row[r] < at->row_end; ++r)
            add_leaf(&m, l, c->row[r] - at->row_begin, false, c->values + r * size);
        if (!m.symmetric || at->row_begin == at->column_begin) continue;
        for (int64_t r = first_from(c, at->column_begin); r < c->rows && c->row[r] < at->column_end;
             ++r)
            add_leaf(&m, l, c->row[r] - at->column_begin, true, c->values + r * size);
    }
    return PS_OK;
}

static ps_status add_chunks(comparison *c, int64_t host_memory)
{
    ps_chunk_stream_config config;
    PS_SCOPED(ps_chunk_stream_close) ps_chunk_stream *stream = NULL;
    PS_TRY(PS_ALLOC(&c->blocks, ps_hmatrix_most_leaves(c->file), "leaves of a chunk"));
    ps_hmatrix_stream_config(c->file, host_memory, &config);
    config.one_pass = true;
    PS_TRY(ps_chunk_stream_open(&config, &stream));
    return ps_chunk_stream_sweep(stream, add_chunk, c);
}

/* ---- exact rows ---- */

static ps_status exact_row(comparison *c, int64_t r)
{
    int64_t size = c->shape->parts * c->shape->columns;
    PS_SCOPED_MEMORY double *exact = NULL;
    PS_TRY(PS_ALLOC(&exact, size, "an exact row"));
    c->left[r] = ps_hbem_exact_row(&c->exact, c->row[r], exact);
    for (int64_t j = 0; j < size; ++j) {
        double off = c->values[r * size + j] - exact[j];
        c->error[r] += off * off;
        c->norm[r] += exact[j] * exact[j];
    }
    return PS_OK;
}

static ps_status exact_rows(comparison *c)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = 0; r < c->rows; ++r)
        if (!ps_has_failed(&failure)) ps_note_failure(&failure, exact_row(c, r));
    return ps_first_failure(&failure);
}

/* ---- the verdict ---- */

static ps_status judge(const comparison *c, hmatrix_errors *out)
{
    double error = 0, norm = 0, left = 0;
    *out =
        (hmatrix_errors){.rows = c->rows, .tolerance = ps_hmatrix_file_header(c->file)->tolerance};
    for (int64_t r = 0; r < c->rows; ++r) {
        error += c->error[r];
        norm += c->norm[r];
        left += c->left[r] * c->left[r];
        out->worst = fmax(out->worst, sqrt(c->error[r] / c->norm[r]));
    }
    out->error = sqrt(error / norm);
    out->reference = sqrt(left / norm);
    if (out->reference > row_error * out->tolerance)
        return ps_fail(
            PS_FAILED,
            "the reference for %lld rows has an error of %.3g itself, which tells nothing "
            "about a tolerance of %g: triangles are too stretched or too close",
            (long long)c->rows, out->reference, out->tolerance);
    if (out->error <= 2 * out->tolerance) return PS_OK;
    return ps_fail(PS_FAILED, "the error of %lld rows is %.3g, more than twice the tolerance %g",
                   (long long)c->rows, out->error, out->tolerance);
}

static ps_status compare(comparison *c, const char *path, const hmatrix_request *request,
                         hmatrix_errors *out)
{
    c->shape = &ps_hmatrix_file_overview(c->file)->shape;
    PS_TRY(load_clusters(c, path, request->clusters));
    PS_TRY(set_operator(c));
    PS_TRY(choose_rows(c, request));
    PS_TRY(add_chunks(c, request->host_memory));
    PS_TRY(exact_rows(c));
    return judge(c, out);
}

static void release(comparison *c)
{
    ps_clusters_release(&c->clusters);
    ps_hmatrix_close(&c->file);
    PS_FREE(c->memory, c->blocks, c->row, c->values, c->error, c->norm, c->left);
}

ps_status verify_hmatrix(const char *path, const hmatrix_request *request, ps_verify_result *result,
                         hmatrix_errors *errors)
{
    PS_SCOPED(release) comparison c = {0};
    PS_TRY(ps_hmatrix_open(path, &c.file));
    PS_TRY(ps_hmatrix_verify(c.file, !request->quick, result));
    return request->rows > 0 ? compare(&c, path, request, errors) : PS_OK;
}
