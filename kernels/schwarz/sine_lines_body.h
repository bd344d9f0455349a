/*
 * Where lines of sine transforms lie in memory, and how a warp's results get there (sine_cuda.cu,
 * which defines LINES, the lines of a piece, DEPTH and TILES).
 */

template <typename real> struct pair_of;
template <> struct pair_of<double> {
    typedef double2 type;
};
template <> struct pair_of<float> {
    typedef float2 type;
};

/* Results of both parities: 2 x TILES tiles of 16 x 8. A lane has two neighbouring results of lines
 * 0 and 8 of its sixteen. */
struct warp_sums {
    double of[2][2][TILES][4]; /* [parity][16 lines] */
};

/* ---- places ---- */

/* The mode that is result j of the odd parity. */
__device__ int odd_mode(int n, int j) { return n % 2 == 0 ? n - 1 - 2 * j : 2 * j + 1; }

/* Where the second half of a row begins whose halves are apart: aligned. */
__device__ int second_half(int n) { return ((n + 1) / 2 + 3) & ~3; }

__device__ int place_of_mode(int n, int mode)
{
    if (mode % 2 == 0) return mode / 2;
    return second_half(n) + (n % 2 == 0 ? n - 1 - mode : mode) / 2;
}

__device__ int node_of_place(int n, int place) /* < 0: none */
{
    const int from_end = place - second_half(n);
    if (2 * place < n) return place;
    return from_end >= 0 && from_end < n / 2 ? n - 1 - from_end : -1;
}

/* Where a line begins; < 0: nowhere. */
__device__ int64_t start_of(const ps_line_places &at, int line)
{
    const uint32_t batch = (uint32_t)line / (uint32_t)at.group;
    int in = (int)((uint32_t)line % (uint32_t)at.group);
    if (at.apart == PS_MODES_APART) in = in < at.count ? place_of_mode((int)at.count, in) : -1;
    if (at.apart == PS_NODES_APART) in = node_of_place((int)at.count, in);
    return in < 0 ? -1 : batch * at.batch + in * at.step;
}

/* Of 32 lines side by side, the one that is l-th in a product, of which a lane has four: two pairs
 * of neighbours of modes, four neighbours of nodes. */
template <bool MODES> __device__ int line_beside(int l)
{
    return MODES ? 2 * (l % 16) + l / 16 : 4 * (l % 8) + 2 * (l / 16) + l / 8 % 2;
}

/*
 * Where a stage of lines has a value of the first half. Where values of a line are consecutive
 * (ROWS), it is line after line, and the depths of some lines are permuted; else a depth with all
 * lines and some room after the other: lanes of a warp are in different banks.
 */
template <typename real_type, bool ROWS> struct stage_of {
    typedef real_type real;
    enum {
        WIDE = sizeof(real) == 8,
        DEPTH_STRIDE = ROWS ? 1 : LINES + (WIDE ? 4 : 8),
        LINE_STRIDE = ROWS ? DEPTH : 1,
        HALF = ROWS ? LINES * DEPTH : DEPTH * DEPTH_STRIDE,
        BYTES = 2 * HALF * sizeof(real)
    };
    __device__ static int place(int line, int depth)
    {
        if (ROWS) depth ^= 4 * (line >> (WIDE ? 1 : 2) & 1);
        return line * LINE_STRIDE + depth * DEPTH_STRIDE;
    }
    /* `depths` on, 0 or 4, from a depth below 4, in bytes: permuted or not, a bit of the place. */
    __device__ static uint32_t on(uint32_t place, int depths)
    {
        const uint32_t far = depths * DEPTH_STRIDE * (uint32_t)sizeof(real);
        return ROWS ? place ^ far : place + far;
    }
};

/* ---- stores ---- */

/* Two values at an even place of memory. */
template <typename real> __device__ void store_two(real *at, double first, double second)
{
    typename pair_of<real>::type both;
    both.x = (real)first;
    both.y = (real)second;
    *reinterpret_cast<typename pair_of<real>::type *>(at) = both;
}

template <typename real> __device__ real *line_at(const ps_sine_transform &t, int line)
{
    const int64_t start = line < t.lines ? start_of(t.to, line) : -1;
    return start < 0 ? nullptr : static_cast<real *>(t.out) + start;
}

/* Rows with their halves apart: modes of both parities, or nodes from both ends. Where one matrix
 * does for both parities, the odd one is negated at odd nodes. */
template <typename real, bool MODES>
__device__ void store_rows(const ps_sine_transform &t, const warp_sums &sums, int first_line,
                           int count, int first_result, int tiles)
{
    const int lane = threadIdx.x % 32, n = (int)t.sines.n, second = second_half(n);
    const double sign = t.sines.matrices == 1 ? -1 : 1;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int down = 0; down < 2; ++down) {
            const int at = 16 * i + 8 * down + lane / 4;
            real *line = at < count ? line_at<real>(t, first_line + at) : nullptr;
            if (!line) continue;
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                const int j = first_result + 8 * tile + 2 * (lane % 4);
                if (tile >= tiles || 2 * j >= n) break;
                const double *even = sums.of[0][i][tile] + 2 * down;
                const double *odd = sums.of[1][i][tile] + 2 * down;
                const double low = MODES ? even[0] : even[0] + odd[0];
                const double high = MODES ? odd[0] : even[0] - odd[0];
                store_two(line + j, low, MODES ? even[1] : fma(sign, odd[1], even[1]));
                if (2 * j + 1 < n)
                    store_two(line + second + j, high,
                              MODES ? odd[1] : fma(-sign, odd[1], even[1]));
            }
        }
}

/* Four lanes have four values each: lane a's b-th becomes lane b's a-th. */
__device__ void turn(double v[4])
{
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) {
        const bool upper = threadIdx.x & apart;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (k & apart) continue;
            const double got = __shfl_xor_sync(~0u, upper ? v[k] : v[k + apart], apart);
            if (upper)
                v[k] = got;
            else
                v[k + apart] = got;
        }
    }
}

/* Results first + q of tiles of nodes at both ends of the lines: a warp writes all lines of one. */
template <typename real>
__device__ void store_nodes(const ps_sine_transform &t, real *line, const warp_sums &sums, int tile,
                            int q, int first)
{
    const double sign = t.sines.matrices == 1 && q == 1 ? -1 : 1;
    const int n = (int)t.sines.n;
    double low[4], high[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const double even = sums.of[0][k / 2][tile][2 * (k % 2) + q];
        const double odd = sums.of[1][k / 2][tile][2 * (k % 2) + q];
        low[k] = fma(sign, odd, even);
        high[k] = fma(-sign, odd, even);
    }
    turn(low);
    turn(high);
    if (!line) return;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int j = first + 2 * k + q;
        if (2 * j < n) line[j * t.to.next] = (real)low[k];
        if (2 * j + 1 < n) line[(n - 1 - j) * t.to.next] = (real)high[k];
    }
}

template <typename real>
__device__ void store_node_columns(const ps_sine_transform &t, const warp_sums &sums,
                                   int first_line, int first_result, int tiles)
{
    real *line = line_at<real>(t, first_line + threadIdx.x % 32);
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
        if (tile >= tiles) break;
#pragma unroll
        for (int q = 0; q < 2; ++q) store_nodes(t, line, sums, tile, q, first_result + 8 * tile);
    }
}

template <typename real>
__device__ void store_mode_columns(const ps_sine_transform &t, const warp_sums &sums,
                                   int first_line, int first_result, int tiles)
{
    const int lane = threadIdx.x % 32, n = (int)t.sines.n;
    const int64_t next = t.to.next;
#pragma unroll
    for (int down = 0; down < 2; ++down) {
        real *line = line_at<real>(t, first_line + line_beside<true>(8 * down + lane / 4));
        if (!line) continue;
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int j = first_result + 8 * tile + 2 * (lane % 4) + q, of = 2 * down + q;
                if (tile >= tiles || 2 * j >= n) continue;
                const double(*even)[TILES][4] = sums.of[0], (*odd)[TILES][4] = sums.of[1];
                store_two(line + 2 * j * next, even[0][tile][of], even[1][tile][of]);
                if (2 * j + 1 < n)
                    store_two(line + odd_mode(n, j) * next, odd[0][tile][of], odd[1][tile][of]);
            }
    }
}

template <typename real, bool ROWS, bool MODES>
__device__ void store(const ps_sine_transform &t, const warp_sums &sums, int first_line, int count,
                      int first_result, int tiles)
{
    if (ROWS)
        store_rows<real, MODES>(t, sums, first_line, count, first_result, tiles);
    else if (MODES)
        store_mode_columns<real>(t, sums, first_line, first_result, tiles);
    else
        store_node_columns<real>(t, sums, first_line, first_result, tiles);
}
