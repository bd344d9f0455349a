/* base64: bytes as text (RFC 4648, section 4), for data inside of pages. */
#ifndef PS_RUNTIME_BASE64_H
#define PS_RUNTIME_BASE64_H

#include <stdint.h>
#include <stdio.h>

/* Writes `count` bytes as 4 letters for each 3, filled up with '='. Errors are those of the stream.
 */
void ps_base64_write(FILE *file, const void *data, int64_t count);

#endif
