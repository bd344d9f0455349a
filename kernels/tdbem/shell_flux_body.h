/*
 * The flux of 1/(4 pi r) through the shells of a triangle, hat by hat: the double layer of
 * shell_integral.h, beside all that shell_integral_body.h computes. A part of shell_integral_cpu.c
 * and of interaction_pairs_cuda.cu.
 *
 * Inside the sphere r < R, by the divergence theorem in polar coordinates about x0, over all edges:
 *     int r^-3 = 1/|d| sum sigma [ Om + (1 - |d|/R)(w - th) ],
 *     int (y - x0) r^-3 = sum m (len/R - L),
 * the last with the arcs replaced by their chords, as V is. Both are multiplied by
 * (x - y).n = d, which takes 1/|d| away, so that nothing is singular in the plane of T.
 */

typedef struct flux_state {
    lane_values offset;           /* d, signed                  */
    lane_values log[3], solid[3]; /* of each edge wholly inside */
} flux_state;

/* int over the part inside of r^-3 times |d|, and of (y - x0) r^-3, in-plane. */
typedef struct flux_inside {
    lane_values turn, vu, vw;
} flux_inside;

/* From edge 0; measure_edge() sets the rest. */
LANES_INLINE void see_flux(const edge_place *at, flux_state *flux)
{
    const lane_values *p = at->vertex, *n = at->normal, *x = at->point;
    LANE_LOOP flux->offset[c] = n[0][c] * (x[0][c] - p[0][c]) + n[1][c] * (x[1][c] - p[1][c]) +
                                n[2][c] * (x[2][c] - p[2][c]);
}

LANES_INLINE void add_flux(const edge_lanes *edge, int c, double turn, double moment,
                           flux_inside *sum)
{
    sum->turn[c] += turn;
    sum->vu[c] += edge->tw[c] * moment;
    sum->vw[c] -= edge->tu[c] * moment;
}

/* The share of edge e that is wholly inside, or (out) wholly outside. */
LANES_INLINE void add_uncut_flux(const lane_state *state, const flux_state *flux, int e, int c,
                                 double R, flux_inside *sum)
{
    const edge_lanes *edge = &state->edge[e];
    bool out = R <= edge->nearest[c];
    double side = side_of(edge->g[c]),
           beyond = (1 - quotient(state->height[c], R)) * edge->angle[c];
    add_flux(edge, c, side * (out ? beyond : flux->solid[e][c]),
             out ? 0.0 : quotient(edge->length[c], R) - flux->log[e][c], sum);
}

/* What a cut edge's flux is made of: of the part inside. */
typedef struct cut_lanes {
    lane_values turn, solid, log, length;
} cut_lanes;

LANES_INLINE void add_cut_flux(const lane_state *state, const flux_state *flux, int e, int c,
                               const cut_lanes *cut, double R, flux_inside *sum)
{
    const edge_lanes *edge = &state->edge[e];
    double r1 = edge->r1[c], r2 = edge->r2[c], side = side_of(edge->g[c]);
    bool out = R <= edge->nearest[c], in = R >= (r1 > r2 ? r1 : r2);
    double beyond = (1 - quotient(state->height[c], R)) * cut->turn[c];
    double part = (out ? 0.0 : side * cut->solid[c]) + beyond;
    double moment = quotient(in ? edge->length[c] : cut->length[c], R);
    moment -= in ? flux->log[e][c] : cut->log[c];
    add_flux(edge, c, in ? side * flux->solid[e][c] : part, out ? 0.0 : moment, sum);
}

/* add_cut(), and the flux; in two loops, each of which becomes vector operations. */
LANES_INLINE void add_cut_both(const lane_state *state, const flux_state *flux, int e,
                               const sphere_lanes *sphere, inside *sum, flux_inside *through)
{
    const edge_lanes *edge = &state->edge[e];
    cut_lanes cut;
    LANE_LOOP
    {
        double d = state->height[c];
        edge_clip clip = clip_edge(edge, c, d, sphere->radius[c]);
        add_share(edge, c, clip_share(edge, c, d, clip, sphere, true), true, sum);
        cut.turn[c] = clip.turn;
        cut.solid[c] = clip.part.solid;
        cut.log[c] = clip.part.log;
        cut.length[c] = clip.length;
    }
    LANE_LOOP add_cut_flux(state, flux, e, c, &cut, sphere->radius[c], through);
}

/* integrate() of all, and the flux. */
LANES_INLINE void integrate_flux(const lane_state *state, const flux_state *flux,
                                 const sphere_lanes *sphere, inside *sum, flux_inside *through)
{
    memset(sum, 0, sizeof *sum);
    memset(through, 0, sizeof *through);
    for (int e = 0; e < 3; ++e) {
        if (any_cut(&state->edge[e], sphere->radius)) {
            add_cut_both(state, flux, e, sphere, sum, through);
        } else {
            add_uncut(&state->edge[e], sphere, true, sum);
            LANE_LOOP add_uncut_flux(state, flux, e, c, sphere->radius[c], through);
        }
    }
}

/* int phi_a (x - y).n / r^3 over the shell, for the three hats. */
LANES_INLINE void store_flux(const lane_values twice_area, const lane_state *state,
                             const flux_state *flux, const flux_inside *before,
                             const flux_inside *now, int64_t row, ps_shell_values *out)
{
    for (int a = 0; a < 3; ++a) {
        const edge_lanes *edge = &state->edge[(a + 1) % 3];
        double *value = out->flux[a][row];
        LANE_LOOP
        {
            double d = flux->offset[c];
            double across = edge->tw[c] * (now->vu[c] - before->vu[c]) -
                            edge->tu[c] * (now->vw[c] - before->vw[c]);
            double mean = side_of(d) * edge->g[c] * (now->turn[c] - before->turn[c]);
            value[c] = quotient((mean - d * across) * edge->length[c], twice_area[c]);
        }
    }
}
