#include "runtime/trust.h"

static bool trusted;

void ps_trust_inputs(bool trust) { trusted = trust; }

bool ps_inputs_trusted(void) { return trusted; }
