/* Names of faces of STEP files, in the child process: by the colours that step_faces has given
 * them. */
#include <gmshc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/gmsh_child.h"

GMSH_TABLE;

/* ---- which face of the file ---- */

static void *room(const gmsh_child *c, size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for %zu faces", count);
    return memory;
}

static void place(const gmsh_child *c, gmsh_known_face *face)
{
    double *x = face->centre, *b = face->box;
    char *kind = NULL;
    int ierr = 0, failed = 0, entity = face->entity;
    gmsh.ModelOccGetMass(2, entity, &face->mass, &ierr), failed |= ierr;
    gmsh.ModelOccGetCenterOfMass(2, entity, &x[0], &x[1], &x[2], &ierr), failed |= ierr;
    gmsh.ModelGetBoundingBox(2, entity, &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &ierr);
    failed |= ierr;
    gmsh.ModelGetType(2, entity, &kind, &ierr);
    gmsh_child_must(c, failed | ierr, "measure a face");
    snprintf(face->kind, sizeof face->kind, "%s", kind ? kind : "");
    gmsh.Free(kind);
}

static int64_t solid_of(const gmsh_child *c, int entity, bool encoded)
{
    int colour[3], opacity = 0, ierr = 0;
    gmsh.ModelGetColor(3, entity, &colour[0], &colour[1], &colour[2], &opacity, &ierr);
    return ierr || opacity != 255 ? -1 : step_names_of_colour(c->in_file, colour, encoded);
}

/* Values of sRGB or linear ones: whichever more of the solids have a number by. */
static bool is_encoded(const gmsh_child *c, const int *solids, size_t count)
{
    size_t by[2] = {0, 0};
    for (size_t i = 0; i < count; ++i)
        for (int encoded = 0; encoded < 2; ++encoded)
            by[encoded] += solid_of(c, solids[2 * i + 1], encoded) >= 0;
    return by[1] > by[0];
}

static void add_known(gmsh_child *c, int entity, int64_t face)
{
    gmsh_known_face *known = realloc(c->known, (c->known_count + 1) * sizeof *known);
    if (!known) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for %zu faces", c->known_count);
    c->known = known;
    known[c->known_count] = (gmsh_known_face){.entity = entity, .face = face};
    place(c, &known[c->known_count++]);
}

/* The kind of each surface is that of the file, as far as one is known. */
static bool same_kinds(const gmsh_child *c, const gmsh_known_face *known, int64_t count)
{
    bool same = true;
    for (int64_t i = 0; i < count; ++i) {
        const char *kind = c->in_file->face[known[i].face].surface;
        same &= !kind || strcmp(kind, known[i].kind) == 0;
    }
    return same;
}

/* The faces of a solid are listed in the order of its shells; false where they are not those of the
 * file. */
static bool know_solid(gmsh_child *c, int *solid, bool encoded)
{
    int *pairs = NULL, ierr = 0;
    size_t numbers = 0, before = c->known_count;
    int64_t number = solid_of(c, solid[1], encoded);
    if (number < 0) return false;
    const step_solid *of = &c->in_file->solid[number];
    gmsh.ModelGetBoundary(solid, 2, &pairs, &numbers, 0, 0, 0, &ierr);
    gmsh_child_must(c, ierr, "list the faces of a solid");
    bool good = numbers == 2 * (size_t)of->faces;
    for (int64_t i = 0; good && i < of->faces; ++i)
        add_known(c, abs(pairs[2 * i + 1]), of->first_face + i);
    gmsh.Free(pairs);
    good = good && same_kinds(c, c->known + before, of->faces);
    if (!good) c->known_count = before;
    return good;
}

void gmsh_faces_know(gmsh_child *c, int *solids, size_t count)
{
    size_t lost = 0;
    bool encoded = is_encoded(c, solids, count);
    char text[160];
    for (size_t i = 0; i < count; ++i) lost += !know_solid(c, solids + 2 * i, encoded);
    snprintf(
        text, sizeof text,
        "the faces of %zu of %zu solids have no names: Gmsh's library does not give them as the "
        "file has them",
        lost, count);
    if (lost) gmsh_child_text(c, FRAME_WARNING, 0, text);
}

/* ---- what has become of it ---- */

void gmsh_faces_add_pieces(gmsh_child *c, size_t i, const int *pairs, size_t numbers)
{
    gmsh_part *pieces = realloc(c->pieces, (c->piece_count + numbers + 1) * sizeof *pieces);
    if (!pieces) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for %zu faces", c->piece_count);
    c->pieces = pieces;
    for (size_t k = 0; k + 1 < numbers; k += 2)
        if (pairs[k] == 2) pieces[c->piece_count++] = (gmsh_part){pairs[k + 1], (int)i};
}

static bool near(const double *a, const double *b, int count, double scale)
{
    for (int i = 0; i < count; ++i)
        if (!(fabs(a[i] - b[i]) <= 1e-6 * scale)) return false;
    return true;
}

static bool same_place(const gmsh_known_face *a, const gmsh_known_face *b)
{
    return near(a->centre, b->centre, 3, sqrt(a->mass)) && near(&a->mass, &b->mass, 1, a->mass);
}

static bool may_be_piece(const gmsh_known_face *piece, const gmsh_known_face *of)
{
    double slack = 1e-6 * sqrt(of->mass);
    bool inside = strcmp(piece->kind, of->kind) == 0 && piece->mass <= of->mass * (1 + 1e-6);
    for (int k = 0; k < 3; ++k)
        inside &=
            piece->box[k] >= of->box[k] - slack && piece->box[3 + k] <= of->box[3 + k] + slack;
    return inside;
}

/* The name of a face: that of what lay there, else of what it is a piece of. Gmsh tells of faces
 * that were not cut what has become of others: those lie elsewhere. */
static const char *name_of(const gmsh_child *c, int entity)
{
    gmsh_known_face here = {.entity = entity};
    const gmsh_known_face *found = NULL;
    if (c->known_count > 0) place(c, &here);
    for (size_t i = 0; i < c->known_count && !found; ++i)
        if (same_place(&here, &c->known[i])) found = &c->known[i];
    for (size_t i = 0; i < c->piece_count && !found; ++i) {
        const gmsh_known_face *of = &c->known[c->pieces[i].solid];
        if (c->pieces[i].entity == entity && may_be_piece(&here, of)) found = of;
    }
    return found ? c->in_file->face[found->face].name : "";
}

/* Names of faces differ from those of solids. */
static void send_name(const gmsh_child *c, int tag, const char *name)
{
    char text[80];
    bool taken = false;
    for (int i = 0; i < c->solids; ++i) taken |= strcmp(c->solid_names[i], name) == 0;
    snprintf(text, sizeof text, taken ? "%s.face" : "%s", name);
    gmsh_child_text(c, FRAME_NAME, tag, text);
}

void gmsh_faces_tag(gmsh_child *c)
{
    const char **names = room(c, c->face_count, sizeof *names);
    c->face_tags = room(c, c->face_count, sizeof *c->face_tags);
    for (size_t i = 0; i < c->face_count; ++i) {
        size_t first = 0;
        names[i] = name_of(c, c->faces[i]);
        while (first < i && (!names[i][0] || strcmp(names[first], names[i]) != 0)) ++first;
        c->face_tags[i] = c->solids + (int)first + 1;
        if (names[i][0] && first == i) send_name(c, c->face_tags[i], names[i]);
    }
    free(names);
}
