#include "postprocess/plot/canvas.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/scope.h"

static const char *suffix_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot : "";
}

static void put_style(canvas *c)
{
    canvas_put(c, "set encoding utf8\n"
                  "set border lw 1 lc rgb '#555555'\n"
                  "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
                  "set xlabel textcolor rgb '#222222'\nset ylabel textcolor rgb '#222222'\n"
                  "set cblabel textcolor rgb '#222222'\n"
                  "set grid lt 1 dt 1 lw 0.6 lc rgb '#dcdcdc'\n"
                  "set key opaque box lc rgb '#dddddd' samplen 2 spacing 1.15 noenhanced\n"
                  "set colorbox user size 0.018,0.62 border\n");
}

/* Of a drawing that a picture of so many pixels would be. */
enum { PIXELS_AN_INCH = 130 };

void canvas_resize(canvas *c, int64_t width, int64_t height)
{
    c->width = width;
    c->height = height;
    const char *suffix = suffix_of(c->output);
    if (strcmp(suffix, ".pdf") == 0)
        canvas_put(c,
                   "set terminal pdfcairo enhanced size %.3gin,%.3gin font 'DejaVu Sans,9' "
                   "background rgb 'white'\n",
                   (double)width / PIXELS_AN_INCH, (double)height / PIXELS_AN_INCH);
    else if (strcmp(suffix, ".svg") == 0)
        canvas_put(
            c,
            "set terminal svg enhanced size %lld,%lld font 'DejaVu Sans,Arial,sans-serif,13' "
            "background rgb 'white' dynamic\n",
            (long long)width, (long long)height);
    else
        canvas_put(c,
                   "set terminal pngcairo enhanced size %lld,%lld font 'DejaVu Sans,%.3g' "
                   "background rgb 'white'\n",
                   (long long)width, (long long)height,
                   9 + 2.5 * (double)(width < height ? width : height) / 700);
    canvas_put_text(c, "set output ", ps_output_temporary(c->picture), "\n");
}

ps_status canvas_open(canvas *c, const char *output, int64_t width, int64_t height)
{
    memset(c, 0, sizeof *c);
    const char *suffix = suffix_of(output);
    if (strcmp(suffix, ".svg") != 0 && strcmp(suffix, ".png") != 0 && strcmp(suffix, ".pdf") != 0)
        return ps_fail(PS_USAGE, "--output: %s does not end in .png, .svg or .pdf", output);
    c->output = output;
    c->width = width;
    ps_status status = ps_output_begin(output, &c->picture); /* tried now, not after the work */
    if (status != PS_OK) return ps_context(status, "--output");
    c->script = tmpfile();
    if (!c->script) ps_output_discard(&c->picture);
    if (!c->script)
        return ps_fail(PS_EXHAUSTED, "no temporary file for the script: %s; set TMPDIR",
                       strerror(errno));
    if (height) canvas_resize(c, width, height);
    put_style(c);
    return PS_OK;
}

void canvas_put(canvas *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(c->script, format, arguments);
    va_end(arguments);
}

void canvas_put_quoted(canvas *c, const char *text)
{
    fputc('\'', c->script);
    for (; *text; ++text) {
        if (*text == '\'') fputc('\'', c->script);
        fputc((unsigned char)*text < 32 ? ' ' : *text, c->script);
    }
    fputc('\'', c->script);
}

void canvas_put_text(canvas *c, const char *before, const char *text, const char *behind)
{
    fputs(before, c->script);
    canvas_put_quoted(c, text);
    fputs(behind, c->script);
}

void canvas_put_pixels(canvas *c, const char *name, const float *pixel, int64_t height, int64_t width)
{
    canvas_put(c, "$%s << END\n", name);
    for (int64_t i = 0; i < height; ++i) {
        for (int64_t j = 0; j < width; ++j) {
            float v = pixel[i * width + j];
            if (isnan(v))
                canvas_put(c, "NaN ");
            else
                canvas_put(c, "%g ", v);
        }
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
}

void canvas_title(canvas *c, const char *text)
{
    if (text && *text)
        canvas_put_text(c, "set title ", text, " noenhanced textcolor rgb '#111111'\n");
}

static ps_status keep_copy(canvas *c, const char *path)
{
    FILE *copy = fopen(path, "w");
    if (!copy)
        return ps_fail(PS_USAGE, "--script: %s cannot be written: %s", path, strerror(errno));
    rewind(c->script);
    char part[65536];
    size_t got;
    while ((got = fread(part, 1, sizeof part, c->script)) > 0) fwrite(part, 1, got, copy);
    int failed = ferror(copy);
    if (fclose(copy) != 0 || failed)
        return ps_fail(PS_EXHAUSTED, "--script: %s could not be written: %s", path,
                       strerror(errno));
    return PS_OK;
}

/* The first line of gnuplot's complaint that says something. */
static const char *first_complaint(char *text)
{
    char *state = NULL, *last = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        char *at = line + strspn(line, " \t");
        if (strncmp(at, "line", 4) == 0 || strstr(at, "error")) return at;
        if (*at && *at != '^') last = at;
    }
    return last ? last : "it said nothing";
}

/* True if the picture has the end that its kind has: gnuplot is content with a disk that is full.
 */
static bool is_whole(const char *path)
{
    static const char png[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', '\xae', 'B', '`', '\x82'};
    static const char svg[] = "</svg>", pdf[] = "%%EOF";
    char end[32] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool read = fseek(file, -(long)sizeof png, SEEK_END) == 0 &&
                fread(end, 1, sizeof png, file) == sizeof png;
    fclose(file);
    return read && (memcmp(end, png, sizeof png) == 0 || strstr(end, svg) || strstr(end, pdf));
}

static ps_status run_gnuplot(canvas *c)
{
    char path[4096];
    if (!ps_process_find("gnuplot", path, sizeof path))
        return ps_fail(PS_FAILED, "gnuplot is not on PATH; pictures are drawn by it. Install it "
                                  "(Debian: apt-get install gnuplot-nox) and run this again");
    lseek(fileno(c->script), 0, SEEK_SET);
    ps_process_result result;
    /* by name: what gnuplot takes for typed it reads a character a system call */
    char *const command[] = {path, (char[]){"/dev/stdin"}, NULL};
    PS_TRY(ps_process_run(command, fileno(c->script), true, &result));
    PS_SCOPED_MEMORY char *said = result.output;
    if (result.code != 0)
        return ps_fail(PS_FAILED, "gnuplot ended with exit code %d: %s", result.code,
                       first_complaint(said));
    if (!is_whole(ps_output_temporary(c->picture)))
        return ps_fail(PS_EXHAUSTED, "%s was not written whole; is the disk full? gnuplot: %s",
                       c->output, first_complaint(said));
    return PS_OK;
}

ps_status canvas_finish(canvas *c, const char *keep_script)
{
    canvas_put(c, "unset output\n");
    ps_status status = PS_OK;
    if (fflush(c->script) != 0 || ferror(c->script))
        status = ps_fail(PS_EXHAUSTED,
                         "the script for gnuplot could not be written: %s; is the "
                         "disk of TMPDIR full?",
                         strerror(errno));
    if (status == PS_OK && keep_script) status = keep_copy(c, keep_script);
    if (status == PS_OK) status = run_gnuplot(c);
    if (status == PS_OK) status = ps_output_commit(&c->picture);
    canvas_discard(c);
    return status;
}

void canvas_discard(canvas *c)
{
    if (c->script) fclose(c->script);
    ps_output_discard(&c->picture);
    c->script = NULL;
}
