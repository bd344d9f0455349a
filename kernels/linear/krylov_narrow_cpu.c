/* Vectors in fp32. */
#define real float
#define TABLE ps_krylov_narrow_table
#include "kernels/linear/krylov_team_body.h"
