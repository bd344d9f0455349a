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
    const ps_mesh_span *span;
    const double *direction;
    int64_t tail;
    int32_t *layer, *queue;
    double low, extent;
} flood;

/* Of vertex v of element e. */
static double coordinate(const flood *f, int64_t e, int v)
{
    const double *x = f->span->vertices + 3 * (int64_t)f->span->tetrahedra[4 * e + v];
    return f->direction[0] * x[0] + f->direction[1] * x[1] + f->direction[2] * x[2];
}

static void find_extent(flood *f)
{
    double high = -INFINITY;
    f->low = INFINITY;
    for (int64_t e = f->span->first; e < f->span->end; ++e)
        for (int v = 0; v < 4; ++v) {
            double x = coordinate(f, e, v);
            f->low = fmin(f->low, x);
            high = fmax(high, x);
        }
    f->extent = high - f->low;
}

static int is_inside(const ps_mesh_span *span, int32_t link)
{
    return link >= 0 && link / 4 >= span->first && link / 4 < span->end;
}

/* Has a face in the lowest plane: three vertices there, and the face across from the fourth is not
 * followed. Faces are 012, 013, 123, 023. */
static int is_lowest(const flood *f, int64_t e)
{
    static const int8_t vertices[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
    for (int face = 0; face < 4; ++face) {
        int inside = is_inside(f->span, f->span->links[4 * e + face]);
        for (int v = 0; v < 3 && !inside; ++v)
            inside = coordinate(f, e, vertices[face][v]) > f->low + 1e-9 * f->extent;
        if (!inside) return 1;
    }
    return 0;
}

static void put(flood *f, int64_t e, int32_t layer)
{
    f->layer[e - f->span->first] = layer;
    f->queue[f->tail++] = (int32_t)e;
}

static void put_lowest_centroid(flood *f, int32_t layer)
{
    int64_t lowest = -1;
    double least = INFINITY;
    for (int64_t e = f->span->first; e < f->span->end; ++e) {
        if (f->layer[e - f->span->first] >= 0) continue;
        double sum = 0;
        for (int v = 0; v < 4; ++v) sum += coordinate(f, e, v);
        if (sum >= least) continue;
        least = sum;
        lowest = e;
    }
    put(f, lowest, layer);
}

static int starts_at_faces(const flood *f)
{
    for (int64_t e = f->span->first; e < f->span->end; ++e)
        if (is_lowest(f, e)) return 1;
    return 0;
}

int ps_mesh_layer_starts(const ps_mesh_span *span, double starts[PS_MESH_STARTS][3])
{
    static const double all[PS_MESH_STARTS - 1][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                                      {1, 1, 0},  {1, -1, 0}, {1, 0, 1},
                                                      {1, 0, -1}, {0, 1, 1},  {0, 1, -1}};
    flood f = {.span = span}, longest = {0};
    for (int c = 0; c < 3; ++c) {
        f.direction = all[c];
        find_extent(&f);
        if (c == 0 || f.extent > longest.extent) longest = f;
    }
    memcpy(starts[0], longest.direction, sizeof starts[0]);
    if (starts_at_faces(&longest)) return 1;
    memcpy(starts[1], all, sizeof all);
    return PS_MESH_STARTS;
}

int64_t ps_mesh_layers(const ps_mesh_span *span, const double direction[3], int32_t *layer,
                       int32_t *queue)
{
    flood f = {.span = span, .direction = direction, .layer = layer, .queue = queue};
    int64_t head = 0, first = span->first, count = span->end - first;
    find_extent(&f);
    for (int64_t i = 0; i < count; ++i) layer[i] = -1;
    for (int64_t e = first; e < span->end; ++e)
        if (is_lowest(&f, e)) put(&f, e, 0);
    while (head < count) {
        if (head == f.tail) put_lowest_centroid(&f, head ? layer[queue[head - 1] - first] + 1 : 0);
        int64_t e = queue[head++];
        for (int face = 0; face < 4; ++face) {
            int32_t link = span->links[4 * e + face];
            if (is_inside(span, link) && layer[link / 4 - first] < 0)
                put(&f, link / 4, layer[e - first] + 1);
        }
    }
    return head ? layer[queue[head - 1] - first] + 1 : 0;
}

/* ---- layers, evened out ---- */

typedef struct evening {
    const ps_mesh_span *span;
    int64_t layers;
    int32_t *layer;
    int64_t *sizes;
} evening;

/* The layer that element e should move to, or its own. */
static int32_t better_layer(const evening *x, int64_t e)
{
    int32_t own = x->layer[e - x->span->first], low = own, high = own;
    for (int face = 0; face < 4; ++face) {
        int32_t link = x->span->links[4 * e + face];
        if (!is_inside(x->span, link)) continue;
        int32_t other = x->layer[link / 4 - x->span->first];
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
    for (int64_t i = x->span->end - x->span->first - 1; i >= 0; --i) {
        int32_t *own = x->layer + (queue[i] - x->span->first), to = better_layer(x, queue[i]);
        if (to == *own) continue;
        --x->sizes[*own];
        ++x->sizes[to];
        *own = to;
        ++moved;
    }
    return moved;
}

void ps_mesh_even_layers(const ps_mesh_span *span, int64_t layers, const int32_t *queue,
                         int32_t *layer, int64_t *sizes)
{
    const evening x = {span, layers, layer, sizes};
    int64_t count = span->end - span->first;
    memset(sizes, 0, (size_t)layers * sizeof *sizes);
    for (int64_t i = 0; i < count; ++i) ++sizes[layer[i]];
    while (even_once(&x, queue) * 1000 > count) {
    }
}

int64_t ps_mesh_layers_within(const int64_t *sizes, int64_t layers, double part)
{
    int64_t all = 0, least = layers, inside = 0, end = 0;
    for (int64_t l = 0; l < layers; ++l) all += sizes[l];
    for (int64_t l = 0; l < layers; ++l) {
        while (end < layers && (double)(inside + sizes[end]) <= part * (double)all)
            inside += sizes[end++];
        if (end == layers) break;
        if (end - l < least) least = end - l;
        if (end > l)
            inside -= sizes[l];
        else
            ++end; /* a layer that is larger */
    }
    return least;
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
