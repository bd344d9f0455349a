/*
 * sandbox: what the child that runs Gmsh's library may do: read files, compute, write to the pipe.
 *
 * Gmsh takes whatever it does not recognise for a script, and scripts run programs and write files.
 * In the sandbox a system call that starts a process, opens a file for writing, uses the network or
 * touches another process ends the child by SIGSYS; calls that are not known to be needed fail.
 * Limits: memory, CPU time, no bytes to any file, no core.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_SANDBOX_H
#define PS_PREPROCESS_MESH_IMPORT_SANDBOX_H

#include <stdint.h>

/* Confines this process for good. 0, or the errno of what this system refuses (ENOSYS where the
 * architecture has no filter here). The limits hold in either case. */
int import_sandbox_enter(int64_t memory, double cpu_seconds);

#endif
