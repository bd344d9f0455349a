/* Geometry of computer-aided design through Gmsh's OpenCASCADE kernel, in the child process:
 * assemblies and their names. */
#include <gmshc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/gmsh_child.h"

GMSH_TABLE;

/* Gmsh's entities of a dimension, for gmshFree; pairs (dimension, number), *count of them. */
static int *entities(const gmsh_child *c, int dim, size_t *count)
{
    int *pairs = NULL, ierr = 0;
    size_t numbers = 0;
    gmsh.ModelGetEntities(&pairs, &numbers, dim, &ierr);
    gmsh_child_must(c, ierr, "list the entities");
    *count = numbers / 2;
    return pairs;
}

/* ---- names: "Shapes/assembly/1/part" is "part"; what OpenCASCADE makes up is none ---- */

static bool solid_name(int entity, char out[64])
{
    char *label = NULL;
    int ierr = 0;
    gmsh.ModelGetEntityName(3, entity, &label, &ierr);
    const char *name = label && !ierr ? strrchr(label, '/') : NULL;
    name = name ? name + 1 : label ? label : "";
    bool given = *name && strncmp(name, "Open CASCADE STEP translator", 28) != 0;
    snprintf(out, 64, "%.59s", given ? name : "");
    for (char *p = out; *p; ++p)
        if (*p == '\n' || *p == ':') *p = ' '; /* ':' ends the name in options */
    gmsh.Free(label);
    return given;
}

/* Parts of the same name are told apart by their number among them: bolt, bolt.2. */
static void send_solid_names(gmsh_child *c, const int *solids, size_t count)
{
    char(*names)[64] = calloc(count ? count : 1, sizeof *names);
    if (!names) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for the names of %zu solids", count);
    for (size_t i = 0; i < count; ++i) {
        char text[80];
        int before = 1;
        if (!solid_name(solids[2 * i + 1], names[i])) continue;
        for (size_t k = 0; k < i; ++k) before += strcmp(names[k], names[i]) == 0;
        snprintf(text, sizeof text, before > 1 ? "%s.%d" : "%s", names[i], before);
        gmsh_child_text(c, FRAME_NAME, (int)i + 1, text);
    }
    c->solid_names = names;
}

/* ---- solids that touch or overlap ---- */

static void add_part(gmsh_child *c, int entity, int solid)
{
    for (size_t i = 0; i < c->part_count; ++i)
        if (c->parts[i].entity == entity) {
            char text[160];
            snprintf(text, sizeof text,
                     "solids %d and %d overlap: what they share gets the tag of the first",
                     c->parts[i].solid, solid);
            if (c->parts[i].solid != solid) gmsh_child_text(c, FRAME_WARNING, 0, text);
            return;
        }
    gmsh_part *parts = realloc(c->parts, (c->part_count + 1) * sizeof *parts);
    if (!parts) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for %zu solids", c->part_count + 1);
    c->parts = parts;
    c->parts[c->part_count++] = (gmsh_part){entity, solid};
}

/* The solids, and the faces whose names are to be followed. */
static int *list_of_fragments(const gmsh_child *c, const int *solids, size_t count)
{
    int *list = calloc(2 * (count + c->known_count), sizeof *list);
    if (!list) gmsh_child_give_up(c, PS_EXHAUSTED, "no memory for %zu solids", count);
    memcpy(list, solids, 2 * count * sizeof *list);
    for (size_t i = 0; i < c->known_count; ++i) {
        list[2 * (count + i)] = 2;
        list[2 * (count + i) + 1] = c->known[i].entity;
    }
    return list;
}

/* Boolean fragments: common faces become one, so that the meshes of two solids meet in the same
 * triangles. */
static void cut_solids(gmsh_child *c, const int *solids, size_t count)
{
    int *out = NULL, **map = NULL, ierr = 0;
    int *in = list_of_fragments(c, solids, count);
    size_t out_n = 0, *map_n = NULL, map_nn = 0;
    gmsh.ModelOccFragment(in, 2, in + 2, 2 * (count + c->known_count - 1), &out, &out_n, &map,
                          &map_n, &map_nn, -1, 1, 1, &ierr);
    gmsh_child_must(c, ierr, "cut the solids along one another");
    gmsh.ModelOccSynchronize(&ierr);
    gmsh_child_must(c, ierr, "cut the solids along one another");
    for (size_t i = 0; i < map_nn; ++i) {
        for (size_t k = 0; i < count && k + 1 < map_n[i]; k += 2)
            if (map[i][k] == 3) add_part(c, map[i][k + 1], (int)i + 1);
        if (i >= count) gmsh_faces_add_pieces(c, i - count, map[i], map_n[i]);
        gmsh.Free(map[i]);
    }
    free(in);
    gmsh.Free(out), gmsh.Free(map), gmsh.Free(map_n);
}

/* ---- how many elements ---- */

static double measure(const gmsh_child *c, int dim)
{
    size_t count;
    double sum = 0, one = 0;
    int *list = entities(c, dim, &count), ierr = 0;
    for (size_t i = 0; i < count; ++i) {
        gmsh.ModelOccGetMass(dim, list[2 * i + 1], &one, &ierr);
        sum += ierr ? 0 : fabs(one);
    }
    gmsh.Free(list);
    return sum;
}

/* A triangle of the size has sqrt(3)/4 size^2, a tetrahedron size^3 / (6 sqrt 2); Gmsh makes 1.05
 * and .62 times as many (two boxes at .1 of their edge; edges are longer inside). Refused is what
 * 32-bit indices or the memory cannot hold, before hours of meshing show it. */
static void estimate(const gmsh_child *c)
{
    enum { BYTES_A_TRIANGLE = 400, BYTES_A_TETRAHEDRON = 300 };
    double h = c->options->size / c->options->scale;
    if (!(h > 0)) return;
    bool volume = c->kind == IMPORT_VOLUME;
    double triangles = 1.05 * measure(c, 2) / (0.433 * h * h);
    double tetrahedra = volume ? 0.62 * measure(c, 3) / (0.1179 * h * h * h) : 0;
    double bytes = BYTES_A_TRIANGLE * triangles + BYTES_A_TETRAHEDRON * tetrahedra,
           most = (double)c->options->run->host_memory;
    char text[200];
    snprintf(text, sizeof text, "--size %g will give about %.2g triangles", c->options->size,
             triangles);
    if (volume)
        snprintf(text, sizeof text, "--size %g will give about %.2g tetrahedra", c->options->size,
                 tetrahedra);
    gmsh_child_text(c, FRAME_NOTE, 0, text);
    if (triangles > INT32_MAX / 3 || tetrahedra > INT32_MAX / 4 || bytes > most)
        gmsh_child_give_up(c, PS_INVALID,
                           "%s, which would take about %.2g GB of the %.2g GB of --host-memory: "
                           "choose a larger --size",
                           text, bytes / 1e9, most / 1e9);
}

/* ---- all of it ---- */

void gmsh_geometry_prepare(gmsh_child *c)
{
    size_t count;
    int *solids = entities(c, 3, &count);
    c->by_entity = true;
    c->solids = c->kind == IMPORT_VOLUME ? (int)count : 0;
    if (c->solids > 0) send_solid_names(c, solids, count);
    if (c->in_file) gmsh_faces_know(c, solids, count);
    if (c->solids > 1)
        cut_solids(c, solids, count);
    else if (c->solids == 1)
        add_part(c, solids[1], 1);
    gmsh.Free(solids);
    int *faces = entities(c, 2, &c->face_count);
    c->faces = faces; /* pairs; the numbers alone are kept */
    for (size_t i = 0; i < c->face_count; ++i) c->faces[i] = faces[2 * i + 1];
    gmsh_faces_tag(c);
    estimate(c);
}

int gmsh_geometry_tag(const gmsh_child *c, int dim, int entity)
{
    if (dim == 2)
        for (size_t i = 0; i < c->face_count; ++i)
            if (c->faces[i] == entity) return c->face_tags[i];
    if (dim == 3)
        for (size_t i = 0; i < c->part_count; ++i)
            if (c->parts[i].entity == entity) return c->parts[i].solid;
    return 0;
}
