#include "runtime/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/stop.h"

enum { UNSET = 0xa5 };

static void bound(int resource, int64_t most)
{
    const struct rlimit limit = {(rlim_t)most, (rlim_t)most};
    setrlimit(resource, &limit);
}

static void become_trial(const ps_trial *trial)
{
    const int own[] = {SIGABRT, SIGSEGV, SIGBUS}, parents[] = {SIGTERM, SIGINT, SIGHUP};
    ps_stop_release();
    for (int i = 0; i < 3; ++i) {
        signal(own[i], SIG_DFL);
        signal(parents[i], SIG_IGN);
    }
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_CPU, trial->seconds);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow counts as memory, and whose reports are to be seen */
    if (trial->memory > 0) bound(RLIMIT_DATA, trial->memory);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO), dup2(nowhere, STDOUT_FILENO);
#endif
    mallopt(M_PERTURB, UNSET);
}

ps_status ps_trial_run(const ps_trial *trial, ps_trial_end *out)
{
    int end = 0;
    pid_t child = fork();
    if (child < 0)
        return ps_fail(PS_EXHAUSTED, "%s: cannot start a trial of it: %s", trial->path,
                       strerror(errno));
    if (child == 0) {
        become_trial(trial);
        _exit(trial->attempt(trial->context) == PS_OK ? PS_TRIAL_HELD : PS_TRIAL_REFUSED);
    }
    while (waitpid(child, &end, 0) < 0 && errno == EINTR) continue;
    *out = end == 0                                                 ? PS_TRIAL_HELD
           : WIFEXITED(end) && WEXITSTATUS(end) == PS_TRIAL_REFUSED ? PS_TRIAL_REFUSED
                                                                    : PS_TRIAL_DIED;
    return PS_OK;
}
