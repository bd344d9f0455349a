#include "kernels/hbem/product.h"

#define real float
#define NAME(function) function##_f32
#include "kernels/hbem/product_body.h"
#undef real
#undef NAME
#define real double
#define NAME(function) function##_f64
#include "kernels/hbem/product_body.h"

const struct ps_product_functions PS_ISA_TABLE(ps_product) = {
    .reduce = {[PS_SINGLE] = reduce_f32, [PS_DOUBLE] = reduce_f64},
    .expand = {[PS_SINGLE] = expand_f32, [PS_DOUBLE] = expand_f64}};
