#include "formats/task_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { TRACE_VERSION = 1 };
static const char trace_format[] = "penstock-task-trace";

/* Where a column is in a record. */
typedef struct column {
    const char *name;
    ps_type type;
    size_t offset;
    const char *units, *description;
} column;

#define FIELD(field) "/tasks/" #field
#define AT(field) offsetof(ps_task_record, field)
static const column columns[] = {
    {FIELD(kind), PS_I32, AT(kind), "1", "number of its kind"},
    {FIELD(level), PS_I32, AT(level), "1", "the family's level; -1: none"},
    {FIELD(bucket), PS_I32, AT(bucket), "1", "of the scheduler"},
    {FIELD(worker), PS_I32, AT(worker), "1", "who ran it; CPU workers come first"},
    {FIELD(group), PS_I64, AT(group), "1", "the family's group; -1: none"},
    {FIELD(order), PS_I64, AT(order), "1", "place among all by the time they were taken"},
    {FIELD(ready), PS_F64, AT(ready), "s", "all that it waited for had ended"},
    {FIELD(start), PS_F64, AT(start), "s", "since the start of the run"},
    {FIELD(end), PS_F64, AT(end), "s", "since the start of the run"},
    {FIELD(waited), PS_F64, AT(waited), "s", "for its data, right before start"},
    {FIELD(bytes), PS_F64, AT(bytes), "B", "moved between memories for it"},
    {FIELD(flop), PS_F64, AT(flop), "1", "floating-point operations"},
    {FIELD(cpu_seconds), PS_F64, AT(cpu_seconds), "s", "forecast; -1: no code"},
    {FIELD(gpu_seconds), PS_F64, AT(gpu_seconds), "s", "forecast; -1: no code"}};
enum { COLUMNS = sizeof columns / sizeof *columns };

void ps_task_trace_release(ps_task_trace *trace)
{
    PS_FREE(trace->records, trace->first, trace->before);
    memset(trace, 0, sizeof *trace);
}

/* ---- writing ---- */

static ps_status write_column(ps_store *store, const ps_task_trace *trace, const column *c,
                              char *room)
{
    size_t size = ps_type_size(c->type);
    ps_dataset_spec spec = {.name = c->name,
                            .type = c->type,
                            .rank = 1,
                            .dims = {trace->count},
                            .units = c->units,
                            .description = c->description};
    for (int64_t t = 0; t < trace->count; ++t)
        memcpy(room + (size_t)t * size, (const char *)&trace->records[t] + c->offset, size);
    for (int64_t t = 0; t < trace->count && c->type == PS_F64; ++t)
        if (isinf(((double *)room)[t])) ((double *)room)[t] = -1;
    return ps_store_write_array(store, &spec, room);
}

static ps_status write_edges(ps_store *store, const ps_task_trace *trace)
{
    if (!trace->first) return PS_OK;
    ps_dataset_spec first = {.name = "/edges/first",
                             .type = PS_I64,
                             .rank = 1,
                             .dims = {trace->count + 1},
                             .units = "1",
                             .description = "where each task's predecessors begin"};
    ps_dataset_spec before = {.name = "/edges/before",
                              .type = PS_I64,
                              .rank = 1,
                              .dims = {trace->first[trace->count]},
                              .units = "1",
                              .description = "what the tasks waited for"};
    PS_TRY(ps_store_write_array(store, &first, trace->first));
    return ps_store_write_array(store, &before, trace->before);
}

static ps_status put_kinds(ps_store *store, const ps_task_trace *trace)
{
    int64_t colours[PS_TASK_KINDS_MAX];
    double cpu[PS_TASK_KINDS_MAX], gpu[PS_TASK_KINDS_MAX];
    PS_TRY(ps_store_put_int(store, "/", "kinds", trace->kind_count));
    for (int k = 0; k < trace->kind_count; ++k) {
        char name[32];
        snprintf(name, sizeof name, "kind_%d", k);
        PS_TRY(ps_store_put_text(store, "/", name, trace->kinds[k].name));
        colours[k] = trace->kinds[k].colour;
        cpu[k] = trace->kinds[k].cpu_rate;
        gpu[k] = trace->kinds[k].gpu_rate;
    }
    PS_TRY(ps_store_put_ints(store, "/", "colours", colours, trace->kind_count));
    PS_TRY(ps_store_put_reals(store, "/", "cpu_rates", cpu, trace->kind_count));
    return ps_store_put_reals(store, "/", "gpu_rates", gpu, trace->kind_count);
}

static ps_status write_trace(ps_store *store, const ps_task_trace *trace)
{
    PS_SCOPED_MEMORY char *room = NULL;
    PS_TRY(ps_store_put_text(store, "/", "run", trace->run));
    PS_TRY(ps_store_put_int(store, "/", "cpus", trace->cpus));
    PS_TRY(ps_store_put_int(store, "/", "gpus", trace->gpus));
    PS_TRY(put_kinds(store, trace));
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * (trace->count + 1), "a task trace"));
    for (int c = 0; c < COLUMNS; ++c) PS_TRY(write_column(store, trace, &columns[c], room));
    return write_edges(store, trace);
}

ps_status ps_task_trace_save(const char *path, const ps_task_trace *trace,
                             const ps_store_identity *identity)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    if (trace->kind_count < 1 || trace->kind_count > PS_TASK_KINDS_MAX)
        return ps_fail(PS_USAGE, "a task trace of %d kinds; from 1 to %d can be", trace->kind_count,
                       PS_TASK_KINDS_MAX);
    PS_TRY(ps_store_create_as(path, identity, trace_format, TRACE_VERSION, &store));
    PS_TRY(write_trace(store, trace));
    return ps_store_commit(&store);
}

/* ---- reading ---- */

/* Rows of a dataset of one dimension; -1 asks for any number. */
static ps_status find_rows(ps_store *store, const char *name, ps_type type, int64_t want,
                           int64_t *rows)
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, name, &info));
    if (info.type != type || info.rank != 1 || (want >= 0 && info.dims[0] != want))
        return ps_fail(PS_INVALID, "%s is not of the shape that its page asks for", name);
    *rows = info.dims[0];
    return PS_OK;
}

static ps_status read_column(ps_store *store, ps_task_trace *trace, const column *c, char *room)
{
    int64_t rows;
    size_t size = ps_type_size(c->type);
    PS_TRY(find_rows(store, c->name, c->type, trace->count, &rows));
    PS_TRY(ps_store_read_array(store, c->name, c->type, 0, rows, rows * (int64_t)size, room));
    for (int64_t t = 0; t < rows; ++t)
        memcpy((char *)&trace->records[t] + c->offset, room + (size_t)t * size, size);
    return PS_OK;
}

static ps_status read_records(ps_store *store, ps_task_trace *trace)
{
    PS_SCOPED_MEMORY char *room = NULL;
    PS_TRY(find_rows(store, columns[0].name, PS_I32, -1, &trace->count));
    PS_TRY(PS_ALLOC(&trace->records, trace->count, "a task trace"));
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * (trace->count + 1), "a task trace"));
    for (int c = 0; c < COLUMNS; ++c) PS_TRY(read_column(store, trace, &columns[c], room));
    for (int64_t t = 0; t < trace->count; ++t) {
        ps_task_record *r = &trace->records[t];
        if (r->cpu_seconds == -1) r->cpu_seconds = INFINITY;
        if (r->gpu_seconds == -1) r->gpu_seconds = INFINITY;
    }
    return PS_OK;
}

static ps_status read_edges(ps_store *store, ps_task_trace *trace)
{
    int64_t rows, edges;
    if (!ps_store_has(store, "/edges", NULL)) return PS_OK;
    PS_TRY(find_rows(store, "/edges/first", PS_I64, trace->count + 1, &rows));
    PS_TRY(find_rows(store, "/edges/before", PS_I64, -1, &edges));
    PS_TRY(PS_ALLOC(&trace->first, rows, "edges"));
    PS_TRY(PS_ALLOC(&trace->before, edges, "edges"));
    PS_TRY(ps_store_read_array(store, "/edges/first", PS_I64, 0, rows, PS_ROOM(trace->first, rows),
                               trace->first));
    PS_TRY(ps_store_read_array(store, "/edges/before", PS_I64, 0, edges,
                               PS_ROOM(trace->before, edges), trace->before));
    bool good = trace->first[0] == 0 && trace->first[trace->count] == edges;
    for (int64_t t = 0; t < trace->count && good; ++t)
        good = trace->first[t] <= trace->first[t + 1];
    for (int64_t t = 0; t < trace->count && good; ++t)
        for (int64_t e = trace->first[t]; e < trace->first[t + 1] && good; ++e)
            good = trace->before[e] >= 0 && trace->before[e] < t;
    return good ? PS_OK : ps_fail(PS_INVALID, "/edges do not point back");
}

static ps_status get_kinds(ps_store *store, ps_task_trace *trace)
{
    int64_t colours[PS_TASK_KINDS_MAX];
    double cpu[PS_TASK_KINDS_MAX], gpu[PS_TASK_KINDS_MAX];
    PS_TRY(ps_store_get_count(store, "kinds", 1, PS_TASK_KINDS_MAX, &trace->kind_count));
    PS_TRY(ps_store_get_ints(store, "/", "colours", colours, trace->kind_count));
    PS_TRY(ps_store_get_reals(store, "/", "cpu_rates", cpu, trace->kind_count));
    PS_TRY(ps_store_get_reals(store, "/", "gpu_rates", gpu, trace->kind_count));
    for (int k = 0; k < trace->kind_count; ++k) {
        char name[32];
        ps_task_kind *kind = &trace->kinds[k];
        snprintf(name, sizeof name, "kind_%d", k);
        PS_TRY(ps_store_get_text(store, "/", name, kind->name, sizeof kind->name));
        kind->colour = colours[k] & 0xffffff;
        kind->cpu_rate = cpu[k];
        kind->gpu_rate = gpu[k];
    }
    return PS_OK;
}

static ps_status check_record(const ps_task_trace *trace, int64_t t)
{
    const ps_task_record *r = &trace->records[t];
    bool sound = isfinite(r->ready) && isfinite(r->start) && isfinite(r->end) &&
                 r->end >= r->start && r->waited >= 0 && isfinite(r->waited) && r->flop >= 0 &&
                 isfinite(r->flop) && r->cpu_seconds >= 0 && r->gpu_seconds >= 0;
    if (r->kind < 0 || r->kind >= trace->kind_count)
        return ps_fail(PS_INVALID, "task %lld is of kind %d of %d", (long long)t, r->kind,
                       trace->kind_count);
    if (r->worker < 0 || r->worker >= trace->cpus + trace->gpus)
        return ps_fail(PS_INVALID, "task %lld was run by worker %d of %d", (long long)t, r->worker,
                       trace->cpus + trace->gpus);
    return sound ? PS_OK : ps_fail(PS_INVALID, "task %lld: impossible times", (long long)t);
}

ps_status ps_task_trace_read(ps_store *store, ps_task_trace *out)
{
    int64_t cpus, gpus;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_get_text(store, "/", "run", out->run, sizeof out->run));
    PS_TRY(ps_store_get_int(store, "/", "cpus", &cpus));
    PS_TRY(ps_store_get_int(store, "/", "gpus", &gpus));
    if (cpus < 0 || gpus < 0 || cpus > 65536 || gpus > 65536 || cpus + gpus < 1)
        return ps_fail(PS_INVALID, "cpus %lld and gpus %lld are no workers", (long long)cpus,
                       (long long)gpus);
    out->cpus = (int)cpus;
    out->gpus = (int)gpus;
    PS_TRY(get_kinds(store, out));
    PS_TRY(read_records(store, out));
    for (int64_t t = 0; t < out->count; ++t) PS_TRY(check_record(out, t));
    return read_edges(store, out);
}

ps_status ps_task_trace_load(const char *path, ps_task_trace *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, trace_format, TRACE_VERSION, &store));
    PS_TRY_IN(ps_task_trace_read(store, out), "%s", path);
    return PS_OK;
}
