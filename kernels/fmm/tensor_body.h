/*
 * Products of small matrices in fp64 on tensor cores, a warp at a time. Included by m2l_cuda.cu,
 * encode_cuda.cu and leaf_cuda.cu alone, inside their anonymous namespace.
 *
 *     D[16][8] += A[16][8] B[8][8]
 *
 * Of A, lane l holds rows l/4 and l/4 + 8, columns 2 (l%4) and 2 (l%4) + 1; of B rows 2 (l%4) + e
 * and column l/4; of D rows as of A, columns 2 (l%4) + e: a result is at once the left operand of
 * the next product. (The order of the columns of A and rows of B is ours: the instruction would
 * have l%4 and l%4 + 4.)
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TENSOR_WIDE 1
#else
#define TENSOR_WIDE 0
#endif

/* Rows l/4: number 0 and 1, rows l/4 + 8: 2 and 3. */
struct fragment {
    double v[4];
};

KERNEL_INLINE void product_4(double (&d)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
}

KERNEL_INLINE void product(fragment &d, const fragment &a, double2 b)
{
#if TENSOR_WIDE
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d.v[0]), "+d"(d.v[1]), "+d"(d.v[2]), "+d"(d.v[3])
        : "d"(a.v[0]), "d"(a.v[2]), "d"(a.v[1]), "d"(a.v[3]), "d"(b.x), "d"(b.y));
#else
    double(&upper)[2] = *reinterpret_cast<double(*)[2]>(d.v);
    double(&lower)[2] = *reinterpret_cast<double(*)[2]>(d.v + 2);
    product_4(upper, a.v[0], b.x);
    product_4(lower, a.v[2], b.x);
    product_4(upper, a.v[1], b.y);
    product_4(lower, a.v[3], b.y);
#endif
}

/* With the even columns of A and rows of B alone. */
KERNEL_INLINE void product_even(fragment &d, const fragment &a, double b)
{
#if TENSOR_WIDE
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+d"(d.v[0]), "+d"(d.v[1]), "+d"(d.v[2]), "+d"(d.v[3])
        : "d"(a.v[0]), "d"(a.v[2]), "d"(b));
#else
    product_4(*reinterpret_cast<double(*)[2]>(d.v), a.v[0], b);
    product_4(*reinterpret_cast<double(*)[2]>(d.v + 2), a.v[2], b);
#endif
}

/* Two numbers next to each other. */
KERNEL_INLINE double2 pair_at(const double *at) { return *reinterpret_cast<const double2 *>(at); }
KERNEL_INLINE float2 pair_at(const float *at) { return *reinterpret_cast<const float2 *>(at); }
