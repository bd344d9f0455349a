/* What device_state.c, device_march.c and the *_cuda.cu files share. Private to them. */
#ifndef PS_KERNELS_DGTD_DEVICE_KERNELS_H
#define PS_KERNELS_DGTD_DEVICE_KERNELS_H

#include "kernels/dgtd/device_halo.h"
#include "kernels/dgtd/device_march.h"
#include "kernels/dgtd/device_port.h"

/* A half step of some parts, or of units. */
typedef struct ps_dgtd_device_sweep {
    const ps_dgtd_device *device;
    ps_dgtd_field field;
    void *target;
    const void *source;
    const ps_dgtd_device_part *parts;
    int count;
    const ps_dgtd_device_units *units; /* NULL: the parts */
    void *increments;                  /* of local steps, or what is kept: of slots that the units
                                          say; NULL: neither */
    bool early; /* of local steps: begins before the launch before it is over */
} ps_dgtd_device_sweep;
ps_status ps_dgtd_local_step_cuda(const ps_dgtd_device_sweep *sweep, ps_stream *stream);
/* target += source in the slots of the units. */
ps_status ps_dgtd_local_add_cuda(const ps_dgtd_device_sweep *sweep, ps_stream *stream);

/* Elements [begin, end) of the border, by part, and the times of their half steps. */
typedef struct ps_dgtd_border_parts {
    int count;
    int64_t begin[PS_DGTD_DEVICE_PARTS], end[PS_DGTD_DEVICE_PARTS];
    double t[PS_DGTD_DEVICE_PARTS];
} ps_dgtd_border_parts;

/* Rows [begin, end) of a layer, by part. */
typedef struct ps_dgtd_pml_parts {
    int count;
    int64_t begin[PS_DGTD_DEVICE_PARTS], end[PS_DGTD_DEVICE_PARTS];
} ps_dgtd_pml_parts;
/* which: the field whose new values pass the filters, or -1 to keep the old ones. */
ps_status ps_dgtd_pml_cuda(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                           const ps_dgtd_pml_parts *parts, int which, void *field,
                           ps_stream *stream);

ps_status ps_dgtd_ports_cuda(const ps_dgtd_device_ports *ports,
                             const ps_dgtd_device_ports_step *step, ps_stream *stream);

ps_status ps_dgtd_push_cuda(const ps_dgtd_device *device, const ps_dgtd_device_halo *halo,
                            const ps_dgtd_device_faces *faces, int array, const void *values,
                            ps_stream *stream);
ps_status ps_dgtd_upwind_cuda(const ps_dgtd_device_sweep *sweep,
                              const ps_dgtd_device_upwind *upwind, ps_stream *stream);

/* Ghost value over own value, by the field that is updated and the kind of face. */
extern const double ps_dgtd_ghost_signs[2][PS_DGTD_FACES];

/* Nodes of the four faces, as reference.h lists them. */
typedef struct ps_dgtd_face_nodes {
    int8_t node[4][PS_DGTD_MAX_FACE_NODES];
} ps_dgtd_face_nodes;
void ps_dgtd_list_face_nodes(int order, ps_dgtd_face_nodes *out);

ps_status ps_dgtd_half_step_cuda(const ps_dgtd_device_sweep *sweep, ps_stream *stream);
ps_status ps_dgtd_paper_step_cuda(const ps_dgtd_device_sweep *sweep, ps_stream *stream);

ps_status ps_dgtd_convert_cuda(const ps_dgtd_device *device, const double *matrix, const void *from,
                               void *to, int64_t groups, ps_stream *stream);
/* out: fetch the faces' coefficients from the field into the buffer, else put them. */
ps_status ps_dgtd_halo_cuda(const ps_dgtd_device *device, void *field, const int32_t *faces,
                            int64_t count, void *buffer, int out, ps_stream *stream);
ps_status ps_dgtd_inner_cuda(const ps_dgtd_device *device, const double *weights, const void *a,
                             const void *b, int64_t begin, int64_t end, double *partial,
                             ps_stream *stream);
ps_status ps_dgtd_add_groups_cuda(const double *terms, int64_t groups, int64_t rows, double *out,
                                  ps_stream *stream);
ps_status ps_dgtd_probe_cuda(const ps_dgtd_device *device, const void *field, const int64_t *slots,
                             const double *weights, int64_t count, double *out, ps_stream *stream);
ps_status ps_dgtd_dft_cuda(const ps_dgtd_device *device, const void *field, const double *factors,
                           int frequencies, int64_t begin, int64_t end, void *sums,
                           ps_stream *stream);
ps_status ps_dgtd_current_cuda(const ps_dgtd_device *device, const ps_dgtd_device_current *current,
                               void *electric, double rate, int64_t begin, int64_t end,
                               ps_stream *stream);

ps_status ps_dgtd_border_keep_cuda(const ps_dgtd_device *device,
                                   const ps_dgtd_device_border *border, ps_dgtd_field which,
                                   const void *field, const ps_dgtd_border_parts *parts,
                                   ps_stream *stream);
ps_status ps_dgtd_border_apply_cuda(const ps_dgtd_device *device,
                                    const ps_dgtd_device_border *border, ps_dgtd_field which,
                                    void *field, const ps_dgtd_border_parts *parts,
                                    ps_stream *stream);

#endif
