/*
 * gzip_file: files that come from elsewhere, plain or compressed by gzip (zlib reads both).
 */
#ifndef PS_FORMATS_GZIP_FILE_H
#define PS_FORMATS_GZIP_FILE_H

#include "runtime/status.h"

struct gzFile_s; /* of zlib.h; gzFile is a pointer to it */

/* `what` is expected of the file ("a file of particles"), for the message. PS_INVALID, naming the
 * path: missing, a folder, empty, not readable; PS_EXHAUSTED: no memory or descriptor left. */
ps_status ps_gzip_open(const char *path, const char *what, struct gzFile_s **out);

/* What became of the reads so far: PS_INVALID if the data are broken or cut short, PS_EXHAUSTED if
 * there was no memory to expand them. */
ps_status ps_gzip_check(struct gzFile_s *file, const char *path);

#endif
