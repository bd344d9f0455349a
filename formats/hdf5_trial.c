#include "formats/hdf5_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/store_private.h"

enum { TRIAL_SECONDS = 60, UNSET = 0xa5 };

static void become_trial(void)
{
    const struct rlimit no_core = {0, 0}, time = {TRIAL_SECONDS, TRIAL_SECONDS};
    const int own[] = {SIGABRT, SIGSEGV, SIGBUS, SIGALRM};
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (int i = 0; i < 4; ++i) signal(own[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &time);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO), dup2(nowhere, STDOUT_FILENO);
    mallopt(M_PERTURB, UNSET);
    H5set_free_list_limits(0, 0, 0, 0, 0, 0); /* else blocks come from lists of libhdf5's own */
    H5garbage_collect();
}

ps_status ps_hdf5_try(const char *path, ps_status (*attempt)(void *context), void *context,
                      ps_trial_end *out)
{
    int end = 0;
    pid_t child = fork();
    if (child < 0) return ps_system_fail(PS_EXHAUSTED, path, "start a trial of it", errno);
    if (child == 0) {
        become_trial();
        _exit(attempt(context) == PS_OK ? PS_TRIAL_HELD : PS_TRIAL_REFUSED);
    }
    while (waitpid(child, &end, 0) < 0 && errno == EINTR) continue;
    *out = end == 0                                                 ? PS_TRIAL_HELD
           : WIFEXITED(end) && WEXITSTATUS(end) == PS_TRIAL_REFUSED ? PS_TRIAL_REFUSED
                                                                    : PS_TRIAL_DIED;
    return PS_OK;
}
