/* Vectors in fp64. */
#define real double
#define TABLE ps_krylov_table
#include "kernels/linear/krylov_team_body.h"
