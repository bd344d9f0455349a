/* penstock-particle-import: particles of many formats, or generated, become a checked file. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/columns_hdf5.h"
#include "preprocess/particle_import/figure_table.h"
#include "preprocess/particle_import/import.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/product.h"

static struct {
    import_options own;
    int generate, format, coincident, moments;
    int64_t count, seed, right_hand_sides;
} chosen = {.own = {.length_units = "1", .charge_units = "1"},
            .count = 1000000,
            .seed = 1,
            .right_hand_sides = 1};

static const ps_option options[] = {
    PS_CHOICE("generate", &chosen.generate, "none|cube|ellipsoid|plummer|clusters", PS_IDENTITY,
              "make particles instead of reading some; clusters: 512 Plummer spheres"),
    PS_INT("count", &chosen.count, "N", 1, 1e15, PS_IDENTITY, "particles to generate"),
    PS_INT("seed", &chosen.seed, "S", 0, 1e18, PS_IDENTITY, "of all that is generated"),
    PS_CHOICE("charges", &chosen.own.charges, "auto|unit|uniform|signed", PS_IDENTITY,
              "unit: 1; uniform: in [0, 1); signed: in [-1, 1); auto: those of the file, or "
              "uniform where generated"),
    PS_INT("right-hand-sides", &chosen.right_hand_sides, "S", 1, PS_RIGHT_HAND_SIDES_MAX,
           PS_IDENTITY, "charges, or sides of moments, that are made for each particle"),
    PS_CHOICE("moments", &chosen.moments, "charges|dipoles|charges-and-dipoles|forces|complex",
              PS_IDENTITY,
              "what the columns behind x, y, z are, a side after the other: q; px,py,pz; q of all "
              "sides, then px,py,pz of each; fx,fy,fz (of Stokeslets); re,im; columns of text are "
              "found by these names"),
    PS_CHOICE("format", &chosen.format, "auto|text|hdf5|tipsy|pqr|fma", PS_IDENTITY,
              "of the input; auto: by signature and suffix"),
    PS_TEXT("columns", &chosen.own.columns, "X,Y,Z,Q,...", PS_IDENTITY,
            "text: which columns to take, by number from 1 or by name of the header"),
    PS_TEXT("positions", &chosen.own.positions, "NAMES", PS_IDENTITY,
            "HDF5: dataset [N][3], or three, separated by commas; default x,y,z"),
    PS_TEXT("charge-names", &chosen.own.charge_names, "NAMES", PS_IDENTITY,
            "HDF5: datasets of charges or masses; default q"),
    PS_CHOICE(
        "pqr-columns", &chosen.own.pqr_columns, "auto|free|fixed", PS_IDENTITY,
        "PQR: numbers by words, or by the columns of PDB; auto: by words where there are enough"),
    PS_CHOICE("components", &chosen.own.components, "all|gas|dark|star", PS_IDENTITY,
              "tipsy: which particles to take"),
    PS_CHOICE("coincident", &chosen.coincident, "refuse|keep", PS_IDENTITY,
              "particles at the place of another one"),
    PS_TEXT("length-units", &chosen.own.length_units, "UNIT", PS_IDENTITY, "recorded, not applied"),
    PS_TEXT("charge-units", &chosen.own.charge_units, "UNIT", PS_IDENTITY, "recorded, not applied"),
    PS_OPTION_END};

static import_options gather(const ps_run *run)
{
    import_options o = chosen.own;
    o.run = run;
    o.input = chosen.generate ? NULL : run->operands[0];
    o.output = chosen.generate ? run->operands[0] : run->output;
    o.format = (import_format)chosen.format;
    o.moments = (ps_moments)chosen.moments;
    o.right_hand_sides = (int)chosen.right_hand_sides * ps_moments_columns(o.moments);
    o.seed = (uint64_t)chosen.seed;
    o.keep_coincident = chosen.coincident == 1;
    return o;
}

/* ---- what the input is ---- */

static bool ends_with(const char *name, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    return length > size && strncasecmp(name + length - size, suffix, size) == 0;
}

static import_format format_of(const import_options *o)
{
    static const struct {
        const char *suffix;
        import_format format;
    } known[] = {{".tipsy", IMPORT_TIPSY},
                 {".std", IMPORT_TIPSY},
                 {".pqr", IMPORT_PQR},
                 {".fma", IMPORT_FMA},
                 {".bfma", IMPORT_FMA}};
    size_t length = strlen(o->input);
    if (o->format != IMPORT_AUTO) return o->format;
    if (ps_is_hdf5(o->input)) return IMPORT_HDF5;
    if (ends_with(o->input, length, ".gz")) length -= 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (ends_with(o->input, length, known[i].suffix)) return known[i].format;
    return IMPORT_TEXT;
}

/* ---- the run ---- */

static void report(const import_options *o, const ps_particle_header *h, int64_t coincident,
                   const ps_run *run, double seconds)
{
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "particles", h->count);
    ps_report_int(r, "right_hand_sides", h->right_hand_sides);
    if (coincident >= 0) ps_report_int(r, "coincident", coincident);
    if (o->output && !run->plan) {
        ps_report_reals(r, "lower", h->lower, 3);
        ps_report_reals(r, "upper", h->upper, 3);
    }
    ps_report_real(r, "rate", (double)h->count / seconds);
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}

static ps_status read_back(const char *path, ps_particle_header *header)
{
    ps_particle_file *file;
    PS_TRY(ps_particles_open(path, &file));
    *header = *ps_particles_header(file);
    ps_particles_close(&file);
    return PS_OK;
}

static ps_status import_file(const import_options *o, const ps_store_identity *identity,
                             ps_particle_header *header, int64_t *coincident)
{
    static const import_reader readers[] = {[IMPORT_TEXT] = read_text,
                                            [IMPORT_HDF5] = read_hdf5,
                                            [IMPORT_TIPSY] = read_tipsy,
                                            [IMPORT_PQR] = read_pqr,
                                            [IMPORT_FMA] = read_fma};
    PS_SCOPED(sink_release) sink s = {.spool = -1, .places = {.file = -1}};
    PS_TRY(readers[format_of(o)](o, identity, &s));
    PS_TRY(sink_finish(&s, coincident));
    if (*coincident > 0)
        ps_warning("%s: %lld particles are at the place of another one", o->input,
                   (long long)*coincident);
    *header = s.header;
    return PS_OK;
}

static ps_status generate(import_options *o, const ps_store_identity *identity,
                          ps_particle_header *header)
{
    if (o->charges == 0) o->charges = 1 + PS_CHARGES_UNIFORM;
    *header = (ps_particle_header){.count = chosen.count,
                                   .right_hand_sides = o->right_hand_sides,
                                   .moments = o->moments};
    return write_generated(o, identity, (ps_distribution)(chosen.generate - 1), chosen.count);
}

/* What it takes, without doing it. */
static ps_status plan(const import_options *o, const ps_run *run)
{
    PS_SCOPED(ps_report_print) ps_report *r = ps_report_new(run);
    ps_need need;
    int columns = 3 + o->right_hand_sides;
    if (!o->input) {
        ps_report_int(r, "particles", chosen.count);
        need = write_need(run, chosen.count, columns);
    } else {
        static const char *const names[] = {"auto", "text", "hdf5", "tipsy", "pqr", "fma"};
        ps_report_text(r, "format", names[format_of(o)]);
        need = (ps_need){
            .arrays = 8 * (int64_t)SINK_ROWS * (columns + 1),
            .needs = "how many particles the file holds, on which memory and disk depend, too"};
    }
    return ps_plan_take(run, &need, r);
}

static ps_status run_import(ps_run *run)
{
    import_options o = gather(run);
    ps_particle_header header;
    ps_product product;
    int64_t coincident = -1;
    double start = ps_clock();
    ps_product_init(run, PS_PARTICLES_FORMAT, ps_moments_version(o.moments), &product);
    if (o.right_hand_sides > PS_RIGHT_HAND_SIDES_MAX)
        return ps_fail(PS_USAGE, "--right-hand-sides %d of %s: %d columns; up to %d are possible",
                       (int)chosen.right_hand_sides, ps_moments_names[o.moments],
                       o.right_hand_sides, PS_RIGHT_HAND_SIDES_MAX);
    if (!o.input && run->operand_count > 1)
        return ps_fail(PS_USAGE, "--generate takes OUTPUT alone, not \"%s\" too", run->operands[1]);
    if (run->plan) return plan(&o, run);
    product.path = o.output;
    if (o.input) PS_TRY(ps_product_file(&product, "input", o.input));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(o.input ? import_file(&o, &product.identity, &header, &coincident)
                   : generate(&o, &product.identity, &header));
    if (o.output) PS_TRY(read_back(o.output, &header));
    report(&o, &header, coincident, run, ps_clock() - start);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "particle-import",
    .results = 4,
    .synopsis = "INPUT [OUTPUT] | --generate KIND OUTPUT",
    .description = "Reads particles with charges or masses (text and CSV, HDF5, tipsy, PQR, FMA; "
                   "all but HDF5 also compressed by gzip) or generates some, checks them, and "
                   "writes a particle file. Without OUTPUT it only checks. Values that are not "
                   "finite, lines that do not fit, files cut short and particles at one place are "
                   "refused with where they are. Memory is bounded whatever the size of the file.",
    .examples = "  penstock-particle-import galaxy.tipsy galaxy.h5 --coincident keep\n"
                "  penstock-particle-import table.csv.gz p.h5 --columns x,y,z,mass\n"
                "  penstock-particle-import snap.hdf5 p.h5 --positions /PartType1/Coordinates "
                "--charges unit\n"
                "  penstock-particle-import --generate ellipsoid --count 30000000 ellipsoid.h5",
    .options = options,
    .figures = figure_table,
    .run = run_import};
