#include "stage/product.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/stop.h"

/* Every stored byte against the hashes of the chunk tables. */
static bool is_whole(const char *path)
{
    ps_store *store;
    ps_verify_result result;
    ps_status status = ps_store_open(path, NULL, 0, &store);
    if (status == PS_OK) {
        status = ps_store_verify(store, true, &result);
        ps_store_close(&store);
    }
    if (status != PS_OK) ps_warning("%s; it is made again", ps_message());
    return status == PS_OK;
}

ps_store_identity ps_run_identity(const ps_run *run, const char *format, int version)
{
    return (ps_store_identity){.format = format,
                               .format_version = version,
                               .creator = ps_version(),
                               .revision = ps_revision(),
                               .options = run->record};
}

void ps_product_init(const ps_run *run, const char *format, int version, ps_product *out)
{
    *out = (ps_product){
        .run = run, .path = run->output, .identity = ps_run_identity(run, format, version)};
    snprintf(out->options, sizeof out->options, "%s", run->record);
    out->identity.options = out->options;
}

ps_status ps_product_note(ps_product *p, const char *format, ...)
{
    size_t at = strlen(p->options), room = sizeof p->options - at - 1;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(p->options + at, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room)
        return ps_fail(PS_USAGE, "the options take too many characters to be recorded");
    memcpy(p->options + at + length, "\n", 2);
    return PS_OK;
}

static ps_status hash_file(FILE *file, const char *path, XXH64_hash_t *out)
{
    enum { BLOCK = 1 << 20 };
    char *block;
    XXH3_state_t *state = XXH3_createState();
    ps_status status = PS_ALLOC(&block, BLOCK, "hashing a file");
    if (status == PS_OK && (!state || XXH3_64bits_reset(state) != XXH_OK))
        status = ps_fail(PS_FAILED, "%s: cannot be hashed", path);
    for (size_t got; status == PS_OK && (got = fread(block, 1, BLOCK, file)) > 0;)
        XXH3_64bits_update(state, block, got);
    if (status == PS_OK) *out = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(block);
    return status;
}

ps_status ps_product_file(ps_product *p, const char *name, const char *path)
{
    XXH64_hash_t hash = 0;
    FILE *file;
    PS_TRY(ps_path_watch(path));
    PS_TRY(ps_path_open_input(path, "a file that can be read again", &file));
    ps_status status = hash_file(file, path, &hash);
    fclose(file);
    PS_TRY(status);
    return ps_product_note(p, "%s=%.255s\n%s_xxh3=%016llx", name, ps_path_last(path), name,
                           (unsigned long long)hash);
}

ps_status ps_product_input(ps_product *p, const char *role, ps_store *input)
{
    if (p->input_count == PS_PRODUCT_INPUTS)
        return ps_fail(PS_USAGE, "%s: at most %d inputs", ps_store_path(input), PS_PRODUCT_INPUTS);
    char *name = p->names[p->input_count];
    snprintf(name, PS_ROLE_MAX, "%s", role);
    p->roles[p->input_count] = name;
    p->inputs[p->input_count++] = input;
    return PS_OK;
}

ps_status ps_product_beside(ps_product *p, const char *path, const char *format, int version)
{
    if (p->beside_count == PS_PRODUCT_BESIDE)
        return ps_fail(PS_USAGE, "%s: at most %d files beside an output", path, PS_PRODUCT_BESIDE);
    int at = p->beside_count++;
    snprintf(p->beside[at].path, sizeof p->beside[at].path, "%s", path);
    p->beside[at].format = format;
    p->beside[at].version = version;
    return PS_OK;
}

ps_status ps_product_record(const ps_product *p, ps_store *store)
{
    for (int i = 0; i < p->input_count; ++i)
        PS_TRY(ps_store_add_input(store, p->roles[i], p->inputs[i]));
    return PS_OK;
}

ps_status ps_product_create(const ps_product *p, int64_t disk_estimate, ps_store **out)
{
    ps_store_identity identity = p->identity;
    identity.disk_estimate = disk_estimate;
    PS_TRY(ps_store_create(p->path, &identity, out));
    ps_status status = ps_product_record(p, *out);
    if (status != PS_OK) ps_store_close(out);
    return status;
}

ps_status ps_product_identity(const ps_product *product, const char *more, char **out)
{
    const char *options = product->identity.options;
    size_t size = strlen(options) + strlen(more) + (size_t)product->input_count * 64 + 1;
    PS_TRY(PS_ALLOC(out, size, "the identity of the run"));
    size_t at = (size_t)snprintf(*out, size, "%s", options);
    for (int i = 0; i < product->input_count; ++i) {
        char hash[17];
        PS_TRY(ps_store_content_hash(product->inputs[i], hash));
        at += (size_t)snprintf(*out + at, size - at, "input-%s=%s\n", product->roles[i], hash);
    }
    snprintf(*out + at, size - at, "%s", more);
    return PS_OK;
}

ps_status ps_product_put_trace(const ps_product *p, const ps_trace *trace)
{
    return ps_trace_save(p->path, trace, &p->identity, p->input_count, p->roles, p->inputs);
}

/* Ends the run where this rank reads other inputs than rank 0, as the output would be of both. */
static void check_ranks(const ps_product *p)
{
    PS_SCOPED_MEMORY char *identity = NULL;
    uint64_t hash[2] = {0, 0};
    if (ps_product_identity(p, "", &identity) == PS_OK)
        hash[0] = hash[1] = XXH3_64bits(identity, strlen(identity));
    if (ps_comm_broadcast(hash, sizeof *hash, 0) != PS_OK || hash[0] == hash[1]) return;
    ps_error("rank %d reads other inputs than rank 0", ps_comm_rank());
    ps_comm_abort(PS_USAGE);
}

/* Whether a file is what this command makes, whole to the byte; on the rank that looks. */
static bool is_made(const ps_product *p, const char *path, const char *format, int version)
{
    ps_store_identity identity = p->identity;
    identity.format = format;
    identity.format_version = version;
    bool same = ps_store_matches(path, &identity, p->input_count, p->roles, p->inputs) &&
                (p->run->trust || p->run->force || is_whole(path));
    if (same) ps_store_tidy(path);
    return same;
}

/* What one rank finds, for all; what is of something else a stop sets aside. */
static bool is_kept(const ps_product *p, const char *path, const char *format, int newest,
                    int oldest)
{
    bool alone = p->run->alone;
    int64_t same = 0;
    for (int v = newest; (alone || ps_comm_rank() == 0) && v >= oldest && !same; --v)
        same = is_made(p, path, format, v);
    if (!alone && ps_comm_broadcast(&same, sizeof same, 0) != PS_OK) same = 0;
    if (!same) ps_stop_outdates(path);
    return same;
}

bool ps_product_matches(const ps_product *p)
{
    if (!p->path) return false;
    if (!p->run->alone) check_ranks(p);
    int version = p->identity.format_version;
    bool same = is_kept(p, p->path, p->identity.format, version, version), all = same;
    for (int k = 0; k < p->beside_count; ++k) {
        bool there = is_kept(p, p->beside[k].path, p->beside[k].format, p->beside[k].version, 1);
        if (same && !there && ps_comm_rank() == 0)
            ps_warning("%s, which is made with %s, is not there or is of something else: both are "
                       "made again",
                       p->beside[k].path, p->path);
        all = all && there;
    }
    return all;
}

bool ps_product_is_up_to_date(const ps_product *p)
{
    if (p->run->plan || !ps_product_matches(p) || p->run->force || p->open_ended) return false;
    ps_info("%s is up to date; --force makes it again", p->path);
    return true;
}
