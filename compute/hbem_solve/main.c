/* penstock-hbem-solve: boundary integral equations with H-matrices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/hbem_solve/figure_table.h"
#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/report.h"

enum { LIMIT_MAX = 1000000 };

static struct {
    solve_options own;
    int problem, form, side, coupling, solver, sparse, scaling;
    double density;
    ps_text_list direction, data, wavenumber, boundary, source, mirror, incident;
    const char *directions, *azimuths, *wavenumbers, *frequencies, *absorption;
} chosen = {.own = {.pade = 4,
                    .inner_tolerance = 1e-9,
                    .checkpoint_every = {.seconds = 60},
                    .krylov = {.tolerance = 1e-5, .limit = 500, .restart = 30},
                    .assembly = PS_HBEM_MATRIX_DEFAULTS},
            .side = 1};

static const ps_option options[] = {
    PS_CHOICE("problem", &chosen.problem, "hard|dirichlet|neumann", PS_IDENTITY,
              "waves outside of bodies (Helmholtz), rigid ones unless --boundary says what they "
              "are; or boundary data of Laplace's equation"),
    PS_LIST("boundary", &chosen.boundary, "TAG:CONDITION", PS_IDENTITY,
            "of a physical group (number, name, others): rigid, soft, impedance:RE[,IM] (Z over "
            "rho c), fluid:density=..,speed=.. (all of a body), or velocity:V, velocity:X,Y,Z, "
            "velocity:file:PATH:NAME (m/s) of one that is "
            "rigid or has an impedance; what vibrates is a right-hand side of its own, "
            "velocity@NAME:.. one for each name"),
    PS_LIST("source", &chosen.source, "KIND:..", PS_IDENTITY,
            "an incident field: point:X,Y,Z, e^{ikr}/(4 pi r), or dipole:X,Y,Z,DX,DY,DZ, D.grad "
            "of it with respect to its place"),
    PS_REAL("density", &chosen.density, "KG/M3", 0, 1e9, PS_IDENTITY,
            "of the medium, for velocities and fluids; 0: not given"),
    PS_REAL("speed", &chosen.own.speed, "M/S", 0, 1e9, PS_IDENTITY,
            "of sound in the medium, for velocities, fluids and frequencies; 0: not given"),
    PS_LIST(
        "incident", &chosen.incident, "PATH:P:Q", PS_IDENTITY,
        "an incident field by fields of a file on this mesh, of vertices or triangles: P the "
        "pressure (1 number, or 2: real, imaginary), Q its normal derivative or its gradient (3 "
        "or 6); with --mirror what the planes send back included"),
    PS_LIST(
        "mirror", &chosen.mirror, "PLANE:KIND", PS_IDENTITY,
        "a plane that mirrors waves, x|y|z=METRES or X,Y,Z:NX,NY,NZ (a point and a normal), "
        "rigid or soft (pressure release: the sea's surface), or two that are perpendicular; the "
        "bodies lie on one side, or stand on a rigid one with an open rim; for clusters"),
    PS_TEXT("absorption", &chosen.absorption, "XdB/m|XNp/m", PS_IDENTITY,
            "of the medium, which makes the wave number complex"),
    PS_LIST("direction", &chosen.direction, "X,Y,Z", PS_IDENTITY,
            "the way an incident plane wave travels; several times for several waves"),
    PS_TEXT("azimuths", &chosen.azimuths, "FROM,TO,COUNT", PS_IDENTITY,
            "waves along (cos, sin, 0) of these angles in degrees"),
    PS_TEXT("directions", &chosen.directions, "FILE", PS_IDENTITY, "waves from lines x y z"),
    PS_CHOICE("coupling", &chosen.coupling, "osrc|miller|plain", PS_IDENTITY,
              "V of the Burton-Miller equation: square-root operator, -i/k, or none"),
    PS_INT("pade", &chosen.own.pade, "N", 1, PS_OSRC_TERMS_MAX, PS_IDENTITY,
           "terms of the square root"),
    PS_REAL("radius", &chosen.own.radius, "R", 0, 1e9, PS_IDENTITY,
            "radius of mean curvature for its damping, m; 0: that of the surface"),
    PS_LIST(
        "data", &chosen.data, "KIND:..", PS_IDENTITY,
        "boundary data: point:X,Y,Z (field of a source), linear:X,Y,Z, value:C, file:PATH:NAME"),
    PS_CHOICE("form", &chosen.form, "direct|indirect", PS_IDENTITY,
              "solve for the missing data (S or W), or for a density (S, or 1/2 M + K')"),
    PS_CHOICE("side", &chosen.side, "interior|exterior", PS_IDENTITY, "where the potential is"),
    PS_REAL("mean", &chosen.own.mean, "U", 0, 0, PS_IDENTITY,
            "mean of u inside, which --problem neumann leaves open (default 0)"),
    PS_CHOICE("solver", &chosen.solver, "auto|gmres|block|cg", PS_IDENTITY,
              "a Krylov space for each side, one for all, or conjugate gradients (S, W)"),
    PS_CHOICE("sparse", &chosen.sparse, "auto|direct|iterative", PS_IDENTITY,
              "systems of the square-root operator by sparse factors, or by iterations, which take "
              "less memory; auto: factors"),
    PS_CHOICE("preconditioner", &chosen.scaling, "auto|mass|diagonal", PS_IDENTITY,
              "of Laplace's S and W: M^-1, or numbers that grow as their diagonals do; auto: "
              "diagonal for W"),
    PS_REAL("tolerance", &chosen.own.krylov.tolerance, "T", 1e-14, .5, PS_IDENTITY,
            "relative residual"),
    PS_REAL("inner-tolerance", &chosen.own.inner_tolerance, "T", 1e-14, .1, PS_IDENTITY,
            "relative residual of the sparse systems of M and V"),
    PS_INT("limit", &chosen.own.krylov.limit, "N", 1, LIMIT_MAX, 0, "steps at most"),
    PS_INT("cycle", &chosen.own.krylov.restart, "N", 1, 10000, PS_IDENTITY,
           "steps between restarts of GMRES"),
    PS_INT("batch", &chosen.own.batch, "N", 0, LIMIT_MAX, PS_IDENTITY,
           "sides solved together; 0: as memory allows"),
    PS_INTERVAL("checkpoint-every", &chosen.own.checkpoint_every, PS_EVERY, 0,
                "between checkpoints: 60s, 5min or 100steps; 0: only when stopped"),
    PS_LIST("wavenumber", &chosen.wavenumber, "K", PS_IDENTITY,
            "rad/m; several times for several. This and the following: for clusters, with which "
            "matrices are assembled in memory"),
    PS_TEXT("wavenumbers", &chosen.wavenumbers, "K,..|FROM:TO:N", PS_IDENTITY,
            "a list, or N from .. to: a sweep; what is finished of one that is stopped stays"),
    PS_TEXT("frequencies", &chosen.frequencies, "HZ,..|FROM:TO:N", PS_IDENTITY,
            "likewise, with --speed: k = 2 pi f/speed"),
    PS_REAL("epsilon", &chosen.own.assembly.tolerance, "EPS", 1e-12, .5, PS_IDENTITY,
            "of cross approximation and recompression, relative"),
    PS_REAL("rules", &chosen.own.assembly.rules, "EPS", 0, .5, PS_IDENTITY,
            "of quadrature; 0: as --epsilon"),
    PS_CHOICE("precision", &chosen.own.assembly.precision, PS_FP64 "|" PS_FP32, PS_IDENTITY,
              "of the matrices' numbers and of integrals that are far apart"),
    PS_INT("check-rows", &chosen.own.assembly.check_rows, "N", 1, 1000, PS_IDENTITY,
           "rows of a block that are checked when it seems converged"),
    PS_INT("max-rank", &chosen.own.assembly.max_rank, "R", 1, 100000, PS_IDENTITY,
           "a block that needs more is an error"),
    PS_INT("cut-rank", &chosen.own.assembly.cut_rank, "R", 0, 100000, PS_IDENTITY,
           "far blocks of waves are cut where a rank above R is expected; 0: they are not"),
    PS_FLAG("recompress", &chosen.own.assembly.recompress, PS_IDENTITY,
            "reduce ranks by singular values"),
    PS_FLAG("skeleton", &chosen.own.assembly.skeleton, PS_IDENTITY,
            "take crosses of far blocks through points, which are cheaper, instead of entries"),
    {"chunk-size", PS_OPTION_BYTES, &chosen.own.assembly.chunk_bytes, "BYTES",
     "of blocks that are assembled, and multiplied on cores, together", 1 << 12, 4e9, PS_IDENTITY},
    PS_FLAG("force-coarse", &chosen.own.assembly.force_coarse, 0,
            "take a mesh that is too coarse for K"),
    PS_OPTION_END};

/* ---- options ---- */

/* How to assemble, where matrices are. */
static ps_status take_assembly(solve_options *o)
{
    const ps_hbem_matrix_options *a = &o->assembly, usual = PS_HBEM_MATRIX_DEFAULTS;
    o->assembly_given = a->tolerance != usual.tolerance || a->rules != usual.rules ||
                        a->precision != usual.precision || a->check_rows != usual.check_rows ||
                        a->max_rank != usual.max_rank || a->cut_rank != usual.cut_rank ||
                        a->recompress != usual.recompress || a->skeleton != usual.skeleton ||
                        a->chunk_bytes != usual.chunk_bytes || a->force_coarse;
    sweep_words words = {&chosen.wavenumber, chosen.wavenumbers, chosen.frequencies,
                         chosen.absorption};
    return sweep_parse(&words, o);
}

static ps_status take_options(solve_problem *p)
{
    static const ps_coupling couplings[] = {PS_COUPLING_OSRC, PS_COUPLING_MILLER,
                                            PS_COUPLING_PLAIN};
    p->options = chosen.own;
    p->options.problem = (problem_kind)chosen.problem;
    p->options.indirect = chosen.form == 1;
    p->options.interior = chosen.side == 0;
    p->options.coupling = couplings[chosen.coupling];
    p->options.solver = (solver_choice)chosen.solver;
    p->options.sparse = (sparse_choice)chosen.sparse;
    p->options.scaling = (scaling_choice)chosen.scaling;
    if (chosen.own.mean != 0 && finds_constants(p))
        return ps_fail(PS_USAGE, "--mean is for --side interior: outside of a body u has no "
                                 "constant that is free");
    bool waves = chosen.direction.count || chosen.directions || chosen.azimuths ||
                 chosen.boundary.count || chosen.source.count || chosen.incident.count;
    if (p->options.problem == PROBLEM_HARD && chosen.data.count)
        return ps_fail(PS_USAGE, "--data goes with --problem dirichlet and neumann");
    if (p->options.problem != PROBLEM_HARD && waves)
        return ps_fail(PS_USAGE, "incident waves, sources and --boundary go with --problem hard");
    if (p->options.problem != PROBLEM_HARD && (chosen.mirror.count || chosen.absorption))
        return ps_fail(PS_USAGE, "--mirror and --absorption go with --problem hard");
    PS_TRY(ps_reflectors_parse("--mirror", chosen.mirror.count, chosen.mirror.items,
                            &p->options.mirrors));
    PS_TRY(take_assembly(&p->options));
    return equation_method(p, &p->options.krylov.method);
}

/* The device of this rank; NULL where that is its cores. */
static ps_status open_device(void *problem)
{
    solve_problem *p = problem;
    double start = ps_clock();
    PS_TRY(ps_device_open(p->run->device, p->local_rank, &p->device));
    if (ps_device_describe(p->device).kind == PS_DEVICE_CPU) ps_device_close(&p->device);
    ps_debug("the device opened in %.2f s", ps_clock() - start);
    return PS_OK;
}

static ps_status read_all(solve_problem *p)
{
    PS_TRY(problem_open_mesh(p));
    if (p->options.problem == PROBLEM_HARD) {
        PS_TRY(boundary_parse(&chosen.boundary, &p->mesh, chosen.density, chosen.own.speed,
                              &p->boundary));
        PS_TRY(parse_directions(p, &chosen.direction, chosen.directions, chosen.azimuths));
        PS_TRY(parse_sources(p, &chosen.source));
        PS_TRY(parse_incidents(p, &chosen.incident));
        PS_TRY(end_of_waves(p));
    } else {
        PS_TRY(parse_data(p, &chosen.data));
    }
    PS_TRY(problem_open(p, p->run->operand_count - 1 - (p->run->output != NULL),
                        p->run->operands + 1));
    PS_TRY(waves_check(p));
    ps_debug("files read in %.2f s", p->seconds[SECONDS_OPEN]);
    if (p->incident_count > 0 && p->group_count > 1)
        return ps_fail(PS_USAGE, "--incident: the data are of one wave number, here are %d",
                       p->group_count);
    return PS_OK;
}

/* Files are read while the device is opened. */
static ps_status prepare(solve_problem *p)
{
    ps_background device = {0};
    ps_failure failure = {0};
    PS_TRY(take_options(p));
    p->local_rank = ps_comm_local_rank();
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* kernels come with the device: large ones */
    if (!p->run->plan)
        PS_TRY(ps_background_start(&device, open_device, p, "a thread that opens the device"));
    ps_note_failure(&failure, read_all(p));
    ps_note_failure(&failure, ps_background_wait(&device));
    PS_TRY(ps_first_failure(&failure));
    PS_TRY(constants_find_open(p));
    return plan_memory(p);
}

/* ---- figures ---- */

static void report_results(const solve_problem *p, ps_report *r)
{
    static const char *const names[SECONDS_COUNT] = {
        "opening",       "assembly_time", "loading_time", "factors_time",
        "products_time", "sparse_time",   "other_time"};
    ps_report_int(r, "steps_least", p->steps_least);
    ps_report_int(r, "steps_most", p->steps_most);
    ps_report_int(r, "products", p->products);
    ps_report_flag(r, "device", p->device != NULL);
    ps_report_flag(r, "direct", p->direct);
    ps_report_int(r, "factors", p->factor_bytes);
    if (p->options.problem == PROBLEM_HARD) ps_report_real(r, "radius", p->radius);
    ps_report_int(r, "inner_iterations", p->inner_iterations);
    ps_report_real(r, "residual", p->residual);
    if (isfinite(p->row_sum_error)) ps_report_real(r, "row_sum_error", p->row_sum_error);
    if (isfinite(p->entry_error)) ps_report_real(r, "entry_error", p->entry_error);
    ps_report_flag(r, "converged", p->converged);
    ps_report_int(r, "resident", p->resident);
    for (int i = 0; i < SECONDS_COUNT; ++i) ps_report_real(r, names[i], p->seconds[i]);
}

/* Matrices that a product takes: those of velocities are for right-hand sides. */
static int64_t group_size(const solve_problem *p)
{
    int64_t count = 0;
    if (p->options.problem != PROBLEM_HARD) return 1;
    for (int k = 0; k < SLOTS; ++k) count += !slot_table[k].data && slot_table[k].copy == 0 && p->groups[0].matrix[k] >= 0;
    return count;
}

/* A product with each matrix of the equation, for all sides of a batch; then what is solved with
 * sparse matrices comes from the rank that has the side. */
static ps_status report_ranks(const solve_problem *p, ps_report *report)
{
    const solve_options *o = &p->options;
    bool hard = o->problem == PROBLEM_HARD, shares = hard || o->krylov.method != PS_LOCKSTEP_CG;
    int64_t vector = 8 * p->batch * problem_size(p), matrices = group_size(p);
    ps_rank_traffic traffic = {.unit = "product",
                               .ranks = p->run->ranks,
                               .sums = p->boundary.fluid ? -1 : matrices + shares, /* bodies */
                               .summed = (matrices + shares) * vector};
    PS_SCOPED_MEMORY double *work = NULL;
    if (traffic.ranks == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&work, traffic.ranks, "the shares of the ranks"));
    for (int i = 0; i < p->matrix_count; ++i)
        matrix_shares(&p->matrices[i], (int)traffic.ranks, work);
    for (int64_t r = 0; r < traffic.ranks; ++r) ps_rank_traffic_add(&traffic, 0, 0, work[r]);
    ps_report_ranks(report, &traffic);
    return PS_OK;
}

static ps_status report(const solve_problem *p)
{
    ps_status status = PS_OK;
    static const char *const methods[] = {"gmres", "block", "cg"};
    ps_report *r = ps_report_new(p->run);
    int64_t bytes = 0;
    if (ps_comm_rank() > 0) {
        ps_report_discard(&r);
        return PS_OK;
    }
    for (int i = 0; i < p->matrix_count; ++i) bytes += p->matrices[i].bytes;
    ps_report_int(r, "unknowns", problem_dofs(p));
    ps_report_int(r, "wavenumbers", p->group_count);
    ps_report_int(r, "sides", p->load_count);
    ps_report_int(r, "batch", p->batch);
    ps_report_text(r, "unknown_space", ps_hbem_space_name(p->unknown));
    ps_report_text(r, "data_space", ps_hbem_space_name(p->data));
    ps_report_int(r, "sharp_edges", p->edges);
    if (p->open_constants > 0) ps_report_int(r, "open_constants", p->open_constants);
    ps_report_text(r, "method", methods[p->options.krylov.method]);
    ps_report_int(r, "matrices", bytes);
    ps_report_int(r, "vectors", batch_bytes(p, p->batch));
    if (!p->run->plan) report_results(p, r);
    if (!p->run->plan) ps_report_run(r, ps_memory_peak());
    if (p->run->plan) {
        ps_ledger_report(&p->ledger, p->run, r);
        ps_report_text(r, "time_needs", "the number of products, which --limit bounds");
        status = report_ranks(p, r);
    }
    ps_report_print(&r);
    return status;
}

/* ---- the run ---- */

/* Whether an output of this identity is there whose solutions all converged. Collective. */
static bool is_done(const ps_product *product)
{
    ps_hbem_solution old;
    if (!ps_product_matches(product)) return false;
    bool good = ps_comm_rank() == 0 && ps_hbem_solution_open(product->path, &old) == PS_OK;
    if (good) {
        good = old.header.converged;
        ps_hbem_solution_close(&old);
    }
    good = ps_comm_any(good) && !product->run->force;
    if (good) ps_info("%s is up to date; --force solves again", product->path);
    return good;
}

static ps_status refuse_unconverged(const solve_problem *p)
{
    const solve_miss *m = &p->miss;
    return ps_fail(PS_FAILED,
                   "after %lld steps %lld of %lld right-hand sides miss their residuals; by most at "
                   "the wave number %.9g: %.3g, %.3g is wanted; %s holds the best iterates. A larger "
                   "--limit goes on",
                   (long long)p->steps_most, (long long)m->sides,
                   (long long)(p->load_count * p->group_count), m->wavenumber, m->residual,
                   m->wanted, p->run->output);
}

static ps_status finish(solve_problem *p, double start)
{
    p->out.header.converged = p->converged;
    PS_TRY(ps_comm_agree(ps_comm_rank() ? PS_OK : ps_hbem_solution_commit(&p->out)));
    p->seconds[SECONDS_REST] = ps_clock() - start - p->seconds[SECONDS_LOADING] -
                               p->seconds[SECONDS_ASSEMBLY] - p->seconds[SECONDS_PRODUCTS] -
                               p->seconds[SECONDS_SPARSE];
    PS_TRY(report(p));
    if (!p->converged) return refuse_unconverged(p);
    return remove_checkpoints(p);
}

/* Of matrices that are assembled here, on which no rules depend on the wave number. */
static ps_status check_entries(solve_problem *p)
{
    matrix *m[SLOTS];
    if (p->scene_count == 0) return PS_OK;
    int count = group_matrices(p, &p->groups[0], m);
    for (int i = 0; i < count; ++i) {
        ps_hbem_problem *own = &m[i]->core->problem;
        ps_status status = ps_hbem_problem_check_entries(own, p->run);
        p->entry_error =
            fmax(isnan(p->entry_error) ? 0 : p->entry_error, own->tables.header.entry_error);
        if (status != PS_OK) return ps_context(status, "%s", m[i]->name);
    }
    return PS_OK;
}

static ps_status solve(solve_problem *p, const ps_product *product)
{
    double start = ps_clock();
    if (is_done(product)) return check_states(p) == PS_OK ? remove_checkpoints(p) : PS_OK;
    PS_TRY(check_states(p));
    PS_TRY(ps_comm_agree(check_entries(p)));
    PS_TRY(ps_comm_agree(output_create(p, product)));
    PS_TRY(solve_batches(p));
    return finish(p, start);
}

static ps_status run_solve(ps_run *run)
{
    char more[64];
    PS_SCOPED(problem_close)
    solve_problem p = {.run = run, .row_sum_error = NAN, .entry_error = NAN};
    PS_SCOPED_MEMORY char *identity = NULL; /* of checkpoints */
    ps_product product;
    ps_product_init(run, PS_HBEM_SOLUTION_FORMAT, PS_HBEM_SOLUTION_VERSION, &product);
    PS_TRY(ps_comm_agree(prepare(&p)));
    PS_TRY(output_inputs(&p, &product));
    if (run->plan) return report(&p);
    snprintf(more, sizeof more, "sides-at-once=%lld\n", (long long)p.batch);
    PS_TRY(ps_product_identity(&product, more, &identity));
    p.options.identity = identity;
    return solve(&p, &product);
}

static const ps_allowance allowances[] = {
    {"row-sums", "entries that give constants wrong row sums, above 10 eps"},
    PS_HBEM_ALLOW_ENTRIES,
    {"long-waves", "waves so long that errors of the matrices hide what a rigid body scatters"},
    {"close-source", "sources nearer to the surface than half an edge"},
    {"spaces", "data in a space that cannot hold them: p1 where a normal derivative jumps, p0 for "
               "a potential"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "hbem-solve",
    .results = 17,
    .synopsis = "MESH MATRIX|CLUSTERS... SOLUTION",
    .description =
        "Solves boundary integral equations with H-matrices: rigid, soft, lined and fluid bodies "
        "in waves "
        "and near sources, and bodies that vibrate, by Burton-Miller equations and their kin with "
        "an OSRC operator (K and W on p1, a pair for every wave number; S and K' besides where "
        "normal derivatives are not zero), or Dirichlet and Neumann problems of Laplace. The "
        "matrices are those of "
        "penstock-hmatrix-assemble; or they are assembled in memory, from the clusters of "
        "penstock-cluster-build. All right-hand sides advance together; matrices in files that do "
        "not fit in memory are streamed. Matrices, products and sparse systems are computed on a "
        "CUDA device where there is one (--device). Checkpoints are SOLUTION.batch*.",
    .examples =
        "  penstock-hbem-solve hull.hdf K.h5 W.h5 phi.hdf --azimuths 0,350,36\n"
        "  penstock-hbem-solve head.hdf clusters.h5 ears.hdf --wavenumber 18.3 --density 1.2 \\\n"
        "      --speed 343 --boundary 2:velocity:1 --boundary others:rigid\n"
        "  penstock-hbem-solve hull.hdf clusters.h5 phi.hdf --wavenumber 4.19 "
        "--direction 1,0,0\n"
        "  penstock-hbem-solve ball.hdf S.h5 sigma.hdf --problem dirichlet --form "
        "indirect --data point:0,0,0.2",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_solve,
    .streams = true,
    .saves = true,
    .parallel = true,
    .counts = true};
