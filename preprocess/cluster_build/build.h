/* The parts of penstock-cluster-build. */
#ifndef PS_PREPROCESS_CLUSTER_BUILD_H
#define PS_PREPROCESS_CLUSTER_BUILD_H

#include "formats/cluster_tree.h"
#include "formats/surface_mesh.h"
#include "kernels/hbem/cluster_tree.h"
#include "kernels/hbem/setup.h"
#include "runtime/program.h"

typedef struct build_options {
    int test, trial; /* ps_hbem_space_kind; trial 3: as test       */
    int cut;         /* ps_cluster_cut                             */
    double eta;
    bool weak, open, force_coarse;
    int64_t leaf_size;
    double wavenumber;
} build_options;

typedef struct build_job {
    const build_options *options;
    ps_surface_mesh mesh;
    ps_hbem_outline outline;
    void *memory, *scratch;
    ps_hbem_setup setup;
    ps_clusters clusters; /* vertices and triangles borrowed from the mesh */
    double tree_seconds, leaf_seconds;
} build_job;

/* ---- check.c ---- */

/* The refusals: open, not oriented or inward surfaces, meshes too coarse for the wavenumber,
 * budgets too small. */
ps_status build_check(const build_job *job, const ps_run *run);

/* ---- report.c ---- */

/* What the trees and leaves are, and what the matrix is expected to take. */
int64_t build_disk(const build_job *job); /* bytes of the file at most */
/* What it takes, once all is in memory but what is written; PS_EXHAUSTED as of stage/plan.h. */
ps_status build_plan(const build_job *job, const ps_run *run, ps_report *r);
ps_status build_report(const build_job *job, const ps_run *run);

#endif
