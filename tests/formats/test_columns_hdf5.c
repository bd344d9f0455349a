/* columns_hdf5: what libhdf5 does not survive ends a trial, not the program. */
#include "formats/columns_hdf5.h"

#include <dlfcn.h>

#include "tests/formats/store_samples.h"

static bool is_damaged;

/* Stands before libhdf5's own, which damaged groups have made crash. */
int64_t H5Dopen2(int64_t place, const char *name, int64_t access);
int64_t H5Dopen2(int64_t place, const char *name, int64_t access)
{
    int64_t (*own)(int64_t, const char *, int64_t) = dlsym(RTLD_NEXT, "H5Dopen2");
    if (is_damaged) abort();
    return own(place, name, access);
}

static void a_crash_ends_a_trial(void **state)
{
    const char *names[] = {"values"}, *missing[] = {"valeus"};
    double back[1000];
    float values[1000];
    ps_hdf5_columns *columns;
    fill_reals(values, 1000, 5);
    check_ok(write_sample("sample.h5", 5));
    check_ok(ps_hdf5_columns_open("sample.h5", names, 1, &columns));
    check_ok(ps_hdf5_columns_read(columns, 0, 0, 1000, back));
    for (int i = 0; i < 1000; ++i) check_near(back[i], values[i], 0, 0);
    ps_hdf5_columns_close(&columns);
    check_fails(ps_hdf5_columns_open("sample.h5", missing, 1, &columns), PS_INVALID,
                "there is no dataset /valeus");
    is_damaged = true;
    check_fails(ps_hdf5_columns_open("sample.h5", names, 1, &columns), PS_INVALID,
                "a trial did not survive opening its datasets");
    assert_null(columns);
    is_damaged = false;
}
