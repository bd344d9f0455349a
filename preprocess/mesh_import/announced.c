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

/* Cells of MEDIT that Gmsh's library passes over without a word. */
static bool is_overlooked(const char *line)
{
    static const char *const kinds[] = {"Prisms",          "Pyramids",    "TrianglesP",
                                        "QuadrilateralsQ", "TetrahedraP", "HexahedraQ"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strncasecmp(line, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

/* Every item takes more than a byte. */
ps_status import_check_announced(const import_input *input)
{
    struct stat found;
    char line[512];
    bool begins = true, pending = false, none, medit = strcmp(input->suffix, ".mesh") == 0;
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
        if (medit && begins && is_overlooked(text))
            status = ps_fail(PS_INVALID,
                             "%s: %.*s are not read: only straight triangles, "
                             "quadrangles and tetrahedra are",
                             input->name, (int)strcspn(text, " \t\r\n"), text);
        begins = strchr(line, '\n') != NULL;
        if (status != PS_OK || (!word && !pending)) continue;
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
