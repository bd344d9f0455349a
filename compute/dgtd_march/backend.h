/*
 * backend: where the state of a rank lives and who steps it. The march talks to this table alone.
 *
 * All functions of a state are called by one thread, in the order of the march; a device may run
 * them later, but what it hands out (get, pack into host memory, rows, terms) is there on return.
 * Groups are those of the system that it was opened with; [begin, end) is a range of them.
 */
#ifndef PS_DGTD_MARCH_BACKEND_H
#define PS_DGTD_MARCH_BACKEND_H

#include "kernels/dgtd/energy.h"
#include "kernels/dgtd/probe.h"
#include "kernels/dgtd/upwind.h"
#include "runtime/device_share.h"
#include "runtime/device_window.h"

/* Where the state does not fit the device: ranges of groups of which a window is there. */
typedef struct backend_window {
    int64_t ranges;
    const int64_t *bounds;          /* [ranges + 1] groups                                  */
    int64_t groups, part_groups;    /* on the device at once; of the largest part           */
    bool geometry;                  /* comes and goes too; otherwise all of it is there      */
    const ps_window_source *source; /* of the host's fields and sums; NULL: always there    */
} backend_window;

/* Arrays of a window: E, H, with the upwind flux copies of them, then sums, geometry. */
enum { BACKEND_WINDOW_FORMER = 2 };

/* What a state is made of; borrowed while it is open. */
typedef struct backend_setup {
    const ps_dgtd_march *march; /* system, border, currents, dt; its fields are the host's own
                                   arrays, which the CPU steps in place                       */
    const ps_dgtd_energy *energy;
    int64_t field_bytes; /* of one field with its halo slots                           */
    const ps_dgtd_probe *probes;
    int64_t probe_count;
    int64_t rows;         /* steps that are sampled before rows are asked for           */
    const double *omegas; /* [frequencies] 1/m                                          */
    int frequencies;
    void *sums[2];          /* of the running DFT, by field; the host's own               */
    void *former[2];        /* with a window and the upwind flux: the host's copies of fields */
    ps_dgtd_border *border; /* of the march; a device fills it anew for itself         */
    const ps_dgtd_body *body;
    const uint8_t *total; /* as ps_dgtd_border_fill takes it                          */
    int64_t halo_slots;
    const int32_t *send, *receive; /* [faces] 4 * slot + face, of all neighbours              */
    int64_t faces;
    double *terms[2];             /* energies of the host, by field, as parts name them   */
    int64_t term_rows;            /* of each, of as many values as there are groups       */
    int ranks;                    /* of the run                                           */
    const backend_window *window; /* NULL: all of the state is in one memory              */
    const uint8_t *reach;         /* [slots] of march->local, and the material that they act on  */
    const ps_dgtd_material *materials;
    double *port_rows; /* [rows][march->port_count][2]; zero for ports of other ranks */
} backend_setup;

/* Half steps of all groups of a device whose local steps run aside: E of groups that they concern
 * comes last, after `together`; H of those comes first, with the mark behind it, and is made of H
 * that was kept where R_1 H is in its place, and is kept anew. */
typedef enum backend_order {
    BACKEND_AT_ONCE,
    BACKEND_CONCERNED_LAST,
    BACKEND_CONCERNED_FIRST
} backend_order;

/* Groups [begin, end), from step `step` on; with terms != NULL also the energy terms[groups] of
 * these groups (kernels/dgtd/energy.h), whose sums `take` tells. `restore`: H that local_part has
 * kept comes back first. */
typedef struct backend_part {
    int64_t step, begin, end;
    double *terms;
    bool restore;
} backend_part;

/* Rows of `groups` terms by field, from the first of setup->terms on, and their sums [rows]. */
typedef struct backend_sums {
    int64_t rows[2];
    double *of[2];
} backend_sums;

/* What a device tells others that write into its halo, and has to know to write into theirs. */
typedef struct backend_share {
    ps_share_ticket ticket; /* of E; H and the increments of local steps lie behind, so many */
    int64_t field_bytes;    /* bytes each, and the counts */
    int64_t counts;
} backend_share;
typedef struct backend_peer {
    backend_share share;
    int rank;
    const int32_t
        *place; /* [faces] 4 * slot + face in the peer's halo, as own ones in setup->send */
    int64_t faces;
} backend_peer;

typedef struct backend {
    const char *name;
    ps_status (*open)(const backend_setup *setup, int ordinal, void **state);
    void (*close)(void *state); /* NULL is fine */

    /* The arrays of the host and the state: `put` the fields at the start (sums become zero), `get`
     * fields and sums for people and files. `save` and `load` do so for checkpoints, in whatever
     * form the state has: the host's arrays are of no other use then. */
    ps_status (*put)(void *state);
    ps_status (*load)(void *state);
    ps_status (*get)(void *state);
    ps_status (*save)(void *state);

    /* Half steps of a field (kernels/dgtd/march.h) of parts that are not linked to one another. */
    ps_status (*halves)(void *state, ps_dgtd_field field, const backend_part *parts, int count);
    /* sums += scale e^{-i w t} field of these groups. */
    ps_status (*transform)(void *state, ps_dgtd_field field, double scale, double t, int64_t begin,
                           int64_t end);
    /* Values at probes [first, first + count) to the row of a step, 0 <= row < rows. */
    ps_status (*sample)(void *state, ps_dgtd_field field, int64_t row, int64_t first,
                        int64_t count);
    /* rows [0, count): values[count][probe_count][2][3], E then H; and sums over the groups of rows
     * of terms, which may be asked for again then. */
    ps_status (*take)(void *state, int64_t count, double *values, const backend_sums *sums);

    /* Traces of all faces of the lists, out of own slots into a buffer of `halo` and from there
     * into the halo. A device does so beside its half steps: the buffer is filled after `packed`,
     * and free again after the next one; half steps after `unpack` find the halo there. */
    ps_status (*pack)(void *state, ps_dgtd_field field);
    ps_status (*packed)(void *state);
    ps_status (*unpack)(void *state, ps_dgtd_field field);
    void *(*halo)(void *state, bool out); /* [faces][3][face nodes] of the host */
    bool beside; /* half steps are enqueued, so that others may follow before `packed` */
    /* As pack and unpack, of an array of the state that is as long as a field. */
    ps_status (*pack_array)(void *state, const void *array);
    ps_status (*unpack_array)(void *state, void *array);

    /* Local steps (march->local): H is kept, that of groups which hold elements of Q_2 (inner) and
     * of the others, R_1 H is made in its place by operations, H comes back. What an operation
     * reads of neighbours, NULL: nothing; -1: R_1 H. */
    ps_status (*local_keep)(void *state, bool inner);
    ps_status (*local_op)(void *state, int op);
    ps_status (*local_restore)(void *state);
    void *(*local_source)(void *state, int op);
    /* In tiles or a window, of groups [begin, end) alone: H is kept where `from` is 0, operations
     * [from, to) are made. */
    ps_status (*local_part)(void *state, int from, int to, int64_t begin, int64_t end);
    /* Operations [from, to), behind the keeping of inner groups where that is asked for, beside
     * what is enqueued next: behind what was enqueued before the last mark, and before what comes
     * after `together`. Always the same two lists. NULL for the CPU. */
    ps_status (*mark)(void *state);
    ps_status (*local_aside)(void *state, int from, int to, bool keep);
    ps_status (*together)(void *state);
    void (*local_order)(void *state, backend_order order); /* of half steps that follow */

    /* Instead of all that: devices that write into each other's halo (kernels/dgtd/device_halo.h).
     * `share` is what the others need, `reach` takes that of the neighbours, in the order of
     * setup->send; it fails where a device is out of reach, and `leave` undoes it. Then half steps
     * of `field` after `edge` are those of elements that touch others, and `push` sends their
     * traces; those after `push` are of the other elements. NULL for the CPU. */
    ps_status (*share)(void *state, backend_share *out);
    ps_status (*reach)(void *state, const backend_peer *peers, int count);
    void (*leave)(void *state);
    ps_status (*edge)(void *state, ps_dgtd_field field);
    ps_status (*push)(void *state, ps_dgtd_field field);
    /* Local steps there: between `local_enter`, which comes before anything is kept, and `edge` of
     * E operations are in order with pushes of what each reads; -1: of R_1 H. Neighbours whose
     * levels do not meet send one another nothing. */
    ps_status (*local_enter)(void *state);
    ps_status (*local_push)(void *state, int op);

    /* With backend_setup.window: through which groups come and go; put, load, get and save are not
     * called then. `convert` turns groups that are there: fields from values at nodes into what the
     * state has, sums into values at nodes. NULL for the CPU. */
    ps_window *(*window)(void *state);
    /* The upwind flux, whose impedances are filled, once the state is open; and when its fields are
     * those of a start. NULL for the CPU, where it is part of the march. */
    ps_status (*upwind)(void *state, const ps_dgtd_upwind *upwind);
    ps_status (*upwind_start)(void *state);
    ps_status (*convert)(void *state, bool sums, int64_t begin, int64_t end);
    /* States of a matched layer (march->pml) and of poles (system->dispersion) to the host's
     * arrays, or from there: they are on the device wherever the fields are. NULL for the CPU,
     * which steps the host's. */
    ps_status (*states)(void *state, bool save);
    /* Ports (march->ports, each of elements of one rank) before the half step of E; their V and I
     * times Z0 come to a row of setup->port_rows with `take`, their states as those of a layer do.
     * NULL for the CPU, whose host makes their steps. */
    ps_status (*ports)(void *state, int64_t step, int64_t row);
} backend;

extern const backend backend_cpu, backend_device;

/* The backend for --device auto|cpu|cuda[:N] and the device's ordinal for this rank. Errors as
 * ps_device_list. */
ps_status backend_choose(const char *device, const backend **out, int *ordinal);

#endif
