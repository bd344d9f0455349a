#include "kernels/dgtd/ranges.h"

#include <string.h>

/* ---- pieces and layers ---- */

static int32_t root_of(int32_t *up, int32_t e)
{
    for (; up[e] != e; e = up[e]) up[e] = up[up[e]];
    return e;
}

void ps_dgtd_pieces(const int32_t *links, int64_t elements, const uint8_t *marked, int32_t *pieces)
{
    for (int64_t e = 0; e < elements; ++e) pieces[e] = marked[e] ? (int32_t)e : -1;
    for (int64_t f = 0; f < 4 * elements; ++f) {
        int32_t other = links[f] < 0 ? -1 : links[f] / 4;
        if (!marked[f / 4] || other < 0 || other >= elements || !marked[other]) continue;
        int32_t a = root_of(pieces, (int32_t)(f / 4)), b = root_of(pieces, other);
        if (a < b) pieces[b] = a; /* the root of a piece is its first element */
        if (b < a) pieces[a] = b;
    }
    for (int64_t e = 0; e < elements; ++e)
        if (marked[e]) pieces[e] = root_of(pieces, (int32_t)e);
}

typedef struct flood {
    const int32_t *links, *pieces;
    int64_t elements, head, tail;
    int32_t *layer, *queue, *next; /* next: of the piece, -1: none */
} flood;

/* Chains the elements of each piece, in their order. */
static void chain_pieces(flood *f)
{
    int32_t *last = f->layer; /* of a piece, at its first element */
    for (int64_t e = 0; e < f->elements; ++e) {
        int32_t first = f->pieces[e];
        f->next[e] = -1;
        if (first < 0) continue;
        if (first < e) f->next[last[first]] = (int32_t)e;
        last[first] = (int32_t)e;
    }
}

/* An element, with its piece. */
static void reach_element(flood *f, int64_t e, int32_t layer)
{
    if (f->layer[e] >= 0) return;
    for (int64_t i = f->pieces[e] < 0 ? e : f->pieces[e]; i >= 0; i = f->next[i]) {
        f->layer[i] = layer;
        f->queue[f->tail++] = (int32_t)i;
    }
}

static void flood_from(flood *f, int64_t seed)
{
    reach_element(f, seed, 0);
    for (; f->head < f->tail; ++f->head) {
        int64_t e = f->queue[f->head];
        for (int k = 0; k < 4; ++k) {
            int32_t link = f->links[4 * e + k];
            if (link >= 0 && link / 4 < f->elements) reach_element(f, link / 4, f->layer[e] + 1);
        }
    }
}

int64_t ps_dgtd_layers_of_pieces(const int32_t *links, int64_t elements, const int32_t *pieces,
                                 int64_t seed, int32_t *layer, int32_t *work)
{
    flood f = {.links = links, .pieces = pieces, .elements = elements};
    int64_t layers = 0;
    f.layer = layer;
    f.queue = work;
    f.next = work + elements;
    chain_pieces(&f);
    for (int64_t e = 0; e < elements; ++e) layer[e] = -1;
    if (elements > 0) flood_from(&f, seed);
    for (int64_t e = 0; e < elements; ++e)
        if (layer[e] < 0) flood_from(&f, e);
    for (int64_t e = 0; e < elements; ++e)
        if (layer[e] >= layers) layers = layer[e] + 1;
    return layers;
}

int64_t ps_dgtd_largest_row(const int32_t *layer, int64_t elements, int64_t layers, int64_t row,
                            int32_t *work)
{
    int64_t sum = 0, largest = 0;
    memset(work, 0, (size_t)layers * sizeof *work);
    for (int64_t e = 0; e < elements; ++e) ++work[layer[e]];
    for (int64_t l = 0; l < layers; ++l) {
        sum += work[l] - (l >= row ? work[l - row] : 0);
        if (sum > largest) largest = sum;
    }
    return largest;
}

/* ---- ranges ---- */

/* The last group that elements of a group are linked to. */
static int64_t reach_of(const ps_dgtd_system *system, int64_t group)
{
    int lanes = ps_dgtd_lanes(system->precision);
    const int32_t *links = system->links + 4 * lanes * group;
    int64_t reach = group;
    for (int i = 0; i < 4 * lanes; ++i) {
        int64_t other = links[i] / 4 / lanes;
        if (other > reach && other < system->groups) reach = other; /* not the halo */
    }
    return reach;
}

int64_t ps_dgtd_ranges(const ps_dgtd_system *system, int64_t first, int64_t least,
                       const int64_t *whole, int64_t *bounds)
{
    int64_t count = 0, reach = 0;
    bounds[0] = 0;
    while (bounds[count] < system->groups) {
        int64_t begin = bounds[count], end = begin + (count ? least : first);
        if (end <= reach) end = reach + 1; /* what the range before is linked to */
        if (end > system->groups || system->groups - end < least) end = system->groups;
        for (int64_t g = begin; g < end; ++g) {
            int64_t to = reach_of(system, g);
            if (to > reach) reach = to;
            if (whole && whole[g] >= end) end = whole[g] + 1;
        }
        bounds[++count] = end;
    }
    return count;
}

int64_t ps_dgtd_range_of(const int64_t *bounds, int64_t ranges, int64_t group)
{
    int64_t r = 0;
    while (r + 1 < ranges && bounds[r + 1] <= group) ++r;
    return r;
}
