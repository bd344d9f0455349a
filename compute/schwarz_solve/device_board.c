#include "compute/schwarz_solve/device_board.h"

#include <stdlib.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static ps_status open_own(const solve_problem *p, board *b, ps_share_ticket *ticket)
{
    if (ps_comm_local_size() < ps_comm_size())
        return ps_fail(PS_FAILED, "the ranks are on several machines");
    return ps_share_alloc(p->device, 8 * (4 * b->face + b->low), (void **)&b->own, ticket);
}

static ps_status reach(const solve_problem *p, board *b, const ps_share_ticket *tickets)
{
    for (int r = 0; r < ps_comm_size(); ++r)
        if (r != ps_comm_rank()) PS_TRY(ps_share_reach(p->device, tickets + r, (void **)&b->of[r]));
    b->of[ps_comm_rank()] = b->own;
    return PS_OK;
}

/* Collective: all ranks have boards, or none. */
static ps_status connect(const solve_problem *p, board *b, ps_share_ticket *tickets)
{
    ps_share_ticket own = {0};
    PS_TRY(ps_comm_agree(open_own(p, b, &own)));
    PS_TRY(ps_comm_gather(&own, sizeof own, tickets));
    return ps_comm_agree(reach(p, b, tickets));
}

ps_status board_open(const solve_problem *p, ps_status status, int64_t face, int64_t low,
                     board *out)
{
    PS_SCOPED_MEMORY ps_share_ticket *tickets = NULL;
    *out = (board){.face = face, .low = low};
    if (ps_comm_size() == 1) return status;
    if (status == PS_OK) status = PS_ALLOC(&out->of, ps_comm_size(), "other ranks");
    if (status == PS_OK) status = PS_ALLOC(&tickets, ps_comm_size(), "other ranks");
    status = ps_comm_agree(status);
    if (status == PS_OK && connect(p, out, tickets) != PS_OK) {
        ps_info("traces go through the host: %s", ps_message());
        board_close(p, out);
    }
    return status;
}

void board_close(const solve_problem *p, board *b)
{
    for (int r = 0; b->of && r < ps_comm_size(); ++r)
        if (r != ps_comm_rank()) ps_share_leave(p->device, b->of[r]);
    if (b->own) ps_device_free(p->device, b->own);
    free(b->of);
    b->of = NULL;
    b->own = NULL;
}

double *board_landing(const board *b, int rank, int side)
{
    return b->of[rank] + (2 * b->turn + side) * b->face;
}

double *board_low(const board *b, int rank) { return b->of[rank] + 4 * b->face; }
