/* Body of upwind_cpu.c for one precision: `real`, LANES and SUFFIX are the includer's. */
#include "kernels/dgtd/lanes_body.h"

#define ORDER 1
#define NP 4
#define NF 3
#define RB 4
#include "kernels/dgtd/upwind_body.h"
#define ORDER 2
#define NP 10
#define NF 6
#define RB 5
#include "kernels/dgtd/upwind_body.h"
#define ORDER 3
#define NP 20
#define NF 10
#define RB 5
#include "kernels/dgtd/upwind_body.h"
#define ORDER 4
#define NP 35
#define NF 15
#define RB 5
#include "kernels/dgtd/upwind_body.h"

#include "kernels/dgtd/lanes_end.h"
