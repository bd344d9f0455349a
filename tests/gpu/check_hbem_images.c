/*
 * check_hbem_images: leaves into images for products on a CUDA device, byte for byte those of the
 * processor: random trees of odd sizes, real and complex, both precisions, symmetric halves. Ends
 * with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/hbem_images.h"
#include "tests/support/verdict.h"

int main(void)
{
    ps_device *device = NULL;
    ps_stream *stream = NULL;
    int passed = 0;
    if (verdict_no_device()) return 0;
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
