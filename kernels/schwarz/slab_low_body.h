/*
 * (I - T) x = r of one mode on the faces of all slabs (ps_low_system of slab_box.h). Run by
 * slab_coarse.c and traces_cuda.cu: the includer defines LEAF.
 *
 * A slab is a chain of equal layers. What its planes inside leave on its two faces, a diagonal and
 * a coupling, is made by joining chains: of twice the layers from two of them.
 */
typedef struct low_chain {
    double diagonal, coupling;
} low_chain;

LEAF low_chain join_chains(low_chain a, low_chain b)
{
    const double share = a.coupling / (a.diagonal + b.diagonal);
    a.diagonal -= share * a.coupling;
    a.coupling = -share * b.coupling;
    return a;
}

LEAF low_chain layer_of(const ps_low_system *s, double mu)
{
    low_chain layer;
    layer.diagonal = 1 / s->h + mu * s->mass[0] / 2;
    layer.coupling = -1 / s->h + mu * s->mass[1];
    return layer;
}

LEAF low_chain chain_of(const ps_low_system *s, double mu, int64_t layers)
{
    low_chain power = layer_of(s, mu), all = power;
    for (int64_t rest = layers - 1; rest > 0; rest /= 2) {
        if (rest % 2) all = join_chains(all, power);
        power = join_chains(power, power);
    }
    return all;
}

/* Face values of a slab of its face loads: u_l = here[0] g_l + across g_r, u_r = across g_l +
 * here[1] g_r. */
typedef struct low_response {
    double here[2], across;
} low_response;

/* Of slab j; the ends of the box hold zeros. */
LEAF low_response response_of(const ps_low_system *s, double mu, low_chain chain, int64_t j)
{
    const double left = chain.diagonal + s->p[0] + s->q[0] * mu;
    const double right = chain.diagonal + s->p[1] + s->q[1] * mu;
    const bool between = j > 0 && j < s->slabs - 1;
    const double coupling = between ? chain.coupling : 0;
    const double share = 1 / (left * right - coupling * coupling);
    low_response r;
    r.here[0] = j > 0 ? right * share : 0;
    r.here[1] = j < s->slabs - 1 ? left * share : 0;
    r.across = -coupling * share;
    return r;
}

/* x[2 (slabs - 1)]: r, which becomes the solution; space[slabs]; both `step` apart. Rows 2 j, what
 * slab j + 1 sends to its left, have no entries before the diagonal; without pivoting: T contracts.
 */
LEAF void solve_low_mode(const ps_low_system *s, double mu, double *x, double *space, int64_t step)
{
    const double sigma = s->p[0] + s->p[1] + (s->q[0] + s->q[1]) * mu;
    const int64_t last = s->slabs - 1, layers = s->layers / s->slabs, longer = s->layers % s->slabs;
    low_chain chain[2];
    chain[0] = chain_of(s, mu, layers);
    chain[1] = join_chains(chain[0], layer_of(s, mu));
    low_response here = response_of(s, mu, chain[longer > 0], 0);
    double value = 0, beyond = 0; /* of the row before: x = value - beyond x_next */
    for (int64_t j = 0; j < last; ++j) {
        const low_response next = response_of(s, mu, chain[j + 1 < longer], j + 1);
        double *even = x + 2 * j * step, *odd = even + step;
        const double before = -sigma * here.across;
        const double beside = 1 - sigma * here.here[1] - before * beyond;
        const double pivot = 1 / (1 - beside * (1 - sigma * next.here[0]));
        value = (*odd - before * value - beside * *even) * pivot;
        beyond = beside * sigma * next.across * pivot;
        *odd = value;
        space[j * step] = beyond;
        here = next;
    }
    double after = 0;
    for (int64_t j = last - 1; j >= 0; --j) {
        const low_response next = response_of(s, mu, chain[j + 1 < longer], j + 1);
        double *even = x + 2 * j * step, *odd = even + step;
        *odd -= space[j * step] * after;
        *even += sigma * next.across * after - (1 - sigma * next.here[0]) * *odd;
        after = *even;
    }
}
