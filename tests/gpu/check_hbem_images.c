/*
 * check_hbem_images: leaves into images for products on a CUDA device, byte for byte those of the
 * processor: random trees of odd sizes, real and complex, both precisions, symmetric halves. Ends
 * with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/hbem_images.h"

int main(void)
{
    ps_device *device = NULL;
    ps_stream *stream = NULL;
    int passed = 0;
    if (ps_device_count() == 0) {
        printf("0 passed, 0 failed, 1 skipped\n");
        return 0;
    }
    hbem_case_ok(ps_device_open("cuda:0", 0, &device));
    hbem_case_ok(ps_stream_open(device, &stream));
    for (int i = 0; i < IMAGES_SHAPES; ++i) {
        random_shape shape = images_shape(i);
        bool good = images_agree(&shape, stream);
        if (!good) printf("FAILED: case %d\n", i);
        passed += good;
    }
    ps_stream_close(&stream);
    ps_device_close(&device);
    printf("%d passed, %d failed, 0 skipped\n", passed, IMAGES_SHAPES - passed);
    return passed != IMAGES_SHAPES;
}
