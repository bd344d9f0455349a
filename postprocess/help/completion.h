/*
 * completion: a bash completion for the front command and all programs.
 */
#ifndef PS_HELP_COMPLETION_H
#define PS_HELP_COMPLETION_H

#include "runtime/status.h"

/* Prints the script to stdout. Option names and the alternatives of choices are those that the
 * installed programs print for --help. */
ps_status completion_print(void);

#endif
