/* OFF: "OFF" (or COFF, NOFF, ... with more columns, which are ignored), counts, vertices, faces. */
#include <string.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/scope.h"

static ps_status read_vertices(text_lines *lines, int64_t count, import_mesh *mesh)
{
    for (int64_t i = 0; i < count; ++i) {
        double x[3];
        if (!text_lines_next(lines))
            return ps_fail(PS_INVALID, "%s: ends after %lld of %lld vertices", lines->name,
                           (long long)i, (long long)count);
        for (int c = 0; c < 3; ++c)
            if (!text_lines_real(lines, &x[c]))
                return text_lines_fail(lines, "expected three coordinates");
        PS_TRY(import_add_vertices(mesh, 1, x));
        PS_TRY(import_add_vertex_number(mesh, i));
    }
    return PS_OK;
}

static ps_status read_faces(text_lines *lines, int64_t vertex_count, int64_t count,
                            import_mesh *mesh)
{
    for (int64_t f = 0; f < count; ++f) {
        int64_t corners, index;
        int32_t face[TEXT_POLYGON_MAX];
        if (!text_lines_next(lines))
            return ps_fail(PS_INVALID, "%s: ends after %lld of %lld faces", lines->name,
                           (long long)f, (long long)count);
        if (!text_lines_int(lines, &corners) || corners < 3 || corners > TEXT_POLYGON_MAX)
            return text_lines_fail(lines, "expected a face of 3 to 256 vertices");
        for (int k = 0; k < corners; ++k) {
            if (!text_lines_int(lines, &index) || index < 0 || index >= vertex_count)
                return text_lines_fail(lines, "expected as many vertex indices as the face has, "
                                              "from 0 up to the number of vertices less one");
            face[k] = (int32_t)index;
        }
        PS_TRY(import_add_polygon(mesh, face, (int)corners, 0, f));
    }
    return PS_OK;
}

static ps_status read_all(text_lines *lines, import_mesh *mesh)
{
    int64_t vertices = 0, faces = 0;
    bool found = text_lines_next(lines);
    const char *word = found ? strstr(lines->line, "OFF") : NULL;
    if (!word || strstr(lines->line, "BINARY"))
        return ps_fail(PS_INVALID, "%s: does not begin with OFF; only text OFF files are read",
                       lines->name);
    lines->at = word + 3 + strspn(word + 3, " \t");
    if (!*lines->at && !text_lines_next(lines)) return text_lines_fail(lines, "ends after OFF");
    if (!text_lines_int(lines, &vertices) || !text_lines_int(lines, &faces) || vertices < 0 ||
        faces < 0 || vertices > INT32_MAX || faces > INT32_MAX)
        return text_lines_fail(lines, "expected the numbers of vertices and faces");
    PS_TRY(read_vertices(lines, vertices, mesh));
    PS_TRY(read_faces(lines, vertices, faces, mesh));
    return text_lines_end(lines);
}

ps_status import_read_off(const import_input *input, import_mesh *mesh)
{
    PS_SCOPED(text_lines_close) text_lines lines = {0};
    PS_TRY(text_lines_open(input->path, input->name, &lines));
    return read_all(&lines, mesh);
}
