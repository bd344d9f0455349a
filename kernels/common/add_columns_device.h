/* Shared by add_columns.c and add_columns_cuda.cu. Private to them. */
#ifndef PS_KERNELS_COMMON_ADD_COLUMNS_DEVICE_H
#define PS_KERNELS_COMMON_ADD_COLUMNS_DEVICE_H

#include "kernels/common/add_columns.h"

ps_status ps_add_columns_cuda(const ps_add_columns *add, ps_stream *stream);

#endif
