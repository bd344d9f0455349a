/*
 * check_hbem_strata: far blocks of flat parts of which a few rows see what no other does
 * (tests/support/hbem_flat_parts.h), in 300 orders of the rows, by the device and by the cores:
 * with strata both find all of it in every order; without, the device misses it in most, or the
 * check would show nothing. Ends with "N passed, N failed, N skipped". VERBOSE: all figures.
 * Arguments: how many orders, 300; the number of one case alone, so that cases may run side by
 * side.
 */
#include <stdio.h>

#include "tests/support/hbem_device.h"
#include "tests/support/hbem_flat_parts.h"
#include "tests/support/verdict.h"

typedef struct strata_case {
    int hidden; /* rows of 150 on another plane; 0: stairs                              */
    ps_hbem_kernel kernel;
    double wavenumber;
    ps_precision precision;
    bool skeleton;
} strata_case;

static const strata_case cases[] = {
    {3, PS_KERNEL_DLP, 0, PS_DOUBLE, false},  {3, PS_KERNEL_DLP, 0, PS_SINGLE, true},
    {6, PS_KERNEL_ADLP, 0, PS_SINGLE, false}, {6, PS_KERNEL_ADLP, 1, PS_DOUBLE, true},
    {3, PS_KERNEL_DLP, 1, PS_SINGLE, true},   {3, PS_KERNEL_DLP, 1, PS_SINGLE, false},
    {0, PS_KERNEL_DLP, 0, PS_SINGLE, true},   {0, PS_KERNEL_ADLP, 0, PS_DOUBLE, false},
    {0, PS_KERNEL_DLP, 1, PS_SINGLE, true},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct check {
    const strata_case *of;
    int number;
    hbem_flat_parts parts;
    ps_hbem_operator op;
} check;

static void tell(check *k, const char *what, double value, double least, double most)
{
    bool good = value >= least && value <= most;
    if (verdict_count(good))
        printf("%s case %d %s: %g, from %g to %g\n", good ? "ok" : "FAILED", k->number, what, value,
               least, most);
    fflush(stdout);
}

/* Orders in which the cores miss something. */
static double missed_by_cores(const check *k, double *worst)
{
    hbem_hmatrix h;
    hbem_flat_hmatrix(&k->parts, &k->op, true, k->of->skeleton, &h);
    hbem_hmatrix_run(&h, omp_get_max_threads());
    double missed = (double)hbem_flat_missed(&k->parts, &k->op, &h.matrix, worst);
    ps_hmatrix_release(&h.matrix);
    return missed;
}

/* The same of the device, by blocks of threads of their sizes or by clusters of them. */
static double missed_by_device(check *k, bool strata, bool clusters, double *worst)
{
    hbem_device d;
    hbem_hmatrix h;
    ps_hbem_device_far_options options = {1e-4, 8, 100, true, k->of->skeleton, 0};
    hbem_flat_hmatrix(&k->parts, &k->op, strata, k->of->skeleton, &h);
    hbem_device_open_sides(&d, verdict.device, &k->op, &k->parts.tree, NULL,
                           strata ? k->parts.stratum : NULL);
    d.one_size = clusters;
    hbem_device_leaves(&d, k->parts.leaves, k->parts.copies, 100, 0);
    hbem_device_run_far(&d, &options, 256 << 20);
    tell(k, "leaves over rank or memory", d.report.over_rank + d.report.over_arena, 0, 0);
    hbem_device_fetch(&d, &h.matrix);
    hbem_device_close(&d);
    double missed = (double)hbem_flat_missed(&k->parts, &k->op, &h.matrix, worst);
    if (getenv("VERBOSE"))
        printf("case %d: strata %d, clusters %d: %g missed, largest error %.1e; %u by entries, %u "
               "dense\n",
               k->number, strata, clusters, missed, *worst, d.report.by_entries, d.report.dense);
    ps_hmatrix_release(&h.matrix);
    return missed;
}

static void check_case(check *k, int64_t orders)
{
    hbem_piece piece;
    double worst = 0;
    if (k->of->hidden > 0)
        hbem_piece_hidden(&piece, k->of->hidden);
    else
        hbem_piece_stairs(&piece, 6);
    hbem_flat_make(&k->parts, &piece, orders, 20261123);
    k->op = hbem_case_operator(&k->parts.body, k->of->kernel, k->of->wavenumber);
    k->op.far_precision = k->of->precision;
    tell(k, "orders in which the device misses rows", missed_by_device(k, true, false, &worst), 0,
         0);
    tell(k, "orders in which clusters of blocks do", missed_by_device(k, true, true, &worst), 0, 0);
    tell(k, "orders in which the cores do", missed_by_cores(k, &worst), 0, 0);
    if (k->of->hidden > 0) /* columns show it, too */
        tell(k, "orders in which the device does without strata",
             missed_by_device(k, false, false, &worst), 0, 0);
    hbem_flat_free(&k->parts);
}

int main(int argc, char **argv)
{
    int64_t orders = argc > 1 ? atoll(argv[1]) : 300;
    check k = {0};
    if (!verdict_open(0)) return verdict_end();
    for (int c = 0; c < CASES; ++c) {
        if (argc > 2 && atoi(argv[2]) != c) continue;
        k.of = &cases[c];
        k.number = c;
        check_case(&k, orders);
    }
    return verdict_end();
}
