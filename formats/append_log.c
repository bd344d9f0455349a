#include "formats/append_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/search.h"

/* Layout: specs/append_log.md. All numbers little-endian. */
typedef struct file_head {
    char magic[8];
    uint32_t version, identity_bytes;
    char uuid[PS_RUN_UUID_SIZE];
} file_head;

typedef struct record_head {
    uint32_t magic, count;
    int64_t first, bytes;
    uint64_t hash; /* XXH3-64 of the fields before and the payload */
} record_head;

static const char file_magic[8] = "PSLOG\r\n\x1a";
enum { LOG_VERSION = 1, RECORD_MAGIC = 0x52435350, HASHED_HEAD = 24, IDENTITY_MAX = 1 << 20 };
_Static_assert(sizeof(file_head) == 56 && sizeof(record_head) == 32, "layout of the log");

typedef struct entry {
    int64_t offset, last; /* where the record starts; its last step */
    uint64_t hash;        /* of this record and all before it       */
} entry;

struct ps_append_log {
    int descriptor;
    char *path, *identity, uuid[PS_RUN_UUID_SIZE];
    int64_t end; /* bytes */
    entry *entries;
    int64_t count, capacity;
};

void ps_run_uuid(char out[PS_RUN_UUID_SIZE])
{
    uint8_t b[16] = {0};
    if (getrandom(b, sizeof b, 0) != sizeof b) {
        int64_t seed[2] = {(int64_t)getpid(), (int64_t)(ps_clock() * 1e9)};
        memcpy(b, seed, sizeof b);
    }
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (int i = 0, at = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
        at += snprintf(out + at, (size_t)(PS_RUN_UUID_SIZE - at), "%02x", b[i]);
    }
}

static ps_status io_fail(const ps_append_log *log, const char *what)
{
    bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return ps_fail(full ? PS_EXHAUSTED : PS_FAILED, "%s: %s: %s%s", log->path, what,
                   strerror(errno), full ? "; free some space, then restart" : "");
}

/* ---- plain reading and writing ---- */

static ps_status write_parts(ps_append_log *log, struct iovec *parts, int count, int64_t offset)
{
    while (count) {
        ssize_t done = pwritev(log->descriptor, parts, count, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return io_fail(log, "cannot be written");
        offset += done;
        while (count && (size_t)done >= parts->iov_len) {
            done -= (ssize_t)parts->iov_len;
            ++parts;
            --count;
        }
        if (count) {
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= (size_t)done;
        }
    }
    return PS_OK;
}

/* True if all `bytes` were there. */
static bool read_all(int descriptor, void *out, int64_t bytes, int64_t offset)
{
    for (int64_t done = 0; done < bytes;) {
        ssize_t n = pread(descriptor, (char *)out + done, (size_t)(bytes - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += n;
    }
    return true;
}

/* ---- opening ---- */

/* Neither empty, nor begun as a log is, damaged perhaps, nor zeros where a head was lost with the
 * power: somebody's. */
static bool is_foreign(int descriptor)
{
    char begin[sizeof file_magic] = {0};
    int others = 0, zeros = 0;
    ssize_t got = pread(descriptor, begin, sizeof begin, 0);
    for (ssize_t i = 0; i < got; ++i) {
        others += begin[i] != file_magic[i];
        zeros += begin[i] == 0;
    }
    return got < 0 || (2 * others > got && zeros < got);
}

/* Who has it locked, by the system's list of locks: "process 123", where that tells. */
static void name_holder(int descriptor, char *out, size_t size)
{
    char line[256];
    struct stat file;
    FILE *locks = fopen("/proc/locks", "re");
    snprintf(out, size, "another process");
    while (locks && fstat(descriptor, &file) == 0 && fgets(line, sizeof line, locks)) {
        long long pid, inode;
        unsigned major, minor;
        if (sscanf(line, "%*d: FLOCK %*s %*s %lld %x:%x:%lld", &pid, &major, &minor, &inode) == 4 &&
            pid > 0 && inode == (long long)file.st_ino && makedev(major, minor) == file.st_dev)
            snprintf(out, size, "process %lld", pid);
    }
    if (locks) fclose(locks);
}

static ps_status is_taken(const ps_append_log *log)
{
    char holder[40];
    name_holder(log->descriptor, holder, sizeof holder);
    return ps_fail(PS_FAILED, "%s: %s is writing it; wait for that run to end", log->path, holder);
}

/* One that is there is no damaged one: what it holds must not be taken for lost. */
static ps_status cannot_open(const char *path)
{
    if (errno == ENOENT) return ps_fail(PS_INVALID, "%s: %s", path, strerror(errno));
    return ps_fail(PS_FAILED,
                   "%s: cannot be opened: %s; let it be read and written, or move it away", path,
                   strerror(errno));
}

static ps_status open_file(const char *path, int flags, ps_append_log **out)
{
    ps_append_log *log;
    *out = NULL;
    PS_TRY(ps_path_check_spared(path));
    PS_TRY(PS_ALLOC(&log, 1, "a log"));
    log->descriptor = -1;
    log->path = strdup(path);
    ps_status status = PS_OK;
    if (!log->path)
        status = ps_fail(PS_EXHAUSTED, "%s: no memory for its name", path);
    else if ((log->descriptor = open(path, flags | O_RDWR | O_CLOEXEC, 0666)) < 0)
        status = cannot_open(path);
    else if (flock(log->descriptor, LOCK_EX | LOCK_NB) != 0)
        status = is_taken(log);
    else if (is_foreign(log->descriptor))
        status = ps_fail(PS_USAGE, "%s is no Penstock log and would be lost: move it away", path);
    if (status == PS_OK)
        *out = log;
    else
        ps_append_log_close(&log);
    return status;
}

void ps_append_log_close(ps_append_log **log)
{
    if (!*log) return;
    if ((*log)->descriptor >= 0) close((*log)->descriptor);
    PS_FREE((*log)->path, (*log)->identity, (*log)->entries, *log);
    *log = NULL;
}

static uint64_t head_hash(const file_head *head, const char *identity)
{
    XXH64_hash_t seed = XXH3_64bits(head, sizeof *head);
    return XXH3_64bits_withSeed(identity, head->identity_bytes, seed);
}

static ps_status write_head(ps_append_log *log)
{
    file_head head = {.version = LOG_VERSION, .identity_bytes = (uint32_t)strlen(log->identity)};
    memcpy(head.magic, file_magic, sizeof head.magic);
    memcpy(head.uuid, log->uuid, sizeof head.uuid);
    uint64_t hash = head_hash(&head, log->identity);
    struct iovec parts[] = {
        {&head, sizeof head}, {log->identity, head.identity_bytes}, {&hash, sizeof hash}};
    log->end = (int64_t)(sizeof head + head.identity_bytes + sizeof hash);
    PS_TRY(write_parts(log, parts, 3, 0));
    ps_path_sync_folder(log->path); /* some network file systems cannot: let pass */
    return ps_append_log_sync(log);
}

/* A file that is empty is left alone: ext4 takes what was cut to nothing for one that is being
 * replaced, and begins to write all of it to disk when it is closed, just before it is removed. */
static bool empty(int descriptor)
{
    struct stat file;
    if (fstat(descriptor, &file) == 0 && file.st_size == 0) return true;
    return ftruncate(descriptor, 0) == 0;
}

ps_status ps_append_log_create(const char *path, const char *uuid, const char *identity,
                               ps_append_log **out)
{
    PS_TRY(open_file(path, O_CREAT, out));
    ps_append_log *log = *out;
    snprintf(log->uuid, sizeof log->uuid, "%s", uuid);
    ps_status status;
    log->identity = strdup(identity);
    if (!log->identity)
        status = ps_fail(PS_EXHAUSTED, "%s: no memory for its head", path);
    else if (!empty(log->descriptor))
        status = io_fail(log, "cannot be emptied");
    else
        status = write_head(log);
    if (status != PS_OK) ps_append_log_close(out);
    return status;
}

static ps_status read_head(ps_append_log *log)
{
    file_head head;
    uint64_t hash = 0;
    if (!read_all(log->descriptor, &head, sizeof head, 0) ||
        memcmp(head.magic, file_magic, sizeof head.magic))
        return ps_fail(PS_INVALID, "%s: is no Penstock log", log->path);
    if (head.identity_bytes > IDENTITY_MAX)
        return ps_fail(PS_INVALID, "%s: its head is damaged", log->path);
    PS_TRY(PS_ALLOC(&log->identity, head.identity_bytes + 1, "the head of a log"));
    if (!read_all(log->descriptor, log->identity, head.identity_bytes, sizeof head) ||
        !read_all(log->descriptor, &hash, sizeof hash,
                  (int64_t)sizeof head + head.identity_bytes) ||
        hash != head_hash(&head, log->identity))
        return ps_fail(PS_INVALID, "%s: its head is damaged", log->path);
    if (head.version > LOG_VERSION)
        return ps_fail(PS_USAGE,
                       "%s: version %u is from the future (this program knows %d): continue with "
                       "a newer penstock, or move it away",
                       log->path, head.version, LOG_VERSION);
    memcpy(log->uuid, head.uuid, sizeof log->uuid);
    log->uuid[sizeof log->uuid - 1] = 0;
    log->end = (int64_t)(sizeof head + head.identity_bytes + sizeof hash);
    return PS_OK;
}

static uint64_t record_hash(const record_head *head, const void *payload)
{
    XXH64_hash_t seed = XXH3_64bits(head, HASHED_HEAD);
    return XXH3_64bits_withSeed(payload, (size_t)head->bytes, seed);
}

/* Reads the record at `offset` into *buffer (grown); false if there is no whole one. */
static ps_status read_record(const ps_append_log *log, int64_t offset, int64_t file_bytes,
                             record_head *head, void **buffer, int64_t *capacity, bool *whole)
{
    *whole = false;
    if (!read_all(log->descriptor, head, sizeof *head, offset) || head->magic != RECORD_MAGIC ||
        head->bytes < 0 || head->bytes > file_bytes - offset - (int64_t)sizeof *head)
        return PS_OK;
    PS_TRY(ps_grow(buffer, capacity, head->bytes, 1, "a record of a log"));
    *whole = read_all(log->descriptor, *buffer, head->bytes, offset + (int64_t)sizeof *head) &&
             head->hash == record_hash(head, *buffer);
    return PS_OK;
}

static ps_status add_entry(ps_append_log *log, const record_head *head)
{
    uint64_t before = log->count ? log->entries[log->count - 1].hash : 0;
    PS_TRY(ps_grow((void **)&log->entries, &log->capacity, log->count + 1, sizeof *log->entries,
                   "the index of a log"));
    log->entries[log->count] = (entry){log->end, ps_append_log_last(log) + head->count,
                                       XXH3_64bits_withSeed(head, sizeof *head, before)};
    ++log->count;
    log->end += (int64_t)sizeof *head + head->bytes;
    return PS_OK;
}

static ps_status scan(ps_append_log *log)
{
    struct stat file;
    if (fstat(log->descriptor, &file) != 0) return io_fail(log, "cannot be read");
    PS_SCOPED_MEMORY void *buffer = NULL;
    int64_t capacity = 0;
    for (;;) {
        record_head head;
        bool whole;
        PS_TRY(read_record(log, log->end, file.st_size, &head, &buffer, &capacity, &whole));
        if (!whole || head.first != ps_append_log_last(log) + 1 || head.count == 0) break;
        PS_TRY(add_entry(log, &head));
    }
    return PS_OK;
}

ps_status ps_append_log_open(const char *path, ps_append_log **out)
{
    PS_TRY(open_file(path, 0, out));
    ps_status status = read_head(*out);
    if (status == PS_OK) status = scan(*out);
    if (status != PS_OK) ps_append_log_close(out);
    return status;
}

/* ---- use ---- */

const char *ps_append_log_uuid(const ps_append_log *log) { return log->uuid; }

const char *ps_append_log_identity(const ps_append_log *log) { return log->identity; }

int64_t ps_append_log_last(const ps_append_log *log)
{
    return log->count ? log->entries[log->count - 1].last : 0;
}

ps_status ps_append_log_append(ps_append_log *log, int64_t count, const void *payload,
                               int64_t bytes)
{
    record_head head = {.magic = RECORD_MAGIC,
                        .count = (uint32_t)count,
                        .first = ps_append_log_last(log) + 1,
                        .bytes = bytes};
    head.hash = record_hash(&head, payload);
    struct iovec parts[] = {{&head, sizeof head}, {(void *)payload, (size_t)bytes}};
    ps_status status = write_parts(log, parts, 2, log->end);
    if (status == PS_OK) status = add_entry(log, &head);
    if (status != PS_OK && ftruncate(log->descriptor, log->end) != 0)
        return ps_context(status, "%s: cannot be cut back either", log->path);
    return status;
}

/* Number of records that end with or before `step`. */
static int64_t records_until(const ps_append_log *log, int64_t step)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, log->count, at, log->entries[at].last <= step);
    return low;
}

bool ps_append_log_ends_at(const ps_append_log *log, int64_t step)
{
    int64_t kept = records_until(log, step);
    return step == 0 || (kept > 0 && log->entries[kept - 1].last == step);
}

uint64_t ps_append_log_hash(const ps_append_log *log, int64_t step)
{
    int64_t kept = records_until(log, step);
    return kept > 0 ? log->entries[kept - 1].hash : 0;
}

ps_status ps_append_log_truncate(ps_append_log *log, int64_t step)
{
    if (!ps_append_log_ends_at(log, step))
        return ps_fail(PS_INVALID, "%s: no record ends with step %lld (the last one held is %lld)",
                       log->path, (long long)step, (long long)ps_append_log_last(log));
    int64_t kept = records_until(log, step);
    if (kept < log->count) log->end = log->entries[kept].offset;
    log->count = kept;
    return ftruncate(log->descriptor, log->end) == 0 ? PS_OK : io_fail(log, "cannot be cut");
}

ps_status ps_append_log_sync(ps_append_log *log)
{
    return fdatasync(log->descriptor) == 0 ? PS_OK : io_fail(log, "cannot be written to the disk");
}

bool ps_append_log_is_finite(const void *payload, int64_t count, int64_t item)
{
    const char *at = payload;
    bool finite = true;
    for (int64_t i = 0; i < count && finite; ++i, at += item) {
        float single;
        double number;
        if (item == sizeof single) {
            memcpy(&single, at, sizeof single);
            number = single;
        } else {
            memcpy(&number, at, sizeof number);
        }
        finite = isfinite(number);
    }
    return finite;
}

ps_status ps_append_log_replay(ps_append_log *log, int64_t from, ps_append_log_take take,
                               void *context)
{
    PS_SCOPED_MEMORY void *buffer = NULL;
    int64_t capacity = 0;
    ps_status status = PS_OK;
    for (int64_t i = records_until(log, from); i < log->count && status == PS_OK; ++i) {
        record_head head;
        bool whole;
        PS_GUARD(
            status, done,
            read_record(log, log->entries[i].offset, log->end, &head, &buffer, &capacity, &whole));
        status = whole ? take(context, head.first, head.count, buffer, head.bytes)
                       : ps_fail(PS_INVALID,
                                 "%s: the record that ends with step %lld has changed on the disk",
                                 log->path, (long long)log->entries[i].last);
    }
done:
    return status;
}
