/*
 * store_format: what a file says that it is, before anything in it is believed.
 */
#ifndef PS_FORMATS_STORE_FORMAT_H
#define PS_FORMATS_STORE_FORMAT_H

#include <stdbool.h>

/* Whether what lies there is recognisably no file of this format, but somebody's: other bytes than
 * an HDF5 file has, or one that opens and says another format or none. A damaged one may be either,
 * and is not; nor is an empty one. */
bool ps_store_is_other(const char *path, const char *format);

#endif
