#include "formats/cgns_surface.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_chunks.h"
#include "formats/columns_hdf5.h"
#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { NAME = 33, POINTER = 32, TRI_3 = 5, QUAD_4 = 7, MIXED = 20, CORNERS = 4 };
static const char root_label[] = "Root Node of HDF5 File";

typedef struct reading {
    const char *path;
    ps_cgns_surface *out;
    int64_t vertices;
    double *x[3];
    int64_t (*corners)[CORNERS]; /* [panels]; -1: a triangle has no fourth */
} reading;

/* ---- nodes; the lock is held ---- */

static bool label_is(hid_t node, const char *label)
{
    char text[64] = "";
    PS_SCOPED_HID attribute = H5Aopen(node, "label", H5P_DEFAULT);
    PS_SCOPED_HID type = attribute < 0 ? -1 : H5Aget_type(attribute);
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < sizeof text &&
        !H5Tis_variable_str(type))
        H5Aread(attribute, type, text);
    return strcmp(text, label) == 0;
}

/* Child number `which` of this label, in the order of names, and of this name unless NULL; -1:
 * there is none. Links to other files are not followed. */
static hid_t find(hid_t parent, const char *label, const char *name, int which)
{
    H5G_info_t info;
    if (H5Gget_info(parent, &info) < 0) return -1;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        char found[256];
        H5L_info_t link;
        if (H5Lget_name_by_idx(parent, ".", H5_INDEX_NAME, H5_ITER_INC, i, found, sizeof found,
                               H5P_DEFAULT) < 0 ||
            (name && strcmp(found, name) != 0) || found[0] == ' ' ||
            H5Lget_info(parent, found, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
            continue;
        hid_t child = H5Gopen2(parent, found, H5P_DEFAULT);
        if (child < 0) continue;
        if (label_is(child, label) && which-- == 0) return child;
        H5Gclose(child);
    }
    return -1;
}

static ps_status lacks(const reading *r, const char *what)
{
    return ps_fail(PS_INVALID, "%s: there is no %s, where CGNS has one", r->path, what);
}

/* Numbers of a node; what is announced must be there before memory is taken. */
static ps_status numbers(const reading *r, hid_t node, const char *what, double **out,
                         int64_t *count)
{
    PS_SCOPED_HID data = node < 0 ? -1 : H5Dopen2(node, " data", H5P_DEFAULT);
    if (data < 0) return lacks(r, what);
    PS_TRY(ps_hdf5_check_own(data, r->path, what));
    PS_TRY(ps_hdf5_check_written(data, r->path, what));
    PS_SCOPED_HID space = H5Dget_space(data), type = H5Dget_type(data);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (points < 1 || (class != H5T_FLOAT && class != H5T_INTEGER) ||
        H5Dget_storage_size(data) / H5Tget_size(type) < (hsize_t)points)
        return ps_fail(PS_INVALID, "%s: %s holds no numbers, or fewer than it says", r->path, what);
    PS_TRY(PS_ALLOC(out, points, "values of CGNS"));
    if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
        return ps_hdf5_fail(PS_INVALID, r->path, "read a node of CGNS");
    *count = points;
    for (int64_t i = 0; i < points; ++i)
        if (!isfinite((*out)[i]))
            return ps_fail(PS_INVALID, "%s: %s: number %lld is not finite", r->path, what,
                           (long long)i + 1);
    return PS_OK;
}

static ps_status some_numbers(const reading *r, hid_t node, const char *what, int64_t wanted,
                              double **out)
{
    int64_t count = 0;
    PS_TRY(numbers(r, node, what, out, &count));
    if (count == wanted) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %s has %lld numbers, expected %lld", r->path, what,
                   (long long)count, (long long)wanted);
}

/* Text of a node, which CGNS keeps as one-byte numbers. */
static ps_status letters(const reading *r, hid_t node, const char *what, char *out, int64_t size)
{
    PS_SCOPED_MEMORY double *values = NULL;
    int64_t count = 0;
    PS_TRY(numbers(r, node, what, &values, &count));
    memset(out, 0, (size_t)size);
    for (int64_t i = 0; i < count && i < size - 1; ++i) out[i] = (char)values[i];
    return PS_OK;
}

/* ---- what is told of the whole ---- */

/* Refuses values without dimensions, and other units than those of the SI, where the file says so.
 */
static ps_status check_units(const reading *r, hid_t node)
{
    PS_SCOPED_HID class = find(node, "DataClass_t", NULL, 0);
    PS_SCOPED_HID units = find(node, "DimensionalUnits_t", NULL, 0);
    char text[256];
    if (class >= 0) {
        PS_TRY(letters(r, class, "DataClass_t", text, sizeof text));
        if (strncmp(text, "Dimensional", 11) != 0)
            return ps_fail(PS_INVALID, "%s: its values are \"%s\": give them with their dimensions",
                           r->path, text);
    }
    if (units < 0) return PS_OK;
    PS_TRY(letters(r, units, "DimensionalUnits_t", text, sizeof text));
    if (strncmp(text, "Kilogram", 8) == 0 && strncmp(text + POINTER, "Meter", 5) == 0 &&
        strncmp(text + 2 * POINTER, "Second", 6) == 0)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: its units are not Kilogram, Meter, Second", r->path);
}

/* *base and *zone of the only surface. */
static ps_status open_zone(const reading *r, hid_t root, hid_t *base, hid_t *zone)
{
    PS_SCOPED_MEMORY double *dimensions = NULL;
    PS_SCOPED_HID type = -1, second = -1;
    char text[NAME];
    *base = find(root, "CGNSBase_t", NULL, 0);
    PS_TRY(some_numbers(r, *base, "CGNSBase_t", 2, &dimensions));
    if (dimensions[0] != 2 || dimensions[1] != 3)
        return ps_fail(
            PS_INVALID,
            "%s: cells of dimension %g in space of %g: a surface in space is wanted, 2 in "
            "3, cut out of the flow",
            r->path, dimensions[0], dimensions[1]);
    *zone = find(*base, "Zone_t", NULL, 0);
    second = find(*base, "Zone_t", NULL, 1);
    if (*zone < 0 || second >= 0)
        return ps_fail(PS_INVALID, "%s: %s zones, one is wanted", r->path,
                       second >= 0 ? "several" : "no");
    type = find(*zone, "ZoneType_t", NULL, 0);
    PS_TRY(letters(r, type, "ZoneType_t", text, sizeof text));
    if (strncmp(text, "Unstructured", 12) != 0)
        return ps_fail(PS_INVALID, "%s: the zone is %s, expected Unstructured", r->path, text);
    PS_TRY(check_units(r, *base));
    return check_units(r, *zone);
}

static ps_status read_vertices(reading *r, hid_t zone)
{
    static const char *const names[] = {"CoordinateX", "CoordinateY", "CoordinateZ"};
    PS_SCOPED_MEMORY double *sizes = NULL;
    PS_SCOPED_HID grid = find(zone, "GridCoordinates_t", NULL, 0);
    PS_TRY(some_numbers(r, zone, "Zone_t", 3, &sizes));
    if (grid < 0) return lacks(r, "GridCoordinates_t");
    r->vertices = (int64_t)sizes[0];
    r->out->panels = (int64_t)sizes[1];
    for (int k = 0; k < 3; ++k) {
        PS_SCOPED_HID node = find(grid, "DataArray_t", names[k], 0);
        PS_TRY(some_numbers(r, node, names[k], r->vertices, &r->x[k]));
    }
    return PS_OK;
}

/* ---- panels ---- */

static ps_status take_cell(reading *r, int64_t cell, const double *corners, int count)
{
    if (cell < 0 || cell >= r->out->panels || r->corners[cell][0] >= 0)
        return ps_fail(PS_INVALID,
                       "%s: element %lld is given twice, or is beyond the %lld of the zone",
                       r->path, (long long)cell + 1, (long long)r->out->panels);
    for (int a = 0; a < count; ++a) {
        if (!(corners[a] >= 1 && corners[a] <= (double)r->vertices))
            return ps_fail(PS_INVALID, "%s: element %lld has vertex %g of %lld", r->path,
                           (long long)cell + 1, corners[a], (long long)r->vertices);
        r->corners[cell][a] = (int64_t)corners[a] - 1;
    }
    return PS_OK;
}

static ps_status take_section(reading *r, hid_t section)
{
    PS_SCOPED_MEMORY double *kind = NULL;
    PS_SCOPED_MEMORY double *range = NULL;
    PS_SCOPED_MEMORY double *corners = NULL;
    PS_SCOPED_HID where = find(section, "IndexRange_t", "ElementRange", 0);
    PS_SCOPED_HID what = find(section, "DataArray_t", "ElementConnectivity", 0);
    int64_t count = 0, at = 0;
    PS_TRY(some_numbers(r, section, "Elements_t", 2, &kind));
    PS_TRY(some_numbers(r, where, "ElementRange", 2, &range));
    PS_TRY(numbers(r, what, "ElementConnectivity", &corners, &count));
    for (double element = range[0]; element <= range[1]; ++element) {
        double type = kind[0] == MIXED && at < count ? corners[at++] : kind[0];
        int wide = type == TRI_3 ? 3 : type == QUAD_4 ? 4 : 0;
        if (wide == 0)
            return ps_fail(
                PS_INVALID,
                "%s: elements of type %g; TRI_3 (5), QUAD_4 (7) and MIXED (20) of them are "
                "taken",
                r->path, type);
        if (at + wide > count) return lacks(r, "vertex of the last elements");
        PS_TRY(take_cell(r, (int64_t)element - 1, corners + at, wide));
        at += wide;
    }
    return PS_OK;
}

static void place_panel(const reading *r, int64_t i)
{
    const int64_t *v = r->corners[i];
    int64_t last = v[3] < 0 ? v[0] : v[3];
    int corners = v[3] < 0 ? 3 : 4;
    double *p = r->out->places + PS_CGNS_PANEL * i, a[3], b[3], n[3];
    for (int k = 0; k < 3; ++k) {
        const double *x = r->x[k];
        for (int c = 0; c < corners; ++c) p[k] += x[v[c]] / corners;
        a[k] = x[v[2]] - x[v[0]]; /* half the product of the diagonals, or of two edges */
        b[k] = v[3] < 0 ? x[v[2]] - x[v[1]] : x[last] - x[v[1]];
    }
    for (int k = 0; k < 3; ++k)
        n[k] = (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]) / 2;
    p[6] = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3 && p[6] > 0; ++k) p[3 + k] = n[k] / p[6];
}

/* Outward, where the surface closes: the order of its corners alone says nothing of the sound. */
static void turn_outward(ps_cgns_surface *s)
{
    double sum[3] = {0}, area = 0, volume = 0;
    for (int64_t i = 0; i < s->panels; ++i) {
        const double *p = s->places + PS_CGNS_PANEL * i;
        area += p[6];
        for (int k = 0; k < 3; ++k) {
            sum[k] += p[6] * p[3 + k];
            volume += p[6] * p[3 + k] * (p[k] - s->places[k]);
        }
    }
    double open = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    s->turned = open <= 1e-6 * area && volume < 0;
    for (int64_t i = 0; s->turned && i < s->panels; ++i)
        for (int k = 3; k < 6; ++k) s->places[PS_CGNS_PANEL * i + k] *= -1;
}

static ps_status read_panels(reading *r, hid_t zone)
{
    PS_TRY(PS_ALLOC(&r->corners, r->out->panels, "panels"));
    PS_TRY(PS_ALLOC(&r->out->places, PS_CGNS_PANEL * r->out->panels, "panels"));
    memset(r->corners, -1, (size_t)r->out->panels * sizeof *r->corners);
    for (int n = 0;; ++n) {
        PS_SCOPED_HID section = find(zone, "Elements_t", NULL, n);
        if (section < 0) break;
        PS_TRY(take_section(r, section));
    }
    for (int64_t i = 0; i < r->out->panels; ++i) {
        if (r->corners[i][0] < 0)
            return ps_fail(PS_INVALID, "%s: element %lld of %lld is in no section", r->path,
                           (long long)i + 1, (long long)r->out->panels);
        place_panel(r, i);
    }
    turn_outward(r->out);
    return PS_OK;
}

/* ---- values ---- */

/* out[panels][stride] of one array of a solution. */
static ps_status take_array(const reading *r, hid_t solution, const char *name, bool cells,
                            double *out, int stride)
{
    PS_SCOPED_MEMORY double *values = NULL;
    PS_SCOPED_HID node = find(solution, "DataArray_t", name, 0);
    PS_TRY(some_numbers(r, node, name, cells ? r->out->panels : r->vertices, &values));
    for (int64_t i = 0; i < r->out->panels; ++i) {
        const int64_t *v = r->corners[i];
        int corners = v[3] < 0 ? 3 : 4;
        double sum = 0;
        for (int c = 0; !cells && c < corners; ++c) sum += values[v[c]] / corners;
        out[i * stride] = cells ? values[i] : sum;
    }
    return PS_OK;
}

static ps_status take_solution(reading *r, hid_t zone, const char *name, int64_t step)
{
    static const char *const axes[] = {"VelocityX", "VelocityY", "VelocityZ"};
    ps_cgns_surface *s = r->out;
    PS_SCOPED_HID solution = find(zone, "FlowSolution_t", name, 0);
    PS_SCOPED_HID place = -1, rind = -1, moves = -1;
    char text[NAME] = "Vertex";
    if (solution < 0) return ps_fail(PS_INVALID, "%s: there is no solution \"%s\"", r->path, name);
    place = find(solution, "GridLocation_t", NULL, 0);
    rind = find(solution, "Rind_t", NULL, 0);
    moves = find(solution, "DataArray_t", axes[0], 0);
    if (place >= 0) PS_TRY(letters(r, place, "GridLocation_t", text, sizeof text));
    bool cells = strncmp(text, "CellCenter", 10) == 0;
    if (rind >= 0 || (!cells && strncmp(text, "Vertex", 6) != 0))
        return ps_fail(PS_INVALID,
                       "%s: \"%s\" is at %s%s; Vertex or CellCenter without Rind_t wanted", r->path,
                       name, text, rind >= 0 ? " with Rind_t" : "");
    if (step == 0 && moves >= 0)
        PS_TRY(PS_ALLOC(&s->velocity, 3 * s->panels * s->times, "velocities"));
    if ((moves >= 0) != (s->velocity != NULL))
        return ps_fail(PS_INVALID, "%s: some solutions have velocities, \"%s\" and others not",
                       r->path, name);
    PS_TRY(take_array(r, solution, "Pressure", cells, s->pressure + step * s->panels, 1));
    for (int k = 0; s->velocity && k < 3; ++k)
        PS_TRY(take_array(r, solution, axes[k], cells, s->velocity + 3 * step * s->panels + k, 3));
    return PS_OK;
}

static ps_status read_solutions(reading *r, hid_t base, hid_t zone)
{
    ps_cgns_surface *s = r->out;
    PS_SCOPED_MEMORY char *names = NULL;
    PS_SCOPED_HID times = find(base, "BaseIterativeData_t", NULL, 0);
    PS_SCOPED_HID steps = find(zone, "ZoneIterativeData_t", NULL, 0);
    PS_SCOPED_HID values = -1, pointers = -1;
    if (times < 0 || steps < 0)
        return lacks(r,
                     "BaseIterativeData_t with ZoneIterativeData_t, the times and their solutions");
    values = find(times, "DataArray_t", "TimeValues", 0);
    pointers = find(steps, "DataArray_t", "FlowSolutionPointers", 0);
    PS_TRY(numbers(r, values, "TimeValues", &s->time, &s->times));
    int64_t size = POINTER * s->times + 1;
    PS_TRY(PS_ALLOC(&names, size, "names of solutions"));
    PS_TRY(letters(r, pointers, "FlowSolutionPointers", names, size));
    if (s->panels > INT64_MAX / 64 / s->times)
        return ps_fail(PS_INVALID, "%s: too many panels and times", r->path);
    PS_TRY(PS_ALLOC(&s->pressure, s->panels * s->times, "pressures"));
    for (int64_t n = 0; n < s->times; ++n) {
        char name[POINTER + 1];
        int end = POINTER;
        snprintf(name, sizeof name, "%.*s", POINTER, names + POINTER * n);
        for (end = (int)strlen(name); end > 0 && name[end - 1] == ' '; --end) name[end - 1] = 0;
        PS_TRY(take_solution(r, zone, name, n));
    }
    return PS_OK;
}

/* ---- the file ---- */

static void reading_release(reading *r)
{
    for (int k = 0; k < 3; ++k) free(r->x[k]);
    free(r->corners);
}

static hid_t open_file(const char *path)
{
    PS_SCOPED_HID access = ps_hdf5_file_access();
    return access < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, access);
}

/* The lock is held; also run by a child, as nothing protects the way to the nodes. */
static ps_status read_file(void *context)
{
    const reading *given = context;
    PS_SCOPED(reading_release) reading r = *given;
    PS_SCOPED_HID file = open_file(r.path);
    PS_SCOPED_HID root = -1, base = -1, zone = -1;
    if (file < 0) return ps_hdf5_fail(PS_INVALID, r.path, "open the file");
    root = H5Gopen2(file, "/", H5P_DEFAULT);
    PS_TRY(open_zone(&r, root, &base, &zone));
    PS_TRY(read_vertices(&r, zone));
    PS_TRY(read_panels(&r, zone));
    return read_solutions(&r, base, zone);
}

static ps_status look_at_root(void *context)
{
    PS_SCOPED_HID file = open_file(context);
    PS_SCOPED_HID root = file < 0 ? -1 : H5Gopen2(file, "/", H5P_DEFAULT);
    return root >= 0 && label_is(root, root_label) ? PS_OK : ps_fail(PS_INVALID, "no CGNS");
}

bool ps_is_cgns(const char *path)
{
    char name[4096];
    ps_trial_end end = PS_TRIAL_DIED;
    if (!ps_is_hdf5(path)) return false;
    snprintf(name, sizeof name, "%s", path);
    ps_hdf5_lock();
    ps_status status = ps_hdf5_try(name, look_at_root, name, &end);
    ps_hdf5_unlock();
    return status == PS_OK && end == PS_TRIAL_HELD;
}

ps_status ps_cgns_surface_read(const char *path, ps_cgns_surface *out)
{
    ps_trial_end end;
    reading r = {.path = path, .out = out};
    memset(out, 0, sizeof *out);
    ps_hdf5_lock();
    ps_status status = ps_hdf5_try(path, read_file, &r, &end);
    if (status == PS_OK && end == PS_TRIAL_DIED)
        status = ps_fail(PS_INVALID, "%s: is damaged: a trial did not survive reading it", path);
    if (status == PS_OK) status = read_file(&r);
    ps_hdf5_unlock();
    if (status != PS_OK) ps_cgns_surface_release(out);
    return status;
}

void ps_cgns_surface_release(ps_cgns_surface *surface)
{
    PS_FREE(surface->places, surface->time, surface->pressure, surface->velocity);
    memset(surface, 0, sizeof *surface);
}
