#include "formats/gzip_file.h"

#include <errno.h>
#include <zlib.h>

#include "runtime/path.h"

ps_status ps_gzip_open(const char *path, const char *what, struct gzFile_s **out)
{
    *out = NULL;
    PS_TRY(ps_path_check_input(path, what));
    errno = ENOMEM; /* zlib leaves it as it was where it is the allocation that fails */
    *out = gzopen(path, "rb");
    return *out ? PS_OK : ps_path_unreadable(path);
}

ps_status ps_gzip_check(struct gzFile_s *file, const char *path)
{
    int code = Z_OK;
    const char *why = gzerror(file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return PS_OK;
    if (code == Z_MEM_ERROR) return ps_fail(PS_EXHAUSTED, "%s: no memory to expand it", path);
    return ps_fail(PS_INVALID,
                   "%s: cannot be read to its end, the gzip data are broken or cut short (%s)", path,
                   why);
}
