/*
 * march: what the files of this program share: options, the problem, the plan, the state of a run.
 *
 * Inside, times are c0 t in m, H is Z0 H, sigma is Z0 sigma (specs/dgtd.md); files are SI.
 */
#ifndef PS_DGTD_MARCH_MARCH_H
#define PS_DGTD_MARCH_MARCH_H

#include "compute/dgtd_march/backend.h"
#include "compute/dgtd_march/far.h"
#include "formats/dgtd_model.h"
#include "formats/port_signals.h"
#include "kernels/common/growth_watch.h"
#include "kernels/dgtd/border.h"
#include "kernels/dgtd/dispersion.h"
#include "kernels/dgtd/mode.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/ledger.h"
#include "stage/dgtd_local.h"
#include "stage/dgtd_wire.h"
#include "runtime/comm.h"
#include "runtime/program.h"
#include "stage/product.h"
#include "stage/state.h"

typedef enum state_place { STATE_AUTO, STATE_MEMORY, STATE_FILE } state_place;

typedef struct march_options {
    int64_t steps;
    double time, periods; /* s; of the first frequency */
    double dt_scale;
    int precision; /* 0: fp32, 1: fp64 */
    ps_text_list probes, frequencies;
    const char *probe_file, *until_decay;
    int64_t probe_every, energy_every, transform_every, transform_periods;
    int64_t snapshots, mode_error;
    ps_interval checkpoint_every;
    bool balance;
    int state;           /* state_place */
    int64_t visit_steps; /* m; 0: what memory allows */
    int halo;            /* exchange_way */
    ps_receiver_words where;
    const char *around;
    int64_t far_every;
} march_options;

/* ---- the problem of this rank (problem.c, sources.c) ---- */

enum {
    FREQUENCIES_MAX = PS_DGTD_DFT_FREQUENCIES,
    PROBES_MAX = 100000,
    MARCH_BATCH_MAX = 64,
    BALANCE_BATCH_MAX = 8
};

typedef struct timing {
    double dt; /* m */
    int64_t steps;
    int64_t period_steps;              /* a period of the first frequency; 0: none asked for */
    int64_t quiet_after;               /* the last step at which a source acts; INT64_MAX: always */
    double entry; /* m: how much later than at its origin the first source comes to the mesh */
    int64_t probe_every, energy_every; /* steps between samples; at least one is taken */
    double decay;        /* the energy of its largest at which a march is over; 0: at `steps` */
    int64_t decay_every; /* steps between looks at that                                     */
    int64_t planned;     /* steps at most                                                   */
    int64_t crossing;    /* steps that a wave takes across the body */
} timing;

typedef struct problem {
    ps_dgtd_model_file *model;
    const ps_dgtd_model_header *header; /* borrowed from it */
    int64_t *rank_parts;                /* [ranks + 1]      */
    ps_dgtd_domain domain;              /* of this rank     */
    ps_dgtd_body body;                  /* views of it      */
    ps_dgtd_reference reference;
    ps_dgtd_operators *operators;
    ps_dgtd_material *materials;         /* in units of the kernels; sigma has the gain of poles */
    ps_dgtd_constitution *constitutions; /* [materials] likewise, as they are given */
    bool special;                        /* some medium has poles or a tensor */
    ps_dgtd_dispersion dispersion;
    double *weights; /* [4][materials] eps, mu, sigma, 1 */
    ps_dgtd_system system;
    ps_dgtd_border border;
    ps_dgtd_pml pml;           /* rows 0: no layer here */
    ps_dgtd_local_steps local; /* levels 0: one step for all */
    double updates;            /* of elements in a step, of all ranks */
    int32_t *told; /* [told_count] elements outside of the layer, whose fields are written */
    int64_t told_count;
    ps_dgtd_incident incident;
    bool has_mode;
    ps_dgtd_mode mode;
    ps_dgtd_current *currents;
    int64_t current_count, frequency_count;
    ps_dgtd_port *ports;
    double *port_states; /* [port_state_count] of each port's network or line */
    int64_t port_count, port_state_count;
    ps_dgtd_wire *wires;
    double *wire_states; /* [wire_state_count] of each wire */
    int64_t wire_count, wire_state_count;
    double frequencies[FREQUENCIES_MAX]; /* Hz, ascending     */
    double omegas[FREQUENCIES_MAX];      /* 1/m               */
    int64_t probe_count;                 /* of all ranks      */
    double *points;                      /* [probe_count][3]  */
    far_surface far;
    timing timing;
} problem;

ps_status problem_open(const ps_run *run, const march_options *options, problem *out);
void problem_release(problem *problem);
/* System, border and currents of this rank, once the plan agrees. */
ps_status problem_build(const march_options *options, problem *problem);
ps_precision problem_precision(const march_options *options);

/* sources.c: incident field and currents of the model; when they are over. */
ps_status sources_open(problem *problem);
ps_status sources_build(problem *problem);
void sources_release(problem *problem);
/* Fields of elements [first, end) at the start: E at 0, H at dt/2. Nothing is done without a mode.
 */
ps_status sources_start(const problem *problem, int64_t first, int64_t end, void *electric,
                        void *magnetic);
/* The L2 distance of the fields E^n, H^{n+1/2} of all ranks from the mode of the start. */
ps_status sources_mode_error(const problem *problem, int64_t step, const void *electric,
                             const void *magnetic, double *out);
/* What spectra are to be divided by: the function of the first source at t (m), and its units;
 * 1 where there is none. */
double sources_function(const problem *problem, double t, const char **units);
/* marks[elements of this rank], once all is built: 1 where a current, a port or a wire acts. */
void sources_mark(const problem *problem, uint8_t *marks);
/* Refuses by the name "faint" a frequency at which that function has next to nothing. */
ps_status sources_check_band(const ps_run *run, const march_options *options,
                             const problem *problem);

/* ports.c: networks between conductors. */
ps_status ports_build(problem *problem);
void ports_release(problem *problem);
int64_t ports_bytes(const problem *problem);
double ports_over_after(const problem *problem); /* m: when their sources are over; INFINITY */
/* V_s of the first port that is driven, at t (m). */
bool ports_source(const problem *problem, double t, double *out);
/* The network of a port, in the units of the kernels. */
ps_dgtd_network ports_network(const problem *problem, const ps_dgtd_port_spec *spec);
struct march;
/* Their currents in the step `step` -> step + 1, before the half step of E; collective. */
ps_status ports_advance(struct march *march, int64_t step);
/* Port k of one rank alone, once the fields of its elements, and of those beside, are there. */
void port_advance(struct march *march, int64_t k, int64_t step);
/* What this rank has of row i of the batch that was taken, V and I in V and A, [ports][2]: the sum
 * over all ranks is the row. */
void ports_row(const struct march *march, int64_t i, double *out);
/* Collective: on devices each port and each wire is of elements of one rank. */
ps_status ports_check_device(const problem *problem);
/* Empty signals of all steps; and written beside OUTPUT. */
ps_status ports_signals_init(const struct march *march, ps_port_signals *out);
ps_status ports_signals_save(const ps_product *product, const char *path,
                             const ps_port_signals *signals);

/* wires.c: thin wires. Their currents in a step, on cores; on a device ports_advance makes them,
 * too. */
ps_status wires_build(problem *problem);
void wires_release(problem *problem);
int64_t wires_bytes(const problem *problem);
ps_status wires_advance(struct march *march, int64_t step);

/* probes.c */
ps_status probes_read(const march_options *options, problem *problem);
unsigned long long probes_hash(const problem *problem); /* of the points */
/* The probes that lie in this rank's elements: own[count], places[count] in the list of all, both
 * by ascending slot. PS_USAGE if a point lies in no element of any rank. */
ps_status probes_find(const problem *problem, ps_dgtd_probe **own, int64_t **places,
                      int64_t *count);

/* ---- the far field over time (far.c) ---- */

/* The surface and its directions, once the domain is there; collective. PS_USAGE for surfaces that
 * are not closed or in no single lossless medium; what scatters outside is refused by the name
 * "outside". Nothing happens without directions. */
ps_status far_open(const ps_run *run, const march_options *options, problem *problem);
void far_release(problem *problem);
bool far_is_asked(const problem *problem);
ps_status far_build(problem *problem); /* its sums */
/* PS_USAGE where a current, a port or a wire, once built, is not wholly within the surface;
 * collective. */
ps_status far_check_sources(const problem *problem);
int64_t far_bytes(const problem *problem);
int64_t far_sums(const problem *problem); /* doubles, of this rank */
/* Adds its points to the own probes; places from probe_count on. */
ps_status far_add_probes(const problem *problem, ps_dgtd_probe **own, int64_t **places,
                         int64_t *count);
bool far_is_sampled(const problem *problem, int64_t step); /* the fields after this step */
/* The fields after a step at the own probes: values[own probes][6]. */
void far_add(struct march *march, int64_t step, const double *values);
/* Sums over ranks; the trace by rank 0. */
ps_status far_write(struct march *march, const ps_product *product, const char *path);

/* ---- the layer (layer.c): states and tables of a perfectly matched layer stay in memory ---- */

/* Which elements are told of, all where there is no layer; counts the rows of the layer. */
ps_status layer_open(problem *problem);
ps_status layer_build(problem *problem); /* its arrays */
int64_t layer_bytes(const problem *problem);
void layer_start(const problem *problem); /* states of a first step */
void layer_release(problem *problem);
/* Bytes of the state of one field. */
int64_t layer_state_bytes(const problem *problem);

/* ---- media with poles or tensors (media.c): their states stay in memory ---- */

ps_status media_take(problem *problem); /* materials, weights, constitutions, once dt is known */
/* What the run asks against media; sources_build's currents against them. */
ps_status media_check(const ps_run *run, const march_options *options, const problem *problem);
ps_status media_check_sources(const problem *problem);
/* Refuses by the name "coarse" a highest frequency that half of some medium does not resolve;
 * collective. */
ps_status media_check_resolution(const ps_run *run, const problem *problem);
/* The largest permittivity of any frequency. */
double media_static_eps(const problem *problem, int64_t medium);
/* What a medium with poles or a tensor is at the frequencies of the transforms. */
struct ps_phasors_header;
void media_tell(const problem *problem, int medium, struct ps_phasors_header *out);
void media_open(problem *problem); /* counts */
int64_t media_bytes(const problem *problem);
int64_t media_state_bytes(const problem *problem);
int64_t media_device_bytes(const problem *problem);
ps_status media_build(problem *problem);  /* once the system has its steps */
void media_start(const problem *problem); /* states of a first step */
void media_release(problem *problem);

/* ---- local steps (local.c) ---- */

/* Bytes of a field with its halo (run.c). */
int64_t march_field_bytes(const problem *problem);
int64_t local_bytes(const problem *problem);
int64_t local_device_bytes(const problem *problem, bool windowed);
ps_status local_build(problem *problem);
/* Collective: how many updates of elements a step makes, of all ranks. */
ps_status local_count(problem *problem);
struct march;
ps_status local_find_traded(struct march *march);
/* Before the half step of E, R_1 H is put in the place of H, halo included; after it H again. */
ps_status local_begin(struct march *march);
ps_status local_end(struct march *march);
/* Whether small operations of a step run beside the half steps of most elements, on a device. */
bool local_is_split(const struct march *march);
/* A whole step so; the batch began at step `first`. */
ps_status local_split_step(struct march *march, int64_t step, int64_t first);

/* ---- the plan (plan.c) ---- */

typedef struct march_plan {
    const backend *backend;
    int ordinal;         /* of its device                                                     */
    bool file;           /* the state lies in a file and is visited a window at a time        */
    bool window;         /* the state does not fit the device, and is visited likewise        */
    bool cache;          /* it is in memory, and visited likewise for the sake of the caches  */
    int64_t cache_bytes; /* without --visit-steps: of the last cache, where that may help */
    int64_t budget;      /* of this rank, bytes                                               */
    int64_t device, device_budget, device_window; /* bytes there: all, what may be used, and
                                                     what of it is for a window          */
    ps_ledger ledger;     /* host memory, device memory, files                                */
    int64_t fields, sums; /* fields with copies of them                                       */
    int64_t state_least;  /* of them in memory where the others are in a file                 */
    int64_t fixed;        /* all that is in memory but fields and sums                        */
    int64_t writers;      /* threads that compress chunks of phasors at once                  */
    int64_t output;
} march_plan;

ps_status plan_make(const ps_run *run, const march_options *options, const problem *problem,
                    march_plan *out);
/* PS_USAGE where there are fewer parts than --ranks. */
ps_status plan_print(const ps_run *run, const problem *problem, const march_plan *plan);

/* ---- the run ---- */

typedef struct march_clock {
    double start, opening, stepping, enqueuing, waiting, keeping;
} march_clock;

/* Running figures of a run; doubles, as checkpoints hold them. */
typedef struct figures {
    double largest, latest; /* 1/2 E' M E, over eps0: its largest and its last value */
    double peak, energy;    /* W likewise */
    ps_growth_watch growth;
    /* With --balance, over eps0: W^1, what was conducted away, lost through absorbing faces and
     * supplied since, and what the next step takes over from the last one. */
    double first, conducted, lost, supplied, next_lost, next_supplied;
    double mode_error; /* the largest so far                                    */
    double file;       /* out of core: which state file this checkpoint is in   */
} figures;
enum { FIGURES = sizeof(figures) / sizeof(double) };

typedef struct march {
    const ps_run *run;
    const march_options *options;
    problem *problem;
    const march_plan *plan;
    const backend *backend;
    void *state; /* of the backend */
    ps_dgtd_march march;
    ps_dgtd_energy energy;
    void *sums[2];
    struct ps_dgtd_upwind *upwind; /* NULL: centred flux */
    struct exchange *exchange;     /* of several ranks; NULL: one */
    /* By level whether its operations, and at the end whether E reads R_1 H, of other ranks. */
    bool local_traded[PS_DGTD_LOCAL_LEVELS + 1];
    bool split;            /* steps are local_split_step */
    bool mixed;            /* as ps_dgtd_local_is_mixed says */
    bool kept;             /* H of Q_1 is kept already, by the step before */
    struct tiles *tiles;   /* out of core; NULL: in memory */
    ps_dgtd_probe *probes; /* own ones */
    int64_t *probe_places, probe_count;
    int64_t batch_max;    /* steps that rows have room for */
    double *values;       /* [batch_max][own probes][6] */
    double *rows;         /* [batch_max][row_values] of all ranks */
    double *port_rows;    /* [batch_max][ports][2] V, A */
    double *terms[2];     /* [energy samples of a batch][groups], by field */
    double *term_sums[2]; /* of each over the groups */
    char name[4096];      /* of the run; <name>.state0 and .state1 hold a state out of core */
    char *identity;
    ps_state record;
    figures figures;
    march_clock clock;
    int64_t first, done;
    int64_t excess_samples; /* in a row of more electric energy than there may be */
    bool stopped, hopeless;
} march;

/* state.c: names the run, of which run, options, problem and plan are set. */
ps_status march_name(march *march, const ps_product *product);
ps_state_spec march_spec(march *march);
/* run.c */
ps_status march_open(march *march);
void march_close(march *march);
/* Elements [first, end) of fields and transforms are in memory until the next call with later
 * ones, or march_release. Nothing to do unless the state is in a file. */
ps_status march_hold(march *march, int64_t first, int64_t end);
void march_release(march *march);
/* Sets the fields for step 0, or has them from a checkpoint. */
ps_status march_begin(march *march);
ps_status march_run(march *march);
/* Energies in a sample of the log: of E and H; with --balance also what was conducted, lost and
 * supplied since the first step. */
int64_t energy_values(const march_options *options);
void march_report(const march *march);

/* upwind.c: nothing happens with the centred flux. PS_USAGE for what the upwind one cannot do. */
ps_status upwind_check(const problem *problem);
int64_t upwind_bytes(const problem *problem); /* beside the copies of the fields */
ps_status upwind_open(march *march, int64_t field_bytes);
ps_status upwind_start(const march *march); /* before the first step of a start */
void upwind_close(march *march);

/* step.c: half steps of parts that are not linked to one another, with all that is to be recorded
 * of them; the batch began at step `first`. Sets the parts' terms. */
ps_status march_parts(march *march, ps_dgtd_field field, int64_t first, backend_part *parts,
                      int count);
/* `count` steps of the whole domain in memory. */
ps_status march_steps(march *march, int64_t count);
/* What a sample of the running DFT is multiplied by: 2 over their number. */
bool march_is_transformed(const march *march, int64_t step); /* the fields after this step */
/* Is anything of the fields after this step told: probes, energies, transforms? */
bool march_is_recorded(const march *march, int64_t step);
double march_transform_scale(const march *march);
/* Rows of `count` steps from the samples; of all ranks, on all. */
ps_status march_rows(march *march, int64_t count);
/* Values of a row: 6 a probe, then sums over the mesh of the terms of E, then of H: 1 and 1 (the
 * energies), or with --balance all (kernels/dgtd/energy.h),
 * then voltage and current of each port. */
enum { ELECTRIC_TERMS = PS_DGTD_SUPPLIED + 1, MAGNETIC_TERMS = PS_DGTD_TERMS };
int64_t row_values(const march_options *options, const problem *problem);
int64_t term_count(const march_options *options, ps_dgtd_field field);

/* outputs.c: what is written at the end; snapshots.c: on the way. */
ps_status outputs_write(march *march, const ps_product *product);
/* Adds the files beside the output that outputs_write makes. */
ps_status outputs_tell(const march *march, ps_product *product);
ps_status snapshots_write(march *march);

#endif
