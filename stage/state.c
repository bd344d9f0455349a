#include "stage/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/stop.h"

static ps_status agree(const ps_state_spec *spec, ps_status status)
{
    return spec->every_rank ? ps_comm_agree(status) : status;
}

static bool is_first(const ps_state_spec *spec) { return !spec->every_rank || ps_comm_rank() == 0; }

static void name_rank(const ps_state_spec *spec, char out[4096])
{
    int length = snprintf(out, 4096, "%.4050s", spec->name);
    if (spec->every_rank && ps_comm_size() > 1)
        snprintf(out + length, 4096 - (size_t)length, ".rank%04d", ps_comm_rank());
}

ps_status ps_state_identity(const char *options, int input_count, const char *const *roles,
                            ps_store *const *inputs, const char *more, char **out)
{
    size_t size = strlen(options) + strlen(more) + (size_t)input_count * 192 + 1;
    PS_TRY(PS_ALLOC(out, size, "the identity of the run"));
    size_t at = (size_t)snprintf(*out, size, "%s", options);
    for (int i = 0; i < input_count; ++i) {
        char hash[17];
        PS_TRY(ps_store_content_hash(inputs[i], hash));
        at += (size_t)snprintf(*out + at, size - at, "input-%.128s=%s\n", roles[i], hash);
    }
    snprintf(*out + at, size - at, "%s", more);
    return PS_OK;
}

/* ---- what is there ---- */

static ps_status remove_all(const ps_state_spec *spec)
{
    char name[4096];
    name_rank(spec, name);
    return agree(spec, ps_checkpoint_prune(name, 0));
}

/* The run that the newest readable generation belongs to; *found false: there is none. */
static ps_status find_run(ps_state *s, const int64_t *generations, int64_t count, bool *found)
{
    char *identity;
    for (int64_t i = 0; i < count; ++i) {
        if (ps_checkpoint_identity(s->name, generations[i], s->uuid, &identity) != PS_OK) continue;
        ps_status status = ps_identity_check(s->spec.name, identity, s->spec.identity);
        free(identity);
        *found = true;
        return status;
    }
    return PS_OK;
}

static ps_status read_generation(ps_state *s, int64_t generation, int64_t step)
{
    ps_checkpoint_array arrays[PS_STATE_ARRAYS_MAX];
    const ps_state_spec *spec = &s->spec;
    int count = spec->describe(spec->context, step, arrays);
    ps_checkpoint state = {step, s->uuid, spec->identity, spec->lead, arrays};
    if (spec->lead > 0) PS_TRY(ps_checkpoint_load(s->name, generation, &state));
    if (spec->lead > 0) count = spec->describe(spec->context, step, arrays);
    state.array_count = count;
    return ps_checkpoint_load(s->name, generation, &state);
}

/* The step of a generation that is sound, of this run and there on all ranks; 0: it is not. Nothing
 * is read into the arrays before all ranks know that. */
static ps_status agree_on(ps_state *s, int64_t generation, int64_t *step)
{
    ps_checkpoint state = {.uuid = s->uuid};
    char path[4096];
    bool bad = ps_checkpoint_load(s->name, generation, &state) != PS_OK;
    ps_checkpoint_path(s->name, generation, path);
    bool there = access(path, F_OK) == 0;
    if (bad && there) ps_warning("passing over a checkpoint: %s", ps_message());
    int64_t most = bad ? 0 : state.step, least = most;
    if (s->spec.every_rank) {
        PS_TRY(ps_comm_min_i64(&least, 1));
        PS_TRY(ps_comm_max_i64(&most, 1));
    }
    *step = least == most ? most : 0;
    if (*step == 0 && there) unlink(path); /* it must not push good ones out later */
    return PS_OK;
}

static ps_status read_newest(ps_state *s, int64_t newest, int64_t oldest, int64_t *step)
{
    if (s->spec.every_rank) {
        PS_TRY(ps_comm_max_i64(&newest, 1));
        PS_TRY(ps_comm_min_i64(&oldest, 1));
    }
    s->generation = newest;
    int64_t g = newest;
    for (; g >= oldest && g > 0; --g) {
        PS_TRY(agree_on(s, g, step));
        if (*step > 0) break;
    }
    return *step > 0 ? agree(&s->spec, read_generation(s, g, *step)) : PS_OK;
}

/* ---- the calls ---- */

static ps_status begin_or_continue(ps_state *s, int64_t *step)
{
    int64_t *generations = NULL, count = 0;
    bool found = false;
    ps_status status = ps_checkpoint_list(s->name, &generations, &count);
    if (status == PS_OK && is_first(&s->spec)) status = find_run(s, generations, count, &found);
    status = agree(&s->spec, status);
    if (status == PS_OK && s->spec.every_rank) {
        int64_t any = found;
        status = ps_comm_broadcast(&any, sizeof any, 0);
        if (status == PS_OK) status = ps_comm_broadcast(s->uuid, sizeof s->uuid, 0);
        found = any;
    }
    if (status == PS_OK && found)
        status = read_newest(s, count ? generations[0] : 0,
                             count ? generations[count - 1] : INT64_MAX, step);
    if (status == PS_OK && !found && count > 0) { /* none of them can be read */
        ps_warning("passing over all %lld checkpoints of %s: %s", (long long)count, s->name,
                   ps_message());
        status = ps_checkpoint_prune(s->name, 0);
    }
    free(generations);
    return status;
}

ps_status ps_state_check(const ps_state_spec *spec)
{
    ps_state s = {.spec = *spec};
    int64_t *generations = NULL, count = 0;
    bool found = false;
    if (spec->run->fresh) return PS_OK;
    name_rank(spec, s.name);
    PS_TRY(ps_checkpoint_list(s.name, &generations, &count));
    ps_status status = find_run(&s, generations, count, &found);
    free(generations);
    return status;
}

ps_status ps_state_open(const ps_state_spec *spec, ps_state *s, int64_t *step)
{
    *s = (ps_state){.spec = *spec, .time = ps_clock()};
    *step = 0;
    name_rank(spec, s->name);
    if (spec->run->fresh)
        PS_TRY(remove_all(spec));
    else
        PS_TRY(begin_or_continue(s, step));
    if (*step == 0 && is_first(spec)) ps_run_uuid(s->uuid);
    if (spec->every_rank) PS_TRY(ps_comm_broadcast(s->uuid, sizeof s->uuid, 0));
    if (*step > 0)
        ps_info("continuing after %s %lld", spec->unit, (long long)*step);
    else if (spec->run->restart && is_first(spec))
        ps_info("there is no checkpoint: starting from the first %s", spec->unit);
    s->step = *step;
    ps_stop_defer();
    return PS_OK;
}

bool ps_state_is_due(const ps_state *s, int64_t step)
{
    const ps_state_spec *spec = &s->spec;
    return (spec->every_steps > 0 && step - s->step >= spec->every_steps) ||
           (spec->every > 0 && ps_clock() - s->time >= spec->every);
}

ps_status ps_state_save(ps_state *s, int64_t step)
{
    ps_checkpoint_array arrays[PS_STATE_ARRAYS_MAX];
    const ps_state_spec *spec = &s->spec;
    int count = spec->describe(spec->context, step, arrays);
    ps_checkpoint state = {step, s->uuid, spec->identity, count, arrays};
    PS_TRY(agree(spec, ps_checkpoint_save(s->name, ++s->generation, &state)));
    s->step = step;
    s->time = ps_clock();
    ps_stop_defer();
    return ps_checkpoint_prune(s->name, PS_CHECKPOINTS_KEPT); /* all ranks have this one */
}

ps_status ps_state_remove(const ps_state_spec *spec) { return remove_all(spec); }
