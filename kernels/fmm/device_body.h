/*
 * What the *_cuda.cu files of the family share on the device: keys, codes. Included by them alone,
 * inside their anonymous namespace, after kernels/fmm/device_ops.h.
 */
#define KERNEL_INLINE __device__ __forceinline__

/* Every third bit. */
KERNEL_INLINE int key_axis(uint64_t key)
{
    key &= 0x1249249249249249;
    key = (key ^ key >> 2) & 0x10c30c30c30c30c3;
    key = (key ^ key >> 4) & 0x100f00f00f00f00f;
    key = (key ^ key >> 8) & 0x1f0000ff0000ff;
    key = (key ^ key >> 16) & 0x1f00000000ffff;
    return (int)(key ^ key >> 32);
}

/* The centre of a cell, as kernels/fmm/evaluate.c has it. */
KERNEL_INLINE void cell_centre(const ps_octree_box &box, double width, uint64_t key, double at[3])
{
#pragma unroll
    for (int d = 0; d < 3; ++d)
        at[d] = box.corner[d] + ((double)key_axis(key >> (2 - d)) + 0.5) * width;
}

/* The vector of a cell that a code names; `length` numbers a cell. */
template <typename real>
KERNEL_INLINE real *vector_at(const ps_fmm_device_vectors_table &in, int32_t code, int side,
                              int64_t length)
{
    ps_fmm_device_vectors from = in.table ? in.table[code >> in.shift] : in.one;
    int64_t cell = in.table ? code & ((1 << in.shift) - 1) : code;
    return static_cast<real *>(from.values) + side * from.stride + cell * length;
}
