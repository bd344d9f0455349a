/*
 * join: grown elements become part of the mesh: their links, and their places in the parts of what
 * they grew from.
 */
#include <stdlib.h>
#include <string.h>

#include "setup.h"
#include "kernels/common/mesh_parts.h"
#include "kernels/dgtd/reference.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ---- links of what is new ---- */

typedef struct meeting {
    int32_t v[3], face;
} meeting;

static int by_vertices(const void *x, const void *y)
{
    const meeting *p = x, *q = y;
    for (int k = 0; k < 3; ++k)
        if (p->v[k] != q->v[k]) return p->v[k] < q->v[k] ? -1 : 1;
    return (p->face > q->face) - (p->face < q->face);
}

/* Faces of new elements, those of the region that grew, and the outer ones with their conditions
 * meet by their vertices. */
static ps_status link_new(growth *g)
{
    setup *s = g->s;
    ps_partition *m = &s->mesh;
    PS_SCOPED_MEMORY meeting *list = NULL;
    int64_t first = m->elements, count = 0, all = first + g->made;
    PS_TRY(PS_ALLOC(&list, 4 * g->made + g->grown + g->count, "the layer"));
    for (int64_t f = 0; f < 4 * all; ++f) {
        bool old = f < 4 * first;
        if (old && (m->links[f] >= 0 || s->kinds[f] != PS_DGTD_ABSORBING)) continue;
        meeting *x = list + count++;
        x->face = (int32_t)f;
        for (int i = 0; i < 3; ++i)
            x->v[i] = m->tetrahedra[f / 4 * 4 + ps_dgtd_face_vertices[f % 4][i]];
    }
    for (int64_t i = 0; i < g->count; ++i)
        if (g->faces[i].face < 0) {
            memcpy(list[count].v, g->faces[i].v, sizeof list[count].v);
            list[count++].face = -1 - (int32_t)g->faces[i].kind; /* sorts before elements */
        }
    qsort(list, (size_t)count, sizeof *list, by_vertices);
    for (int64_t i = 0; i < count; i += 2) {
        if (i + 1 >= count || memcmp(list[i].v, list[i + 1].v, sizeof list[i].v) != 0 ||
            list[i + 1].face < 0)
            return ps_fail(PS_INVALID, "--pml %s: the layer would fold onto itself", g->text);
        int32_t a = list[i].face, b = list[i + 1].face;
        m->links[b] = a < 0 ? -1 : a;
        s->kinds[b] = a < 0 ? (uint8_t)(-1 - a) : PS_DGTD_INNER;
        if (a < 0) continue;
        m->links[a] = b;
        s->kinds[a] = PS_DGTD_INNER;
    }
    return PS_OK;
}

static ps_status lengthen(void *array, int64_t old, int64_t count, size_t bytes)
{
    char *rows, *before;
    memcpy(&before, array, sizeof before);
    PS_TRY(ps_alloc((void **)&rows, count, bytes, "the layer"));
    memcpy(rows, before, (size_t)old * bytes);
    free(before);
    memcpy(array, &rows, sizeof rows);
    return PS_OK;
}

static ps_status append(growth *g)
{
    setup *s = g->s;
    ps_partition *m = &s->mesh;
    int64_t old = m->elements, all = old + g->made;
    PS_TRY(lengthen(&m->tetrahedra, old, all, 4 * sizeof *m->tetrahedra));
    PS_TRY(lengthen(&m->links, old, all, 4 * sizeof *m->links));
    PS_TRY(lengthen(&m->tags, old, all, sizeof *m->tags));
    PS_TRY(lengthen(&m->source, old, all, sizeof *m->source));
    PS_TRY(lengthen(&s->kinds, old, all, 4));
    PS_TRY(lengthen(&s->material, old, all, sizeof *s->material));
    PS_TRY(PS_ALLOC(&s->layer, all, "the layer"));
    memcpy(m->tetrahedra + 4 * old, g->tetrahedra, 4 * (size_t)g->made * sizeof *m->tetrahedra);
    for (int64_t e = old; e < all; ++e) {
        int32_t parent = g->parents[e - old];
        m->tags[e] = m->tags[parent];
        s->material[e] = s->material[parent];
        m->source[e] = (int32_t)e;
        s->layer[e] = 1;
    }
    PS_TRY(link_new(g));
    m->elements = all;
    return PS_OK;
}

/* ---- their places: in the parts of what they grew from ---- */

static ps_status permute(void *array, int64_t count, size_t bytes, const int32_t *order)
{
    char *old, *rows;
    memcpy(&old, array, sizeof old);
    if (!old) return PS_OK;
    PS_TRY(ps_alloc_untouched((void **)&rows, count * (int64_t)bytes, "a reordered array"));
    for (int64_t i = 0; i < count; ++i)
        memcpy(rows + (size_t)i * bytes, old + (size_t)order[i] * bytes, bytes);
    free(old);
    memcpy(array, &rows, sizeof rows);
    return PS_OK;
}

typedef struct tagged {
    int32_t face, tag;
} tagged;

static int by_face(const void *x, const void *y)
{
    const tagged *p = x, *q = y;
    return (p->face > q->face) - (p->face < q->face);
}

static ps_status move_tagged(ps_partition *m, const int32_t *place)
{
    PS_SCOPED_MEMORY tagged *list = NULL;
    PS_TRY(PS_ALLOC(&list, m->face_count, "tagged faces"));
    for (int64_t i = 0; i < m->face_count; ++i)
        list[i] = (tagged){4 * place[m->faces[i] / 4] + m->faces[i] % 4, m->face_tags[i]};
    qsort(list, (size_t)m->face_count, sizeof *list, by_face);
    for (int64_t i = 0; i < m->face_count; ++i) {
        m->faces[i] = list[i].face;
        m->face_tags[i] = list[i].tag;
    }
    return PS_OK;
}

/* Sides of ports ascend in each. */
static void move_ports(ps_dgtd_ports *x, const int32_t *place)
{
    int64_t n = x->nodes;
    for (int64_t i = 0; i < x->sides; ++i)
        x->faces[i] = 4 * place[x->faces[i] / 4] + x->faces[i] % 4;
    for (int64_t k = 0, first = 0; k < x->count; first += x->spec[k++].sides)
        for (int64_t i = first + 1; i < first + x->spec[k].sides; ++i)
            for (int64_t j = i; j > first && x->faces[j] < x->faces[j - 1]; --j) {
                int32_t face = x->faces[j];
                x->faces[j] = x->faces[j - 1];
                x->faces[j - 1] = face;
                for (double *a = x->gradients[j * n], *b = a - 3 * n; a < x->gradients[(j + 1) * n];
                     ++a, ++b) {
                    double value = *a;
                    *a = *b;
                    *b = value;
                }
            }
}

ps_status reorder_elements(setup *s, const int32_t *order)
{
    ps_partition *m = &s->mesh;
    int64_t all = m->elements;
    PS_SCOPED_MEMORY int32_t *place = NULL;
    PS_TRY(PS_ALLOC(&place, all, "places"));
    for (int64_t i = 0; i < all; ++i) place[order[i]] = (int32_t)i;
    for (int64_t f = 0; f < 4 * all; ++f)
        if (m->links[f] >= 0) m->links[f] = 4 * place[m->links[f] / 4] + m->links[f] % 4;
    struct {
        void *array;
        size_t bytes;
    } rows[] = {{&m->tetrahedra, 4 * sizeof *m->tetrahedra},
                {&m->links, 4 * sizeof *m->links},
                {&m->tags, sizeof *m->tags},
                {&m->source, sizeof *m->source},
                {&s->kinds, 4},
                {&s->material, sizeof *s->material},
                {&s->layer, 1},
                {&s->total, 1},
                {&s->reach, 1},
                {&s->least_class, 1},
                {&s->sizes, sizeof *s->sizes},
                {&s->limits, sizeof *s->limits}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        PS_TRY(permute(rows[k].array, all, rows[k].bytes, order));
    s->limiting = place[s->limiting];
    s->layers_begin = place[s->layers_begin];
    move_ports(&s->ports, place);
    m->layer_count = 0;
    free(m->layer_start);
    m->layer_start = NULL;
    strcpy(m->order, "hilbert");
    return move_tagged(m, place);
}

static ps_status put_in_parts(growth *g)
{
    setup *s = g->s;
    ps_partition *m = &s->mesh;
    int64_t all = m->elements, old = all - g->made;
    PS_SCOPED_MEMORY int32_t *part = NULL;
    PS_SCOPED_MEMORY int32_t *key = NULL;
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_TRY(PS_ALLOC(&part, all, "parts"));
    PS_TRY(PS_ALLOC(&key, all, "parts"));
    PS_TRY(PS_ALLOC(&order, all, "parts"));
    PS_TRY(PS_ALLOC(&start, 2 * m->parts + 1, "parts"));
    for (int64_t e = 0; e < all; ++e)
        part[e] =
            e < old ? (int32_t)ps_range_of(m->part_start, m->parts, e) : part[g->parents[e - old]];
    for (int64_t e = 0; e < all; ++e) {
        bool touches = false;
        for (int f = 0; f < 4; ++f)
            touches |= m->links[4 * e + f] >= 0 && part[m->links[4 * e + f] / 4] != part[e];
        key[e] = 2 * part[e] + touches;
    }
    ps_order_by_key(key, all, 2 * m->parts, start, order);
    PS_TRY(reorder_elements(s, order));
    for (int64_t q = 0; q <= m->parts; ++q) m->part_start[q] = start[2 * q];
    for (int64_t q = 0; q < m->parts; ++q) m->interior[q] = start[2 * q + 1] - start[2 * q];
    return PS_OK;
}

ps_status join_grown(growth *g)
{
    PS_TRY(append(g));
    return put_in_parts(g);
}
