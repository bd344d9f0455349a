/*
 * product_copies_body: copies from global to shared memory that do not wait, by addresses of shared
 * memory.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_COPIES_BODY_H
#define PS_KERNELS_HBEM_PRODUCT_COPIES_BODY_H

/* 16 bytes past the L1 cache, or zeros. */
__device__ __forceinline__ void copy_16(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}
/* 16 or 8 bytes that others want, too. */
__device__ __forceinline__ void copy_16_kept(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}
__device__ __forceinline__ void copy_8_kept(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from),
                 "r"(there ? 8 : 0)
                 : "memory");
}
__device__ __forceinline__ void commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits for all but the last `left` groups of the warp's lanes. */
template <int left> __device__ __forceinline__ void wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
    __syncwarp();
}
__device__ __forceinline__ void load_16(uint32_t from, float out[4])
{
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])
                 : "r"(from)
                 : "memory");
}
__device__ __forceinline__ void load_16(uint32_t from, double out[2])
{
    asm volatile("ld.shared.v2.f64 {%0,%1}, [%2];"
                 : "=d"(out[0]), "=d"(out[1])
                 : "r"(from)
                 : "memory");
}

#endif
