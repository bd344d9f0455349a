/* hdf5: files of our own, and datasets by name of any others. */
#include <stdio.h>
#include <string.h>

#include "formats/columns_hdf5.h"
#include "preprocess/particle_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { NAMES_MAX = 16 };

typedef struct name_list {
    int count;
    char text[NAMES_MAX][PS_NAME_MAX];
    const char *names[NAMES_MAX];
} name_list;

static ps_status add_names(name_list *list, const char *text)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        if (list->count == NAMES_MAX || length == 0 || length >= PS_NAME_MAX)
            return ps_fail(PS_USAGE,
                           "\"%s\": up to %d names of datasets are expected, separated "
                           "by commas",
                           text, NAMES_MAX);
        snprintf(list->text[list->count], PS_NAME_MAX, "%.*s", (int)length, at);
        list->names[list->count] = list->text[list->count];
        ++list->count;
        at += length + (at[length] == ',');
    }
    return PS_OK;
}

/* A dataset is named once: in the place of another one it would be taken for both. */
static ps_status check_names(const name_list *list)
{
    for (int n = 0; n < list->count; ++n)
        for (int before = 0; before < n; ++before) {
            const char *one = list->text[before], *other = list->text[n];
            if (strcmp(one + (*one == '/'), other + (*other == '/')) == 0)
                return ps_fail(PS_USAGE, "--positions, --charge-names: %s is named twice", other);
        }
    return PS_OK;
}

static ps_status check_units(const ps_hdf5_columns *file, const import_options *o, int positions)
{
    for (int n = 1; n < positions; ++n) {
        const char *one = ps_hdf5_columns_units(file, 0), *other = ps_hdf5_columns_units(file, n);
        if (*one && *other && strcmp(one, other) != 0)
            return ps_fail(PS_INVALID,
                           "%s: --positions %s are in %s and %s: they are to be in one unit",
                           o->input, o->positions, one, other);
    }
    return PS_OK;
}

static int total_width(const ps_hdf5_columns *file, int from, int to)
{
    int width = 0;
    for (int n = from; n < to; ++n) width += ps_hdf5_columns_width(file, n);
    return width;
}

/* The block is rows of all columns; each dataset is read apart and laid into them. */
static ps_status read_block(ps_hdf5_columns *file, int names, int64_t first, int64_t count,
                            double *rows, double *part)
{
    int width = total_width(file, 0, names), at = 0;
    for (int n = 0; n < names; ++n) {
        int own = ps_hdf5_columns_width(file, n);
        PS_TRY(ps_hdf5_columns_read(file, n, first, count, part));
        for (int64_t i = 0; i < count; ++i)
            memcpy(rows + i * width + at, part + i * own, (size_t)own * sizeof *part);
        at += own;
    }
    return PS_OK;
}

static ps_status take_rows(ps_hdf5_columns *file, const char *name, int names, double *buffer,
                           sink *s)
{
    int width = total_width(file, 0, names);
    double *rows = buffer, *part = buffer + (int64_t)SINK_ROWS * width;
    int64_t total = ps_hdf5_columns_rows(file);
    for (int64_t first = 0; first < total; first += SINK_ROWS) {
        int64_t count = total - first < SINK_ROWS ? total - first : SINK_ROWS;
        PS_TRY(read_block(file, names, first, count, rows, part));
        for (int64_t i = 0; i < count; ++i) {
            PS_TRY_IN(sink_add(s, rows + i * width), "%s: row %lld", name, (long long)(first + i));
        }
    }
    return PS_OK;
}

static ps_status take_columns(ps_hdf5_columns *file, const name_list *list, int position_names,
                              const import_options *o, const ps_store_identity *identity, sink *s)
{
    int width = total_width(file, 0, list->count);
    PS_SCOPED_MEMORY double *buffer = NULL;
    if (total_width(file, 0, position_names) != 3)
        return ps_fail(PS_INVALID, "%s: --positions %s has %d columns; 3 are expected", o->input,
                       o->positions, total_width(file, 0, position_names));
    if (ps_hdf5_columns_rows(file) == 0)
        return ps_fail(PS_INVALID, "%s: there are no particles in it", o->input);
    if (width > PS_PARTICLE_COLUMNS_MAX)
        return ps_fail(PS_INVALID, "%s: %d charges; up to %d are possible", o->input, width - 3,
                       PS_RIGHT_HAND_SIDES_MAX);
    PS_TRY(sink_start(s, o, identity, width - 3));
    PS_TRY(PS_ALLOC(&buffer, 2 * (int64_t)SINK_ROWS * width, "rows of an HDF5 file"));
    return take_rows(file, o->input, list->count, buffer, s);
}

static bool is_own(const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    if (ps_store_open(path, PS_PARTICLES_FORMAT, 0, &store) != PS_OK) return false;
    return true;
}

/* Our own files: what the header says there is. */
static ps_status own_names(const char *path, const import_options *o, char positions[16],
                           char charges[64])
{
    PS_SCOPED(ps_particles_close) ps_particle_file *file = NULL;
    PS_TRY(ps_particles_open(path, &file));
    ps_moments moments = ps_particles_header(file)->moments;
    if (o->charges == 0 && !o->charge_names && moments != o->moments)
        return ps_fail(PS_INVALID, "%s: its columns are %s: --moments %s", path,
                       ps_moments_names[moments], ps_moments_names[moments]);
    int count = ps_particles_header(file)->right_hand_sides, length = 0;
    for (int s = 0; s < count; ++s) length += sprintf(charges + length, s ? ",q%d" : "q%d", s);
    strcpy(positions, "x,y,z");
    return PS_OK;
}

ps_status read_hdf5(const import_options *o, const ps_store_identity *identity, sink *s)
{
    import_options own = *o;
    char positions[16] = "x,y,z", charges[64] = "q";
    name_list list = {.count = 0};
    ps_hdf5_columns *file;
    if (is_own(o->input)) PS_TRY(own_names(o->input, o, positions, charges));
    if (!o->positions) own.positions = positions;
    if (!o->charge_names) own.charge_names = charges;
    PS_TRY(add_names(&list, own.positions));
    int position_names = list.count;
    if (o->charges == 0) PS_TRY(add_names(&list, own.charge_names));
    PS_TRY(check_names(&list));
    PS_TRY(ps_hdf5_columns_open(o->input, list.names, list.count, &file));
    ps_status status = check_units(file, &own, position_names);
    if (status == PS_OK) status = take_columns(file, &list, position_names, &own, identity, s);
    ps_hdf5_columns_close(&file);
    /* the sink outlives the names above */
    s->options = o;
    return status;
}
