/* temporaries: how many temporary files of an output lie in its folder. */
#ifndef PS_TESTS_TEMPORARIES_H
#define PS_TESTS_TEMPORARIES_H

#include <dirent.h>

#include "runtime/output_file.h"
#include "runtime/path.h"

static inline int temporaries_of(const char *path)
{
    char folder[4096];
    int count = 0;
    int64_t pid;
    ps_path_folder(path, folder, sizeof folder);
    DIR *list = opendir(folder);
    if (!list) return -1;
    for (struct dirent *entry; (entry = readdir(list));)
        count += ps_output_is_temporary(path, entry->d_name, &pid);
    closedir(list);
    return count;
}

#endif
