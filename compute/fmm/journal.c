/* Records of the journal: results of finished groups (specs/fmm_run.md). */
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* A record: group, number of values, sums [FMM_PARTS][sides], values. */
static int64_t record_bytes(int sides, int64_t count)
{
    return 16 + (int64_t)sizeof(fmm_sums) * FMM_PARTS * sides + 8 * count;
}

ps_status fmm_journal_add(ps_journal *j, int64_t group, const fmm_sums *sums, int sides,
                          const double *values, int64_t count)
{
    PS_SCOPED_MEMORY char *record = NULL;
    int64_t bytes = record_bytes(sides, count), head[2] = {group, count};
    if (!ps_journal_wants(j, bytes)) return PS_OK;
    PS_TRY(ps_alloc_untouched((void **)&record, bytes, "the journal"));
    memcpy(record, head, sizeof head);
    size_t sum_bytes = sizeof *sums * FMM_PARTS * (size_t)sides;
    memcpy(record + sizeof head, sums, sum_bytes);
    memcpy(record + sizeof head + sum_bytes, values, 8 * (size_t)count);
    return ps_journal_add(j, record, bytes);
}

typedef struct replay {
    int sides;
    fmm_journal_take take;
    void *context;
} replay;

static ps_status take_record(void *context, int64_t step, int64_t steps, const void *payload,
                             int64_t bytes)
{
    const replay *r = context;
    int64_t head[2] = {-1, -1};
    fmm_sums sums[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX];
    size_t sum_bytes = sizeof *sums * FMM_PARTS * (size_t)r->sides;
    if (bytes >= 16) memcpy(head, payload, sizeof head);
    if (head[1] < 0 || head[1] > bytes / 8 || bytes != record_bytes(r->sides, head[1]))
        return ps_fail(PS_INVALID, "the journal's record %lld has the wrong size", (long long)step);
    const char *at = (const char *)payload + sizeof head;
    memcpy(sums, at, sum_bytes);
    if (!ps_append_log_is_finite(at, (int64_t)sum_bytes / 8 + head[1], 8))
        return ps_fail(PS_INVALID, "the journal's record %lld has numbers that are not finite",
                       (long long)step);
    PS_SCOPED_MEMORY double *values = NULL;
    PS_TRY(ps_alloc_untouched((void **)&values, 8 * head[1], "the journal"));
    memcpy(values, at + sum_bytes, 8 * (size_t)head[1]);
    return r->take(r->context, head[0], sums, values, head[1]);
}

ps_status fmm_journal_replay(ps_journal *j, int sides, fmm_journal_take take, void *context)
{
    replay r = {sides, take, context};
    return ps_journal_replay(j, true, take_record, &r);
}
