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
    for (int i = verdict_open(0) ? 0 : IMAGES_SHAPES; i < IMAGES_SHAPES; ++i) {
        random_shape shape = images_shape(i);
        bool good = images_agree(&shape, verdict.stream);
        verdict_count(good);
        if (!good) printf("FAILED: case %d\n", i);
    }
    return verdict_end();
}
