/*
 * trust: whether inputs are taken as they are (--trust), for the whole process.
 */
#ifndef PS_RUNTIME_TRUST_H
#define PS_RUNTIME_TRUST_H

#include <stdbool.h>

void ps_trust_inputs(bool trust); /* by ps_main, before the program runs */
bool ps_inputs_trusted(void);

#endif
