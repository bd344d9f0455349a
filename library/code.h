/* code: a status of the rooms as one of the library: the codes are the same. */
#ifndef PS_LIBRARY_CODE_H
#define PS_LIBRARY_CODE_H

#include "library/penstock/status.h"
#include "runtime/status.h"

_Static_assert((int)PS_OK == PENSTOCK_OK && (int)PS_FAILED == PENSTOCK_FAILED &&
                   (int)PS_USAGE == PENSTOCK_USAGE && (int)PS_INVALID == PENSTOCK_INVALID &&
                   (int)PS_EXHAUSTED == PENSTOCK_EXHAUSTED &&
                   (int)PS_INACCURATE == PENSTOCK_INACCURATE && (int)PS_STOPPED == PENSTOCK_STOPPED,
               "codes of the library are those of the programs");

static inline penstock_status code(ps_status status) { return (penstock_status)status; }

#endif
