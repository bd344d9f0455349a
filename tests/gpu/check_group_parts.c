/*
 * check_group_parts: what a group of steps on the CUDA device needs beside its solver: loads
 * against those of the host, and the window of the past against a plain history. Ends with
 * "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/load_case.h"
#include "tests/support/past_case.h"
#include "tests/support/verdict.h"

int main(void)
{
    static const int64_t sizes[] = {1, 31, 33, 1000, 24001}, groups[] = {1, 3, 8, 16, 32};
    if (ps_device_count() == 0) return verdict_end();
    for (int levels = 0; levels < 5; levels += 2)
        verdict_of(load_case_check("cuda:0", levels, 1e-13), "loads, %d levels", levels);
    for (int s = 0; s < 5; ++s)
        for (int g = 0; g < 5; ++g)
            for (int precision = 0; precision < 2; ++precision)
                if (sizes[s] < 24001 || g == 3)
                    verdict_of(
                        past_case_check("cuda:0", sizes[s], groups[g], (ps_precision)precision),
                        "window, size %lld", (long long)sizes[s]);
    return verdict_end();
}
