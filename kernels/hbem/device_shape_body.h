/* Part of the far_*_cuda.cu files: how many teams of threads a launch of far leaves has. */
#ifndef PS_KERNELS_HBEM_DEVICE_SHAPE_BODY_H
#define PS_KERNELS_HBEM_DEVICE_SHAPE_BODY_H

struct team_shape {
    int threads, blocks;
};

/* Of a size. Blocks of a team share a leaf, where the device has clusters of blocks. */
inline team_shape shape_of(int size, bool clusters)
{
    static const team_shape shapes[PS_HBEM_FAR_SIZES] = {{512, 8}, {512, 2}, {256, 1}, {64, 1}};
    return {shapes[size].threads, clusters ? shapes[size].blocks : 1};
}

/* A launch of teams, and how many fit on the device at once. */
struct team_launch {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;
    int64_t teams;
};

inline ps_status plan_teams(const void *function, int size, int shared, cudaStream_t stream,
                            team_launch *out)
{
    int device = 0, processors = 0, major = 0, fit = 0;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    PS_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    const team_shape shape = shape_of(size, major >= 9);
    PS_CUDA(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    out->config = {};
    out->config.gridDim = dim3((unsigned)shape.blocks);
    out->config.blockDim = dim3((unsigned)shape.threads);
    out->config.dynamicSmemBytes = (size_t)shared;
    out->config.stream = stream;
    out->cluster.id = cudaLaunchAttributeClusterDimension;
    out->cluster.val.clusterDim.x = (unsigned)shape.blocks;
    out->cluster.val.clusterDim.y = out->cluster.val.clusterDim.z = 1;
    out->config.attrs = &out->cluster;
    out->config.numAttrs = shape.blocks > 1;
    if (shape.blocks > 1)
        PS_CUDA(cudaOccupancyMaxActiveClusters(&fit, function, &out->config));
    else
        PS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, shape.threads,
                                                              (size_t)shared));
    out->teams = shape.blocks > 1 ? fit : (int64_t)fit * processors;
    return PS_OK;
}

/* As many teams as fit on the device at once, have a leaf and have room. shared: bytes of a block.
 * Without a leaf the function is loaded and no more: otherwise its first launch does so. */
inline ps_status launch_teams(const void *function, int shared, const ps_hbem_far_launch *in,
                              cudaStream_t stream)
{
    team_launch plan;
    PS_TRY(plan_teams(function, in->size, shared, stream, &plan));
    if (in->count == 0) return PS_OK;
    int64_t teams = plan.teams, room = in->bytes / in->stride;
    teams = teams < in->count ? teams : in->count;
    teams = teams < room ? teams : room;
    if (teams < 1)
        return ps_fail(PS_EXHAUSTED,
                       "a leaf needs %lld bytes of workspace on the device, %lld are "
                       "given",
                       (long long)in->stride, (long long)in->bytes);
    plan.config.gridDim.x *= (unsigned)teams;
    void *arguments[] = {(void *)in};
    PS_CUDA(cudaLaunchKernelExC(&plan.config, function, arguments));
    return PS_OK;
}

#endif
