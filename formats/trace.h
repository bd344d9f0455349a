/*
 * trace: signals over time or frequency at a set of receivers, "penstock-trace"
 * (specs/trace.md). All families write their probes and spectra in it.
 */
#ifndef PS_FORMATS_TRACE_H
#define PS_FORMATS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/reflectors.h"
#include "formats/store.h"

#define PS_TRACE_FORMAT "penstock-trace"
enum { PS_TRACE_VERSION = 1 };

/* How the values vary within a step (tdbem guide 2.9). */
typedef enum ps_trace_basis {
    PS_TRACE_SAMPLES,   /* values at the times of the axis: fields                            */
    PS_TRACE_STEP_MEAN, /* constant over a step centred there: transform sinc(w dt/2)         */
    PS_TRACE_HAT        /* peaks of hats over two steps: sinc^2                               */
} ps_trace_basis;

/* Where the numbers come from; zeros where that is not known. */
typedef struct ps_trace_origin {
    double speed;  /* c, m/s                                                           */
    double dt;     /* step of the run, s                                               */
    double edge;   /* mean edge of the mesh, m                                         */
    double usable; /* spectra: lines above are beyond mesh or step, Hz                */
    ps_trace_basis basis;
    int emitter_count; /* the incident field, as ps_emitter_print writes it                */
    char emitters[16][256];
    ps_reflectors mirrors; /* the planes whose images are in the values                        */
} ps_trace_origin;

typedef struct ps_trace {
    int64_t samples, channels;
    bool complex_values; /* real[] and imaginary[], else real[] alone                        */
    bool in_frequency;   /* axis in Hz, else in s                                            */
    double *axis;        /* [samples] s or Hz, ascending                                     */
    double *real;        /* [samples][channels]                                              */
    double *imaginary;   /* [samples][channels] or NULL                                      */
    double *places;      /* [channels][3]: positions (m) or, far field, unit directions      */
    bool far_field;      /* places are directions; values are lim r u (Pa m)                 */
    char quantity[64];   /* "scattered pressure", "total pressure", ...                      */
    char units[32];      /* "Pa", "Pa m", "1"                                                */
    int64_t grid[2];     /* channels as a plane of grid[0] x grid[1] points; 0, 0: a list    */
    ps_trace_origin origin;
} ps_trace;

ps_status ps_trace_init(ps_trace *trace, int64_t samples, int64_t channels, bool complex_values);
void ps_trace_release(ps_trace *trace);
/* Complex pressures become target strengths in dB: 20 log10 |F|, or of R |u| at the distance R (m;
 * 1 of a far field). */
void ps_trace_to_target_strength(ps_trace *trace, double distance);
ps_status ps_trace_load(const char *path, ps_trace *trace);
/* inputs: stores whose identity is recorded (roles[i] names them); may be 0. */
ps_status ps_trace_save(const char *path, const ps_trace *trace, const ps_store_identity *identity,
                        int input_count, const char *const *roles, ps_store *const *inputs);

#endif
