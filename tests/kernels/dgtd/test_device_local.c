/* device_local: which elements the operations of local steps are told. */
#include "kernels/dgtd/device_local.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"
#include "tests/support/dgtd_graded.h"

/* The lists of a device, on the host's, which copies but computes nothing. */
static void open_lists(graded *g, ps_dgtd_device_local *local)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    ps_dgtd_device shape;
    ps_dgtd_device_shape(&shape, &g->x.system, PS_DGTD_FUSED);
    int64_t count =
        ps_dgtd_device_local_shape(local, &g->steps.local, &shape, &g->x.system, g->reach);
    int64_t bytes = ps_dgtd_device_local_bytes(&shape, g->levels, 0);
    int64_t field = ps_dgtd_device_field_bytes(&shape, 0);
    char *memory =
        dgtd_take(&g->x, (size_t)(bytes + ps_dgtd_device_local_fields(g->levels) * field));
    ps_dgtd_device_local_work work = {
        .units = dgtd_take(&g->x, (size_t)count * sizeof *work.units),
        .pieces = dgtd_take(&g->x, (size_t)g->x.system.groups * sizeof *work.pieces),
        .factors = dgtd_take(&g->x, 4 * sizeof *work.factors)};
    ps_dgtd_device_local_attach(local, 0, memory, memory + bytes);
    check_ok(ps_dgtd_device_local_upload(local, &g->x.system, g->reach, &dgtd_vacuum, g->march.dt,
                                         &work, stream));
}

/* How often a list has a slot: bit 0; whether its result is an increment: bit 1. */
static void mark_units(const ps_dgtd_device_unit *units, int64_t count, uint8_t *marks)
{
    for (const ps_dgtd_device_unit *u = units; u < units + count; ++u) {
        assert_true(u->lanes & 255);
        for (int i = 0; i < PS_DGTD_UNIT; ++i) {
            if (!(u->lanes >> i & 1)) continue;
            uint8_t *mark = marks + PS_DGTD_UNIT * (int64_t)u->index + i;
            assert_int_equal(*mark, 0);
            *mark = (uint8_t)(1 + 2 * (u->lanes >> (PS_DGTD_UNIT + i) & 1));
        }
    }
}

/* What R_2 copies beside the half step of H of the rest holds no element of the rest; and no closed
 * one, unless groups are mixed. */
static void check_beside(graded *g, const ps_dgtd_device_local *local, const uint8_t *rest)
{
    const ps_dgtd_system *system = &g->x.system;
    int64_t lanes = ps_dgtd_lanes(system->precision), words = 3 * g->x.reference.nodes * 8;
    for (int64_t k = 0; k < local->piece_start[1]; ++k) {
        int64_t first = local->pieces[k].to / words, end = first + local->pieces[k].count / words;
        for (int64_t slot = first * lanes; slot < end * lanes && slot < system->elements; ++slot) {
            uint8_t was = g->reach[slot];
            assert_int_equal(rest[slot], 0);
            if (ps_dgtd_reach_q(was) > 1) continue;
            assert_false(ps_dgtd_local_is_mixed(system, g->reach));
            g->reach[slot] = PS_DGTD_REACH_CLOSED;
            assert_true(ps_dgtd_local_is_mixed(system, g->reach));
            g->reach[slot] = was;
        }
    }
    for (int64_t slot = 0; slot < system->elements; ++slot) {
        uint8_t was = g->reach[slot];
        if (!rest[slot]) continue;
        g->reach[slot] = PS_DGTD_REACH_CLOSED;
        assert_false(ps_dgtd_local_is_mixed(system, g->reach));
        g->reach[slot] = was;
    }
}

/* Units have the elements of their levels, each once, wherever these lie; what R_2 does not concern
 * reads nothing of Q_2; groups of Q_1 are kept once. */
static void devices_are_told_which(void **state)
{
    static uint8_t marks[1 << 14], rest[1 << 14];
    for (int precision = PS_SINGLE; precision <= PS_DOUBLE; ++precision) {
        PS_SCOPED(graded_release) graded g = {0};
        ps_dgtd_device_local local;
        double dt = step_of(1, 6, 0, 12, .75, 3, &dgtd_vacuum, 1);
        graded_init(&g, 1, 6, 0, 12, &dgtd_vacuum, 1, .75, dt, (ps_precision)precision);
        int64_t elements = g.x.mesh.elements, kept = 0, inside = 0, some = 0;
        open_lists(&g, &local);
        for (int list = 0; list < PS_DGTD_LISTS * g.levels; ++list) {
            int level = list / PS_DGTD_LISTS, which = list % PS_DGTD_LISTS;
            memset(marks, 0, sizeof marks);
            mark_units(local.units + local.start[list], local.start[list + 1] - local.start[list],
                       marks);
            for (int64_t e = 0; e < elements; ++e) {
                int p = ps_dgtd_reach_p(g.reach[e]), q = ps_dgtd_reach_q(g.reach[e]);
                bool next = level + 1 < g.levels && q > level + 1;
                bool in = which == 0 ? p > level : which == 1 ? q > level : next;
                assert_int_equal(marks[e], !in ? 0 : which == 0 || next ? 3 : 1);
                some += in;
            }
        }
        memset(marks, 0, sizeof marks), memset(rest, 0, sizeof rest);
        ps_dgtd_device_units of[2] = {ps_dgtd_device_local_part(&local, false),
                                      ps_dgtd_device_local_part(&local, true)};
        mark_units(of[0].list, of[0].count, rest);
        mark_units(of[1].list, of[1].count, marks);
        for (int64_t e = 0; e < elements; ++e) {
            assert_int_equal(marks[e] + rest[e], ps_dgtd_reach_q(g.reach[e]) > 0 ? 3 : 1);
            for (int f = 0; f < 4 && rest[e]; ++f) {
                int32_t link = g.x.mesh.links[4 * e + f];
                assert_true(link < 0 || ps_dgtd_reach_q(g.reach[link / 4]) < 2);
            }
        }
        check_beside(&g, &local, rest);
        for (int64_t k = 0; k < local.piece_start[2]; ++k) kept += local.pieces[k].count;
        for (int64_t i = 0; i < g.x.system.groups; ++i) inside += g.steps.local.inside[i];
        assert_int_equal(8 * kept, inside * 3 * g.x.reference.nodes * PS_DGTD_ALIGN);
        assert_true(some > elements / 4 && of[0].count > 0 && of[1].count > 0);
    }
}
