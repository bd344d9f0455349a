/* stage/product: whether an output is this command's, and what a loss of power left beside it. */
#include "stage/product.h"

#include <unistd.h>

#include "tests/check.h"

static const char dead[] = "out.h5.12.0123456789abcdef.tmp";

/* Programs that ask only whether it matches have things of their own to look at; temporaries of
 * dead writers go all the same, and stay beside what is of another command, which begins anew. */
static void what_matches_is_tidied(void **state)
{
    ps_run run = {.program = "x", .output = "out.h5", .record = "order=5\n", .alone = true};
    ps_product product;
    ps_store *store;
    ps_product_init(&run, "penstock-test", 1, &product);
    check_ok(ps_product_create(&product, 0, &store));
    check_ok(ps_store_commit(&store));
    check_write(dead, "");
    assert_true(ps_product_matches(&product));
    assert_int_not_equal(access(dead, F_OK), 0);
    check_write(dead, "");
    check_ok(ps_product_note(&product, "basis=3"));
    assert_false(ps_product_matches(&product));
    assert_int_equal(access(dead, F_OK), 0);
}
