/*
 * check_copy_ranges: tests/support/ranges_case.h on the first CUDA device. Ends with "N passed, N
 * failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/ranges_case.h"
#include "tests/support/verdict.h"

int main(void)
{
    if (verdict_open(0)) verdict_of(ranges_case_all(verdict.device), "ranges");
    return verdict_end();
}
