/* store_create: a new file under its temporary name. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "formats/store_private.h"
#include "runtime/path.h"

/* ---- creating ---- */

static ps_status check_space(const char *path, int64_t bytes)
{
    int64_t room = ps_path_room(path);
    if (room >= bytes) return PS_OK;
    return ps_fail(
        PS_EXHAUSTED,
        "%s: about %.1f MB will be written, but its disk has %.1f MB free; free some space "
        "or write elsewhere",
        path, (double)bytes / 1e6, (double)room / 1e6);
}

static void make_uuid(char *out)
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) {
        uint64_t seed[2] = {(uint64_t)time(NULL) ^ (uint64_t)getpid() << 40, (uint64_t)clock()};
        memcpy(b, seed, sizeof b);
    }
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    int length = 0;
    for (int i = 0; i < 16; ++i)
        length +=
            sprintf(out + length, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
}

static ps_status create_file(ps_store *store)
{
    ps_hdf5_lock();
    hid_t access = ps_hdf5_file_access(), root = ps_hdf5_creation(H5P_FILE_CREATE);
    if (access >= 0 && root >= 0)
        store->file = H5Fcreate(store->temporary, H5F_ACC_TRUNC, root, access);
    ps_status status =
        store->file < 0 ? ps_hdf5_fail(PS_FAILED, store->path, "create the file") : PS_OK;
    if (root >= 0) H5Pclose(root);
    if (access >= 0) H5Pclose(access);
    ps_hdf5_unlock();
    return status;
}

/* What users open with other programs is for those that have no plugin (specs/store.md). */
static int layout_of(const char *format)
{
    static const char *const opened_anywhere[] = {
        "penstock-box-field",  "penstock-dgtd-phasors", "penstock-field",
        "penstock-fmm-result", "penstock-gravity-map",  "penstock-hbem-solution",
        "penstock-history",    "penstock-prism-field",  "penstock-surface-mesh",
        "penstock-trace",      "penstock-volume-mesh",
    };
    for (size_t i = 0; i < sizeof opened_anywhere / sizeof *opened_anywhere; ++i)
        if (strcmp(format, opened_anywhere[i]) == 0) return PS_STORE_VERSION;
    return PS_STORE_FRAMES;
}

ps_status ps_store_start(const char *path, const ps_store_identity *identity, ps_store **out)
{
    ps_store *store;
    PS_TRY(ps_store_new(path, &store));
    ps_status status = check_space(path, identity->disk_estimate);
    if (status == PS_OK) status = ps_output_begin(path, &store->output);
    if (status == PS_OK) store->temporary = ps_output_temporary(store->output);
    snprintf(store->format, sizeof store->format, "%s", identity->format);
    store->version = identity->format_version;
    store->layout = layout_of(identity->format);
    make_uuid(store->uuid);
    if (status == PS_OK) status = create_file(store);
    *out = store;
    if (status != PS_OK) ps_store_close(out);
    return status;
}

static ps_status put_identity(ps_store *store, const ps_store_identity *identity)
{
    char created[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    PS_TRY(ps_store_put_text(store, "/", "format", identity->format));
    PS_TRY(ps_store_put_int(store, "/", "format_version", identity->format_version));
    PS_TRY(ps_store_put_int(store, "/", "store_version", store->layout));
    PS_TRY(ps_store_put_text(store, "/", "uuid", store->uuid));
    PS_TRY(ps_store_put_text(store, "/", "created", created));
    PS_TRY(ps_store_put_text(store, "/", "creator", identity->creator ? identity->creator : ""));
    PS_TRY(ps_store_put_text(store, "/", "revision", identity->revision ? identity->revision : ""));
    PS_TRY(ps_store_put_text(store, "/", "options", identity->options ? identity->options : ""));
    return ps_store_put_int(store, "/inputs", "count", 0);
}

ps_status ps_store_create(const char *path, const ps_store_identity *identity, ps_store **out)
{
    *out = NULL;
    PS_TRY(ps_store_start(path, identity, out));
    ps_status status = put_identity(*out, identity);
    if (status != PS_OK) ps_store_close(out);
    return status;
}

void ps_store_close(ps_store **store)
{
    if (!*store) return;
    ps_output *output = (*store)->output;
    (*store)->output = NULL;
    ps_store_free(*store);
    *store = NULL;
    ps_output_discard(&output);
}

ps_status ps_store_create_as(const char *path, const ps_store_identity *identity,
                             const char *format, int format_version, ps_store **out)
{
    ps_store_identity own = *identity;
    own.format = format;
    own.format_version = format_version;
    return ps_store_create(path, &own, out);
}
