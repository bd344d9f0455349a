#include "formats/ubc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/number_file.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/scope.h"

void ps_ubc_release(ps_ubc_model *model)
{
    for (int a = 0; a < 3; ++a) free(model->edges[a]);
    free(model->values);
    memset(model, 0, sizeof *model);
}

/* The next number, which must be there. */
static ps_status need(ps_number_file *file, const char *path, const char *what, double *out)
{
    bool found;
    PS_TRY(ps_number_file_next(file, out, &found));
    if (found) return PS_OK;
    return ps_fail(PS_INVALID, "%s ends before %s", path, what);
}

static ps_status read_mesh(ps_number_file *file, const char *path, ps_ubc_model *out)
{
    double start[3], width;
    int64_t *count = out->count;
    for (int a = 0; a < 3; ++a) {
        double n;
        PS_TRY(need(file, path, "the numbers of cells", &n));
        if (!(n >= 1 && n <= 1e6) || n != (double)(int64_t)n)
            return ps_fail(PS_INVALID, "%s: %g is no number of cells", path, n);
        count[a] = (int64_t)n;
    }
    if (count[0] + count[1] + count[2] > 1000000)
        return ps_fail(PS_INVALID, "%s: %lld + %lld + %lld cells along the axes", path,
                       (long long)count[0], (long long)count[1], (long long)count[2]);
    for (int a = 0; a < 3; ++a) PS_TRY(need(file, path, "west, south and top", &start[a]));
    start[2] = -start[2];
    for (int a = 0; a < 3; ++a) {
        PS_TRY(PS_ALLOC(&out->edges[a], count[a] + 1, "a brick mesh"));
        out->edges[a][0] = start[a];
        for (int64_t i = 0; i < count[a]; ++i) {
            PS_TRY(need(file, path, "all widths", &width));
            double low = out->edges[a][i], high = out->edges[a][i + 1] = low + width;
            if (!(width > 0 && fabs(low) <= PS_UBC_MOST && fabs(high) <= PS_UBC_MOST))
                return ps_fail(PS_INVALID,
                               "%s: width %lld along %c is %g, from %g: widths are positive, and "
                               "places within %g m",
                               path, (long long)i + 1, "xyz"[a], width, low, PS_UBC_MOST);
            if (!(fabs(high - low - width) <= 1e-6 * width))
                return ps_fail(PS_INVALID,
                               "%s: width %lld along %c, %g, is lost in the rounding of %.10g",
                               path, (long long)i + 1, "xyz"[a], width, low);
        }
    }
    return PS_OK;
}

static ps_status refuse_rest(ps_number_file *file, const char *path, const char *what)
{
    double extra;
    bool found;
    PS_TRY(ps_number_file_next(file, &extra, &found));
    return found ? ps_fail(PS_INVALID, "%s has more numbers than %s", path, what) : PS_OK;
}

/* A value takes two bytes at least, in a compressed file a thousandth of that: what the mesh
 * announces beyond that is not believed. */
static ps_status check_cells(const char *path, const int64_t *n)
{
    enum { FREE_CELLS = 8 << 20, CELLS_A_BYTE = 500 };
    struct stat info;
    double cells = (double)n[0] * (double)n[1] * (double)n[2];
    if (stat(path, &info) != 0 || cells <= FREE_CELLS + CELLS_A_BYTE * (double)info.st_size)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: the mesh has %lld x %lld x %lld cells, whose values a file of %lld bytes "
                   "cannot hold",
                   path, (long long)n[0], (long long)n[1], (long long)n[2],
                   (long long)info.st_size);
}

static ps_status read_values(ps_number_file *file, const ps_ubc_request *r, ps_ubc_model *out)
{
    const int64_t *n = out->count;
    PS_TRY(check_cells(r->model, n));
    PS_TRY(PS_ALLOC(&out->values, n[0] * n[1] * n[2], "a density model"));
    for (int64_t j = 0; j < n[1]; ++j)
        for (int64_t i = 0; i < n[0]; ++i)
            for (int64_t k = 0; k < n[2]; ++k) {
                double value;
                PS_TRY(need(file, r->model, "all cells of the mesh have a value", &value));
                bool air = isnan(value) || (r->air_given && value <= r->air);
                if (!air && !isfinite(value))
                    return ps_fail(PS_INVALID, "%s line %lld: the density is %g", r->model,
                                   (long long)ps_number_file_where(file), value);
                out->air += air;
                out->values[(i * n[1] + j) * n[2] + k] = air ? NAN : value;
            }
    return refuse_rest(file, r->model, "the mesh has cells");
}

/* ---- flags of air ---- */

/* Whether all cells of this value have only such cells (and air) above them. */
static bool is_on_top(const ps_ubc_model *m, double value)
{
    const int64_t *n = m->count;
    for (int64_t column = 0; column < n[0] * n[1]; ++column) {
        const double *line = m->values + column * n[2];
        for (int64_t k = 1; k < n[2]; ++k)
            if (line[k] == value && line[k - 1] != value && !isnan(line[k - 1])) return false;
    }
    return true;
}

static int64_t count_of(const ps_ubc_model *m, double value)
{
    int64_t count = 0, all = m->count[0] * m->count[1] * m->count[2];
    for (int64_t c = 0; c < all; ++c) count += m->values[c] == value;
    return count;
}

static void make_air(ps_ubc_model *m, double value)
{
    int64_t all = m->count[0] * m->count[1] * m->count[2];
    m->flag = value;
    for (int64_t c = 0; c < all; ++c)
        if (m->values[c] == value) {
            m->values[c] = NAN;
            ++m->flagged;
        }
    m->air += m->flagged;
}

/* The least value is one of those that programs write where there is no ground. */
static ps_status find_flag(const ps_ubc_request *r, ps_ubc_model *m)
{
    int64_t all = m->count[0] * m->count[1] * m->count[2];
    double least = 0;
    for (int64_t c = 0; c < all; ++c) least = fmin(least, m->values[c]);
    if (!ps_is_usual_flag(least)) return PS_OK;
    if (fabs(least * r->scale) > r->most) {
        make_air(m, least);
        return PS_OK;
    }
    if (!is_on_top(m, least)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %lld of %lld cells, all at the top of their columns, have the value %g, "
                   "which often stands for air and with --scale %g would be a density of %g kg/m3: "
                   "say --air %g if it is air, --air -1e30 if it is not",
                   r->model, (long long)count_of(m, least), (long long)all, least, r->scale,
                   least * r->scale, least);
}

static ps_status to_values(const ps_ubc_request *r, ps_ubc_model *m)
{
    int64_t all = m->count[0] * m->count[1] * m->count[2];
    if (!r->air_given) PS_TRY(find_flag(r, m));
    for (int64_t c = 0; c < all; ++c) m->values[c] *= r->scale;
    return PS_OK;
}

static ps_status read_model(const ps_ubc_request *request, ps_ubc_model *out)
{
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    PS_TRY(ps_number_file_open(request->model, &file));
    PS_TRY(read_values(file, request, out));
    return to_values(request, out);
}

ps_status ps_ubc_read(const ps_ubc_request *request, ps_ubc_model *out)
{
    ps_number_file *file = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_number_file_open(request->mesh, &file));
    ps_status status = read_mesh(file, request->mesh, out);
    if (status == PS_OK) status = refuse_rest(file, request->mesh, "counts, corner and widths");
    ps_number_file_close(&file);
    if (status == PS_OK && request->model) status = read_model(request, out);
    if (status != PS_OK) ps_ubc_release(out);
    return status;
}

static void print_values(FILE *file, const void *context)
{
    const ps_ubc_values *v = context;
    const int64_t *n = v->count;
    for (int64_t j = 0; j < n[1]; ++j)
        for (int64_t i = 0; i < n[0]; ++i)
            for (int64_t k = 0; k < n[2]; ++k) {
                double value = v->values[(i * n[1] + j) * n[2] + k];
                fprintf(file, "%.9g\n", isnan(value) ? v->air : value);
            }
}

ps_status ps_ubc_write(const char *path, const ps_ubc_values *values)
{
    return ps_output_print(path, print_values, values);
}
