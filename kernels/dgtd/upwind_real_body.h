/* Body of upwind_cpu.c for one precision: `real`, LANES and SUFFIX are the includer's. */
#include "kernels/dgtd/lanes_body.h"

#define ORDER_BODY "kernels/dgtd/upwind_body.h"
#include "kernels/dgtd/orders_body.h"
#undef ORDER_BODY

#include "kernels/dgtd/lanes_end.h"
