#include "preprocess/incident/incident.h"

#include <math.h>

#include "kernels/common/vec3.h"
#include "runtime/log.h"
#include "runtime/scope.h"
#include "stage/body_flow.h"

ps_status around_parse(const char *text, ps_incident_header *header)
{
    const double mach_limit = .3;
    double *flow = header->flow;
    int count = 0;
    if (ps_parse_reals(text, ',', flow, 3, &count) != PS_OK || count != 3)
        return ps_fail(PS_USAGE, "--flow: \"%s\" is not a velocity X,Y,Z", text);
    if (!(ps_norm3(flow) <= mach_limit * header->speed))
        return ps_fail(PS_INVALID,
                       "--flow: %.4g m/s is %.3g times the speed of sound, up to %g is taken",
                       ps_norm3(flow), ps_norm3(flow) / header->speed, mach_limit);
    for (int p = 0; p < header->mirrors.count; ++p)
        if (fabs(ps_dot3(flow, header->mirrors.planes[p].normal)) > 1e-9 * ps_norm3(flow))
            return ps_fail(PS_INVALID,
                           "--flow goes through the plane of --mirror: give one along it");
    return PS_OK;
}

static ps_status check(const ps_run *run, const ps_surface_mesh *mesh, const source_text *sources,
                       int count, const ps_incident_header *header)
{
    int64_t bytes = ps_body_flow_bytes(mesh->vertex_count);
    if (header->formulation != PS_SOUND_HARD || !mesh->closed || header->mirrors.count > 0)
        return ps_fail(PS_USAGE, "--around is of --flow about closed sound-hard bodies, without "
                                 "planes");
    for (int i = 0; i < count; ++i) {
        const ps_sound *s = &sources[i].sound;
        bool rests = ps_sound_speed(s) == 0 && s->signal.kind != PS_SIGNAL_TONE;
        if (!rests || (s->kind != PS_SOUND_PLANE && s->kind != PS_SOUND_MONOPOLE))
            return ps_fail(PS_USAGE,
                           "--around takes plane waves and monopoles at rest, of pulses or "
                           "recordings: \"%s\" is none",
                           sources[i].text);
    }
    if (bytes <= run->host_memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "--around: the flow about %lld vertices takes %.0f MB: raise --host-memory, or "
                   "take a coarser mesh",
                   (long long)mesh->vertex_count, 1e-6 * (double)bytes);
}

/* The longest way from a source to the body; of plane waves, along the body. */
static double longest_way(const ps_surface_mesh *mesh, const source_text *sources, int count)
{
    double most = 0;
    for (int64_t i = 0; i < mesh->vertex_count; ++i)
        for (int s = 0; s < count; ++s) {
            const ps_sound *sound = &sources[s].sound;
            const double *from = sound->kind == PS_SOUND_PLANE ? mesh->vertices : sound->place;
            most = fmax(most, ps_distance3(from, mesh->vertices + 3 * i));
        }
    return most;
}

ps_status around_settle(const ps_run *run, const ps_surface_mesh *mesh, const source_text *sources,
                        int count, ps_incident_header *header, ps_surface_flow *out)
{
    double mach = ps_norm3(header->flow) / header->speed;
    PS_TRY(check(run, mesh, sources, count, header));
    PS_TRY(ps_surface_flow_init(out, header->flow, mesh->vertex_count));
    for (int k = 0; k < 3; ++k) header->flow[k] = 0;
    header->around = true;
    PS_TRY(ps_body_flow_solve(mesh, out));
    ps_info("the flow about the body: Mach %.3g; left out are %.2g of sizes and, of the ways from "
            "sources to the body, up to %.2g m (times the wavenumber: of phases), and as much of "
            "the ways from there on",
            mach, mach * mach, mach * mach * longest_way(mesh, sources, count));
    return PS_OK;
}

ps_status around_delay(const ps_surface_mesh *mesh, const ps_surface_flow *flow, double speed,
                       source_text *source)
{
    PS_SCOPED(ps_body_flow_close) ps_body_flow body = {.flow = NULL};
    ps_signal *g = &source->sound.signal;
    if (flow->vertices == 0 || source->sound.kind == PS_SOUND_PLANE) return PS_OK;
    PS_TRY(ps_body_flow_open(mesh, flow, &body));
    double later = ps_body_flow_potential(&body, source->sound.place) / (speed * speed);
    g->pulse.delay += later;
    g->start += later;
    return PS_OK;
}
