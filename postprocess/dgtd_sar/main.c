/* penstock-dgtd-sar: absorbed power and SAR of a run's fields at a frequency. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "postprocess/dgtd_sar/figure_table.h"
#include "postprocess/dgtd_sar/sar.h"
#include "runtime/log.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static struct {
    double frequency, grid, amplitude, power, accepted;
    const char *masses, *cut, *cut_output;
    int cut_quantity;
    ps_text_list density, at;
} chosen = {.grid = 2e-3, .amplitude = 1, .masses = "1,10"};

static const ps_option options[] = {
    PS_REAL("frequency", &chosen.frequency, "HZ", 0, 1e18, PS_IDENTITY,
            "which of the frequencies in PHASORS: the nearest; 0: the only or first one"),
    PS_REAL("amplitude", &chosen.amplitude, "A", 1e-30, 1e30, PS_IDENTITY,
            "amplitude of the source, in its unit (V/m of a plane wave, A m of a current)"),
    PS_REAL("power", &chosen.power, "W", 0, 1e30, PS_IDENTITY,
            "instead: the source accepts this power (absorbed and radiated); needs H in PHASORS"),
    PS_REAL("accepted-power", &chosen.accepted, "W", 0, 1e30, PS_IDENTITY,
            "instead: the ports of the run accept this power, by their voltages and currents"),
    PS_LIST("density", &chosen.density, "TAG=KG/M3", PS_IDENTITY,
            "mass density of a material, by the tag or name of its volume"),
    PS_REAL("grid", &chosen.grid, "METRES", 0, 1, PS_IDENTITY,
            "voxels for the averages over a mass; 0: no averages"),
    PS_TEXT("masses", &chosen.masses, "G,...", PS_IDENTITY, "masses to average over, g"),
    PS_LIST("at", &chosen.at, "X,Y,Z", 0, "tell the field at this point, m"),
    PS_TEXT("cut", &chosen.cut, "O;U;V;N1xN2", PS_IDENTITY,
            "a plane, as of penstock-probe, whose field goes to --cut-output"),
    PS_TEXT("cut-output", &chosen.cut_output, "FILE", PS_WRITES,
            "a trace, for penstock-plot plane"),
    PS_CHOICE("cut-quantity", &chosen.cut_quantity, "electric|sar|average", PS_IDENTITY,
              "|E|, SAR at points, or averaged over the last of --masses"),
    PS_OPTION_END};

/* ---- what was asked for ---- */

static ps_status choose_frequency(sar_job *job)
{
    const ps_phasors_header *h = job->header;
    if (!(chosen.frequency > 0)) {
        if (h->frequencies > 1)
            ps_info("%d frequencies; taking the first, %g Hz (--frequency chooses)", h->frequencies,
                    h->frequency[0]);
        return PS_OK;
    }
    for (int f = 1; f < h->frequencies; ++f)
        if (fabs(h->frequency[f] - chosen.frequency) <
            fabs(h->frequency[job->frequency] - chosen.frequency))
            job->frequency = f;
    if (fabs(h->frequency[job->frequency] - chosen.frequency) <= 1e-3 * chosen.frequency)
        return PS_OK;
    return ps_fail(PS_USAGE, "--frequency: %s has no %g Hz; the nearest is %g Hz",
                   job->run->operands[0], chosen.frequency, h->frequency[job->frequency]);
}

static ps_status set_density(sar_job *job, const char *text)
{
    char name[64];
    const char *equals = strchr(text, '=');
    double value;
    int found = 0;
    if (!equals || equals - text >= (ptrdiff_t)sizeof name ||
        ps_parse_real(equals + 1, &value) != PS_OK || !(value >= 0))
        return ps_fail(PS_USAGE, "--density %s: TAG=KG/M3 is expected", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    for (int m = 0; m < job->header->materials; ++m) {
        char tag[16];
        snprintf(tag, sizeof tag, "%d", job->header->material[m].tag);
        if (strcmp(name, tag) != 0 && strcmp(name, job->header->material[m].name) != 0) continue;
        job->density[m] = value;
        ++found;
    }
    return found ? PS_OK
                 : ps_fail(PS_USAGE, "--density %s: %s has no material of this tag or name", text,
                           job->run->operands[0]);
}

/* kg/m3: from lungs full of air, with room, to the densest metal. */
enum { DENSITY_LEAST = 50, DENSITY_MOST = 23000 };

static ps_status settle_densities(sar_job *job)
{
    for (int m = 0; m < job->header->materials; ++m)
        job->density[m] = job->header->material[m].density;
    for (int i = 0; i < chosen.density.count; ++i)
        PS_TRY(set_density(job, chosen.density.items[i]));
    for (int m = 0; m < job->header->materials; ++m) {
        int tag = job->header->material[m].tag;
        if (!(job->header->material[m].sigma > 0)) continue;
        if (!(job->density[m] > 0))
            ps_warning("material %d (tag %d) absorbs but has no density: it has no SAR and counts "
                       "as air (--density gives one)",
                       m, tag);
        else if (!(job->density[m] >= DENSITY_LEAST && job->density[m] <= DENSITY_MOST))
            PS_TRY(ps_refuse(job->run, "density",
                             "material %d (tag %d) absorbs and has %g kg/m3: %d to %d are expected "
                             "(1 g/cm3 is 1000 kg/m3)",
                             m, tag, job->density[m], DENSITY_LEAST, DENSITY_MOST));
    }
    return PS_OK;
}

static ps_status settle_masses(sar_job *job)
{
    PS_TRY_IN(ps_parse_reals(chosen.masses, ',', job->mass, SAR_MASSES_MAX, &job->masses),
              "--masses");
    for (int m = 0; m < job->masses; ++m) {
        job->mass[m] *= 1e-3;
        if (!(job->mass[m] > 0)) return ps_fail(PS_USAGE, "--masses %s: above 0", chosen.masses);
        for (int k = 0; k < m; ++k)
            if (job->mass[k] == job->mass[m])
                return ps_fail(PS_USAGE, "--masses %s: one comes twice", chosen.masses);
    }
    return PS_OK;
}

static ps_status check_options(void)
{
    if (!chosen.cut != !chosen.cut_output)
        return ps_fail(PS_USAGE, "--cut and --cut-output go together");
    if (chosen.cut && chosen.cut_quantity == SAR_CUT_AVERAGE && !(chosen.grid > 0))
        return ps_fail(PS_USAGE, "--cut-quantity average needs a --grid");
    return PS_OK;
}

static ps_status settle_scale(sar_job *job)
{
    double absorbed = 0;
    job->scale = 1;
    for (int64_t r = 0; r < job->header->rows; ++r) absorbed += sar_element_power(job, r);
    job->scale = chosen.amplitude * chosen.amplitude;
    if (chosen.power > 0 && chosen.accepted > 0)
        return ps_fail(PS_USAGE, "--power and --accepted-power exclude each other");
    if (chosen.accepted > 0) {
        double accepted;
        PS_TRY(ps_phasors_accepted(job->phasors, job->frequency, &accepted));
        job->scale = chosen.accepted / accepted;
        return PS_OK;
    }
    if (!(chosen.power > 0)) return PS_OK;
    if (!isfinite(job->outflow))
        return ps_fail(PS_INVALID,
                       "--power: %s does not have H on the whole mesh, so that the "
                       "radiated power is not known; use --amplitude",
                       job->run->operands[0]);
    if (!(absorbed + job->outflow > 0) || job->outflow < -.01 * absorbed)
        return ps_fail(PS_INVALID,
                       "--power: of unit amplitude %g W are absorbed and %g W flow in through the "
                       "boundary; the source is not inside the mesh, use --amplitude",
                       absorbed, -job->outflow);
    job->scale = chosen.power / (absorbed + job->outflow);
    return PS_OK;
}

/* ---- the run ---- */

/* Voxels stay; beside them come first the fields, then averages and columns of what is written. */
static ps_status take(const sar_job *job)
{
    int64_t fields = sar_fields_bytes(job), columns = 4 * job->tets.count * (4 + job->masses);
    PS_SCOPED(ps_report_print) ps_report *r = job->run->plan ? ps_report_new(job->run) : NULL;
    ps_report_int(r, "elements", job->header->rows);
    ps_report_int(r, "voxels", job->voxels.count);
    ps_report_int(r, "memory_of_voxels", job->grid > 0 ? sar_voxels_bytes(job) : 0);
    const ps_need need = {.arrays = (job->grid > 0 ? sar_voxels_bytes(job) : 0) +
                                    (fields > columns ? fields : columns),
                          .writer = 4 * job->tets.count,
                          .disk = 4 * job->tets.count * (4 + job->masses) +
                                  12 * job->mesh.vertex_count + 21 * job->tets.count,
                          .seconds = 1e-6 * (double)(job->tets.count + job->voxels.count)};
    return ps_plan_take(job->run, &need, r);
}

static ps_status open_job(sar_job *job, ps_product *product)
{
    const char *const *paths = product->run->operands;
    PS_TRY(settle_masses(job));
    PS_TRY(sar_open(job, paths[0], paths[1]));
    PS_TRY(choose_frequency(job));
    ps_phasors_choose(job->phasors, job->frequency);
    PS_TRY(settle_densities(job));
    PS_TRY(
        ps_store_open(paths[1], PS_VOLUME_MESH_FORMAT, PS_VOLUME_MESH_VERSION, &job->mesh_store));
    PS_TRY(ps_product_input(product, "phasors", ps_phasors_store(job->phasors)));
    PS_TRY(ps_product_input(product, "mesh", job->mesh_store));
    return job->grid > 0 ? sar_voxels_place(job) : PS_OK;
}

static ps_status compute(sar_job *job, const ps_product *product)
{
    sar_peak peaks[SAR_MASSES_MAX];
    if (job->grid > 0) PS_TRY(sar_voxels_make(job));
    if (chosen.cut) PS_TRY(sar_cut_make(job, chosen.cut));
    for (int i = 0; i < chosen.at.count; ++i) PS_TRY(sar_point_add(job, chosen.at.items[i]));
    PS_TRY(sar_read_fields(job));
    PS_TRY(settle_scale(job));
    PS_TRY(sar_check_balance(job));
    if (job->grid > 0) PS_TRY(sar_voxels_prepare(job));
    for (int m = 0; m < job->masses && job->grid > 0; ++m)
        PS_TRY(sar_voxels_average(job, m, &peaks[m]));
    if (chosen.cut)
        PS_TRY(sar_cut_write(job, chosen.cut, chosen.cut_output,
                             (sar_cut_quantity)chosen.cut_quantity, product));
    PS_TRY(sar_write_field(job, product->path));
    sar_report(job, peaks);
    return PS_OK;
}

/* It is always made again: a field records no inputs. */
static ps_status run_sar(ps_run *run)
{
    PS_SCOPED(sar_release) sar_job job = {.run = run, .grid = chosen.grid};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(check_options());
    PS_TRY(open_job(&job, &product));
    PS_TRY(take(&job));
    return run->plan ? PS_OK : compute(&job, &product);
}

static const ps_allowance allowances[] = {
    {"unsettled", "fields that had not died away or become steady"},
    {"imbalance", "more power absorbed or flowing out than the ports accept"},
    {"density", "a material that absorbs and has a density that no tissue has"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "dgtd-sar",
    .results = 1,
    .synopsis = "PHASORS MESH OUTPUT",
    .description = "From the fields of a dgtd run at a frequency: absorbed power by material, SAR "
                   "of elements, averages over cubes of 1 g and 10 g with their largest values and "
                   "places, outflow through the boundary. OUTPUT (.hdf) is a ParaView file of the "
                   "mesh with SAR, averages, |E| and power density; --cut writes a plane for "
                   "penstock-plot (specs/dgtd_sar.md).",
    .examples = "  penstock-dgtd-sar run.phasors.h5 head.hdf sar.hdf --power 0.25 --grid 1e-3\n"
                "  penstock-dgtd-sar run.phasors.h5 head.hdf sar.hdf --amplitude 10 \\\n"
                "      --cut='-0.1,-0.12,0;0.2,0,0;0,0.24,0;201x241' --cut-output cut.h5 \\\n"
                "      --cut-quantity sar",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_sar};
