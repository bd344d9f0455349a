#include "postprocess/help/help.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/log.h"

static const char prefix[] = "penstock-";

static ps_status unknown_program(const char *name)
{
    const program_entry *nearest = program_nearest(name);
    if (nearest)
        return ps_fail(PS_USAGE, "there is no program \"%s\"; did you mean \"%s\"?", name,
                       nearest->name);
    return ps_fail(PS_USAGE, "there is no program \"%s\"; \"penstock help\" lists them", name);
}

ps_status dispatch_program(const char *name, char **argv)
{
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    const program_entry *program = program_find(name);
    if (!program) return unknown_program(name);
    static char path[4096];
    if (!program_path(program, path, sizeof path))
        return ps_fail(PS_FAILED,
                       "penstock-%s is not installed beside this program or on PATH; it may have "
                       "been left out of the build (make info says why)",
                       name);
    argv[0] = path;
    fflush(NULL);
    execv(path, argv);
    return ps_fail(PS_FAILED, "%s could not be started: %s", path, strerror(errno));
}

static int is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int dispatch_front(int argc, char **argv)
{
    ps_log_setup("penstock", PS_LOG_INFO, true);
    if (argc < 2 || is_one_of(argv[1], "--help", "-h", "--list")) {
        listing_print(NULL);
        return PS_OK;
    }
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        puts(ps_version());
        return PS_OK;
    }
    /* "penstock help ..." needs no case of its own: it is penstock-help. */
    ps_status status = argv[1][0] == '-'
                           ? ps_fail(PS_USAGE,
                                     "there is no option %s; usage: penstock PROGRAM ..., "
                                     "penstock help, penstock --version",
                                     argv[1])
                           : dispatch_program(argv[1], argv + 1);
    ps_error("%s", ps_message());
    return (int)status;
}
