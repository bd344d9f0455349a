/*
 * assembling: the matrix of a run that is given a mesh alone: blocks (warps) that are assembled
 * into memory and stay there, with the bits of those that penstock-slice-assemble --layout warp
 * writes.
 */
#ifndef PS_TDBEM_MARCH_ASSEMBLING_H
#define PS_TDBEM_MARCH_ASSEMBLING_H

#include "compute/tdbem_march/tiles.h"
#include "runtime/program.h"
#include "stage/tdbem_assembly/slice_assembly.h"

enum { ASSEMBLING_AUTO = 0 };

/* Do tiles above the diagonal stand for those below? auto: where tiles would not stay in memory. */
typedef enum march_symmetric { SYMMETRIC_AUTO, SYMMETRIC_ON, SYMMETRIC_OFF } march_symmetric;

/* The options of the command line. */
typedef struct assembling_options {
    ps_assembly_options assembly;
    int rule;             /* --points: auto, 3, 6, 7, 12 */
    const char *combined; /* --combined; NULL: none */
    int halves;           /* --values: same, f16 */
    int symmetric;        /* march_symmetric */
    int64_t group; /* of the march: tiles with lags below it are kept for its near matrices */
    bool host_too; /* the host needs all tiles that are swept */
} assembling_options;
#define ASSEMBLING_DEFAULTS                                                                        \
    {                                                                                              \
        .assembly = {.scene = {.formulation = PS_SOUND_SOFT_S, .speed = 343} }                     \
    }

typedef struct assembling {
    assembling_options options;
    ps_block_header header;
    ps_retarded_problem problem;
    ps_assembly_devices *devices; /* NULL: cores assemble */
    ps_assembly_plan plan;
    placed *placed;          /* where the blocks go to a device as they are made; else NULL */
    bool symmetric;          /* the upper tiles stand for the others (symmetric.h) */
    int ordinal;             /* of the device that holds them from the start on; see `holds` */
    bool holds;              /* there is one */
    struct held_tiles *held; /* once they are there */
    double whole_bytes;      /* of all blocks, upper or not, estimated */
    double seconds;          /* that assembling took */
    double core_seconds;     /* threads, computing or waiting for devices */
} assembling;

/* PS_USAGE where an option of these is given though the matrix is in a file. */
ps_status assembling_not_needed(const assembling_options *options);
/* Plans for the mesh, within the memory of the run, and tells what the matrix will be like: *out is
 * of the sizes that are expected, and has no values yet. PS_EXHAUSTED with the least that would do.
 */
ps_status assembling_open(const ps_run *run, const assembling_options *options, assembling *a,
                          tiles *out);
/* Gives the devices back until it is planned again, beside what is in memory by then. */
void assembling_rest(assembling *a);
ps_status assembling_plan_again(const ps_run *run, assembling *a);
/* Who marches with the blocks, where that is one device alone. */
typedef struct assembling_target {
    bool alone;
    int ordinal;   /* as of team_devices */
    int64_t group; /* steps of a sweep */
    int64_t fixed; /* bytes of the device beside the blocks, estimated */
} assembling_target;
/* Assembles: *tiles is the matrix, *m0 its M^0. Blocks go to the target as they are made, where it
 * has memory to gather them in. */
ps_status assembling_run(const ps_run *run, assembling *a, const assembling_target *target,
                         tiles *tiles, ps_csr *m0);
/* Bytes of host memory that the blocks take: expected, and once they are there. */
int64_t assembling_kept(const assembling *a, const tiles *tiles);
/* The near matrices are made: what was kept for them alone goes. */
void assembling_forget_near(assembling *a, tiles *tiles);
void assembling_close(assembling *a);

#endif
