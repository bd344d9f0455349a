/* Crosses of blocks of flat parts by cores find what a few rows alone see, in whatever order those
 * come (kernels/hbem/aca.h, strata.h); tests/gpu/check_hbem_strata has 1,000 orders and devices. */
#include "runtime/scope.h"
#include "tests/support/hbem_flat_parts.h"

typedef struct trial {
    ps_hbem_kernel kernel;
    double wavenumber;
    ps_precision precision;
    bool skeleton;
} trial;

/* Of `copies` orders, those in which something stays unseen. */
static int64_t missed_of(const hbem_flat_parts *f, const trial *t, bool strata, double *worst)
{
    hbem_hmatrix h;
    ps_hbem_operator op = hbem_case_operator(&f->body, t->kernel, t->wavenumber);
    op.far_precision = t->precision;
    hbem_flat_hmatrix(f, &op, strata, t->skeleton, &h);
    hbem_hmatrix_run(&h, omp_get_max_threads());
    int64_t missed = hbem_flat_missed(f, &op, &h.matrix, worst);
    ps_hmatrix_release(&h.matrix);
    return missed;
}

static void check_piece(const hbem_piece *piece, const char *name, int64_t copies, double most)
{
    static const trial trials[] = {{PS_KERNEL_DLP, 0, PS_DOUBLE, false},
                                   {PS_KERNEL_DLP, 0, PS_SINGLE, true}};
    PS_SCOPED(hbem_flat_free) hbem_flat_parts f = {0};
    hbem_flat_make(&f, piece, copies, 20261123);
    for (size_t t = 0; t < sizeof trials / sizeof *trials; ++t) {
        double with = 0, without = 0;
        int64_t missed = missed_of(&f, &trials[t], true, &with);
        int64_t unseen = missed_of(&f, &trials[t], false, &without);
        print_message("    %s, trial %d: missed in %d of %d orders (largest error %.1e), without "
                      "strata in %d (%.1e)\n",
                      name, (int)t, (int)missed, (int)copies, with, (int)unseen, without);
        check_at_most((double)missed, 0);
        check_at_most((double)unseen, 0); /* columns show it, too */
        check_at_most(with, most);
    }
}

static void hidden_rows_are_seen(void **state)
{
    hbem_piece piece;
    hbem_piece_hidden(&piece, 3);
    check_piece(&piece, "3 of 150 rows hidden", 24, 2e-4);
}

static void stairs_are_seen(void **state)
{
    hbem_piece piece;
    hbem_piece_stairs(&piece, 6);
    check_piece(&piece, "stairs", 4, 5e-4);
}

static void strips_of_a_plane_are_seen(void **state)
{
    hbem_piece piece;
    hbem_piece_strips(&piece);
    check_piece(&piece, "a strip beside another", 200, 1e-4);
}
