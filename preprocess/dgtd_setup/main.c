/* penstock-dgtd-setup: media, conditions, sources and time step are put on a partition. */
#include <stdlib.h>

#include "preprocess/dgtd_setup/figure_table.h"
#include "runtime/scope.h"
#include "stage/product.h"
#include "setup.h"

static setup_options chosen = {.order = 2, .applications = 100, .dt = "rule", .local = "off"};

static const ps_option options[] = {
    PS_INT("order", &chosen.order, "P", 1, 4, PS_IDENTITY, "polynomial order of all elements"),
    PS_LIST(
        "material", &chosen.media, "TAG:KEY=VALUE,..", PS_IDENTITY,
        "medium of the elements of a physical group (number or name; or default): relative "
        "permittivity eps= (1; XX/YY/ZZ[/XY/XZ/YZ] of a tensor) and permeability mu= (1), "
        "conductivity sigma= in S/m (0), density rho= in kg/m3 (0: none); poles, each as often as "
        "wanted: debye=STRENGTH/TIME, lorentz=STRENGTH/RESONANCE/DAMPING, drude=PLASMA/DAMPING "
        "(rad/s, 1/s), eps= being that of infinite frequency; or tissue=NAME, by Gabriel et al."),
    PS_LIST("frequency", &chosen.frequencies, "HZ[,HZ..]", 0,
            "tell permittivity and conductivity of all media there"),
    PS_TEXT("materials", &chosen.media_file, "FILE", PS_IDENTITY,
            "likewise from a file, a line each: TAG eps=.. mu=.. sigma=.. rho=..; --material goes "
            "before"),
    PS_LIST("boundary", &chosen.boundaries, "TAG:pec|pmc|absorbing", PS_IDENTITY,
            "condition on the faces of a physical group (number, name, or outer: all outer faces "
            "that are left); inner faces become sheets without thickness"),
    PS_LIST("source", &chosen.sources, "KIND:KEY=VALUE:..", PS_IDENTITY,
            "current:at=:axis=:radius=:moment=, plane:dir=:pol=:amplitude=:at=, "
            "dipole:at=:axis=:moment=, each with shape=gaussian|ramp:width=:delay=:frequency=; or "
            "mode:n=:amplitude="),
    PS_LIST("port", &chosen.ports, "NAME:faces=TAG:r=OHM:..", PS_IDENTITY,
            "a lumped port on the faces of a group that reach from one piece of metal to another: "
            "r=, l= (H), c= (F), connect=series|parallel, z0= of S-parameters (default r, or 50); "
            "with amplitude= (V), shape=, width=, delay=, frequency= as of sources it is driven; "
            "plus=TAG or axis=X,Y,Z tells the + conductor. Or mode=tem, te10, tm11, .. or the "
            "number of "
            "a mode: the outer end (pmc) of a guide that goes on without end behind it"),
    PS_LIST(
        "wire", &chosen.wires, "NAME:path=X,Y,Z/X,Y,Z..:radius=M:..", PS_IDENTITY,
        "a thin wire of perfect conductor along a path through the mesh, whose edges it need "
        "not follow: radius=, "
        "tube= over which its current is spread (m; the default falls slower than edges), segment= "
        "(m); with r=, l=, "
        "c= in series it has a network, a port of the wire's name, at=X,Y,Z (default its "
        "middle), driven as of "
        "--port. An end on a face of metal is grounded there"),
    PS_TEXT("total", &chosen.total, "box:..|ball:..|tag:..", PS_IDENTITY,
            "region of the total field; at its surface the incident field enters, outside is the "
            "scattered field"),
    PS_LIST("pml", &chosen.pml, "auto|TAG[:KEY=VALUE..]", PS_IDENTITY,
            "perfectly matched layer: grown on all absorbing faces (of a box or a ball), or the "
            "elements of a physical group; layers=, thickness= (m; of auto), reflection=, "
            "grading=, kappa=, alpha= (1/s), flux=centred or upwind (of its faces)"),
    PS_CHOICE("absorbing", &chosen.absorbing, "averaged|paper", PS_IDENTITY,
              "absorbing term: the mean of old and new fields, or explicit as published (dt <= 0.8 "
              "of the limit)"),
    PS_CHOICE("flux", &chosen.flux, "centred|upwind", PS_IDENTITY, "numerical flux"),
    PS_TEXT("dt", &chosen.dt, "rule|power|TIME", PS_IDENTITY,
            "time step: from the smallest element, by power iteration, or as given (s, ns, ps; m: "
            "metres of light)"),
    PS_REAL("fraction", &chosen.fraction, "F", 0, 1, PS_IDENTITY,
            "of the limit that rule and power take; 0: 0.9, 0.85 with --local-steps, or 0.8 with "
            "absorbing faces and "
            "--absorbing paper, or 0.4 with --flux upwind"),
    PS_INT("applications", &chosen.applications, "N", 10, 100000, PS_IDENTITY,
           "of the power iteration"),
    PS_TEXT("local-steps", &chosen.local, "auto|off|LEVELS", PS_IDENTITY,
            "smaller steps for small elements alone, each level of half the size of the one "
            "before; auto: as "
            "many levels as save updates of elements, or none"),
    PS_INT("scale-slivers", &chosen.scale, "N", 0, 100000, PS_IDENTITY,
           "raise permittivity and permeability of the N elements that allow the smallest steps "
           "until the next one limits the step (mass scaling)"),
    PS_TEXT(
        "divide", &chosen.divide, "TIME|FREQUENCY", PS_IDENTITY,
        "shorten the time step so that a whole number of them makes this time or period (900MHz)"),
    PS_OPTION_END};

static void find_bounds(setup *s)
{
    for (int c = 0; c < 3; ++c) s->lower[c] = s->upper[c] = s->mesh.vertices[c];
    for (int64_t i = 0; i < 3 * s->mesh.vertex_count; ++i) {
        double x = s->mesh.vertices[i];
        s->lower[i % 3] = x < s->lower[i % 3] ? x : s->lower[i % 3];
        s->upper[i % 3] = x > s->upper[i % 3] ? x : s->upper[i % 3];
    }
}

static ps_status make_model(setup *s)
{
    find_bounds(s);
    PS_TRY(set_media(s));
    PS_TRY(set_faces(s));
    PS_TRY(set_layer(s));
    PS_TRY(set_total(s));
    PS_TRY(set_sources(s));
    PS_TRY(set_ports(s));
    PS_TRY(set_wires(s));
    PS_TRY(finish_layer(s));
    PS_TRY(set_step(s));
    return check_permittivities(s);
}

static ps_status write_model(const setup *s, const ps_product *product)
{
    ps_store_identity own = product->identity;
    ps_dgtd_model model = {.header = s->header,
                           .partition = &s->mesh,
                           .kinds = s->kinds,
                           .material = s->material,
                           .total = s->total,
                           .layer = s->layer,
                           .reach = s->header.local_levels > 0 ? s->reach : NULL,
                           .media = s->media,
                           .sources = s->sources,
                           .ports = &s->ports,
                           .wires = &s->wires};
    model.header.media = s->media_count;
    model.header.sources = s->source_count;
    own.disk_estimate = setup_disk(s);
    return ps_dgtd_model_save(product->path, &model, &own, s->store);
}

static void release(setup *s)
{
    ps_store_close(&s->store);
    ps_partition_release(&s->mesh);
    free(s->kinds), free(s->total), free(s->material), free(s->media), free(s->materials);
    free(s->sizes), free(s->limits), free(s->layer), free(s->reach), free(s->least_class);
    free(s->tissues);
    ps_dgtd_ports_release(&s->ports);
    ps_dgtd_wires_release(&s->wires);
}

static ps_status run_setup(ps_run *run)
{
    PS_SCOPED(release)
    setup s = {.run = run,
               .options = &chosen,
               .input = run->operands[0],
               .header = {.order = (int)chosen.order,
                          .averaged = chosen.absorbing == 0,
                          .upwind = chosen.flux == 1}};
    ps_product product;
    ps_product_init(run, PS_DGTD_MODEL_FORMAT, PS_DGTD_MODEL_VERSION, &product);
    PS_TRY(ps_store_open(s.input, PS_PARTITION_FORMAT, PS_PARTITION_VERSION, &s.store));
    PS_TRY(ps_product_input(&product, "partition", s.store));
    if (chosen.media_file) PS_TRY(ps_product_file(&product, "materials_file", chosen.media_file));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(ps_partition_read(s.store, &s.mesh));
    s.in_layers = s.mesh.layer_count > 0;
    PS_TRY(make_model(&s));
    if (!run->plan) {
        PS_TRY(setup_plan(&s, NULL));
        PS_TRY(write_model(&s, &product));
    }
    return report_setup(&s);
}

static const ps_allowance allowances[] = {
    {"early", "a pulse that is not quiet at t = 0, where the march begins with no field"},
    {"short-pulse", "a pulse of which most is beyond what the mesh resolves"},
    {"flat-layer", "elements of a matched layer so flat that fields grow with the centred flux"},
    {"strong-layer", "a matched layer so strong for its elements that fields grow with that flux"},
    {"absorbing-poles", "a medium with poles at a face that absorbs"},
    {"absorbing-losses", "a medium that conducts at a face that absorbs, and sends waves back"},
    {"close-source", "an incident dipole less than half an edge from a face at which its field enters"},
    {"cut", "the ball of a current through which faces with a condition go"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "dgtd-setup",
    .results = 11,
    .synopsis = "PARTITION OUTPUT",
    .description =
        "Makes the model that penstock-dgtd-march runs: media by physical group, conditions on "
        "faces, sources, order and time step are put on a partitioned mesh, and everything is "
        "checked before any step: groups without medium, faces without condition, flat elements, "
        "unstable time steps. Tells which elements hold the time step back and what it would be "
        "without them. --plan checks and tells, and writes nothing.",
    .examples = "  penstock-dgtd-setup cube.h5 cavity.h5 --order 3 --material default:eps=1 "
                "--boundary outer:pec \\\n"
                "      --source mode:n=1,1,1:amplitude=1,-1,0\n"
                "  penstock-dgtd-setup head.h5 call.h5 --order 2 --materials tissues.txt "
                "--boundary outer:absorbing \\\n"
                "      --source "
                "current:at=0.12,0,0.02:axis=0,0,1:radius=0.01:moment=1e-12:shape=ramp:width=3ns:"
                "frequency=900e6 \\\n"
                "      --divide 900MHz\n"
                "  penstock-dgtd-setup ball.h5 mie.h5 --material 1:eps=1 --material "
                "2:eps=4,sigma=0.02 --boundary \\\n"
                "      outer:absorbing --total ball:0,0,0,0.3 --source "
                "plane:dir=0,0,1:pol=1,0,0:width=0.5ns:frequency=300e6",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_setup};
