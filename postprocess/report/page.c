#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "postprocess/report/report.h"
#include "report/page.html.h"
#include "runtime/base64.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"

/* A drawing with more elements than this is smaller as points. */
enum { SVG_MAX = 300000 };

typedef struct page_writer {
    FILE *file;
    bool deep;                /* every chunk was read */
    ps_scratch_folder folder; /* for pictures, until they are in the page */
    report_files *files;
    report_counts *counts;
} page_writer;

static void put_escaped(FILE *file, const char *text, int64_t length)
{
    for (int64_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)text[i];
        const char *instead = c == '&'                           ? "&amp;"
                              : c == '<'                         ? "&lt;"
                              : c == '"'                         ? "&quot;"
                              : c < 32 && c != '\n' && c != '\t' ? "\xef\xbf\xbd"
                                                                 : NULL;
        if (instead)
            fputs(instead, file);
        else
            fputc(c, file);
    }
}

static void put_text(FILE *file, const char *text) { put_escaped(file, text, strlen(text)); }

/* JSON inside of a script: no '<' may end it. */
static void put_json(FILE *file, const char *json)
{
    for (; *json; ++json)
        if (*json == '<')
            fputs("\\u003c", file);
        else
            fputc(*json, file);
}

static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; ++at)
        if (*at < 32 || *at == '"' || *at == '\\' || *at == '<')
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

/* Runs plot into `path`; what it says is the caller's to free. */
static ps_status draw(const report_drawing *d, const char *path, char **said, int *code)
{
    const char *arguments[64] = {0};
    int count = 0;
    for (int i = 0; d->arguments[i]; ++i) arguments[count++] = d->arguments[i];
    arguments[count++] = "--output";
    arguments[count++] = path;
    arguments[count++] = "-q";
    return report_run("penstock-plot", arguments, said, code);
}

static void put_command(FILE *file, const report_drawing *d)
{
    fprintf(file, "<figcaption><code>penstock plot");
    for (int i = 0; d->arguments[i]; ++i) {
        fputc(' ', file);
        put_text(file, d->arguments[i]);
    }
    fprintf(file, "</code></figcaption>");
}

static ps_status put_picture(page_writer *w, const report_drawing *d, char *path, const char *data,
                             int64_t length)
{
    bool svg = strstr(path, ".svg") != NULL;
    fprintf(w->file, "<figure><img alt=\"%s\" src=\"data:image/%s;base64,", d->arguments[0],
            svg ? "svg+xml" : "png");
    ps_base64_write(w->file, data, length);
    fprintf(w->file, "\">");
    put_command(w->file, d);
    fprintf(w->file, "</figure>\n");
    ++w->counts->pictures;
    return PS_OK;
}

static void put_view(page_writer *w, const report_drawing *d, const char *data, int64_t length)
{
    fprintf(w->file, "<figure class=\"view\"><iframe name=\"view%lld\" title=\"view\" data-page=\"",
            (long long)w->counts->views++);
    put_escaped(w->file, data, length);
    fprintf(w->file, "\"></iframe>");
    put_command(w->file, d);
    fprintf(w->file, "</figure>\n");
}

/* A picture that plot has nothing for is none; one that fails otherwise is named. */
static ps_status put_drawing(page_writer *w, const report_drawing *d)
{
    PS_SCOPED_MEMORY char *said = NULL;
    PS_SCOPED_MEMORY char *data = NULL;
    char path[REPORT_PATH_MAX + 16];
    int64_t length = 0;
    int code = 0;
    snprintf(path, sizeof path, "%s/picture.%s", w->folder.path, d->view ? "html" : "svg");
    PS_TRY(draw(d, path, &said, &code));
    if (code == 0) PS_TRY(ps_path_read(path, path, &data, &length));
    unlink(path);
    if (code == 0 && !d->view && length > SVG_MAX) {
        PS_FREE(said, data);
        said = data = NULL;
        snprintf(path, sizeof path, "%s/picture.png", w->folder.path);
        PS_TRY(draw(d, path, &said, &code));
        if (code == 0) PS_TRY(ps_path_read(path, path, &data, &length));
        unlink(path);
    }
    if (code == 0) {
        if (d->view)
            put_view(w, d, data, length);
        else
            PS_TRY(put_picture(w, d, path, data, length));
        return PS_OK;
    }
    if (code == PS_USAGE) return PS_OK;
    ++w->counts->undrawn;
    if ((int)w->counts->worst < code) w->counts->worst = code < 128 ? (ps_status)code : PS_FAILED;
    fprintf(w->file, "<p class=\"problem\">no picture (%s): ", d->arguments[0]);
    put_text(w->file, report_reason(said));
    fprintf(w->file, "</p>\n");
    return PS_OK;
}

static ps_status put_file(page_writer *w, int64_t index)
{
    const report_file *f = &w->files->files[index];
    fprintf(w->file, "<section id=\"file%lld\"><h2>", (long long)index);
    put_text(w->file, f->path);
    fprintf(w->file, "</h2>\n");
    if (f->problem) {
        fprintf(w->file, "<p class=\"problem\">not to be believed: ");
        put_text(w->file, f->problem);
        fprintf(w->file, "</p>\n");
    }
    fprintf(w->file, "<script type=\"application/json\" class=\"facts\">{\"path\": ");
    put_string(w->file, f->path);
    fprintf(w->file, ", \"format\": ");
    put_string(w->file, f->format);
    fprintf(w->file, ", \"bytes\": %lld, \"members\": %lld, \"good\": %s, \"inspect\": ",
            (long long)f->bytes, (long long)f->member_count, f->problem ? "false" : "true");
    put_json(w->file, f->facts ? f->facts : "null");
    fprintf(w->file, "}</script>\n<div class=\"about\"></div>\n");
    report_drawing drawings[REPORT_PICTURES_MAX];
    const report_file *same = report_find_same(w->files, index);
    if (same) {
        fprintf(w->file, "<p>The same content as ");
        put_text(w->file, same->path);
        fprintf(w->file, ", which is drawn there.</p>\n");
    }
    int count = f->problem || same ? 0 : report_drawings(f, w->files, drawings);
    for (int i = 0; i < count; ++i) PS_TRY(put_drawing(w, &drawings[i]));
    fprintf(w->file, "</section>\n");
    return PS_OK;
}

static void put_list(page_writer *w)
{
    fprintf(w->file, "<table class=\"list\"><tr><th>file<th>kind<th>bytes<th>found</tr>\n");
    for (int64_t i = 0; i < w->files->count; ++i) {
        const report_file *f = &w->files->files[i];
        fprintf(w->file, "<tr><td><a href=\"#file%lld\">", (long long)i);
        put_text(w->file, f->path);
        fprintf(w->file, "</a><td>");
        put_text(w->file, f->format[0] ? f->format : "unknown");
        fprintf(w->file, "<td class=\"n\">%lld<td%s>", (long long)f->bytes,
                f->problem ? " class=\"problem\"" : "");
        put_text(w->file, f->problem ? f->problem
                          : w->deep  ? "good"
                                     : "tables good, chunks not read");
        fprintf(w->file, "</tr>\n");
    }
    fprintf(w->file, "</table>\n");
    if (!w->files->other_count) return;
    fprintf(w->file, "<details><summary>%lld other files, which were not read</summary><ul>\n",
            (long long)w->files->other_count);
    for (int64_t i = 0; i < w->files->other_count; ++i) {
        fprintf(w->file, "<li>");
        put_text(w->file, w->files->others[i]);
        fprintf(w->file, "</li>\n");
    }
    fprintf(w->file, "</ul></details>\n");
}

static ps_status put_body(page_writer *w, const char *title)
{
    static const char mark[] = "<!--FILES-->";
    const char *at = strstr(report_page_html, mark);
    fwrite(report_page_html, 1, (size_t)(at - report_page_html), w->file);
    fprintf(w->file, "<h1>");
    put_text(w->file, title);
    fprintf(w->file, "</h1><p>Made by penstock report %s.</p>\n", ps_version());
    put_list(w);
    fprintf(w->file, "<h2>From geometry to pictures</h2><div id=\"graph\"></div>\n");
    for (int64_t i = 0; i < w->files->count; ++i) PS_TRY(put_file(w, i));
    fputs(at + strlen(mark), w->file);
    return PS_OK;
}

ps_status report_write(FILE *page, const char *title, bool deep, report_files *files,
                       report_counts *counts)
{
    page_writer w = {.file = page, .deep = deep, .files = files, .counts = counts};
    PS_TRY(ps_scratch_folder_make(&w.folder));
    ps_status status = put_body(&w, title);
    ps_scratch_folder_remove(&w.folder);
    return status;
}
