#include "stage/product.h"

#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/output_file.h"
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

bool ps_product_matches(const ps_run *run, const ps_product *o)
{
    int64_t same = 1;
    if (o->alone || ps_comm_rank() == 0)
        same = ps_store_matches(o->path, o->identity, o->input_count, o->roles, o->inputs) &&
               (run->trust || run->force || is_whole(o->path));
    if (!o->alone && ps_comm_broadcast(&same, sizeof same, 0) != PS_OK) same = 0;
    if (!same) ps_stop_outdates(o->path);
    return same;
}

bool ps_product_is_up_to_date(const ps_run *run, const ps_product *o)
{
    if (run->plan || !ps_product_matches(run, o) || run->force) return false;
    if (o->alone || ps_comm_rank() == 0) ps_output_tidy(o->path);
    ps_info("%s is up to date; --force makes it again", o->path);
    return true;
}
