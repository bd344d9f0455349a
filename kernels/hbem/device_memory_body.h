/* Part of the far_*_cuda.cu files: the workspace of a team of threads. */
#ifndef PS_KERNELS_HBEM_DEVICE_MEMORY_BODY_H
#define PS_KERNELS_HBEM_DEVICE_MEMORY_BODY_H

/* A creased function, whose triangles see several faces, stands for the mean over their centroids,
 * of so many of them at most. */
enum { MEAN_MOST = 12 };

/* Column slots at once of a leaf that is integrated whole: those of a team's threads. */
enum { WHOLE_SLOTS = 64 };

/* A team's workspace. */
template <typename real> struct far_memory {
    real *points, *crosses, *vectors, *triangles, *sums, *block;
    void *small;
    int *pivots;
    uint8_t *used;
};

__host__ __device__ inline int64_t padded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Cuts it up; returns its size. `skeleton`: with points and integrated vectors beside what entries
 * need; `whole`: for all entries of a leaf. */
template <typename real>
__host__ __device__ inline int64_t cut_memory(char *base, int64_t most, int64_t slots,
                                              int64_t limit, int parts, bool skeleton, bool whole,
                                              far_memory<real> *out)
{
    int64_t at = 0, size = sizeof(real);
    out->points = (real *)(base + at);
    at += skeleton ? padded((6 + 1 + 6 * MEAN_MOST) * most * size) : 0;
    out->crosses = (real *)(base + at);
    at += padded((limit + 1) * parts * most * size);
    out->vectors = (real *)(base + at);
    at += skeleton ? padded(limit * parts * most * size) : 0;
    out->triangles = (real *)(base + at);
    at += 2 * padded((limit + 1) * limit * parts * size);
    out->sums = (real *)(base + at);
    at += padded(3 * parts * (whole ? PS_HBEM_CLUSTER_MAX * WHOLE_SLOTS : slots) * size);
    out->block = (real *)(base + at);
    at += whole ? padded(PS_HBEM_CLUSTER_MAX * PS_HBEM_CLUSTER_MAX * parts * size) : 0;
    out->small = base + at;
    at += padded((4 * parts + 1) * 8 * limit * limit + 16 * limit);
    out->pivots = (int *)(base + at);
    at += padded(8 * limit);
    out->used = (uint8_t *)(base + at);
    at += padded(most);
    return at;
}

#endif
