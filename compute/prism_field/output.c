/* Results with their constants, as a file and as a table. */
#include <stdio.h>
#include <stdlib.h>

#include "compute/prism_field/field.h"
#include "formats/prism_field.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/scope.h"

/* To SI's m2/s2, to mGal, to Eotvos, to nT (mu0 / 4 pi = 1e-7). */
static double factor_of(const field *f, int number)
{
    if (f->kind == PS_PRISM_MAGNETIC) return 1e-7 * 1e9;
    return f->gravity * (number == 0 ? 1 : number < 4 ? 1e5 : 1e9);
}

static double value(const field *f, int number, int64_t station)
{
    return factor_of(f, number) * f->result[number][station];
}

/* Numbers [first, first + width) side by side. */
static void interleave(const field *f, int first, int width, double *out)
{
    for (int64_t i = 0; i < f->stations.count; ++i)
        for (int k = 0; k < width; ++k) out[i * width + k] = value(f, first + k, i);
}

static ps_status put(const field *f, ps_store *store, double *room)
{
    const int64_t n = f->stations.count;
    ps_prism_field all = {.stations = n, .place = room};
    for (int64_t i = 0; i < n; ++i)
        for (int d = 0; d < 3; ++d) room[3 * i + d] = f->stations.column[d][i];
    double *at = room + 3 * n;
    if (f->kind == PS_PRISM_MAGNETIC) {
        interleave(f, 0, 3, at);
        all.induction = at;
        return ps_prism_field_put(store, &all);
    }
    interleave(f, 0, 1, at);
    interleave(f, 1, 3, at + n);
    all.potential = at;
    all.attraction = at + n;
    if (f->kind == PS_PRISM_TENSOR) {
        interleave(f, 4, 6, at + 4 * n);
        all.gradients = at + 4 * n;
    }
    return ps_prism_field_put(store, &all);
}

static ps_status put_numbers(const field *f, ps_store *store)
{
    PS_TRY(ps_store_put_real(store, "/", "gravity", f->gravity));
    PS_TRY(ps_store_put_int(store, "/", "order", f->figures.order));
    PS_TRY(ps_store_put_int(store, "/", "height", f->figures.height));
    PS_TRY(ps_store_put_real(store, "/", "accuracy", f->accuracy));
    PS_TRY(ps_store_put_int(store, "/", "samples", f->samples));
    return ps_store_put_reals(store, "/", "reached", f->reached, 3);
}

ps_status field_save(const field *f, const ps_product *product)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_SCOPED_MEMORY double *room = NULL;
    PS_TRY(ps_product_create(product, 0, &store));
    PS_TRY(put_numbers(f, store));
    PS_TRY(PS_ALLOC(&room, (3 + PS_PRISM_NUMBERS) * f->stations.count, "results"));
    PS_TRY(put(f, store, room));
    return ps_store_commit(&store);
}

static void print_table(FILE *file, const void *context)
{
    static const char *const gravity[PS_PRISM_NUMBERS] = {"potential_m2_s2",
                                                          "g_x_mGal",
                                                          "g_y_mGal",
                                                          "g_z_mGal",
                                                          "xx_E",
                                                          "yy_E",
                                                          "zz_E",
                                                          "xy_E",
                                                          "xz_E",
                                                          "yz_E"};
    static const char *const magnetic[3] = {"B_x_nT", "B_y_nT", "B_z_nT"};
    const field *f = context;
    int numbers = ps_prism_kind_numbers(f->kind);
    const char *const *names = f->kind == PS_PRISM_MAGNETIC ? magnetic : gravity;
    fputs("x,y,z", file);
    for (int k = 0; k < numbers; ++k) fprintf(file, ",%s", names[k]);
    fputc('\n', file);
    for (int64_t i = 0; i < f->stations.count; ++i) {
        fprintf(file, "%.17g,%.17g,%.17g", f->stations.column[0][i], f->stations.column[1][i],
                f->stations.column[2][i]);
        for (int k = 0; k < numbers; ++k) fprintf(file, ",%.12g", value(f, k, i));
        fputc('\n', file);
    }
}

ps_status field_table(const field *f, const char *path)
{
    return ps_output_print(path, print_table, f);
}
