/*
 * penstock-dgtd-march: discontinuous Galerkin for Maxwell's equations, marched on in time.
 */
#include <stdio.h>
#include <string.h>

#include "compute/dgtd_march/figure_table.h"
#include "compute/dgtd_march/march.h"
#include "runtime/scope.h"

static march_options options = {.dt_scale = 1,
                                .probe_every = 1,
                                .energy_every = 16,
                                .transform_every = 1,
                                .far_every = 1,
                                .where = PS_RECEIVER_WORDS,
                                .checkpoint_every = {.seconds = 600}};

static const ps_option table[] = {
    PS_INT("steps", &options.steps, "N", 1, 1e12, PS_IDENTITY, "number of time steps"),
    PS_REAL("time", &options.time, "SECONDS", 1e-300, 1e300, PS_IDENTITY,
            "time to cover, instead of --steps; the step is shortened to meet it"),
    PS_REAL("periods", &options.periods, "N", 1e-6, 1e9, PS_IDENTITY,
            "periods of the lowest --frequency to cover, instead of --steps"),
    PS_TEXT("until-decay", &options.until_decay, "DB", PS_IDENTITY,
            "end as soon as sources are over and the energy has fallen by so many decibels (40dB) "
            "from its largest; --steps, --time or --periods is how long it may take"),
    PS_REAL("dt-scale", &options.dt_scale, "X", 1e-6, 10, PS_IDENTITY,
            "the model's time step times this"),
    PS_CHOICE("precision", &options.precision, PS_FP32 "|" PS_FP64, PS_IDENTITY,
              "of fields and mesh"),
    PS_LIST("probe", &options.probes, "X,Y,Z", PS_IDENTITY,
            "record E and H at this point, m (may be repeated)"),
    PS_TEXT("probes", &options.probe_file, "FILE", PS_IDENTITY,
            "more probes from a file, three numbers a line"),
    PS_INT("probe-every", &options.probe_every, "N", 1, 1e9, PS_IDENTITY,
           "steps between samples of probes"),
    PS_INT("energy-every", &options.energy_every, "N", 1, 1e9, PS_IDENTITY,
           "steps between samples of the energy"),
    PS_FLAG("balance", &options.balance, PS_IDENTITY,
            "keep account in every step of what conducts, leaves and is supplied, which the energy "
            "makes up exactly; takes about half as long again"),
    PS_LIST("frequency", &options.frequencies, "HZ,...", PS_IDENTITY,
            "transform the fields of all elements at these frequencies as the march goes on"),
    PS_INT(
        "transform-periods", &options.transform_periods, "N", 0, 1e9, PS_IDENTITY,
        "transform only the last N periods of the lowest --frequency; 0: the whole run (pulses)"),
    PS_INT("transform-every", &options.transform_every, "N", 1, 1e9, PS_IDENTITY,
           "steps between samples of the transforms"),
    PS_RECEIVER_DIRECTION_OPTIONS(options.where),
    PS_TEXT("around", &options.around, "TAG,...", PS_IDENTITY,
            "the far field is told from the surface of these volumes together (numbers or names of "
            "physical groups); default: the boundary of the mesh, or the inner one of its layer"),
    PS_INT("far-every", &options.far_every, "N", 1, 1e9, PS_IDENTITY,
           "steps between samples of the far field; 20 a period of what is looked for lose 3e-4"),
    PS_INT("mode-error", &options.mode_error, "N", 0, 1e9, PS_IDENTITY,
           "every N steps, the L2 distance from the mode that the model starts with; the largest "
           "is told at the end"),
    PS_CHOICE("state", &options.state, "auto|memory|file", 0,
              "where the fields are: in memory, or in a file of which a window is in memory (same "
              "bits); auto: what --host-memory allows"),
    PS_INT("visit-steps", &options.visit_steps, "N", 0, 4096, 0,
           "steps made each time fields in a file pass through memory, or those in the host's "
           "memory through the device; 0: what fits, up to 32. With fields in memory on CPU cores, "
           "steps made each time they pass through the caches; 0: two where they are more than the "
           "last cache takes, in layers that fit it, of order 1 or 2"),
    PS_CHOICE("halo", &options.halo, "auto|host|direct", 0,
              "how traces travel between ranks on GPUs: through the host, or directly from one GPU "
              "into the memory of the others (of one machine); auto: directly where that can be"),
    PS_INT("snapshots", &options.snapshots, "N", 0, 1e9, 0,
           "write the fields of every N-th step for ParaView, beside OUTPUT; 0: none"),
    PS_INTERVAL("checkpoint-every", &options.checkpoint_every, PS_EVERY, 0,
                "between checkpoints: 60s, 5min or 1000steps; 0: only when stopped"),
    PS_OPTION_END};

static ps_status finish(march *m, const ps_product *product)
{
    if (m->stopped)
        return ps_fail(PS_STOPPED,
                       "stopped after step %lld of %lld; the same command continues from there",
                       (long long)m->done, (long long)m->problem->timing.steps);
    PS_TRY(outputs_write(m, product));
    ps_state_close(&m->record);
    return ps_state_remove(&m->record.spec);
}

static ps_status march_through(march *m, const ps_product *product)
{
    ps_state_spec spec = march_spec(m);
    PS_TRY(
        ps_state_begin(&spec, &m->record)); /* state files of an earlier run go before new ones */
    ps_status status = march_open(m);
    if (status == PS_OK) status = march_begin(m);
    if (status == PS_OK) status = march_run(m);
    if (status == PS_OK) status = finish(m, product);
    if (status == PS_OK || status == PS_STOPPED) march_report(m);
    /* A run that fails by itself would fail again: nothing of it is worth keeping. */
    if (status != PS_OK && status != PS_STOPPED)
        ps_state_fail(&m->record, status, status == PS_FAILED && m->hopeless);
    return status;
}

static ps_status march_or_tidy(march *m)
{
    ps_product product;
    ps_product_init(m->run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(ps_product_input(&product, "model", ps_dgtd_model_store(m->problem->model)));
    if (m->options->probe_file) /* whose name alone is in the options */
        PS_TRY(ps_product_note(&product, "probe_points=%016llx", probes_hash(m->problem)));
    PS_TRY(march_name(m, &product));
    PS_TRY(outputs_tell(m, &product));
    if (!ps_product_is_up_to_date(&product)) return march_through(m, &product);
    ps_state_spec spec = march_spec(m);
    return ps_state_tidy(&spec);
}

static ps_status plan_and_march(const ps_run *run, problem *p)
{
    march_plan plan;
    march m = {.run = run, .options = &options, .problem = p, .plan = &plan};
    ps_status status = plan_make(run, &options, p, &plan);
    if (run->plan && ps_comm_rank() == 0) {
        ps_status printed = plan_print(run, p, &plan);
        status = status == PS_OK ? printed : status;
    }
    PS_TRY(ps_comm_agree(status));
    if (run->plan) return PS_OK;
    status = march_or_tidy(&m);
    char text[2048];
    snprintf(text, sizeof text, "%s", ps_message());
    march_close(&m);
    return status == PS_OK ? PS_OK : ps_fail(status, "%s", text);
}

static ps_status run_program(ps_run *run)
{
    PS_SCOPED(problem_release) problem p = {.model = NULL};
    PS_TRY(problem_open(run, &options, &p));
    return plan_and_march(run, &p);
}

static const ps_allowance allowances[] = {
    {"part-periods",
     "a window of --transform-periods that holds no whole number of periods of a frequency"},
    {"outside", "other media or metal outside of the surface of the far field, which scatter, too"},
    {"faint", "a --frequency at which the source has less than a thousandth of what it could have"},
    {"coarse", "a --frequency at which half of a medium has fewer than two nodes a wavelength"},
    {"band", "a --frequency outside of the band in which poles stand for a tissue"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "dgtd-march",
    .results = 4,
    .streams = true,
    .saves = true,
    .parallel = true,
    .counts = true,
    .synopsis = "MODEL OUTPUT",
    .description =
        "Marches Maxwell's equations on in time: discontinuous Galerkin of order 1 to 4 on "
        "tetrahedra, leap-frog with centred fluxes. MODEL is what penstock-dgtd-setup made. OUTPUT "
        "is the energy of the fields over time; beside it lie (without the suffix of OUTPUT) "
        ".electric.h5 and .magnetic.h5, signals at --probe points, .phasors.h5, the fields of all "
        "elements at --frequency, .far.h5, the far field over time in each --direction, and .hdf "
        "snapshots. Under mpirun each rank takes parts of the "
        "model's partition. Checkpoints and a log of all samples are kept beside OUTPUT until it "
        "is complete; after an interruption of any kind the same command continues to the same "
        "bits.",
    .examples = "  penstock-dgtd-march cavity.model.h5 cavity.h5 --time 20e-9 --probe .5,.4,.3\n"
                "  mpirun -n 4 penstock-dgtd-march head.model.h5 head.h5 --periods 12 --frequency "
                "900e6 \\\n"
                "      --transform-periods 2 --checkpoint-every 15m",
    .options = table,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_program};
