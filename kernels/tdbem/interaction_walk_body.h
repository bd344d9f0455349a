/*
 * A part of interaction_pairs_cuda.cu: triangles as threads read them, the outer points of a pair,
 * and the walk of a warp over the shells of its (point, triangle) pairs.
 */
constexpr double inverse_4pi = 0.079577471545947667884;

/* ---- triangles ---- */

/* The numbers of a ps_triangle, in their order. */
enum {
    VERTEX = 0,
    NORMAL = 9,
    TANGENT = 12,
    LENGTH = 21,
    CENTROID = 24,
    AREA = 27,
    RADIUS = 28,
    CUT = 29
};
static_assert(offsetof(ps_triangle, cut) == CUT * sizeof(double) &&
                  offsetof(ps_triangle, length) == LENGTH * sizeof(double) &&
                  PS_TRIANGLE_NUMBERS == CUT + 1,
              "places in ps_triangle");

/* A triangle as it is, or from an array in which equal numbers of all triangles are neighbours: the
 * threads of a warp read those of 32 triangles at a time. */
struct triangle_view {
    const double *base;
    int64_t stride;

    __device__ double operator[](int number) const { return base[number * stride]; }
    __device__ void get(int number, double out[3]) const
    {
        for (int c = 0; c < 3; ++c) out[c] = base[(number + c) * stride];
    }
};

__device__ triangle_view as_it_is(const ps_device_tile &tile, int64_t triangle)
{
    return {reinterpret_cast<const double *>(tile.triangles + triangle), 1};
}

/* Triangle list[n], or first + n, of `count`, into apart[PS_TRIANGLE_NUMBERS][count]. */
__global__ void take_apart(const ps_triangle *triangles, const int32_t *list, int64_t first,
                           int64_t count, double *apart)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    const double *from = reinterpret_cast<const double *>(triangles + (list ? list[n] : first + n));
    for (int k = 0; k < PS_TRIANGLE_NUMBERS; ++k) apart[k * count + n] = from[k];
}

/* ---- pairs and their outer points ---- */

struct pair_view {
    triangle_view low, high;
    bool same;
    int base; /* the first shell it can touch */
};

/* Triangles a, read as it is, and b, from the array. */
__device__ pair_view view_pair(const ps_device_tile &tile, int64_t a, int64_t b,
                               const triangle_view &b_view)
{
    triangle_view a_view = as_it_is(tile, a);
    const triangle_view &s = a < b ? a_view : b_view, &t = a < b ? b_view : a_view;
    double x = s[CENTROID] - t[CENTROID], y = s[CENTROID + 1] - t[CENTROID + 1];
    double z = s[CENTROID + 2] - t[CENTROID + 2];
    double nearest = root(x * x + y * y + z * z) - (s[RADIUS] + t[RADIUS]);
    int base = (int)quotient(nearest * (1 - 1e-12), tile.shell);
    return {s, t, a == b, base > 0 ? base : 0};
}

/* ps_interaction_parts. */
__device__ int parts_of(const triangle_view &triangle, double shell)
{
    double longest = fmax(triangle[LENGTH], fmax(triangle[LENGTH + 1], triangle[LENGTH + 2]));
    int cut = (int)triangle[CUT];
    if (longest <= 10 * shell) return cut;
    return cut * (int)fmin(ceil(quotient(longest, 8 * shell)), 1024.0);
}

/* The outer points of a pair, both orders, in the order of ps_triangle_points: point q of a
 * sub-triangle. */
struct point_walk {
    const pair_view &pair;
    double factor;
    int parts, row, column, down, q;
    bool swapped, done;

    __device__ const triangle_view &outer() const { return swapped ? pair.high : pair.low; }
    __device__ const triangle_view &inner() const { return swapped ? pair.low : pair.high; }
    __device__ void enter(double shell)
    {
        parts = parts_of(outer(), shell);
        row = column = down = q = 0;
    }
    __device__ point_walk(const ps_device_tile &tile, const pair_view &p, bool any)
        : pair(p), factor(p.same ? inverse_4pi : inverse_4pi / 2), swapped(false), done(!any)
    {
        enter(tile.shell);
    }
    __device__ void next(const ps_device_tile &tile)
    {
        if (++q < tile.rule.count) return;
        q = 0;
        if (!down && column + row + 1 < parts) {
            down = 1;
            return;
        }
        down = 0;
        if (++column < parts - row) return;
        column = 0;
        if (++row < parts) return;
        done = swapped || pair.same;
        swapped = true;
        enter(tile.shell);
    }
    __device__ ps_point point(const ps_triangle_rule &rule) const
    {
        const double *p = rule.barycentric[q];
        const triangle_view &triangle = outer();
        double u = quotient(column + (down ? 1 - p[1] : p[1]), parts);
        double v = quotient(row + (down ? 1 - p[2] : p[2]), parts);
        ps_point out;
        out.barycentric[0] = 1 - u - v;
        out.barycentric[1] = u;
        out.barycentric[2] = v;
        for (int c = 0; c < 3; ++c)
            out.x[c] = (1 - u - v) * triangle[VERTEX + c] + u * triangle[VERTEX + 3 + c] +
                       v * triangle[VERTEX + 6 + c];
        out.weight = quotient(rule.weight[q] * triangle[AREA], (double)parts * parts);
        return out;
    }
};

/* ---- shells: a warp at a time, a (point, triangle) a thread ---- */

constexpr int WARP = PS_PAIR_THREADS, ITEMS = 3 * WARP;
constexpr unsigned all_lanes = 0xffffffffu;
static_assert(WARP == 32, "a block is a warp");
/* Of pairs: what a multiprocessor has registers for without spilling. */
constexpr int BLOCKS_HERE = 12;
/* With the flux: what it has shared memory and registers for. */
constexpr int BLOCKS_COMBINED = 8;

/* What is summed over a shell: J_{-1}; the moments and hats, too; the flux of the hats, too. */
enum walk_kind { SOFT, HATS, FLUX };

struct warp_space {
    lane_state state[WARP];
    double share[4][ITEMS]; /* of an edge that a sphere cuts */
    unsigned char item[ITEMS];
};
/* Behind it, for the flux. */
struct flux_space {
    flux_state state[WARP];
    double share[4][ITEMS]; /* cut_lanes */
};
constexpr size_t space_of(walk_kind kind)
{
    return sizeof(warp_space) + (kind == FLUX ? sizeof(flux_space) : 0);
}
static_assert(sizeof(warp_space) % sizeof(double) == 0, "a flux_space begins behind it");
/* Neighbours in an array of them use different banks of shared memory. */
static_assert(sizeof(lane_state) % 16 == 8 && sizeof(flux_state) % 16 == 8,
              "an odd number of doubles");

__device__ const lane_values *lanes_of(const double *x)
{
    return reinterpret_cast<const lane_values *>(x);
}

__device__ flux_space *flux_of(warp_space *space)
{
    return reinterpret_cast<flux_space *>(space + 1);
}

/* A triangle as a point sees it; the number of its shells. */
template <walk_kind kind>
__device__ __forceinline__ int see(const double point[3], const triangle_view &triangle,
                                   double shell, warp_space *space)
{
    constexpr bool hats = kind != SOFT, fluxes = kind == FLUX;
    lane_state *state = &space->state[threadIdx.x];
    flux_state *flux = fluxes ? &flux_of(space)->state[threadIdx.x] : nullptr;
    ps_shell_values out;
    double normal[3], around[3], vertex[3], tangent[3], length;
    triangle.get(NORMAL, normal);
    triangle.get(TANGENT, around);
#pragma unroll 1
    for (int e = 0; e < 3; ++e) {
        triangle.get(VERTEX + 3 * e, vertex);
        triangle.get(TANGENT + 3 * e, tangent);
        length = triangle[LENGTH + e];
        edge_place at = {lanes_of(vertex), lanes_of(tangent), lanes_of(normal), lanes_of(point),
                         &length};
        if (e == 0) see_height(&at, state->height);
        if (e == 0 && fluxes) see_flux(&at, flux);
        see_edge(&at, state->height, &state->edge[e]);
        measure_edge(&state->edge[e], state->height, hats, fluxes ? flux->log[e] : nullptr,
                     fluxes ? flux->solid[e] : nullptr);
        if (hats) turn_edge(&at, lanes_of(around), &state->edge[e]);
    }
    return (int)see_shells(shell, state, &out);
}

/* Which edges the sphere cuts: bit e. */
__device__ unsigned cuts_of(const lane_state *state, const sphere_lanes &sphere)
{
    unsigned cuts = 0;
    for (int e = 0; e < 3; ++e)
        if (any_cut(&state->edge[e], sphere.radius)) cuts |= 1u << e;
    return cuts;
}

/* Lists the cuts of all threads, lane + 32 x edge; returns where this one's begin. */
__device__ int list_cuts(warp_space *space, unsigned cuts, int *total)
{
    int lane = threadIdx.x, own = __popc(cuts), sum = own;
    for (int step = 1; step < WARP; step *= 2) {
        int other = __shfl_up_sync(all_lanes, sum, step);
        if (lane >= step) sum += other;
    }
    *total = __shfl_sync(all_lanes, sum, WARP - 1);
    int base = sum - own, at = base;
    for (int e = 0; e < 3; ++e)
        if (cuts >> e & 1) space->item[at++] = (unsigned char)(lane + WARP * e);
    __syncwarp();
    return base;
}

template <walk_kind kind>
__device__ __forceinline__ void share_out(warp_space *space, int row, int total, double shell)
{
    constexpr bool hats = kind != SOFT;
    sphere_lanes sphere;
    for (int i = threadIdx.x; i < total; i += WARP) {
        int item = space->item[i];
        const lane_state *state = &space->state[item % WARP];
        const edge_lanes *edge = &state->edge[item / WARP];
        set_sphere(state, (double)(row + 1), shell, hats, &sphere);
        edge_clip clip = clip_edge(edge, 0, state->height[0], sphere.radius[0]);
        edge_share share = clip_share(edge, 0, state->height[0], clip, &sphere, hats);
        space->share[0][i] = share.inverse;
        if (!hats) continue;
        space->share[1][i] = share.one;
        space->share[2][i] = share.distance;
        space->share[3][i] = share.moment;
        if (kind != FLUX) continue;
        flux_space *flux = flux_of(space);
        flux->share[0][i] = clip.turn;
        flux->share[1][i] = clip.part.solid;
        flux->share[2][i] = clip.part.log;
        flux->share[3][i] = clip.length;
    }
    __syncwarp();
}

/* What edge e gives to the flux, if the sphere cuts it by its share number `at`. */
__device__ __forceinline__ void add_edge_flux(warp_space *space, int e, bool cut, int at, double R,
                                              flux_inside *through)
{
    const flux_space *flux = flux_of(space);
    const lane_state *state = &space->state[threadIdx.x];
    const flux_state *own = &flux->state[threadIdx.x];
    if (cut) {
        cut_lanes share = {
            {flux->share[0][at]}, {flux->share[1][at]}, {flux->share[2][at]}, {flux->share[3][at]}};
        add_cut_flux(state, own, e, 0, &share, R, through);
    } else
        add_uncut_flux(state, own, e, 0, R, through);
}

/* Integrals over what is inside a sphere. */
struct inside_all {
    inside sums;
    flux_inside through;
};

/* The sums over the edges inside the sphere; `at`: where the cut ones' shares begin. */
template <walk_kind kind>
__device__ __forceinline__ void sum_edges(warp_space *space, const sphere_lanes &sphere,
                                          unsigned cuts, int at, inside_all *all)
{
    constexpr bool hats = kind != SOFT;
    const lane_state *state = &space->state[threadIdx.x];
    memset(&all->sums, 0, sizeof all->sums);
    if (kind == FLUX) memset(&all->through, 0, sizeof all->through);
#pragma unroll 1
    for (int e = 0; e < 3; ++e) {
        edge_share share;
        bool cut = cuts >> e & 1;
        if (cut)
            share = {space->share[0][at], space->share[1][at], space->share[2][at],
                     space->share[3][at]};
        else
            share = uncut_share(&state->edge[e], 0, &sphere, hats);
        add_share(&state->edge[e], 0, share, hats, &all->sums);
        if (kind == FLUX) add_edge_flux(space, e, cut, at, sphere.radius[0], &all->through);
        at += cut;
    }
}

/* Shell by shell of this thread's (point, triangle), if it has one: add(number, values), the values
 * those of ps_shell_values in its order. All threads of a warp come here together. */
template <walk_kind kind, typename Add>
__device__ __forceinline__ void walk(warp_space *space, bool any, const double point[3],
                                     const triangle_view &triangle, double shell, const Add &add)
{
    constexpr bool hats = kind != SOFT;
    int count = 0, total;
    const lane_state *state = &space->state[threadIdx.x];
    double values[kind == FLUX ? 9 : 6][1][PS_LANES], twice_area[PS_LANES] = {2 * triangle[AREA]};
    ps_shell_values out;
    inside_all before, now;
    sphere_lanes sphere;
    out.inverse = values[0];
    out.one = values[1];
    out.distance = values[2];
    for (int a = 0; a < 3; ++a) out.hat[a] = values[3 + a];
    for (int a = 0; kind == FLUX && a < 3; ++a) out.flux[a] = values[kind == FLUX ? 6 + a : 0];
    if (any) count = see<kind>(point, triangle, shell, space);
    int first = any ? (int)state->first[0] : 0;
    memset(&before, 0, sizeof before);
    __syncwarp();
#pragma unroll 1
    for (int row = 0; __any_sync(all_lanes, row < count); ++row) {
        bool here = row < count;
        unsigned cuts = 0;
        if (here) {
            set_sphere(state, (double)(row + 1), shell, hats, &sphere);
            cuts = cuts_of(state, sphere);
        }
        int at = list_cuts(space, cuts, &total);
        share_out<kind>(space, row, total, shell);
        if (here) {
            sum_edges<kind>(space, sphere, cuts, at, &now);
            store_shell(twice_area, state, &before.sums, &now.sums, 0, hats, &out);
            if (kind == FLUX)
                store_flux(twice_area, state, &flux_of(space)->state[threadIdx.x], &before.through,
                           &now.through, 0, &out);
            add(first + row, values);
            before = now;
        }
        __syncwarp();
    }
}
