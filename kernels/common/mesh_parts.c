#include "kernels/common/mesh_parts.h"

#include <math.h>
#include <string.h>

#include "kernels/common/radix_sort.h"

static int64_t weight_of(const int32_t *weights, int64_t item)
{
    return weights ? weights[item] : 1;
}

void ps_parts_of_runs(const int32_t *weights, int64_t count, int64_t parts, int32_t *part)
{
    int64_t total = 0, before = 0;
    for (int64_t i = 0; i < count; ++i) total += weight_of(weights, i);
    for (int64_t i = 0; i < count; ++i) {
        int64_t weight = weight_of(weights, i);
        int64_t q =
            (int64_t)(((double)before + (double)weight / 2) * (double)parts / (double)total);
        part[i] = (int32_t)(q < parts ? q : parts - 1);
        before += weight;
    }
}

/* ---- boxes ---- */

typedef struct bisection {
    const double *centroids;
    const int32_t *weights;
    int32_t *items, *items_scratch, *part;
    uint64_t *keys, *keys_scratch;
} bisection;

size_t ps_parts_boxes_workspace(int64_t count)
{
    return (size_t)count * 2 * (sizeof(uint64_t) + sizeof(int32_t));
}

static int longest_axis(const bisection *b, int64_t first, int64_t end)
{
    int axis = 0;
    double longest = -1;
    for (int c = 0; c < 3; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = first; i < end; ++i) {
            double x = b->centroids[3 * (int64_t)b->items[i] + c];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        if (high - low <= longest) continue;
        longest = high - low;
        axis = c;
    }
    return axis;
}

/* Keys that ascend with the coordinates, to single precision. */
static void set_keys(const bisection *b, int axis, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        float x = (float)b->centroids[3 * (int64_t)b->items[i] + axis] + 0.0f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        b->keys[i] = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }
}

/* Where the first `share` of the weight of [first, end) ends; leaves an element on each side. */
static int64_t cut_at(const bisection *b, int64_t first, int64_t end, double share)
{
    double total = 0, before = 0;
    for (int64_t i = first; i < end; ++i) total += (double)weight_of(b->weights, b->items[i]);
    for (int64_t i = first; i < end - 1; ++i) {
        double weight = (double)weight_of(b->weights, b->items[i]);
        if (i > first && before + weight / 2 >= share * total) return i;
        before += weight;
    }
    return end - 1;
}

static void bisect(const bisection *b, int64_t first, int64_t end, int64_t part, int64_t parts)
{
    if (parts == 1 || end - first < 2) {
        for (int64_t i = first; i < end; ++i) b->part[b->items[i]] = (int32_t)part;
        return;
    }
    set_keys(b, longest_axis(b, first, end), first, end);
    ps_radix_sort(b->keys + first, b->items + first, end - first, 32, b->keys_scratch + first,
                  b->items_scratch + first);
    int64_t half = parts / 2, cut = cut_at(b, first, end, (double)half / (double)parts);
    bisect(b, first, cut, part, half);
    bisect(b, cut, end, part + half, parts - half);
}

void ps_parts_of_boxes(const double *centroids, const int32_t *weights, int64_t count,
                       int64_t parts, void *workspace, int32_t *part)
{
    bisection b = {.centroids = centroids, .weights = weights, .part = part};
    b.keys = workspace;
    b.keys_scratch = b.keys + count;
    b.items = (int32_t *)(b.keys_scratch + count);
    b.items_scratch = b.items + count;
    for (int64_t i = 0; i < count; ++i) b.items[i] = (int32_t)i;
    bisect(&b, 0, count, 0, parts);
}

/* ---- layers ---- */

typedef struct flood {
    const double *vertices;
    const int32_t *tetrahedra, *links;
    int64_t first, end, tail;
    int32_t *layer, *queue;
    int axis;
    double low, extent;
} flood;

static double coordinate(const flood *f, int64_t e, int v)
{
    return f->vertices[3 * (int64_t)f->tetrahedra[4 * e + v] + f->axis];
}

static void find_axis(flood *f)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 4 * f->first; i < 4 * f->end; ++i)
        for (int c = 0; c < 3; ++c) {
            double x = f->vertices[3 * (int64_t)f->tetrahedra[i] + c];
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
        }
    for (int c = 0; c < 3; ++c)
        if (c == 0 || high[c] - low[c] > f->extent) {
            f->axis = c;
            f->low = low[c];
            f->extent = high[c] - low[c];
        }
}

static int is_inside(const flood *f, int32_t link)
{
    return link >= 0 && link / 4 >= f->first && link / 4 < f->end;
}

/* Has a face in the lowest plane: three vertices there, and the face across from the fourth is not
 * followed. Faces are 012, 013, 123, 023. */
static int is_lowest(const flood *f, int64_t e)
{
    static const int8_t vertices[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
    for (int face = 0; face < 4; ++face) {
        int inside = is_inside(f, f->links[4 * e + face]);
        for (int v = 0; v < 3 && !inside; ++v)
            inside = coordinate(f, e, vertices[face][v]) > f->low + 1e-9 * f->extent;
        if (!inside) return 1;
    }
    return 0;
}

static void enqueue(flood *f, int64_t e, int32_t layer)
{
    f->layer[e - f->first] = layer;
    f->queue[f->tail++] = (int32_t)e;
}

static void enqueue_lowest_centroid(flood *f, int32_t layer)
{
    int64_t lowest = -1;
    double least = INFINITY;
    for (int64_t e = f->first; e < f->end; ++e) {
        if (f->layer[e - f->first] >= 0) continue;
        double sum = 0;
        for (int v = 0; v < 4; ++v) sum += coordinate(f, e, v);
        if (sum >= least) continue;
        least = sum;
        lowest = e;
    }
    enqueue(f, lowest, layer);
}

int64_t ps_mesh_layers(const double *vertices, const int32_t *tetrahedra, const int32_t *links,
                       int64_t first, int64_t end, int32_t *layer, int32_t *queue)
{
    flood f = {.vertices = vertices,
               .tetrahedra = tetrahedra,
               .links = links,
               .first = first,
               .end = end,
               .layer = layer,
               .queue = queue};
    int64_t head = 0;
    find_axis(&f);
    for (int64_t i = 0; i < end - first; ++i) layer[i] = -1;
    for (int64_t e = first; e < end; ++e)
        if (is_lowest(&f, e)) enqueue(&f, e, 0);
    while (head < end - first) {
        if (head == f.tail)
            enqueue_lowest_centroid(&f, head ? layer[queue[head - 1] - first] + 1 : 0);
        int64_t e = queue[head++];
        for (int face = 0; face < 4; ++face) {
            int32_t link = links[4 * e + face];
            if (is_inside(&f, link) && layer[link / 4 - first] < 0)
                enqueue(&f, link / 4, layer[e - first] + 1);
        }
    }
    return head ? layer[queue[head - 1] - first] + 1 : 0;
}

/* ---- layers, evened out ---- */

typedef struct evening {
    const int32_t *links;
    int64_t first, end, layers;
    int32_t *layer;
    int64_t *sizes;
} evening;

/* The layer that element e should move to, or its own. */
static int32_t better_layer(const evening *x, int64_t e)
{
    int32_t own = x->layer[e - x->first], low = own, high = own;
    for (int face = 0; face < 4; ++face) {
        int32_t link = x->links[4 * e + face];
        if (link < 0 || link / 4 < x->first || link / 4 >= x->end) continue;
        int32_t other = x->layer[link / 4 - x->first];
        if (other < low) low = other;
        if (other > high) high = other;
    }
    if (high == own && own > 0 && x->sizes[own - 1] < x->sizes[own] - 1) return own - 1;
    if (low == own && own < x->layers - 1 && x->sizes[own + 1] < x->sizes[own] - 1) return own + 1;
    return own;
}

/* Moves the elements of the queue that should, from its end on; returns how many did. */
static int64_t even_once(const evening *x, const int32_t *queue)
{
    int64_t moved = 0;
    for (int64_t i = x->end - x->first - 1; i >= 0; --i) {
        int32_t *own = x->layer + (queue[i] - x->first), to = better_layer(x, queue[i]);
        if (to == *own) continue;
        --x->sizes[*own];
        ++x->sizes[to];
        *own = to;
        ++moved;
    }
    return moved;
}

void ps_mesh_even_layers(const int32_t *links, int64_t first, int64_t end, int64_t layers,
                         const int32_t *queue, int32_t *layer, int64_t *sizes)
{
    const evening x = {links, first, end, layers, layer, sizes};
    memset(sizes, 0, (size_t)layers * sizeof *sizes);
    for (int64_t i = 0; i < end - first; ++i) ++sizes[layer[i]];
    while (even_once(&x, queue) * 1000 > end - first) {
    }
}

void ps_order_by_key(const int32_t *key, int64_t count, int64_t keys, int64_t *start,
                     int32_t *order)
{
    memset(start, 0, (size_t)(keys + 1) * sizeof *start);
    for (int64_t i = 0; i < count; ++i) ++start[key[i] + 1];
    for (int64_t k = 0; k < keys; ++k) start[k + 1] += start[k];
    for (int64_t i = 0; i < count; ++i) order[start[key[i]]++] = (int32_t)i;
    for (int64_t k = keys; k > 0; --k) start[k] = start[k - 1];
    start[0] = 0;
}
