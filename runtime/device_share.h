/*
 * device_share: memory of a CUDA device that other processes of this machine reach from theirs, by
 * CUDA IPC, where the devices are linked (NVLink, or one PCIe switch).
 *
 * A ticket goes to the others by any way (runtime/comm.h). Who takes part has to leave the memory
 * before its owner frees it. Without CUDA, or on the CPU's device, all fail with PS_FAILED.
 */
#ifndef PS_RUNTIME_DEVICE_SHARE_H
#define PS_RUNTIME_DEVICE_SHARE_H

#include "runtime/device.h"

typedef struct ps_share_ticket {
    unsigned char device[16]; /* its UUID: two processes may drive one device */
    unsigned char memory[64];
} ps_share_ticket;

/* Memory of `bytes`, rounded up so that it shares no page with any other, and its ticket. It is
 * freed by ps_device_free. */
ps_status ps_share_alloc(ps_device *device, int64_t bytes, void **out, ps_share_ticket *ticket);

/* The other process's memory at an address of this device. PS_FAILED if the devices do not reach
 * each other, or the processes are not on one machine. */
ps_status ps_share_reach(ps_device *device, const ps_share_ticket *ticket, void **out);
void ps_share_leave(ps_device *device, void *memory); /* NULL is fine */

#endif
