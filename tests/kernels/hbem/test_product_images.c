/* Leaves into images for products (kernels/hbem/product_images.h), on the CPU device: byte for byte
 * those of ps_product_pack. On a device: tests/gpu/check_hbem_images.c. */
#include "runtime/scope.h"
#include "tests/support/cpu_device.h"
#include "tests/support/hbem_images.h"

static void test_images(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    for (int i = 0; i < IMAGES_SHAPES; ++i) {
        random_shape shape = images_shape(i);
        assert_true(images_agree(&shape, stream));
    }
}
