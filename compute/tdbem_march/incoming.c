/* What comes in, looked at before the march: is it what this mesh, this step and a quiet start can
 * do? Each doubt is refused under a name of its own (specs/tdbem_march.md). */
#include <math.h>

#include "compute/tdbem_march/march.h"
#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "kernels/tdbem/incident_check.h"
#include "runtime/comm.h"
#include "runtime/log.h"

const ps_allowance march_allowances[] = {
    {"short-pulse", "a pulse beyond what mesh and step resolve"},
    {"loud-start", "a pulse that is on the body already at t = 0"},
    {"inner-source", "point sources inside a closed body"},
    {"close-source", "point sources nearer to the surface than half an edge"},
    {"flow-incident-only", "loads of a flow, which what is scattered does not see"},
    {NULL, NULL}};

static const double energy_level = .01, start_level = 1e-4;

/* ---- pulse, mesh and step ---- */

static ps_status check_pulse(const ps_run *run, const problem *p, const ps_emitter *emitter,
                             double edge)
{
    const ps_slice_header *header = &p->tiles.header;
    ps_band band = ps_band_of(edge, header->dt, header->speed);
    double unresolved = ps_pulse_energy_above(emitter, band.resolved);
    double rough = ps_pulse_energy_above(emitter, band.usable);
    if (unresolved > energy_level)
        return ps_refuse(run, "short-pulse",
                         "%.0f %% of the energy of the pulse of width %.3g s lies above %.4g Hz, "
                         "up to which edges of %.3g m and steps of %.3g s resolve waves; it would "
                         "be folded into the rest. Use a longer :width, or a finer mesh and step",
                         100 * unresolved, emitter->width, band.resolved / (2 * M_PI), edge,
                         header->dt);
    if (rough > energy_level && ps_comm_rank() == 0)
        ps_warning("%.0f %% of the energy of the pulse of width %.3g s lies above %.4g Hz, up to "
                   "which mesh and step are accurate: what varies faster in the answer is rough "
                   "(penstock-spectrum leaves it out)",
                   100 * rough, emitter->width, band.usable / (2 * M_PI));
    return PS_OK;
}

static ps_status check_start(const ps_run *run, const problem *p, const ps_emitter *emitter)
{
    double there =
        ps_emitter_start(emitter, p->incident.speed, p->mesh.vertex_count, p->mesh.vertices);
    if (there <= start_level) return PS_OK;
    ps_emitter settled = *emitter;
    settled.delay = NAN;
    ps_incident one = {1, {settled}, p->incident.speed};
    ps_incident_settle(&one, p->mesh.vertex_count, p->mesh.vertices);
    return ps_refuse(run, "loud-start",
                     "with delay=%.6g the pulse is on the body at t = 0 already (up to %.2g of its "
                     "peak), but all must be quiet then; leave the delay out, or give at least "
                     "delay=%.6g",
                     emitter->delay, there, one.emitters[0].delay);
}

static void tell_late(const problem *p, const ps_emitter *emitter)
{
    double end = (double)p->steps * p->tiles.header.dt;
    double peak =
        ps_emitter_peak(emitter, p->incident.speed, p->mesh.vertex_count, p->mesh.vertices);
    if (peak > end && ps_comm_rank() == 0)
        ps_warning("the middle of the pulse of width %.3g s comes to the body at %.4g s, after the "
                   "last step at %.4g s: what comes in is its beginning alone; march on for "
                   "longer, or give it another delay or width",
                   emitter->width, peak, end);
}

/* ---- point sources ---- */

static ps_status check_place(const ps_run *run, const problem *p, const ps_emitter *emitter)
{
    const ps_surface_mesh *mesh = &p->mesh;
    const double *x = emitter->place;
    double distance, edge;
    if (ps_is_inside(mesh, &p->tiles.header.mirrors, x))
        PS_TRY(
            ps_refuse(run, "inner-source",
                      "the point source at %g,%g,%g is inside the closed body: nothing of it gets "
                      "out, and the field inside is not what is computed; put it outside",
                      x[0], x[1], x[2]));
    distance = ps_surface_distance(mesh->vertices, mesh->triangles, mesh->triangle_count, x, &edge);
    if (distance >= edge / 2) return PS_OK;
    return ps_refuse(run, "close-source",
                     "the point source at %g,%g,%g is %.3g m from the surface, where edges are "
                     "%.3g m: its field varies too fast there; move it to %.3g m or farther, or "
                     "refine the mesh",
                     x[0], x[1], x[2], distance, edge, edge / 2);
}

/* ---- flow ---- */

ps_status march_check_flow(const ps_run *run, const ps_incident_header *h, const char *path)
{
    double mach = ps_norm3(h->flow) / h->speed;
    if (mach == 0) return PS_OK;
    return ps_refuse(
        run, "flow-incident-only",
        "%s holds what sources send in a flow of %.3g times the speed of sound, but what "
        "the body scatters goes on in fluid at rest here, and the body does not turn the "
        "flow: errors of the order of that number; make it again without --flow, or take "
        "them",
        path, mach);
}

/* ---- the matrices ---- */

/* What the certificate of the matrix says of this run (specs/tdbem_assembly.md). */
void march_tell_passivity(const problem *p)
{
    const char *matrix = p->matrix;
    const ps_passivity *c = &p->tiles.header.passivity;
    double growth = -c->least * (double)p->steps;
    int64_t points = p->tiles.header.outer_points;
    if (ps_comm_rank() != 0) return;
    if (c->angles == 0) {
        ps_warning("%s has no passivity certificate, so the march may be unstable; "
                   "penstock-slice-assemble computes one (--host-memory permitting)",
                   matrix);
    } else if (!ps_passivity_is_good(c)) {
        ps_warning("%s is not passive: least eigenvalue %.3g, at unknown %lld, which can grow by "
                   "exp(%.2g) in %lld steps; assemble with --points %d",
                   matrix, c->least, (long long)c->unknown, growth, (long long)p->steps,
                   points < 6 ? 6 : 12);
    }
}

ps_status march_check_incoming(const ps_run *run, const problem *p)
{
    double edge = 0;
    for (int64_t n = 0; n < 3 * p->mesh.triangle_count; ++n) {
        const int32_t *corners = p->mesh.triangles;
        const double *a = p->mesh.vertices + 3 * (int64_t)corners[n];
        const double *b = p->mesh.vertices + 3 * (int64_t)corners[n % 3 == 2 ? n - 2 : n + 1];
        edge += sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                     (a[2] - b[2]) * (a[2] - b[2]));
    }
    edge /= 3 * (double)p->mesh.triangle_count;
    for (int i = 0; i < p->incident.count; ++i) {
        const ps_emitter *emitter = &p->incident.emitters[i];
        PS_TRY(check_pulse(run, p, emitter, edge));
        PS_TRY(check_start(run, p, emitter));
        tell_late(p, emitter);
        if (emitter->kind == PS_EMITTER_POINT && i < p->emitters)
            PS_TRY(check_place(run, p, emitter));
    }
    return PS_OK;
}
