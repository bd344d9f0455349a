/* store: names of dimensions and their scales. */
#include "runtime/scope.h"
#include "tests/formats/store_samples.h"
#include "tests/support/temporaries.h"

/* Dimensions: arrays of one agree on its length, and coordinates are as long; all are named, or
 * none. */
static void test_dimensions(void **state)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    const double values[6] = {0};
    ps_dataset_spec axis = array_spec("/x", PS_F64, 3, 0),
                    field = array_spec("/field", PS_F64, 3, 0),
                    other = array_spec("/other", PS_F64, 2, 0);
    field.dimensions[0] = "/x";
    check_ok(ps_store_create("dimensions.h5", &sample_identity, &store));
    check_ok(ps_store_write_array(store, &axis, values));
    check_ok(ps_store_write_array(store, &field, values));
    other.dimensions[0] = "x";
    check_fails(ps_store_write_array(store, &other, values), PS_FAILED, "short paths");
    other.dimensions[0] = "/x";
    check_ok(ps_store_write_array(store, &other, values));
    check_fails(ps_store_commit(&store), PS_FAILED, "dimension 0 of /other has length 2, /x has 3");
    other.dimensions[0] = "/y";
    other.rank = 2, other.dims[1] = 3;
    check_ok(ps_store_create("dimensions.h5", &sample_identity, &store));
    check_fails(ps_store_write_array(store, &other, values), PS_FAILED, "not all named");
    other.dimensions[1] = "/x";
    check_ok(ps_store_write_array(store, &axis, values));
    check_ok(ps_store_write_array(store, &field, values));
    check_ok(ps_store_write_array(store, &other, values));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("dimensions.h5", "penstock-test", 1, &store));
    assert_int_equal(ps_store_dataset_count(store), 3); /* /y is no array */
    assert_true(ps_store_has(store, "/y", "CLASS") && ps_store_has(store, "/x", "REFERENCE_LIST"));
}
