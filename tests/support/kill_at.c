/* A library to be preloaded: the process kills itself (SIGKILL) before its KILL_AT-th rename or
 * unlink, counted from 1, so that a test visits every moment at which files change. Of several
 * ranks the one that KILL_RANK names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int is_ours(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return strstr(path, "/penstock-") != NULL &&
           number("OMPI_COMM_WORLD_RANK", 0) == number("KILL_RANK", 0);
}

static void count(const char *path)
{
    static int calls;
    if (!strstr(path, ".h5") && !strstr(path, ".hdf")) return; /* MPI has files of its own */
    if (!is_ours()) return;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == number("KILL_AT", 0)) raise(SIGKILL);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    count(to);
    return next(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    int (*next)(int, const char *, int, const char *) =
        (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
    count(to);
    return next(from_folder, from, to_folder, to);
}

int unlink(const char *path)
{
    int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    count(path);
    return next(path);
}
