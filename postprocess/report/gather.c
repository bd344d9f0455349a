#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/columns_hdf5.h"
#include "formats/field.h"
#include "postprocess/report/report.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { DEPTH_MAX = 8 };

static ps_status add_text(char ***list, int64_t *count, int64_t *capacity, const char *text)
{
    PS_TRY(ps_grow((void **)list, capacity, *count + 1, sizeof **list, "names"));
    (*list)[*count] = strdup(text);
    if (!(*list)[*count]) return ps_fail(PS_EXHAUSTED, "no memory for names");
    ++*count;
    return PS_OK;
}

static ps_status add_file(report_files *files, const char *path, int64_t bytes)
{
    for (int64_t i = 0; i < files->count; ++i)
        if (strcmp(files->files[i].path, path) == 0) return PS_OK;
    if (files->count == REPORT_FILES_MAX)
        return ps_fail(PS_USAGE,
                       "there are more than %d files, which are too many for a page; name fewer",
                       REPORT_FILES_MAX);
    PS_TRY(ps_grow((void **)&files->files, &files->capacity, files->count + 1, sizeof *files->files,
                   "files"));
    report_file *file = &files->files[files->count];
    *file = (report_file){.path = strdup(path), .bytes = bytes};
    if (!file->path) return ps_fail(PS_EXHAUSTED, "no memory for names");
    ++files->count;
    return PS_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* A list of snapshots; false where it cannot be read: then it is no list of ours. */
static bool read_series(const char *path, report_file *file)
{
    PS_SCOPED_MEMORY double *times = NULL;
    PS_SCOPED_MEMORY char *names = NULL;
    int64_t count = 0, capacity = 0;
    const char *slash = strrchr(path, '/');
    if (ps_field_series_read(path, &count, &times, &names) != PS_OK || count == 0) return false;
    for (int64_t i = 0; i < count; ++i) {
        char member[REPORT_PATH_MAX];
        struct stat found;
        snprintf(member, sizeof member, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
                 names + i * PS_NAME_MAX);
        if (add_text(&file->members, &file->member_count, &capacity, member) != PS_OK) return false;
        if (stat(member, &found) == 0) file->bytes += found.st_size;
    }
    return true;
}

static ps_status add_found(report_files *files, const char *path, const struct stat *found,
                           bool named)
{
    if (ends_with(path, ".series")) {
        report_file series = {0};
        if (read_series(path, &series)) {
            PS_TRY(add_file(files, path, series.bytes));
            report_file *last = &files->files[files->count - 1];
            last->members = series.members;
            last->member_count = series.member_count;
            return PS_OK;
        }
    }
    bool ours = ends_with(path, ".h5") || ends_with(path, ".hdf") || ends_with(path, ".hdf5");
    if (named || (!ends_with(path, ".tmp") && (ours || ps_is_hdf5(path))))
        return add_file(files, path, found->st_size);
    return add_text(&files->others, &files->other_count, &files->other_capacity, path);
}

static ps_status gather_folder(report_files *files, const char *folder, int depth)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, NULL, alphasort);
    ps_status status = PS_OK;
    if (count < 0) return ps_fail(PS_USAGE, "%s cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < count; ++i) {
        char path[REPORT_PATH_MAX];
        struct stat found;
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        bool hidden = names[i]->d_name[0] == '.';
        free(names[i]);
        if (hidden || status != PS_OK || length >= (int)sizeof path || stat(path, &found) != 0)
            continue;
        if (S_ISREG(found.st_mode)) status = add_found(files, path, &found, false);
        if (S_ISDIR(found.st_mode) && depth < DEPTH_MAX)
            status = gather_folder(files, path, depth + 1);
    }
    free(names);
    return status;
}

static void drop(report_file *file)
{
    for (int64_t i = 0; i < file->member_count; ++i) free(file->members[i]);
    PS_FREE(file->members, file->path, file->facts, file->problem);
}

/* Members of a series that are there by themselves, too, are seen with it. */
static void drop_members(report_files *files)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < files->count; ++i) {
        bool member = false;
        for (int64_t s = 0; s < files->count && !member; ++s)
            for (int64_t m = 0; m < files->files[s].member_count && !member; ++m)
                member = strcmp(files->files[s].members[m], files->files[i].path) == 0;
        if (member)
            drop(&files->files[i]);
        else
            files->files[kept++] = files->files[i];
    }
    files->count = kept;
}

ps_status report_gather(const char *const *operands, int count, report_files *out)
{
    for (int i = 0; i < count; ++i) {
        struct stat found;
        char path[REPORT_PATH_MAX];
        snprintf(path, sizeof path, "%s", operands[i]);
        for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; --n) path[n - 1] = 0;
        if (stat(path, &found) != 0)
            return ps_fail(PS_USAGE, "%s: %s", operands[i], strerror(errno));
        PS_TRY(S_ISDIR(found.st_mode) ? gather_folder(out, path, 0)
                                      : add_found(out, path, &found, true));
    }
    drop_members(out);
    if (out->count) return PS_OK;
    return ps_fail(PS_USAGE, "there is no file of Penstock in %s", operands[0]);
}

void report_files_release(report_files *files)
{
    for (int64_t i = 0; i < files->count; ++i) drop(&files->files[i]);
    for (int64_t i = 0; i < files->other_count; ++i) free(files->others[i]);
    PS_FREE(files->files, files->others);
    *files = (report_files){0};
}
