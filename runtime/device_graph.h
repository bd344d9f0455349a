/*
 * device_graph: launches recorded once and repeated with one call, for many small ones whose
 * arguments stay the same.
 *
 * What is enqueued on a stream between _begin and _end is recorded and not done; nothing may wait
 * meanwhile. Without CUDA, or on the CPU's device, all fail with PS_FAILED.
 */
#ifndef PS_RUNTIME_DEVICE_GRAPH_H
#define PS_RUNTIME_DEVICE_GRAPH_H

#include "runtime/device.h"

typedef struct ps_graph ps_graph;

ps_status ps_graph_begin(ps_stream *stream);
/* Ends the recording, also one in which something failed; out is NULL then. */
ps_status ps_graph_end(ps_stream *stream, ps_graph **out);
/* Enqueued, on any stream of the device. */
ps_status ps_graph_launch(ps_graph *graph, ps_stream *stream);
void ps_graph_close(ps_graph **graph); /* NULL is fine; no launch of it may be under way */

#endif
