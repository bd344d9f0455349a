/*
 * What a file that is left to Gmsh announces: a library that takes room for it before it reads on
 * would take gigabytes for a file of a hundred bytes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "preprocess/mesh_import/import.h"

/* Words that counts follow, on their line or on the next one: of VTK, MEDIT and MSH. */
static const char *const words[] = {
    "POINTS",      "CELLS",   "CELL_TYPES", "POLYGONS",  "LINES",    "VERTICES",
    "Edges",       "Corners", "Ridges",     "Triangles", "Normals",  "Quadrilaterals",
    "Quadrangles", "$Nodes",  "$Elements",  "$Entities", "NORMALS",  "RequiredVertices",
    "Tetrahedra",  "Prisms",  "Pyramids",   "Hexahedra", "Hexaedra", "TRIANGLE_STRIPS",
};

static bool is_counted(const char *line, size_t *length)
{
    *length = strcspn(line, " \t\r\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strlen(words[i]) == *length && strncasecmp(line, words[i], *length) == 0) return true;
    return false;
}

/* Whether one of the numbers at `text` is above the bytes of the file; *none: there are none. */
static bool is_too_many(const char *text, int64_t bytes, bool *none, long long *count)
{
    char *end;
    *none = true;
    for (;; text = end) {
        errno = 0;
        *count = strtoll(text, &end, 10);
        if (end == text) return false;
        *none = false;
        if (*count > bytes || errno == ERANGE) return true;
    }
}

/* Every item takes more than a byte. */
ps_status import_check_announced(const import_input *input)
{
    struct stat found;
    char line[512];
    bool begins = true, pending = false, none;
    FILE *file = fopen(input->path, "rb");
    if (!file || fstat(fileno(file), &found) != 0) {
        int error = errno;
        if (file) fclose(file);
        return ps_fail(PS_INVALID, "%s: %s", input->name, strerror(error));
    }
    ps_status status = PS_OK;
    while (status == PS_OK && fgets(line, sizeof line, file)) {
        size_t length = 0;
        long long count;
        const char *text = line + strspn(line, " \t");
        bool word = begins && is_counted(text, &length);
        begins = strchr(line, '\n') != NULL;
        if (!word && !pending) continue;
        if (is_too_many(text + (word ? length : 0), found.st_size, &none, &count))
            status = ps_fail(PS_INVALID,
                             "%s: %lld items are announced, which a file of %lld bytes "
                             "cannot hold: %.40s",
                             input->name, count, (long long)found.st_size, strtok(line, "\r\n"));
        pending = word && none;
    }
    fclose(file);
    return status;
}

static bool is_alone(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && !line[length + strspn(line + length, " \t")];
}

/* Units of length to a metre, by the data set 164 of a UNV file; 0: it has none. */
static double length_factor(const import_input *input)
{
    text_lines lines;
    double factor = 0;
    bool begins = false;
    if (text_lines_open(input->path, input->name, &lines) != PS_OK) return 0;
    while (factor == 0 && text_lines_next(&lines)) {
        bool units = begins && is_alone(lines.at, "164");
        begins = is_alone(lines.at, "-1");
        if (!units || !text_lines_next(&lines) || !text_lines_next(&lines)) continue;
        char *exponent = strpbrk(lines.line, "Dd");
        if (exponent) *exponent = 'E';
        factor = strtod(lines.at, NULL);
    }
    text_lines_close(&lines);
    return factor;
}

ps_status import_check_units(const import_input *input, const import_options *options)
{
    double factor = strcmp(input->suffix, ".unv") == 0 ? length_factor(input) : 0;
    if (factor <= 0 || fabs(factor - 1) < 1e-6 || options->scale != 1) return PS_OK;
    return ps_refuse(options->run, "units",
                     "%s states that %.9g of its units of length are a metre: --unit, or --scale "
                     "%.9g, says so",
                     input->name, factor, 1 / factor);
}
