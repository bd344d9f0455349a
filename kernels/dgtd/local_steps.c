#include "kernels/dgtd/local_steps.h"

#include <math.h>
#include <string.h>

enum { IN_P, IN_Q, OUTSIDE, STATES, THREADED_GROUPS = 64, RUN_GROUPS = 64 };

/* ---- classes ---- */

/* out = the largest of an element and its neighbours, but of closed ones. */
static void grow(const int32_t *links, int64_t elements, const uint8_t *closed, const uint8_t *in,
                 uint8_t *out)
{
#pragma omp parallel for
    for (int64_t e = 0; e < elements; ++e) {
        uint8_t most = in[e];
        for (int f = 0; f < 4 && !(closed && closed[e]); ++f) {
            int32_t link = links[4 * e + f];
            if (link >= 0 && in[link / 4] > most) most = in[link / 4];
        }
        out[e] = most;
    }
}

int ps_dgtd_local_reach(const int32_t *links, int64_t elements, const uint8_t *classes,
                        const uint8_t *closed, uint8_t *marks, uint8_t *reach)
{
    uint8_t *p = marks, *q = marks + elements, largest = 0;
    for (int64_t e = 0; e < elements; ++e) {
        p[e] = closed && closed[e] ? 0 : classes[e];
        if (p[e] > largest) largest = p[e];
    }
    for (int i = 0; i < PS_DGTD_LOCAL_OVERLAP;
         ++i) { /* the largest class near by: P of all levels at once */
        grow(links, elements, closed, p, q);
        memcpy(p, q, (size_t)elements);
    }
    grow(links, elements, closed, p, q);
    for (int64_t e = 0; e < elements; ++e)
        reach[e] = closed && closed[e] ? PS_DGTD_REACH_CLOSED : PS_DGTD_REACH(p[e], q[e]);
    return largest;
}

/* ---- operations ---- */

static void list_ops(ps_dgtd_local *x, int level, int y)
{
    bool deepest = level == x->levels - 1;
    if (!deepest) list_ops(x, level + 1, y);
    x->ops[x->op_count++] = (ps_dgtd_local_op){PS_DGTD_LOCAL_E, level, y};
    x->ops[x->op_count++] = (ps_dgtd_local_op){PS_DGTD_LOCAL_H, level, y};
    if (deepest) return;
    list_ops(x, level + 1, level);
    x->ops[x->op_count++] = (ps_dgtd_local_op){PS_DGTD_LOCAL_ADD, level, y};
}

static int state_of(const uint8_t *reach, int64_t elements, int64_t slot, int level)
{
    if (slot >= elements) return OUTSIDE;
    if (ps_dgtd_reach_p(reach[slot]) > level) return IN_P;
    return ps_dgtd_reach_q(reach[slot]) > level ? IN_Q : OUTSIDE;
}

/* Whether a group holds elements of P (which: 0) or Q (1). */
static bool holds(const ps_dgtd_system *s, const uint8_t *reach, int64_t group, int level,
                  int which)
{
    int lanes = ps_dgtd_lanes(s->precision);
    for (int64_t slot = group * lanes; slot < (group + 1) * lanes; ++slot)
        if (state_of(reach, s->elements, slot, level) <= which) return true;
    return false;
}

bool ps_dgtd_local_inner(const ps_dgtd_system *system, const uint8_t *reach, int64_t group)
{
    return holds(system, reach, group, 1, IN_Q);
}

bool ps_dgtd_local_near(const ps_dgtd_system *system, const uint8_t *reach, int64_t group)
{
    int64_t lanes = ps_dgtd_lanes(system->precision);
    for (int64_t at = 4 * lanes * group; at < 4 * lanes * (group + 1); ++at) {
        int64_t slot = group * lanes + at % lanes, other = system->links[at] / 4;
        if (slot < system->elements && other != slot && ps_dgtd_reach_q(reach[other]) > 1)
            return true;
    }
    return false;
}

bool ps_dgtd_local_is_mixed(const ps_dgtd_system *system, const uint8_t *reach)
{
    int64_t lanes = ps_dgtd_lanes(system->precision);
    for (int64_t e = 0; e < system->elements; ++e)
        if (reach[e] == PS_DGTD_REACH_CLOSED && ps_dgtd_local_inner(system, reach, e / lanes))
            return true;
    return false;
}

bool ps_dgtd_local_is_joint(const int32_t *links, const uint8_t *reach, int64_t e, int level)
{
    bool joint = ps_dgtd_reach_q(reach[e]) > level;
    for (int f = 0; f < 4; ++f)
        joint |= links[4 * e + f] >= 0 && ps_dgtd_reach_q(reach[links[4 * e + f] / 4]) > level;
    return joint;
}

int ps_dgtd_local_stages(const ps_dgtd_local *x, int depth, int *first)
{
    int count = 0;
    first[0] = 0;
    for (int i = 0; i < x->op_count; ++i) {
        if (x->ops[i].level >= depth || x->ops[i].kind == PS_DGTD_LOCAL_ADD) continue;
        if (count > 0) first[count] = i;
        ++count;
    }
    first[count] = x->op_count;
    return count;
}

/* Runs of groups of P or Q, each of RUN_GROUPS at most, to runs[][2] unless NULL; how many. */
static int64_t list_runs(const ps_dgtd_system *s, const uint8_t *reach, int level, int which,
                         int64_t *runs)
{
    int64_t count = 0, length = 0;
    for (int64_t g = 0; g < s->groups; ++g) {
        bool now = holds(s, reach, g, level, which), begins = now && length % RUN_GROUPS == 0;
        if (runs && begins) runs[2 * count] = g;
        count += begins;
        if (runs && now) runs[2 * count - 1] = g + 1;
        length = now ? length + 1 : 0;
    }
    return count;
}

void ps_dgtd_local_count(ps_dgtd_local *x, const ps_dgtd_system *system, const uint8_t *reach,
                         int levels)
{
    memset(x, 0, sizeof *x);
    x->levels = levels;
    if (x->levels > 0) list_ops(x, 0, -1);
    for (int l = 0; l < x->levels; ++l) {
        x->level[l].system = *system;
        x->level[l].system.materials = STATES * system->materials;
        x->level[l].system.material = NULL;
        x->level[l].system.steps = NULL;
        x->level[l].system.dispersion = NULL; /* poles see the whole step alone */
        for (int which = 0; which < 2; ++which)
            x->level[l].run_count[which] = list_runs(system, reach, l, which, NULL);
    }
}

static void fill_level(ps_dgtd_local *x, int l, const ps_dgtd_system *system,
                       const ps_dgtd_material *materials, const uint8_t *reach, double gain)
{
    ps_dgtd_system *s = &x->level[l].system;
    int64_t count = system->materials, slots = system->groups * ps_dgtd_lanes(system->precision);
    double keep = l == x->levels - 1;
    s->links = x->links;
    s->kinds = x->kinds;
    s->bordered = x->bordered;
    for (int64_t slot = 0; slot < slots; ++slot) {
        int state = state_of(reach, system->elements, slot, l);
        s->material[slot] = (uint16_t)(state * count + system->material[slot]);
    }
    for (int64_t m = 0; m < STATES * count; ++m) {
        const ps_dgtd_material *of = materials + m % count;
        int64_t state = m / count;
        ps_dgtd_set_factors(s, PS_DGTD_E, m, 0, state == IN_P ? 1 / of->eps : 0);
        ps_dgtd_set_factors(s, PS_DGTD_H, m, keep, state == OUTSIDE ? 0 : -gain / of->mu);
    }
    for (int which = 0; which < 2; ++which)
        list_runs(system, reach, l, which, x->level[l].runs[which]);
}

/* Faces between closed elements and others become those of metal. */
static void close_faces(ps_dgtd_local *x, const ps_dgtd_system *s, const uint8_t *reach)
{
    int64_t lanes = ps_dgtd_lanes(s->precision), faces = 4 * s->groups * lanes;
    memcpy(x->links, s->links, (size_t)faces * sizeof *x->links);
    memcpy(x->kinds, s->kinds, (size_t)faces);
    memcpy(x->bordered, s->bordered, (size_t)s->groups);
    for (int64_t at = 0; at < faces; ++at) {
        int64_t group = at / lanes / 4, slot = group * lanes + at % lanes, other = s->links[at] / 4;
        if (slot >= s->elements || other == slot) continue;
        if ((reach[slot] == PS_DGTD_REACH_CLOSED) == (reach[other] == PS_DGTD_REACH_CLOSED))
            continue;
        x->links[at] = (int32_t)(4 * slot + at / lanes % 4);
        x->kinds[at] = PS_DGTD_PEC;
        x->bordered[group] = 1;
    }
}

void ps_dgtd_local_fill(ps_dgtd_local *x, const ps_dgtd_system *system,
                        const ps_dgtd_material *materials, const uint8_t *reach, double dt)
{
    close_faces(x, system, reach);
    for (int l = 0; l < x->levels; ++l)
        fill_level(x, l, system, materials, reach, ps_dgtd_local_gain(l, dt));
    for (int64_t g = 0; g < system->groups; ++g) x->inside[g] = holds(system, reach, g, 0, 1);
}

static void *array_of(const ps_dgtd_local *x, int y, void *magnetic)
{
    return y < 0 ? magnetic : x->level[y].magnetic;
}

void *ps_dgtd_local_op_source(const ps_dgtd_local *x, const ps_dgtd_local_op *op, void *magnetic)
{
    if (op->kind == PS_DGTD_LOCAL_E) return array_of(x, op->y, magnetic);
    return op->kind == PS_DGTD_LOCAL_H ? x->level[op->level].electric : NULL;
}

/* ---- arithmetic ---- */

static void add(const ps_dgtd_system *s, void *to, const void *from, int64_t begin, int64_t end)
{
    int64_t size = 3 * (int64_t)s->reference->nodes * ps_dgtd_lanes(s->precision);
    for (int64_t g = begin; g < end; ++g)
        for (int64_t i = g * size; i < (g + 1) * size; ++i)
            if (s->precision == PS_SINGLE)
                ((float *)to)[i] += ((const float *)from)[i];
            else
                ((double *)to)[i] += ((const double *)from)[i];
}

void ps_dgtd_local_op_run(const ps_dgtd_local *x, const ps_dgtd_local_op *op, void *magnetic,
                          int64_t from, int64_t to)
{
    const ps_dgtd_local_level *level = x->level + op->level;
    void *y = array_of(x, op->y, magnetic), *own = level->magnetic ? level->magnetic : y;
    int which = op->kind != PS_DGTD_LOCAL_E;
#pragma omp parallel for schedule(dynamic) if (level->run_count[which] > 1)
    for (int64_t r = 0; r < level->run_count[which]; ++r) {
        int64_t begin = level->runs[which][2 * r], end = level->runs[which][2 * r + 1];
        if (begin < from) begin = from;
        if (end > to) end = to;
        if (begin >= end) continue;
        if (op->kind == PS_DGTD_LOCAL_E)
            ps_dgtd_half_step(&level->system, PS_DGTD_E, level->electric, y, begin, end);
        else if (op->kind == PS_DGTD_LOCAL_H)
            ps_dgtd_half_step(&level->system, PS_DGTD_H, own, level->electric, begin, end);
        else
            add(&level->system, y, level->magnetic, begin, end);
    }
}

void ps_dgtd_local_run_below(const ps_dgtd_local *x, int level, void *magnetic)
{
    int first = -1; /* the operations between the level's H and the sum of its increments */
    for (int i = 0; i < x->op_count; ++i) {
        const ps_dgtd_local_op *op = x->ops + i;
        if (first >= 0 && op->kind == PS_DGTD_LOCAL_ADD && op->level == level) return;
        if (first >= 0) ps_dgtd_local_op_run(x, op, magnetic, 0, x->level[level].system.groups);
        if (op->kind == PS_DGTD_LOCAL_H && op->level == level) first = i;
    }
}

void ps_dgtd_local_keep(const ps_dgtd_local *x, const ps_dgtd_system *system, const void *magnetic,
                        int64_t begin, int64_t end)
{
    size_t bytes = (size_t)ps_dgtd_group_bytes(system->order);
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; ++g)
        if (x->inside[g])
            memcpy((char *)x->kept + (size_t)g * bytes, (const char *)magnetic + (size_t)g * bytes,
                   bytes);
}

void ps_dgtd_local_swap(const ps_dgtd_local *x, const ps_dgtd_system *system, void *magnetic,
                        int64_t begin, int64_t end)
{
    size_t bytes = (size_t)ps_dgtd_group_bytes(system->order), words = bytes / sizeof(uint64_t);
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; ++g) {
        char *a = (char *)x->kept + (size_t)g * bytes, *b = (char *)magnetic + (size_t)g * bytes;
        for (size_t i = 0; x->inside[g] && i < words; ++i) {
            uint64_t u, v;
            memcpy(&u, a + i * sizeof u, sizeof u);
            memcpy(&v, b + i * sizeof v, sizeof v);
            memcpy(a + i * sizeof v, &v, sizeof v);
            memcpy(b + i * sizeof u, &u, sizeof u);
        }
    }
}

void ps_dgtd_local_apply(const ps_dgtd_local *x, const ps_dgtd_system *system, void *magnetic)
{
    ps_dgtd_local_keep(x, system, magnetic, 0, system->groups);
    for (int i = 0; i < x->op_count; ++i)
        ps_dgtd_local_op_run(x, x->ops + i, magnetic, 0, system->groups);
}
