/* Which model a potential belongs to: by contents, not by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/path.h"

enum { PATH_SIZE = 4096 };

/* What schwarz-solve copied from the load. */
typedef struct origin_record {
    char file[512], hash[17], source[16];
    double gravity;
} origin_record;

static ps_status read_record(const ps_store *store, origin_record *out)
{
    if (!ps_store_has(store, "/", "model_hash"))
        return ps_fail(PS_INVALID,
                       "%s does not say which model it belongs to, as an older version made it or "
                       "its load: make both anew (--force)",
                       ps_store_path(store));
    PS_TRY(ps_store_get_text(store, "/", "model_file", out->file, sizeof out->file));
    PS_TRY(ps_store_get_text(store, "/", "model_hash", out->hash, sizeof out->hash));
    PS_TRY(ps_store_get_text(store, "/", "source", out->source, sizeof out->source));
    PS_TRY(ps_store_get_real(store, "/", "gravity", &out->gravity));
    if (strcmp(out->source, "density") != 0)
        return ps_fail(PS_INVALID,
                       "%s belongs to a load of --source %s, which is for benchmarks: there is no "
                       "gravity in it",
                       ps_store_path(store), out->source);
    if (out->gravity >= 1e-12 && out->gravity <= 1e-9) return PS_OK;
    return ps_fail(PS_INVALID, "%s: its constant of gravity is %g", ps_store_path(store),
                   out->gravity);
}

/* The file of the recorded name in the folder of the potential. */
static void beside(const anomaly *a, const origin_record *record, char *out)
{
    char folder[PATH_SIZE];
    ps_path_folder(a->run->operands[0], folder, sizeof folder);
    snprintf(out, 2 * PATH_SIZE, "%s/%s", folder, ps_path_last(record->file));
}

static ps_status compare_hashes(const anomaly *a, const origin_record *record)
{
    char hash[17];
    PS_TRY(ps_store_content_hash(a->model.store, hash));
    if (strcmp(hash, record->hash) == 0) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s is not the model that %s belongs to: that is %s of the content hash %s, this "
        "has %s. Give that model, or make load and potential of this one",
        ps_store_path(a->model.store), a->run->operands[0], record->file, record->hash, hash);
}

static ps_status open_model(anomaly *a, const char *path, const origin_record *record)
{
    PS_TRY(ps_box_field_open(path, "density", &a->model));
    ps_status status = PS_OK;
    if (!a->model.header.cells)
        status = ps_fail(PS_INVALID, "%s: its densities are not those of cells", path);
    if (status == PS_OK) status = compare_hashes(a, record);
    if (status != PS_OK) ps_box_field_close(&a->model);
    return status;
}

/* The best iterate of a solve that reached its limit is a file like any other. */
static ps_status check_convergence(const anomaly *a, const ps_store *store)
{
    int64_t converged = 1;
    if (ps_store_has(store, "/", "converged"))
        PS_TRY(ps_store_get_int(store, "/", "converged", &converged));
    if (converged) return PS_OK;
    return ps_refuse(a->run, "unconverged",
                     "%s is of a solve that did not converge: the elements' values are as far off "
                     "as it was",
                     ps_store_path(store));
}

ps_status bind_model(anomaly *a, const char *path, double gravity)
{
    origin_record record;
    char found[2 * PATH_SIZE];
    PS_TRY(check_convergence(a, a->potential.store));
    PS_TRY(read_record(a->potential.store, &record));
    a->gravity = record.gravity;
    if (gravity > 0 && fabs(gravity - record.gravity) > 1e-12 * record.gravity)
        return ps_fail(PS_USAGE,
                       "--gravity %.10g: %s was made with %.10g, which goes with it; leave the "
                       "option out, or make the load with another one",
                       gravity, a->run->operands[0], record.gravity);
    if (path) return open_model(a, path, &record);
    beside(a, &record, found);
    bool there = access(found, R_OK) == 0;
    if (there && open_model(a, found, &record) == PS_OK) return PS_OK;
    return ps_refuse(a->run, "elements-only",
                     "%s belongs to the model %s (content hash %s), which is not beside it%s: give "
                     "--model FILE. Without it there are only the elements' values, which can be "
                     "off by half where densities jump near the top",
                     a->run->operands[0], record.file, record.hash,
                     there ? " (that file is another one)" : "");
}
