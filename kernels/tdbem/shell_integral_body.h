/*
 * The shell integrals, PS_LANES (point, triangle) pairs at a time: what shell_integral_cpu.c and
 * interaction_pairs_cuda.cu walk shell by shell. See specs/tdbem_assembly.md for the derivation.
 * Loops over lanes have a fixed length and no branches, so that the compiler makes one vector
 * operation of each; transcendental parts are skipped where no lane needs them.
 *
 * Notation for one lane: x0 the projection of x, d its height; for an edge with tangent t and
 * outward normal m: g = m.(p - x0) >= 0 if x0 is on the inner side; s runs along the edge from
 * the foot of x0, s1 <= s <= s2; r(s)^2 = R0^2 + s^2, R0^2 = g^2 + d^2.
 */

#define TINY 1e-300
/* LANES_INLINE: inlined always, so that `hats` is a constant wherever it is asked. In a CUDA kernel
 * a thread is a lane. */
#ifdef __CUDACC__
#define LANE_LOOP for (int c = 0; c < PS_LANES; ++c)
#define LANE_LOOP_ANY LANE_LOOP
#define LANES_INLINE static __device__ __forceinline__
#define LANES_ALIGNED
#else
#define LANE_LOOP _Pragma("omp simd") for (int c = 0; c < PS_LANES; ++c)
#define LANE_LOOP_ANY _Pragma("omp simd reduction(| : any)") for (int c = 0; c < PS_LANES; ++c)
#define LANES_INLINE static inline __attribute__((always_inline))
#define LANES_ALIGNED __attribute__((aligned(64)))
#endif

/* a b + c, fused where the machine can. The file is compiled without automatic contraction: what
 * is fused must not depend on whether a part is skipped, for a lane's bits to be its own. So a CUDA
 * device and a processor that fuses give the same bits. */
#if defined __CUDACC__
#define madd(a, b, c) fma((a), (b), (c))
#elif defined __FMA__
#define madd(a, b, c) __builtin_fma((a), (b), (c))
#else
#define madd(a, b, c) ((a) * (b) + (c))
#endif

/* quotient, third, root: a / b, a / 3 and sqrt(a), correctly rounded. On a CUDA device without the
 * branches of / and sqrt for operands near the ends of the range, so that independent ones overlap:
 * quotients and divisors are between 1e-300 and 1e300, or the quotient is 0; roots of less than
 * TINY are 0. */
#ifdef __CUDACC__
static __device__ __forceinline__ double quotient(double a, double b)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
    double e = fma(-b, y, 1.0);
    y = fma(y, fma(e, e, e), y);
    y = fma(y, fma(-b, y, 1.0), y);
    double q = a * y;
    return fma(fma(-b, q, a), y, q);
}

static __device__ __forceinline__ double third(double a)
{
    const double y = 1.0 / 3;
    double q = a * y;
    return fma(fma(-3.0, q, a), y, q);
}

static __device__ __forceinline__ double root(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    double e = fma(a, -(y * y), 1.0);
    y = fma(fma(e, 0.375, 0.5), e * y, y);
    double s = a * y;
    s = fma(fma(-s, s, a), y / 2, s);
    return a > TINY ? s : 0.0;
}
#else
#define quotient(a, b) ((a) / (b))
#define third(a) ((a) / 3)
#define root(a) sqrt(a)
#endif

typedef double lane_values[PS_LANES] LANES_ALIGNED;

/* An edge as seen from the points of all lanes. */
typedef struct edge_lanes {
    lane_values s1, r1, r2;        /* beginning along the edge, distances of both ends from x */
    lane_values nearest;           /* distance from x to the edge                             */
    lane_values g, foot2;          /* g, R0^2                                                 */
    lane_values angle;             /* that the edge spans, seen from x0, >= 0                 */
    lane_values inverse, distance; /* J_{-1}, J_1 parts of an edge inside the sphere          */
    lane_values length, along;     /* int ds and int r ds over the whole edge                 */
    lane_values tu, tw;            /* tangent in the frame of edge 0: (t_0, n x t_0)          */
} edge_lanes;

/* The sign of g, 0 if g = 0: then the edge spans no angle. */
LANES_INLINE double side_of(double g) { return g > 0 ? 1.0 : (g < 0 ? -1.0 : 0.0); }

typedef struct lane_state {
    edge_lanes edge[3];
    lane_values height; /* |d| */
    lane_values first;  /* number of the first shell */
} lane_state;

/* atan2(y, x) for y, x >= 0; 0 at (0, 0). Error below 2 ulp. */
LANES_INLINE double angle_of(double y, double x)
{
    double low = y < x ? y : x, high = (y < x ? x : y) + TINY;
    bool upper = low > 0.41421356237309503 * high; /* tan(pi/8) */
    double t = quotient(upper ? low - high : low, upper ? low + high : high);
    double u = t * t;
    double p = 0.021256629784503397473;
    p = madd(p, u, -0.043588352182852137071);
    p = madd(p, u, 0.05692449982584821174);
    p = madd(p, u, -0.066411044113241266702);
    p = madd(p, u, 0.076900664010314291873);
    p = madd(p, u, -0.090907822804788975159);
    p = madd(p, u, 0.11111106648068126739);
    p = madd(p, u, -0.14285714195131147722);
    p = madd(p, u, 0.19999999999087452341);
    p = madd(p, u, -0.33333333333330144736);
    double angle = (upper ? 0.78539816339744830962 : 0.0) + madd(t * u, p, t);
    return y > x ? 1.5707963267948966192 - angle : angle;
}

LANES_INLINE int64_t bits_of(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i;
}

LANES_INLINE double double_of(int64_t i)
{
    double x;
    memcpy(&x, &i, sizeof x);
    return x;
}

/* log(n / m) for n >= m > 0 whose difference n - m is known accurately: relative error of a
 * few ulp also for n close to m. */
LANES_INLINE double log_quotient(double n, double m, double difference)
{
    int64_t low = bits_of(m);
    int64_t k = (int64_t)((uint64_t)(bits_of(n) - low + 0x0008000000000000) >> 52);
    /* 2^k m, within a factor 1.5 of n */
    double scaled = double_of((int64_t)((uint64_t)low + ((uint64_t)k << 52)));
    double power = double_of(0x4338000000000000 + k) - 0x1.8p52;
    double s = quotient(k == 0 ? difference : n - scaled, n + scaled);
    double u = s * s;
    double p = 0.07706318016279755034;
    p = madd(p, u, 0.076222115004133252361);
    p = madd(p, u, 0.090933234108516459997);
    p = madd(p, u, 0.11111065668925145099);
    p = madd(p, u, 0.14285714741902946135);
    p = madd(p, u, 0.19999999997831863318);
    p = madd(p, u, 0.33333333333336816217);
    return madd(power, 0.69314718055994530942, 2 * madd(s * u, p, s));
}

/* For the part a <= s <= b of an edge, of length `length`: */
typedef struct span {
    double log;   /* int ds / r = log((ra + rb + length) / (ra + rb - length))                  */
    double solid; /* int (1 - |d|/r) dtheta: the solid angle of (x0, a, b) seen from x           */
    double angle; /* int dtheta, seen from x0                                                   */
} span;

/* q = ra rb + R0^2 + a b, free of cancellation if multiplied by `scale` where a b < 0; then
 * n/m = n^2/(2 q), and tan(solid/2) = ag length / (q + |d| (ra + rb)) (van Oosterom and
 * Strackee 1983, for the triangle x0, a, b). */
LANES_INLINE span span_of(double a, double b, double ra, double rb, double length, double ag,
                          double height, double foot2)
{
    double sum = ra + rb, n = sum + length, product = ra * rb, ab = a * b;
    bool across = ab < 0;
    double scale = across ? product - ab : 1;
    double q = across ? foot2 * (scale + foot2 + madd(a, a, b * b)) : product + foot2 + ab;
    double ns = n * scale, turn = madd(ag, ag, ab);
    span out;
    out.log = log_quotient(n * ns, madd(2.0, q, TINY), 2 * length * ns);
    out.solid = 2 * angle_of(ag * length * scale, madd(height * sum, scale, q));
    double angle = angle_of(ag * length, fabs(turn));
    out.angle = turn < 0 ? 3.1415926535897932385 - angle : angle;
    return out;
}

/* int_a^b r ds = (b rb - a ra + R0^2 log)/2, from a + b, ra + rb and b - a: far away, the
 * difference of the products would cancel. */
LANES_INLINE double distance_along(double ends, double sum, double length, double foot2, double log)
{
    return length * (sum + quotient(ends * ends, sum + TINY)) / 4 + foot2 * log / 2;
}

/* Where an edge lies: its beginning, tangent and length, the triangle's normal and the points. */
typedef struct edge_place {
    const lane_values *vertex, *tangent, *normal, *point;
    const double *length;
} edge_place;

/* Distances along and across an edge, its ends and nearest point. */
LANES_INLINE void see_edge(const edge_place *at, const lane_values height, edge_lanes *edge)
{
    const lane_values *p = at->vertex, *t = at->tangent, *n = at->normal, *x = at->point;
    LANE_LOOP
    {
        double px = p[0][c] - x[0][c], py = p[1][c] - x[1][c], pz = p[2][c] - x[2][c];
        double tx = t[0][c], ty = t[1][c], tz = t[2][c];
        double nx = n[0][c], ny = n[1][c], nz = n[2][c];
        double mx = ty * nz - tz * ny, my = tz * nx - tx * nz, mz = tx * ny - ty * nx;
        double s1 = madd(tx, px, madd(ty, py, tz * pz)), s2 = s1 + at->length[c];
        double g = madd(mx, px, madd(my, py, mz * pz));
        double foot2 = madd(g, g, height[c] * height[c]), foot = root(foot2);
        double r1 = root(madd(s1, s1, foot2)), r2 = root(madd(s2, s2, foot2));
        edge->s1[c] = s1;
        edge->g[c] = g;
        edge->foot2[c] = foot2;
        edge->r1[c] = r1;
        edge->r2[c] = r2;
        edge->nearest[c] = s1 > 0 ? r1 : (s2 < 0 ? r2 : foot);
        edge->length[c] = at->length[c]; /* not s2 - s1, which has lost digits far away */
    }
}

/* |d|, from any vertex. */
LANES_INLINE void see_height(const edge_place *at, lane_values height)
{
    const lane_values *p = at->vertex, *n = at->normal, *x = at->point;
    LANE_LOOP height[c] = fabs(n[0][c] * (x[0][c] - p[0][c]) + n[1][c] * (x[1][c] - p[1][c]) +
                               n[2][c] * (x[2][c] - p[2][c]));
}

/* The shells that each triangle reaches, once its edges are seen. Returns the largest count. */
LANES_INLINE int64_t see_shells(double shell, lane_state *state, ps_shell_values *out)
{
    const edge_lanes *e0 = &state->edge[0], *e1 = &state->edge[1], *e2 = &state->edge[2];
    lane_values last;
    double per = quotient(1, shell);
    LANE_LOOP
    {
        double near = e0->nearest[c] < e1->nearest[c] ? e0->nearest[c] : e1->nearest[c];
        near = near < e2->nearest[c] ? near : e2->nearest[c];
        double g = e0->g[c] < e1->g[c] ? e0->g[c] : e1->g[c];
        g = g < e2->g[c] ? g : e2->g[c];
        near = g >= 0 ? state->height[c] : near;
        double far = e0->r1[c] > e1->r1[c] ? e0->r1[c] : e1->r1[c];
        far = far > e2->r1[c] ? far : e2->r1[c];
        state->first[c] = floor(near * per);
        last[c] = floor(far * per);
    }
    int64_t most = 0;
    for (int c = 0; c < PS_LANES; ++c) {
        out->first[c] = (int64_t)state->first[c];
        out->count[c] = (int64_t)(last[c] - state->first[c]) + 1;
        most = out->count[c] > most ? out->count[c] : most;
    }
    return most;
}

/* What an edge gives once it is wholly inside the sphere; its log and solid angle, unless NULL. */
LANES_INLINE void measure_edge(edge_lanes *edge, const lane_values height, bool hats, double *log,
                               double *solid)
{
    LANE_LOOP
    {
        double d = height[c], ag = fabs(edge->g[c]), side = side_of(edge->g[c]);
        double length = edge->length[c], s1 = edge->s1[c], s2 = s1 + length;
        span whole = span_of(s1, s2, edge->r1[c], edge->r2[c], length, ag, d, edge->foot2[c]);
        double inverse = madd(ag, whole.log, -d * whole.solid);
        edge->angle[c] = whole.angle;
        if (log) log[c] = whole.log;
        if (solid) solid[c] = whole.solid;
        edge->inverse[c] = side * inverse;
        if (hats) {
            double along = distance_along(s1 + s2, edge->r1[c] + edge->r2[c], length,
                                          edge->foot2[c], whole.log);
            edge->along[c] = along;
            edge->distance[c] = third(edge->g[c] * along + side * d * d * inverse);
        }
    }
}

/* The tangent in the frame of edge 0, whose tangent is u. */
LANES_INLINE void turn_edge(const edge_place *at, const lane_values *u, edge_lanes *edge)
{
    const lane_values *t = at->tangent, *n = at->normal;
    LANE_LOOP
    {
        double wx = n[1][c] * u[2][c] - n[2][c] * u[1][c];
        double wy = n[2][c] * u[0][c] - n[0][c] * u[2][c];
        double wz = n[0][c] * u[1][c] - n[1][c] * u[0][c];
        edge->tu[c] = t[0][c] * u[0][c] + t[1][c] * u[1][c] + t[2][c] * u[2][c];
        edge->tw[c] = t[0][c] * wx + t[1][c] * wy + t[2][c] * wz;
    }
}

/* Integrals over the part of the triangle inside the sphere r < R. */
typedef struct inside {
    lane_values inverse, one, distance, vu, vw; /* (vu, vw) = int (y - x0) / r, in-plane       */
} inside;

/* The sphere of all lanes, and int_|d|^R r^n dr for n = 0, 1, 2. */
typedef struct sphere_lanes {
    lane_values radius, depth0, depth1, depth2;
} sphere_lanes;

LANES_INLINE void set_sphere(const lane_state *state, double row, double shell, bool hats,
                             sphere_lanes *sphere)
{
    LANE_LOOP
    {
        double R = (state->first[c] + row) * shell, d = state->height[c];
        sphere->radius[c] = R;
        sphere->depth0[c] = R - d;
        if (hats) {
            sphere->depth1[c] = (R - d) * (R + d) / 2;
            sphere->depth2[c] = third((R - d) * (R * R + R * d + d * d));
        }
    }
}

/* True if the sphere cuts the edge in any lane. */
LANES_INLINE bool any_cut(const edge_lanes *edge, const lane_values radius)
{
    int64_t any = 0;
    LANE_LOOP_ANY
    {
        double far = edge->r1[c] > edge->r2[c] ? edge->r1[c] : edge->r2[c];
        any |= radius[c] > edge->nearest[c] && radius[c] < far;
    }
    return any != 0;
}

/* What an edge adds in a lane; moment: of (y - x0) / r along the edge's outward normal. */
typedef struct edge_share {
    double inverse, one, distance, moment;
} edge_share;

/* Where the sphere does not cut the edge: it is wholly outside, or wholly inside. */
LANES_INLINE edge_share uncut_share(const edge_lanes *edge, int c, const sphere_lanes *sphere,
                                    bool hats)
{
    double R = sphere->radius[c];
    bool out = R <= edge->nearest[c];
    double turn = side_of(edge->g[c]) * edge->angle[c];
    edge_share share = {0, 0, 0, 0};
    share.inverse = out ? sphere->depth0[c] * turn : edge->inverse[c];
    if (hats) {
        share.one = out ? sphere->depth1[c] * turn : edge->g[c] * edge->length[c] / 2;
        share.distance = out ? sphere->depth2[c] * turn : edge->distance[c];
        share.moment = out ? 0.0 : edge->along[c] - R * edge->length[c];
    }
    return share;
}

/* The part a <= s <= b of an edge that is inside the sphere. */
typedef struct edge_clip {
    span part;
    double ends, sum, length; /* a + b, distances of both ends from x, b - a                     */
    double turn;              /* signed angle of the edge whose rays end at the sphere            */
    bool out, in;             /* the edge is wholly outside, wholly inside                        */
} edge_clip;

LANES_INLINE edge_clip clip_edge(const edge_lanes *edge, int c, double d, double R)
{
    double g = edge->g[c], ag = fabs(g), foot2 = edge->foot2[c];
    double s1 = edge->s1[c], s2 = s1 + edge->length[c], r1 = edge->r1[c], r2 = edge->r2[c];
    double square = madd(R, R, -foot2);
    double sr = root(square > 0 ? square : 0.0);
    bool low = -sr > s1, high = s2 > sr;
    double a = low ? -sr : s1, b = high ? sr : s2;
    double ra = low ? R : r1, rb = high ? R : r2;
    edge_clip clip;
    clip.out = R <= edge->nearest[c];
    clip.in = R >= (r1 > r2 ? r1 : r2);
    clip.ends = a + b;
    clip.sum = ra + rb;
    clip.length = b - a;
    clip.part = span_of(a, b, ra, rb, clip.length, ag, d, foot2);
    double whole = edge->angle[c];
    clip.turn = side_of(g) * (clip.out ? whole : whole - clip.part.angle);
    return clip;
}

/* The same where it may cut the edge: the rest of its angle belongs to the arc r = R. */
LANES_INLINE edge_share clip_share(const edge_lanes *edge, int c, double d, edge_clip clip,
                                   const sphere_lanes *sphere, bool hats)
{
    double R = sphere->radius[c], g = edge->g[c], ag = fabs(g), foot2 = edge->foot2[c];
    bool out = clip.out, in = clip.in;
    double side = side_of(g), turn = clip.turn, length = clip.length;
    double inverse = side * madd(ag, clip.part.log, -d * clip.part.solid);
    double cut = out ? sphere->depth0[c] * turn : madd(sphere->depth0[c], turn, inverse);
    edge_share share = {0, 0, 0, 0};
    share.inverse = in ? edge->inverse[c] : cut;
    if (hats) {
        double along = distance_along(clip.ends, clip.sum, length, foot2, clip.part.log);
        double one = (out ? 0.0 : g * length / 2) + sphere->depth1[c] * turn;
        double distance =
            (out ? 0.0 : third(g * along + d * d * inverse)) + sphere->depth2[c] * turn;
        double part_moment = along - R * length;
        double whole_moment = edge->along[c] - R * edge->length[c];
        share.moment = out ? 0.0 : (in ? whole_moment : part_moment);
        share.one = in ? g * edge->length[c] / 2 : one;
        share.distance = in ? edge->distance[c] : distance;
    }
    return share;
}

LANES_INLINE edge_share cut_share(const edge_lanes *edge, int c, double d,
                                  const sphere_lanes *sphere, bool hats)
{
    edge_clip clip = clip_edge(edge, c, d, sphere->radius[c]);
    return clip_share(edge, c, d, clip, sphere, hats);
}

LANES_INLINE void add_share(const edge_lanes *edge, int c, edge_share share, bool hats, inside *sum)
{
    sum->inverse[c] += share.inverse;
    if (hats) {
        sum->one[c] += share.one;
        sum->distance[c] += share.distance;
        sum->vu[c] += edge->tw[c] * share.moment;
        sum->vw[c] -= edge->tu[c] * share.moment;
    }
}

/* Adds an edge that the sphere cuts in no lane. */
LANES_INLINE void add_uncut(const edge_lanes *edge, const sphere_lanes *sphere, bool hats,
                            inside *sum)
{
    LANE_LOOP add_share(edge, c, uncut_share(edge, c, sphere, hats), hats, sum);
}

/* Adds an edge that the sphere may cut. */
LANES_INLINE void add_cut(const edge_lanes *edge, const lane_values height,
                          const sphere_lanes *sphere, bool hats, inside *sum)
{
    LANE_LOOP add_share(edge, c, cut_share(edge, c, height[c], sphere, hats), hats, sum);
}

LANES_INLINE void integrate(const lane_state *state, const sphere_lanes *sphere, bool hats,
                            inside *sum)
{
    memset(sum, 0, hats ? sizeof *sum : sizeof sum->inverse);
    for (int e = 0; e < 3; ++e) {
        if (any_cut(&state->edge[e], sphere->radius))
            add_cut(&state->edge[e], state->height, sphere, hats, sum);
        else
            add_uncut(&state->edge[e], sphere, hats, sum);
    }
}

/* int phi_a / r over the shell: phi_a(x0) dJ_{-1} + grad phi_a . dV, for the three hats. */
LANES_INLINE void store_hats(const lane_values twice_area, const lane_state *state,
                             const inside *before, const inside *now, int64_t row,
                             ps_shell_values *out)
{
    for (int a = 0; a < 3; ++a) {
        int e = (a + 1) % 3;
        const edge_lanes *edge = &state->edge[e];
        double *hat = out->hat[a][row];
        LANE_LOOP
        {
            double across = edge->tw[c] * (now->vu[c] - before->vu[c]) -
                            edge->tu[c] * (now->vw[c] - before->vw[c]);
            double mean = edge->g[c] * (now->inverse[c] - before->inverse[c]);
            hat[c] = quotient((mean - across) * edge->length[c], twice_area[c]);
        }
    }
}

/* twice_area: of the triangles; hats only. */
LANES_INLINE void store_shell(const lane_values twice_area, const lane_state *state,
                              const inside *before, const inside *now, int64_t row, bool hats,
                              ps_shell_values *out)
{
    double *inverse = out->inverse[row];
    LANE_LOOP inverse[c] = now->inverse[c] - before->inverse[c];
    if (!hats) return;
    double *one = out->one[row], *distance = out->distance[row];
    LANE_LOOP one[c] = now->one[c] - before->one[c];
    LANE_LOOP distance[c] = now->distance[c] - before->distance[c];
    store_hats(twice_area, state, before, now, row, out);
}
