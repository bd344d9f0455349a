/* The main of every program, taken from the archive where the program brings none of its own. */
#include "runtime/program.h"

int main(int argc, char **argv) { return ps_main(&ps_this_program, argc, argv); }
