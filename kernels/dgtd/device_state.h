/*
 * device_state: a system (system.h) and its fields on a device, and the kernels there.
 *
 * Groups, lanes, links and halo slots are those of the host. Fields are real
 * [groups][3][nodes][lanes] as on the host, but of Bernstein coefficients (bernstein.h) in place of
 * values at nodes: _put and _get convert; what is copied as it is (checkpoints, tiles, halo
 * buffers) stays coefficients. Memory is the caller's; except for _upload, which waits, all work
 * is enqueued on a stream of the device and nothing waits. Without CUDA, or on the CPU's device,
 * everything fails with PS_FAILED: there half_step.h and march.h do the work.
 *
 * Errors: PS_FAILED with CUDA's text if a launch fails; what fails while a kernel runs comes out of
 * the next wait.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_STATE_H
#define PS_KERNELS_DGTD_DEVICE_STATE_H

#include "kernels/dgtd/bernstein.h"
#include "kernels/dgtd/border.h"
#include "runtime/device.h"

/* How half steps are done: by one kernel, or as in Cabel, Charles, Lanteri 2011 by intVolume,
 * intSurface and updateField with dense matrices, which needs `flux`. */
typedef enum ps_dgtd_device_mode { PS_DGTD_FUSED, PS_DGTD_PAPER } ps_dgtd_device_mode;

/* Matrices for coefficients, on the host, from which devices are filled. */
typedef struct ps_dgtd_device_tables {
    ps_dgtd_bernstein bases;
    ps_dgtd_reference reference; /* of coefficients */
} ps_dgtd_device_tables;
void ps_dgtd_device_tables_init(ps_dgtd_device_tables *tables, const ps_dgtd_reference *nodal);

/* The system on a device; pointers are memory of it unless said otherwise. */
typedef struct ps_dgtd_device {
    int order;
    ps_precision precision;
    ps_dgtd_device_mode mode;
    bool windowed; /* tangents and links are the caller's, who puts them there */
    bool stepped;  /* some elements make steps of their own (device_local.h) */
    int64_t elements, groups, materials;
    void *tangents, *steps; /* as in ps_dgtd_system */
    int32_t *links;
    uint8_t *kinds, *bordered; /* bordered: with PS_DGTD_PORTED where ports have elements */
    uint16_t *material;
    double *to_nodes, *from_nodes, *mass; /* [nodes][nodes]                              */
    double *face_from_nodes;              /* [face nodes][face nodes]                    */
    double *lift;                         /* [4][nodes][face nodes]                      */
    /* PAPER only: real [3][nodes][nodes] derivatives, then [4][nodes][face nodes] lifts, and
     * real [groups][3][nodes][lanes] */
    void *dense, *flux;
    const struct ps_dgtd_device_media *media; /* NULL: eps is a number (device_media.h) */
    const struct ps_dgtd_device_ports *ports; /* NULL: none (device_port.h) */
} ps_dgtd_device;

/* Order, precision, counts and mode of `device` from the host's system; pointers NULL. */
void ps_dgtd_device_shape(ps_dgtd_device *device, const ps_dgtd_system *system,
                          ps_dgtd_device_mode mode);
/* The pointers into memory of all arrays in one piece (256-byte aligned, as allocated), without
 * tangents and links if they are the caller's. Returns its bytes, which memory NULL asks for; so do
 * the parts of a march. */
int64_t ps_dgtd_device_place(ps_dgtd_device *device, void *memory);
/* Copies the arrays of the host, steps as they are set. Waits. */
ps_status ps_dgtd_device_upload(const ps_dgtd_device *device, const ps_dgtd_system *system,
                                const ps_dgtd_device_tables *tables, ps_stream *stream);

/* Bytes of a field on the device with so many halo slots behind it. */
int64_t ps_dgtd_device_field_bytes(const ps_dgtd_device *device, int64_t halo_slots);

/* A field of the host into `field`, groups [begin, end); pointers are to the first group of all.
 * The host's memory must stay until the stream has passed. */
ps_status ps_dgtd_device_put(const ps_dgtd_device *device, void *field, const void *host,
                             int64_t begin, int64_t end, ps_stream *stream);
/* And back, through `scratch` on the device, of some whole groups: the more the fewer copies. */
ps_status ps_dgtd_device_get(const ps_dgtd_device *device, const void *field, void *host,
                             int64_t begin, int64_t end, void *scratch, int64_t scratch_bytes,
                             ps_stream *stream);
/* to = matrix from for groups [begin, end), to_nodes or from_nodes; `to` may be `from`. */
ps_status ps_dgtd_device_convert(const ps_dgtd_device *device, const double *matrix,
                                 const void *from, void *to, int64_t begin, int64_t end,
                                 ps_stream *stream);

/* Bytes from the host to the device, or `back`; enqueued. */
ps_status ps_dgtd_device_move(void *there, void *host, int64_t bytes, bool back, ps_stream *stream);

/* Groups [begin, end), for a half step from step n on. */
enum { PS_DGTD_DEVICE_PARTS = 32 };
typedef struct ps_dgtd_device_part {
    int64_t n, begin, end;
} ps_dgtd_device_part;

/* Eight slots that lie in one sector of memory, and which of them take part; sectors are what half
 * steps are made of where not all elements make them. */
enum { PS_DGTD_UNIT = 8 };
typedef struct ps_dgtd_device_unit {
    uint32_t index; /* the first of its slots over PS_DGTD_UNIT */
    uint32_t lanes; /* a bit a slot that takes part; from bit PS_DGTD_UNIT on: whose result goes to
                       increments, whatever they were (device_local.h), or which is kept      */
} ps_dgtd_device_unit;
typedef struct ps_dgtd_device_units {
    const ps_dgtd_device_unit *list; /* on the device */
    int64_t count;
} ps_dgtd_device_units;

/* As ps_dgtd_half_step, to rounding, of up to PS_DGTD_DEVICE_PARTS parts that are not linked to one
 * another, at once; the bits do not depend on ranges. */
ps_status ps_dgtd_device_half_step(const ps_dgtd_device *device, ps_dgtd_field field, void *target,
                                   const void *source, const ps_dgtd_device_part *parts, int count,
                                   ps_stream *stream);

/* The same of the slots of units; not with the paper's kernels. kept: NULL, or where the old values
 * of H of slots that are kept lie, as target has others there; new ones go to both. */
ps_status ps_dgtd_device_half_units(const ps_dgtd_device *device, ps_dgtd_field field, void *target,
                                    const void *source, const ps_dgtd_device_units *units,
                                    void *kept, ps_stream *stream);

/* As ps_dgtd_halo_pack and _unpack, of coefficients; faces[count] and buffer on the device. */
ps_status ps_dgtd_device_halo_pack(const ps_dgtd_device *device, const void *field,
                                   const int32_t *faces, int64_t count, void *buffer,
                                   ps_stream *stream);
ps_status ps_dgtd_device_halo_unpack(const ps_dgtd_device *device, void *field,
                                     const int32_t *faces, int64_t count, const void *buffer,
                                     ps_stream *stream);

/* partial[g] = the part of groups [begin, end) in ps_dgtd_inner; all on the device. */
ps_status ps_dgtd_device_inner(const ps_dgtd_device *device, const double *weights, const void *a,
                               const void *b, int64_t begin, int64_t end, double *partial,
                               ps_stream *stream);

/* out[r] = sum of terms[rows][groups] over the groups, in an order of its own that is always the
 * same; all on the device. */
ps_status ps_dgtd_device_add_groups(const double *terms, int64_t groups, int64_t rows, double *out,
                                    ps_stream *stream);

/* out[count][3] = sum_i weights[k][i] field of slots[k] at i: double, on the device as are slots
 * and weights[count][nodes]. Weights for values at nodes become those for coefficients by
 * ps_dgtd_device_probe_weights, on the host. */
void ps_dgtd_device_probe_weights(const ps_dgtd_device_tables *tables, const double *nodal,
                                  double *out);
/* Values at nodes, [count][nodes], to coefficients, on the host. */
void ps_dgtd_device_coefficients(const ps_dgtd_device_tables *tables, const double *nodal,
                                 int64_t count, double *out);
ps_status ps_dgtd_device_probe(const ps_dgtd_device *device, const void *field,
                               const int64_t *slots, const double *weights, int64_t count,
                               double *out, ps_stream *stream);

/* sums[groups][frequencies][2][3][nodes][lanes] += (re[f], im[f]) field for groups [begin, end);
 * factors[frequencies][2] on the host (running_dft.h: scale cos w t, -scale sin w t), at most
 * PS_DGTD_DEVICE_FREQUENCIES. Sums are coefficients too. */
enum { PS_DGTD_DEVICE_FREQUENCIES = 64 };
ps_status ps_dgtd_device_dft_add(const ps_dgtd_device *device, const void *field,
                                 const double *factors, int frequencies, int64_t begin, int64_t end,
                                 void *sums, ps_stream *stream);

#endif
