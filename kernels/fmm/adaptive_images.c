#include "kernels/fmm/adaptive_images.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"

void ps_adaptive_images_root(ps_adaptive_tree *t, bool deep)
{
    t->box = (ps_octree_box){.corner = {-1, -1, -1}, .width = 4};
    t->deepest = PS_ADAPTIVE_DEEPEST;
    t->least = deep ? PS_IMAGES_SMOOTH : PS_IMAGES_BOX;
}

/* ---- cells ---- */

/* The box: above it there is one cell on each level. */
static const ps_adaptive_cell *box_of(const ps_adaptive_tree *t) { return &t->cell[PS_IMAGES_BOX]; }

static ps_status add_image(ps_adaptive_tree *t, int32_t twin, int32_t parent, const int shift[3])
{
    int64_t at = t->cells + t->images;
    if (at >= INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "an adaptive tree of more than %d cells", INT32_MAX);
    PS_TRY(t->room((void **)&t->cell, &t->capacity[0], at + 1, sizeof *t->cell, "cells"));
    PS_TRY(t->room((void **)&t->twin, &t->capacity[3], t->images + 1, sizeof *t->twin, "cells"));
    ps_adaptive_cell *image = &t->cell[at];
    *image = t->cell[twin];
    image->targets = (ps_fmm_range){0, 0};
    image->parent = parent;
    image->child = -1;
    image->children = 0;
    for (int d = 0; d < 3; ++d)
        image->place[d] += (int64_t)shift[d] * ((int64_t)1 << (image->level - PS_IMAGES_BOX));
    t->twin[t->images++] = twin;
    return PS_OK;
}

static void shift_of(const ps_adaptive_tree *t, int64_t cell, int shift[3])
{
    const ps_adaptive_cell *c = &t->cell[cell];
    const int64_t *from = t->cell[ps_adaptive_twin(t, (int32_t)cell)].place;
    for (int d = 0; d < 3; ++d)
        shift[d] = c->place[d] > from[d] ? 1 : c->place[d] < from[d] ? -1 : 0;
}

/* Images of the box itself become its colleagues. */
static ps_status surround(ps_adaptive_tree *t, const bool along[3])
{
    for (int n = 0; n < 27; ++n) {
        const int shift[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        bool in = n != 13;
        for (int d = 0; d < 3; ++d) in = in && (shift[d] == 0 || along[d]);
        if (!in) continue;
        t->around[PS_IMAGES_BOX][n] = (int32_t)(t->cells + t->images);
        PS_TRY(add_image(t, PS_IMAGES_BOX, -1, shift));
        if (ps_adaptive_is_leaf(box_of(t)))
            t->cell[PS_IMAGES_BOX].leaves_around |= (uint32_t)1 << n;
    }
    return PS_OK;
}

/* Images of the children of images [first, end) that are divided: these touch the box. */
static ps_status divide_images(ps_adaptive_tree *t, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) {
        int32_t twin = ps_adaptive_twin(t, (int32_t)i), child = t->cell[twin].child;
        int shift[3], children = t->cell[twin].children;
        if (child < 0 || !ps_adaptive_adjacent(&t->cell[i], box_of(t))) continue;
        shift_of(t, i, shift);
        t->cell[i].child = (int32_t)(t->cells + t->images);
        t->cell[i].children = (uint8_t)children;
        for (int c = 0; c < children; ++c) PS_TRY(add_image(t, child + c, (int32_t)i, shift));
    }
    return PS_OK;
}

/* Cells of a level that touch the border of the box have images as colleagues. */
static void look_around(const ps_adaptive_tree *t, int level)
{
    int64_t low = (int64_t)1 << (level - PS_IMAGES_BOX), high = 2 * low - 1;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t c = t->level_start[level]; c < t->level_start[level + 1]; ++c) {
        const int64_t *place = t->cell[c].place;
        bool outer = false;
        for (int d = 0; d < 3; ++d) outer = outer || place[d] == low || place[d] == high;
        if (outer) ps_adaptive_look_around(t, (int32_t)c);
    }
}

static ps_status make_cells(ps_adaptive_tree *t, const bool along[3])
{
    int64_t first = t->cells;
    PS_TRY(surround(t, along));
    for (int level = PS_IMAGES_BOX; level < t->levels; ++level) {
        int64_t end = t->cells + t->images;
        PS_TRY(divide_images(t, first, end));
        if (level > PS_IMAGES_BOX) look_around(t, level);
        first = end;
    }
    return PS_OK;
}

/* ---- copies of sources ---- */

/* Where images that act as particles are marked. */
typedef struct search {
    const ps_adaptive_tree *tree;
    const ps_adaptive_rule *rule;
    uint8_t *wanted;
} search;

static void mark(const search *s, const ps_adaptive_list *list)
{
    for (int64_t i = 0; i < list->count; ++i)
        if (ps_adaptive_is_image(s->tree, list->items[i])) {
#pragma omp atomic write
            s->wanted[list->items[i] - s->tree->cells] = 1;
        }
}

static ps_status mark_wanted(const void *self, int64_t cell, ps_adaptive_lists *lists)
{
    const search *s = self;
    PS_TRY(ps_adaptive_lists_of(s->tree, s->rule, (int32_t)cell, lists));
    mark(s, &lists->direct);
    mark(s, &lists->near);
    return PS_OK;
}

/* Whether an image has copies: its sources are behind the others. */
static bool has_copies(const ps_adaptive_tree *t, int32_t image)
{
    return image >= 0 && t->cell[image].sources.begin >= t->sets[0].points.count;
}

/* Those of a cell lie within its parent's if that has some. */
static int64_t number_copies(const ps_adaptive_tree *t, const uint8_t *wanted)
{
    int64_t end = t->sets[0].points.count;
    for (int64_t i = t->cells; i < t->cells + t->images; ++i) {
        ps_adaptive_cell *c = &t->cell[i];
        int64_t size = ps_adaptive_size(c->sources), begin = end;
        bool inside = has_copies(t, c->parent);
        if (size == 0 || (!inside && !wanted[i - t->cells])) continue;
        if (inside)
            begin = t->cell[c->parent].sources.begin + c->sources.begin -
                    t->cell[ps_adaptive_twin(t, c->parent)].sources.begin;
        else
            end += size;
        c->sources = (ps_fmm_range){begin, begin + size};
    }
    return end - t->sets[0].points.count;
}

ps_status ps_adaptive_images_make(ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                                  const bool along[3], int64_t *copies)
{
    uint8_t *wanted = NULL;
    int64_t capacity = 0;
    *copies = 0;
    PS_TRY(make_cells(t, along));
    PS_TRY(t->room((void **)&wanted, &capacity, t->images, 1, "images"));
    memset(wanted, 0, (size_t)t->images);
    const search whole = {t, rule, wanted};
    ps_status status = ps_adaptive_each(&whole, mark_wanted, 0, t->cells, 64);
    if (status == PS_OK) *copies = number_copies(t, wanted);
    free(wanted);
    return status;
}

void ps_adaptive_images_fill(const ps_adaptive_tree *t, int sides, int64_t stride, double *columns)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = t->cells; i < t->cells + t->images; ++i) {
        const ps_adaptive_cell *c = &t->cell[i];
        int64_t from = t->cell[ps_adaptive_twin(t, (int32_t)i)].sources.begin;
        int shift[3];
        if (!has_copies(t, (int32_t)i) || has_copies(t, c->parent)) continue;
        shift_of(t, i, shift);
        for (int row = 0; row < 3 + sides; ++row)
            for (int64_t k = 0; k < ps_adaptive_size(c->sources); ++k)
                columns[row * stride + c->sources.begin + k] =
                    columns[row * stride + from + k] + (row < 3 ? shift[row] : 0);
    }
}

/* ---- the boxes beyond ---- */

static int64_t smooth_cells(const ps_adaptive_tree *t)
{
    if (t->levels <= PS_IMAGES_SMOOTH) return 0;
    return ps_adaptive_level_cells(t, PS_IMAGES_SMOOTH);
}

/* Leaves above the cells that have expansions: nothing but the box and its children. */
static bool is_shallow(const ps_adaptive_tree *t, int64_t cell)
{
    const ps_adaptive_cell *c = &t->cell[cell];
    return c->level < PS_IMAGES_SMOOTH && ps_adaptive_is_leaf(c);
}

static int64_t shallow_end(const ps_adaptive_tree *t)
{
    return t->levels <= PS_IMAGES_SMOOTH ? t->cells : t->level_start[PS_IMAGES_SMOOTH];
}

static void centre_of(const ps_images_beyond *b, int64_t cell, double centre[3], double *width)
{
    const ps_adaptive_tree *t = b->tree;
    ps_adaptive_centre(&t->box, &t->cell[t->level_start[PS_IMAGES_SMOOTH] + cell], centre, width);
}

void ps_adaptive_images_moments(const ps_images_beyond *b, double *moments)
{
    int points = b->interpolation->points;
    const ps_fmm_particles *s = b->sources;
    memset(moments, 0, PS_PERIODIC_GRID * sizeof *moments);
    for (int64_t c = 0; c < smooth_cells(b->tree); ++c) {
        double centre[3], width, numbers[PS_FMM_POINTS_MAX];
        for (int m = 0; m < points; ++m)
            numbers[m] = ps_real_at(b->precision, b->multipoles, c * points + m);
        centre_of(b, c, centre, &width);
        ps_periodic_gather(b->periodic, b->interpolation, centre, width, numbers, moments);
    }
    for (int64_t c = 0; c < shallow_end(b->tree); ++c) {
        if (!is_shallow(b->tree, c)) continue;
        ps_fmm_range range = b->tree->cell[c].sources;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const double at[3] = {s->position[0][i], s->position[1][i], s->position[2][i]};
            ps_periodic_add(b->periodic, at, s->charges[b->side * s->stride + i], moments);
        }
    }
}

static void take_cell(const ps_images_beyond *b, const double *field, int64_t cell)
{
    int points = b->interpolation->points;
    double centre[3], width, numbers[PS_FMM_POINTS_MAX] = {0};
    centre_of(b, cell, centre, &width);
    ps_periodic_spread(b->periodic, b->interpolation, centre, width, field, numbers);
    for (int m = 0; m < points; ++m)
        if (b->precision == PS_SINGLE)
            ((float *)b->locals)[cell * points + m] += (float)numbers[m];
        else
            ((double *)b->locals)[cell * points + m] += numbers[m];
}

static void take_shallow(const ps_images_beyond *b, const double *field, ps_fmm_range range)
{
    const ps_fmm_particles *t = b->targets;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = range.begin; i < range.end; ++i) {
        const double at[3] = {t->position[0][i], t->position[1][i], t->position[2][i]};
        double values[4];
        ps_periodic_at(b->periodic, field, at, values);
        t->potential[b->side * t->stride + i] += values[0];
        for (int d = 0; d < 3; ++d) t->gradient[(3 * b->side + d) * t->stride + i] += values[1 + d];
    }
}

/* Whether what acts by particles acts on a cell. */
static bool is_wanted(const ps_images_beyond *b, int64_t cell)
{
    ps_fmm_range own = b->tree->cell[cell].targets;
    return is_shallow(b->tree, cell) && own.begin >= b->wanted.begin && own.end <= b->wanted.end;
}

void ps_adaptive_images_beyond(const ps_images_beyond *b)
{
    double moments[PS_PERIODIC_GRID], field[PS_PERIODIC_GRID];
    int64_t cells = b->locals ? smooth_cells(b->tree) : 0, shallow = 0;
    for (int64_t c = 0; c < shallow_end(b->tree); ++c) shallow += is_wanted(b, c);
    if (cells + shallow == 0) return;
    ps_adaptive_images_moments(b, moments);
    ps_periodic_act(b->periodic, moments, field);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < cells; ++c) take_cell(b, field, c);
    for (int64_t c = 0; c < shallow_end(b->tree); ++c)
        if (is_wanted(b, c)) take_shallow(b, field, b->tree->cell[c].targets);
}
