#include "runtime/memory.h"
#include "runtime/scope.h"
#include "store_model.h"
#include "tests/support/dataset_spec.h"
#include "tests/support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static size_t chunk_room(const model_dataset *d) { return (size_t)d->info.chunk_bytes + 8; }

static ps_status read_dataset(ps_store *store, int id, model_dataset *d)
{
    PS_TRY(ps_store_dataset(store, id, &d->info));
    d->ragged = d->info.rank == 2 && d->info.chunk_rows == 1;
    d->chunk_count = d->info.chunk_count;
    d->chunks = calloc((size_t)d->chunk_count + 1, sizeof *d->chunks);
    for (int64_t c = 0; c < d->chunk_count; ++c) {
        ps_chunk_info info;
        PS_TRY(ps_store_chunk(store, id, c, &info));
        d->chunks[c].data = calloc(1, chunk_room(d));
        d->chunks[c].count = info.count;
        memcpy(d->chunks[c].extras, info.extras, sizeof info.extras);
        PS_TRY(ps_store_read_chunk(store, id, c, d->info.chunk_bytes, d->chunks[c].data));
    }
    return PS_OK;
}

static void read_attribute(const ps_store *store, store_model *m, const char *object,
                           const ps_attribute *what)
{
    static const char *const own[] = {
        "format",   "format_version", "store_version", "uuid",  "created",     "creator",
        "revision", "options",        "content_hash",  "units", "description", "keep_bits"};
    for (int i = 0; i < 12; ++i)
        if (strcmp(what->name, own[i]) == 0) return;
    model_attribute *a = &m->attributes[m->attribute_count];
    memset(a, 0, sizeof *a);
    snprintf(a->object, sizeof a->object, "%s", object);
    a->what = *what;
    ps_status status = PS_INVALID;
    if (what->kind == PS_ATTRIBUTE_INTS && what->count <= 64)
        status = what->count == 1 ? ps_store_get_int(store, object, what->name, a->value.ints)
                                  : ps_store_get_ints(store, object, what->name, a->value.ints,
                                                      (int)what->count);
    if (what->kind == PS_ATTRIBUTE_REALS && what->count <= 64)
        status = ps_store_get_reals(store, object, what->name, a->value.reals, (int)what->count);
    if (what->kind == PS_ATTRIBUTE_TEXT)
        status = ps_store_get_text(store, object, what->name, a->value.text, 4096);
    if (status == PS_OK) ++m->attribute_count;
}

static void read_attributes(const ps_store *store, store_model *m, const char *object)
{
    PS_SCOPED_MEMORY ps_attribute *list = NULL;
    int count = 0;
    if (ps_store_list_attributes(store, object, &list, &count) != PS_OK) return;
    m->attributes =
        realloc(m->attributes, (size_t)(m->attribute_count + count + 1) * sizeof *m->attributes);
    for (int i = 0; i < count; ++i) read_attribute(store, m, object, &list[i]);
}

/* The group of a dataset, where it was not met before. */
static void read_group(const ps_store *store, store_model *m, const char *dataset)
{
    char group[PS_NAME_MAX];
    snprintf(group, sizeof group, "%s", dataset);
    char *slash = strrchr(group, '/');
    if (!slash || slash == group) return;
    *slash = '\0';
    for (int a = 0; a < m->attribute_count; ++a)
        if (strcmp(m->attributes[a].object, group) == 0) return;
    read_attributes(store, m, group);
}

ps_status store_model_read(const char *path, store_model *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, NULL, 0, &store));
    snprintf(out->format, sizeof out->format, "%s", ps_store_format(store));
    out->version = ps_store_version(store);
    out->dataset_count = ps_store_dataset_count(store);
    out->datasets = calloc((size_t)out->dataset_count + 1, sizeof *out->datasets);
    ps_status status = PS_OK;
    for (int d = 0; d < out->dataset_count && status == PS_OK; ++d)
        status = read_dataset(store, d, &out->datasets[d]);
    read_attributes(store, out, "/");
    for (int d = 0; d < out->dataset_count; ++d) read_group(store, out, out->datasets[d].info.name);
    return status;
}

void store_model_release(store_model *m)
{
    for (int d = 0; d < m->dataset_count; ++d) {
        for (int64_t c = 0; c < m->datasets[d].chunk_count; ++c)
            free(m->datasets[d].chunks[c].data);
        free(m->datasets[d].chunks);
    }
    PS_FREE(m->datasets, m->attributes);
    memset(m, 0, sizeof *m);
}

static void *twin(const void *of, size_t bytes) { return memcpy(malloc(bytes), of, bytes); }

void store_model_copy(const store_model *of, store_model *out)
{
    *out = *of;
    out->datasets = twin(of->datasets, (size_t)(of->dataset_count + 1) * sizeof *of->datasets);
    out->attributes =
        twin(of->attributes, (size_t)(of->attribute_count + 1) * sizeof *of->attributes);
    for (int d = 0; d < of->dataset_count; ++d) {
        model_dataset *to = &out->datasets[d];
        to->chunks = twin(to->chunks, (size_t)(to->chunk_count + 1) * sizeof *to->chunks);
        for (int64_t c = 0; c < to->chunk_count; ++c)
            to->chunks[c].data = twin(to->chunks[c].data, chunk_room(to));
    }
}

/* ---- writing ---- */

static bool write_dataset(ps_store *store, const model_dataset *d)
{
    int id;
    ps_dataset_spec spec = copied_spec(&d->info);
    if (ps_store_define(store, &spec, &id) != PS_OK) return false;
    for (int64_t c = 0; c < d->info.chunk_count; ++c)
        if (ps_store_write_chunk(store, id, c, d->chunks[c].data, d->chunks[c].count,
                                 d->info.extra_count ? d->chunks[c].extras : NULL) != PS_OK)
            return false;
    return true;
}

static bool write_attribute(ps_store *store, const model_attribute *a)
{
    int count = (int)a->what.count;
    switch (a->what.kind) {
    case PS_ATTRIBUTE_INTS:
        return (count == 1 ? ps_store_put_int(store, a->object, a->what.name, a->value.ints[0])
                           : ps_store_put_ints(store, a->object, a->what.name, a->value.ints,
                                               count)) == PS_OK;
    case PS_ATTRIBUTE_REALS:
        return (count == 1 ? ps_store_put_real(store, a->object, a->what.name, a->value.reals[0])
                           : ps_store_put_reals(store, a->object, a->what.name, a->value.reals,
                                                count)) == PS_OK;
    default:
        return ps_store_put_text(store, a->object, a->what.name, a->value.text) == PS_OK;
    }
}

bool store_model_write(const char *path, const store_model *m)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity identity = {.format = m->format,
                                  .format_version = m->version,
                                  .creator = "mutant",
                                  .revision = "",
                                  .options = ""};
    if (ps_store_create(path, &identity, &store) != PS_OK) return false;
    bool good = true;
    for (int d = 0; d < m->dataset_count && good; ++d)
        if (!m->datasets[d].gone) good = write_dataset(store, &m->datasets[d]);
    for (int a = 0; a < m->attribute_count && good; ++a)
        if (!m->attributes[a].gone) good = write_attribute(store, &m->attributes[a]);
    if (good) return ps_store_commit(&store) == PS_OK;
    return false;
}

/* ---- edits ---- */

static uint64_t draw(uint64_t *random, uint64_t below)
{
    return (congruence_next(random) >> 33) % (below ? below : 1);
}

/* Sums and products wrap around: they are meant to be odd. */
static int64_t odd_int(uint64_t *random, int64_t now)
{
    const uint64_t was = (uint64_t)now;
    const int64_t values[] = {0,
                              -1,
                              1,
                              (int64_t)(was + 1),
                              (int64_t)(was - 1),
                              (int64_t)(2 * was),
                              INT32_MAX,
                              INT32_MIN,
                              INT64_MAX,
                              INT64_MIN,
                              INT64_C(1) << 40,
                              now / 2,
                              255,
                              65536,
                              (int64_t)(0 - was),
                              1000};
    return values[draw(random, 16)];
}

static double odd_real(uint64_t *random, double now)
{
    const double values[] = {0,     -1,      NAN,  INFINITY, -INFINITY,
                             1e300, 2 * now, -now, 1e-300,   now + 1};
    return values[draw(random, 10)];
}

static void edit_attribute(model_attribute *a, uint64_t *random, char *what)
{
    int64_t i = (int64_t)draw(random, (uint64_t)a->what.count);
    snprintf(what, 256, "attribute %s of %s", a->what.name, a->object);
    if (draw(random, 12) == 0) {
        a->gone = true;
    } else if (a->what.kind == PS_ATTRIBUTE_INTS) {
        a->value.ints[i] = odd_int(random, a->value.ints[i]);
    } else if (a->what.kind == PS_ATTRIBUTE_REALS) {
        a->value.reals[i] = odd_real(random, a->value.reals[i]);
    } else if (draw(random, 3) == 0) {
        memset(a->value.text, 'x', 4000);
        a->value.text[draw(random, 4000)] = '\0';
    } else {
        a->value.text[draw(random, strlen(a->value.text) + 1)] = (char)draw(random, 128);
    }
}

static void put_number(model_dataset *d, model_chunk *chunk, int64_t i, uint64_t *random)
{
    unsigned char *at = chunk->data + (size_t)i * ps_type_size(d->info.type);
    int64_t integer = 0;
    float narrow;
    double wide;
    memcpy(&integer, at, ps_type_size(d->info.type)); /* little-endian */
    if (d->info.type == PS_I32) integer = (int32_t)integer;
    if (d->info.type == PS_F32) {
        memcpy(&narrow, at, 4);
        narrow = (float)odd_real(random, narrow);
        memcpy(at, &narrow, 4);
    } else if (d->info.type == PS_F64) {
        memcpy(&wide, at, 8);
        wide = odd_real(random, wide);
        memcpy(at, &wide, 8);
    } else {
        integer = odd_int(random, integer);
        memcpy(at, &integer, ps_type_size(d->info.type));
    }
}

/* The dataset becomes one chunk of other rows and columns, its numbers repeated. */
static void reshape(model_dataset *d, int64_t rows, int64_t width, ps_type type)
{
    int64_t size = (int64_t)ps_type_size(d->info.type), all = 0, at = 0;
    int64_t bytes = rows * width * (int64_t)ps_type_size(type);
    for (int64_t c = 0; c < d->chunk_count; ++c) all += d->chunks[c].count * size;
    if (bytes <= 0 || bytes > 1 << 24 || all == 0 || d->chunk_count == 0) return;
    unsigned char *joined = calloc(1, (size_t)all), *data = calloc(1, (size_t)bytes + 8);
    for (int64_t c = 0; c < d->chunk_count; ++c) {
        memcpy(joined + at, d->chunks[c].data, (size_t)(d->chunks[c].count * size));
        at += d->chunks[c].count * size;
    }
    for (int64_t b = 0; b < bytes; ++b) data[b] = joined[b % all];
    free(joined);
    for (int64_t c = 1; c < d->chunk_count; ++c) free(d->chunks[c].data);
    free(d->chunks[0].data);
    d->chunks[0] = (model_chunk){.data = data, .count = rows * width};
    d->chunk_count = d->info.chunk_count = 1;
    d->info.type = type;
    d->info.rank = width > 1 ? 2 : 1;
    d->info.dims[0] = d->info.chunk_rows = rows;
    d->info.dims[1] = width;
    d->info.keep_bits = 0;
}

static void edit_shape(model_dataset *d, uint64_t *random)
{
    int64_t rows = d->info.dims[0], width = 1;
    ps_type type = d->info.type;
    for (int r = 1; r < d->info.rank; ++r) width *= d->info.dims[r];
    switch (draw(random, 6)) {
    case 0:
        width *= 2 + (int64_t)draw(random, 7); /* columns repeated */
        break;
    case 1:
        rows = rows * 2 + (int64_t)draw(random, 100);
        break;
    case 2:
        rows = 1 + (int64_t)draw(random, (uint64_t)rows);
        break;
    case 3:
        width = width > 1 ? width - 1 : 2;
        break;
    default:
        type = (ps_type)draw(random, 7);
    }
    reshape(d, rows, width, type);
}

static void edit_dataset(model_dataset *d, uint64_t *random, char *what)
{
    snprintf(what, 256, "dataset %s", d->info.name);
    uint64_t kind = draw(random, 20);
    if (kind == 0) d->gone = true;
    if (kind < 6) {
        edit_shape(d, random);
        return;
    }
    if (d->chunk_count == 0) return;
    model_chunk *chunk = &d->chunks[draw(random, (uint64_t)d->chunk_count)];
    if (kind < 8 && d->info.extra_count > 0) {
        int e = (int)draw(random, (uint64_t)d->info.extra_count);
        chunk->extras[e] = draw(random, 2) ? odd_real(random, chunk->extras[e])
                                           : (double)odd_int(random, (int64_t)chunk->extras[e]);
        return;
    }
    if (kind < 10 && d->ragged && d->info.rank == 2) {
        chunk->count = (int64_t)draw(random, (uint64_t)d->info.dims[1] + 1);
        return;
    }
    for (int i = 0; chunk->count > 0 && i < 3; ++i)
        put_number(d, chunk, (int64_t)draw(random, (uint64_t)chunk->count), random);
}

void store_model_mutate(store_model *m, uint64_t *random, char what[256])
{
    int edits = 1 + (int)draw(random, 3);
    for (int i = 0; i < edits; ++i) {
        bool attribute = m->attribute_count > 0 && (m->dataset_count == 0 || draw(random, 3) == 0);
        if (attribute)
            edit_attribute(&m->attributes[draw(random, (uint64_t)m->attribute_count)], random,
                           what);
        else if (m->dataset_count > 0)
            edit_dataset(&m->datasets[draw(random, (uint64_t)m->dataset_count)], random, what);
    }
}
