/*
 * The Morton order of places, for hosts and devices: the includer defines KERNEL_INLINE. An octant
 * has the bit of x first, as keys have (kernels/common/space_curve.h); here places may have more
 * bits than the words of a key hold.
 */
#include <stdbool.h>
#include <stdint.h>

/* Whether a place comes before another on the same level: the axis along which they differ in the
 * highest bit decides, the first one of several (Chan, 2002). */
KERNEL_INLINE bool comes_before(const int64_t a[3], const int64_t b[3])
{
    int64_t most = 0;
    bool before = false;
    for (int d = 0; d < 3; ++d) {
        int64_t differ = a[d] ^ b[d];
        if (most >= differ || most >= (differ ^ most)) continue; /* no higher bit */
        most = differ;
        before = a[d] < b[d];
    }
    return before;
}
