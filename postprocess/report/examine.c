#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "formats/trace.h"
#include "postprocess/report/report.h"
#include "runtime/process.h"
#include "runtime/scope.h"

ps_status report_run(const char *program, const char *const *arguments, char **text, int *code)
{
    char path[REPORT_PATH_MAX];
    const char *argv[64] = {path};
    int count = 1;
    ps_process_result result;
    if (!ps_process_find(program, path, sizeof path))
        return ps_fail(
            PS_FAILED,
            "%s is not installed beside this program or on PATH; the report is made by it",
            program);
    while (*arguments && count < 63) argv[count++] = *arguments++;
    PS_TRY(ps_process_run((char *const *)argv, -1, true, &result));
    *text = result.output;
    *code = result.code;
    return PS_OK;
}

const char *report_reason(const char *text)
{
    static const char mark[] = "error: ";
    const char *last = text;
    for (const char *at = strstr(text, mark); at; at = strstr(last, mark)) last = at + strlen(mark);
    return last;
}

/* Keeps the first problem of a file. Codes of signals count as a failure. */
static ps_status note(report_file *file, const char *text, int code)
{
    if (file->problem) return PS_OK;
    file->status = code > 0 && code < 128 ? (ps_status)code : PS_FAILED;
    file->problem = strdup(report_reason(text));
    if (!file->problem) return ps_fail(PS_EXHAUSTED, "no memory for a message");
    file->problem[strcspn(file->problem, "\n")] = 0;
    return PS_OK;
}

static ps_status inspect(report_file *file, const char *path)
{
    const char *arguments[] = {path, "--json", "--histogram", "-q", NULL};
    PS_SCOPED_MEMORY char *text = NULL;
    int code;
    PS_TRY(report_run("penstock-inspect", arguments, &text, &code));
    /* warnings may stand before the object, which is a line */
    char *object = strncmp(text, "{", 1) == 0 ? text : strstr(text, "\n{");
    if (code != 0 || !object)
        PS_TRY(note(file, text, code ? code : PS_FAILED));
    else if (!(file->facts = strdup(object)))
        return ps_fail(PS_EXHAUSTED, "no memory for what is in %s", path);
    return PS_OK;
}

static ps_status verify(report_file *file, const char *path)
{
    const char *arguments[] = {path, "-q", NULL};
    PS_SCOPED_MEMORY char *text = NULL;
    int code;
    PS_TRY(report_run("penstock-verify", arguments, &text, &code));
    /* what is wrong comes before the count of files that did not pass */
    char *end = code ? strstr(text, "error: 1 of 1 files did not pass") : NULL;
    for (; end && end > text && *end != '\n'; --end) *end = 0;
    return code ? note(file, text, code) : PS_OK;
}

static ps_status read_trace(ps_store *store, report_file *file)
{
    int id;
    int64_t frequency, far, rows;
    ps_dataset_info info;
    PS_TRY(ps_store_get_int(store, "/", "in_frequency", &frequency));
    PS_TRY(ps_store_get_int(store, "/", "far_field", &far));
    PS_TRY(ps_store_get_int(store, "/", "grid_rows", &rows));
    PS_TRY(ps_store_find(store, "/trace/real", &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    file->in_frequency = frequency;
    file->far_field = far;
    file->plane = rows > 1;
    file->samples = info.dims[0];
    file->channels = info.rank > 1 ? info.dims[1] : 1;
    return PS_OK;
}

/* What decides how a file is drawn. */
static ps_status read_kind(report_file *file, const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_open(path, NULL, 0, &store));
    snprintf(file->format, sizeof file->format, "%s", ps_store_format(store));
    PS_TRY(ps_store_content_hash(store, file->content));
    if (strcmp(file->format, PS_TRACE_FORMAT) == 0) return read_trace(store, file);
    if (strcmp(file->format, PS_HISTORY_FORMAT) != 0) return PS_OK;
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    PS_TRY(ps_history_open(path, &history));
    memcpy(file->mesh, ps_history_header_of(history)->slices.mesh_hash, sizeof file->mesh);
    return PS_OK;
}

ps_status report_examine(report_file *file, bool deep)
{
    const char *const *paths =
        file->members ? (const char *const *)file->members : (const char *const *)&file->path;
    int64_t count = file->members ? file->member_count : 1;
    PS_TRY(inspect(file, paths[0]));
    for (int64_t i = 0; i < count && deep && !file->problem; ++i) PS_TRY(verify(file, paths[i]));
    if (file->problem) return PS_OK;
    ps_status status = read_kind(file, paths[0]);
    return status == PS_OK ? PS_OK : note(file, ps_message(), status);
}
