/*
 * march_tool: small jobs for the stage tests of tdbem-march.
 *
 *   march_tool off LEVEL [AREA]             an icosphere as OFF on stdout, scaled to this area
 * (m^2) march_tool trace HISTORY UNKNOWN FILE   largest difference from a reference trace (columns
 * t, a) march_tool uniform HISTORY MESH WIDTH DELAY UNTIL relative L2 error in time of the surface
 * mean under uniform incidence on the unit sphere (guide 2.10) march_tool unstable MESH OUTPUT
 * [FACTOR] a matrix whose densities grow by half, or by this factor, in every step march_tool
 * alternating MESH OUTPUT a matrix whose densities decay slowly, but for one that alternates in
 * sign and grows by 5 % in every step
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "formats/surface_mesh.h"
#include "kernels/common/vec3.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/icosphere.h"

static int fail(const char *what)
{
    fprintf(stderr, "march_tool: %s: %s\n", what, ps_message());
    return 1;
}

static double area_of(const double *vertices, const int32_t *triangle)
{
    double sides[2][3], n[3];
    for (int s = 0; s < 2; ++s)
        ps_subtract3(vertices + 3 * triangle[1 + s], vertices + 3 * triangle[0], sides[s]);
    ps_cross3(sides[0], sides[1], n);
    return ps_norm3(n) / 2;
}

static int print_off(int level, double area)
{
    PS_SCOPED(icosphere_release) icosphere mesh = {0};
    icosphere_init(&mesh, level);
    if (area > 0) icosphere_scale(&mesh, sqrt(area / icosphere_area(&mesh)));
    printf("OFF\n%lld %lld 0\n", (long long)mesh.vertex_count, (long long)mesh.triangle_count);
    for (int64_t v = 0; v < mesh.vertex_count; ++v)
        printf("%.17g %.17g %.17g\n", mesh.vertices[3 * v], mesh.vertices[3 * v + 1],
               mesh.vertices[3 * v + 2]);
    for (int64_t t = 0; t < mesh.triangle_count; ++t)
        printf("3 %d %d %d\n", mesh.triangles[3 * t], mesh.triangles[3 * t + 1],
               mesh.triangles[3 * t + 2]);
    return 0;
}

/* All densities as [steps][unknowns]. */
static double *read_history(const char *path, ps_history_header *header)
{
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    if (ps_history_open(path, &history) != PS_OK) exit(fail(path));
    *header = *ps_history_header_of(history);
    double *a = malloc((size_t)(header->steps * header->slices.unknowns) * sizeof *a);
    if (!a || ps_history_read(history, 1, header->steps, a) != PS_OK) exit(fail(path));
    return a;
}

static int compare_trace(const char *path, int64_t unknown, const char *reference)
{
    ps_history_header header;
    PS_SCOPED_MEMORY double *a = read_history(path, &header);
    double largest = 0, t, value;
    FILE *file = fopen(reference, "r");
    char line[256];
    int64_t n = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%lf %lf", &t, &value) != 2) continue;
        if (n >= header.steps || fabs(t - (double)(n + 1) * header.slices.dt) > 1e-9) return 1;
        largest = worse_of(largest, fabs(a[n++ * header.slices.unknowns + unknown] - value));
    }
    if (file) fclose(file);
    printf("%.3e\n", largest);
    return n == header.steps ? 0 : 1;
}

/* p(t) = (2/c) g'(t) + p(t - 2R/c), g = exp(-((t - delay)/width)^2), c = R = 1. */
static double exact_uniform(double t, double width, double delay)
{
    double p = 0;
    for (; t > 0; t -= 2) {
        double x = (t - delay) / width;
        p += -4 * x / width * exp(-x * x);
    }
    return p;
}

static int check_uniform(const char *path, const char *mesh_path, double width, double delay,
                         double until)
{
    ps_history_header header;
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    PS_SCOPED_MEMORY double *a = read_history(path, &header);
    double error = 0, size = 0, area = 0;
    if (ps_surface_mesh_load(mesh_path, &mesh) != PS_OK) return fail(mesh_path);
    for (int64_t i = 0; i < mesh.triangle_count; ++i)
        area += area_of(mesh.vertices, mesh.triangles + 3 * i);
    for (int64_t n = 1; n <= header.steps; ++n) {
        double t = ((double)n - 0.5) * header.slices.dt, mean = 0;
        if (t > until) break;
        for (int64_t i = 0; i < mesh.triangle_count; ++i)
            mean += area_of(mesh.vertices, mesh.triangles + 3 * i) / area *
                    a[(n - 1) * header.slices.unknowns + i];
        double exact = exact_uniform(t, width, delay);
        error += (mean - exact) * (mean - exact);
        size += exact * exact;
    }
    printf("%.3e\n", sqrt(error / size));
    return 0;
}

/* M^0 = 1, M^1 = -1.5: a^n = l^n + 1.5 a^{n-1}; of unknown `other` M^1 = 1.05. */
static int write_unstable(const char *mesh_path, const char *path, double factor, int64_t other)
{
    ps_surface_mesh mesh;
    if (ps_surface_mesh_load(mesh_path, &mesh) != PS_OK) return fail(mesh_path);
    int64_t n = mesh.triangle_count;
    ps_slice_tiling tiling = {n, n, n, 0, n, n};
    ps_slice_header header = {
        .formulation = PS_SOUND_SOFT_S, .dt = 0.1, .speed = 1, .outer_points = 3};
    snprintf(header.mesh_uuid, sizeof header.mesh_uuid, "%s", mesh.uuid);
    snprintf(header.mesh_hash, sizeof header.mesh_hash, "%s", mesh.content_hash);
    ps_slice_tile tile = {.value_count = n};
    ps_slice_tiling_range(&tiling, 0, &tile);
    uint16_t *starts = calloc((size_t)(n * n), 2), *lengths = calloc((size_t)(n * n), 2);
    double *values = calloc((size_t)n + 16, sizeof *values);
    ps_csr m0;
    if (!starts || !lengths || !values || ps_csr_init(&m0, n, n) != PS_OK) return fail(path);
    for (int64_t i = 0; i < n; ++i) {
        starts[i * n + i] = lengths[i * n + i] = 1;
        values[i] = i == other ? 1.05 : -factor;
        m0.row_start[i + 1] = i + 1;
        m0.columns[i] = (int32_t)i;
        m0.values[i] = 1;
    }
    tile.starts = starts;
    tile.lengths = lengths;
    tile.values = values;
    ps_store_identity identity = {.creator = "march_tool", .revision = "test", .options = ""};
    ps_slice_matrix *matrix;
    if (ps_slice_matrix_create(path, &identity, &tiling, PS_DOUBLE, 0, &matrix) != PS_OK ||
        ps_slice_matrix_write_tile(matrix, 0, &tile) != PS_OK ||
        ps_slice_matrix_commit(&matrix, &m0, &header) != PS_OK)
        return fail(path);
    return 0; /* a test program: the rest goes with it */
}

int main(int argc, char **argv)
{
    const char *job = argc > 1 ? argv[1] : "";
    if (!strcmp(job, "off") && argc >= 3)
        return print_off(atoi(argv[2]), argc > 3 ? atof(argv[3]) : 0);
    if (!strcmp(job, "trace") && argc == 5) return compare_trace(argv[2], atoll(argv[3]), argv[4]);
    if (!strcmp(job, "uniform") && argc == 7)
        return check_uniform(argv[2], argv[3], atof(argv[4]), atof(argv[5]), atof(argv[6]));
    if (!strcmp(job, "unstable") && argc >= 4)
        return write_unstable(argv[2], argv[3], argc > 4 ? atof(argv[4]) : 1.5, -1);
    if (!strcmp(job, "alternating") && argc == 4) return write_unstable(argv[2], argv[3], .999, 7);
    fprintf(stderr, "march_tool: wrong arguments\n");
    return 2;
}
