/*
 * dgtd_ports: a port of random faces and gradients in a dgtd_case.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_PORTS_H
#define PS_TESTS_SUPPORT_DGTD_PORTS_H

#include "tests/support/dgtd_case.h"
#include "tests/support/random.h"

enum { DGTD_SIDES_MAX = 64 };

typedef struct dgtd_port_sides {
    int32_t faces[DGTD_SIDES_MAX];
    double gradients[DGTD_SIDES_MAX][3];
    ps_dgtd_port_sides sides;
} dgtd_port_sides;

static inline int dgtd_faces_ascend(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

/* -1/2 .. 1/2. */
static inline double dgtd_uniform(uint64_t *seed)
{
    return (double)(congruence_next(seed) >> 33) * 0x1p-31 - .5;
}

/* Both sides of some inner faces and some PMC faces, from a face on. */
static inline void dgtd_choose_sides(dgtd_port_sides *p, const cube_tets *mesh, int32_t first)
{
    uint64_t seed = 3;
    int count = 0, inner = 0;
    for (int32_t f = first; f < 4 * mesh->elements && count < DGTD_SIDES_MAX - 2; f += 5) {
        int32_t other = mesh->links[f];
        bool known = false;
        for (int k = 0; k < count; ++k) known |= p->faces[k] == f;
        if (known || (other < 0 && mesh->kinds[f] != PS_DGTD_PMC)) continue;
        if (other >= 0 && inner++ > 12) continue;
        p->faces[count++] = f;
        if (other >= 0) p->faces[count++] = other;
    }
    qsort(p->faces, (size_t)count, sizeof *p->faces, dgtd_faces_ascend);
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < 3; ++c) p->gradients[k][c] = dgtd_uniform(&seed);
    p->sides = (ps_dgtd_port_sides){count, p->faces, (const double(*)[3])p->gradients, 1};
}

/* Once the steps of the system are set; state[2] stays the caller's. */
static inline void dgtd_port_init(ps_dgtd_port *port, dgtd_case *x, const ps_dgtd_port_sides *sides,
                                  ps_dgtd_network network, double *state)
{
    *port = (ps_dgtd_port){.network = network, .norm = .7, .state = state};
    ps_dgtd_port_count(port, &x->reference, sides);
    size_t entries = (size_t)(port->elements * 3 * x->reference.nodes);
    port->slots = dgtd_take(x, (size_t)port->elements * 8);
    port->places = dgtd_take(x, entries * 8);
    port->volts = dgtd_take(x, entries * 8);
    port->kept = dgtd_take(x, entries * 8);
    port->loads = dgtd_take(x, entries * 8);
    port->flux.places = dgtd_take(x, (size_t)port->flux.count * 8);
    port->flux.factors = dgtd_take(x, (size_t)port->flux.count * 8);
    ps_dgtd_port_fill(port, &x->system, &x->body, sides);
}

#endif
