/* Stands in for the *_cuda.cu files of the family where there is no CUDA to build them. */
#include "kernels/schwarz/device_kernels.h"
#include "kernels/schwarz/traces_device.h"

#ifndef PS_WITH_CUDA
static ps_status none(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

ps_status ps_fast_tables_cuda(const ps_fast_device *solver, ps_stream *stream) { return none(); }
ps_status ps_sine_transform_cuda(ps_precision precision, const ps_sine_transform *transform,
                                 ps_stream *stream)
{
    return none();
}
ps_status ps_slab_sweep_cuda(const ps_slab_sweep *sweep, ps_stream *stream) { return none(); }
ps_status ps_copy_fixed_cuda(ps_precision precision, const ps_slab *slab, const void *b, void *x,
                             ps_stream *stream)
{
    return none();
}
ps_status ps_traces_dots_cuda(const ps_traces_device *device, int64_t count, const double *a,
                              const double *b)
{
    return none();
}
ps_status ps_traces_add_cuda(const ps_traces_device *device, int64_t count, const double *factors,
                             const double *a, double *y)
{
    return none();
}
ps_status ps_traces_subtract_cuda(const ps_traces_device *device, const double *x, double *y)
{
    return none();
}
ps_status ps_traces_divide_cuda(const ps_traces_device *device, double by, double *x)
{
    return none();
}
ps_status ps_traces_modes_cuda(const ps_traces_modes *modes, bool gather, double *r,
                               ps_stream *stream)
{
    return none();
}
ps_status ps_traces_low_cuda(const ps_traces_low *low, ps_stream *stream) { return none(); }
#endif
