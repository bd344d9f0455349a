#include "runtime/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/path.h"

static bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

ps_status ps_scratch_open(const char *beside, int *file)
{
    char path[4096], name[4096];
    const char *folder = getenv("TMPDIR");
    if (beside)
        snprintf(path, sizeof path, "%.4000s.XXXXXX", beside);
    else
        snprintf(path, sizeof path, "%.4000s/penstock-XXXXXX", folder ? folder : "/tmp");
    /* Without a name from the start, so that nothing stays after a kill; not all file systems can.
     */
    ps_path_folder(path, name, sizeof name);
    *file = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*file >= 0) return PS_OK;
    *file = mkostemp(path, O_CLOEXEC);
    if (*file < 0)
        return ps_fail(is_full(errno) ? PS_EXHAUSTED : PS_USAGE,
                       "no temporary file can be made at %s: %s", path, strerror(errno));
    unlink(path);
    return PS_OK;
}

static ps_status fail(bool writing, ssize_t done)
{
    int error = done < 0 ? errno : 0;
    return ps_fail(is_full(error) ? PS_EXHAUSTED : PS_FAILED, "a temporary file cannot be %s: %s",
                   writing ? "written" : "read", error ? strerror(error) : "it ends too early");
}

ps_status ps_scratch_write(int file, const void *data, int64_t bytes, int64_t at)
{
    for (const char *from = data; bytes > 0;) {
        ssize_t done = pwrite(file, from, (size_t)bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail(true, done);
        from += done;
        at += done;
        bytes -= done;
    }
    return PS_OK;
}

ps_status ps_scratch_read(int file, void *data, int64_t bytes, int64_t at)
{
    for (char *to = data; bytes > 0;) {
        ssize_t done = pread(file, to, (size_t)bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail(false, done);
        to += done;
        at += done;
        bytes -= done;
    }
    return PS_OK;
}
