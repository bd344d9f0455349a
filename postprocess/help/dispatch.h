/*
 * dispatch: the front command, `penstock PROGRAM ...`.
 */
#ifndef PS_HELP_DISPATCH_H
#define PS_HELP_DISPATCH_H

#include "runtime/status.h"

/* Replaces this process by penstock-NAME with these arguments (argv[0] is set here). Returns
 * only on failure: PS_USAGE with a suggestion if there is no such program, PS_FAILED if it
 * is not installed. */
ps_status dispatch_program(const char *name, char **argv);

/* The front command: argv as main() got it. Returns the exit code. */
int dispatch_front(int argc, char **argv);

#endif
