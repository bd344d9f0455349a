/* unit_folder: the empty folder that a unit test runs in (tests/with-main). */
#ifndef PS_TESTS_UNIT_FOLDER_H
#define PS_TESTS_UNIT_FOLDER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char unit_folder[] = "/tmp/penstock-unit-XXXXXX";

static inline bool unit_folder_enter(void)
{
    return mkdtemp(unit_folder) && chdir(unit_folder) == 0;
}

/* Removes it; returns the number of tests that failed. */
static inline int unit_folder_leave(int failed)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", unit_folder);
    return chdir("/") == 0 && system(command) == 0 ? failed : failed + 1;
}

#endif
