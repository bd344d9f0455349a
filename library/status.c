#include "library/penstock/status.h"

#include "runtime/status.h"
#include "version.h"

const char *penstock_message(void) { return ps_message(); }

const char *penstock_version(void) { return PS_VERSION " (" PS_REVISION ")"; }
