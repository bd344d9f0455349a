#include "preprocess/mesh_import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void limit(int which, rlim_t most)
{
    struct rlimit bound;
    if (getrlimit(which, &bound) != 0) return;
    if (bound.rlim_max != RLIM_INFINITY && bound.rlim_max < most) most = bound.rlim_max;
    bound.rlim_cur = bound.rlim_max = most;
    setrlimit(which, &bound);
}

static void set_limits(int64_t memory, double cpu_seconds)
{
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)cpu_seconds + 1);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow counts as memory */
    limit(RLIMIT_DATA, (rlim_t)memory);
#else
    (void)memory;
#endif
}

#if defined(__x86_64__) || defined(__aarch64__)

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
/* `then` steps on if equal, `or_else` if not. */
#define IF(value, then, or_else) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, or_else)
#define IF_ANY(bits, then, or_else) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, then, or_else)
#define ON(call, what) IF(call, 0, 1), RETURN(what)
#define ALLOW(call) ON(call, SECCOMP_RET_ALLOW)
#define KILL(call) ON(call, SECCOMP_RET_KILL_PROCESS)
enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
/* Files are opened for reading alone: the flags are this argument (low half, little-endian). */
#define READ_ONLY(call, argument)                                                                  \
    IF(call, 0, 4), LOAD(args[argument]), IF_ANY(WRITES, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),  \
        RETURN(SECCOMP_RET_ALLOW)

static int set_filter(void)
{
    /* clang-format off */
    struct sock_filter steps[] = {
        LOAD(arch), IF(ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(nr),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
        READ_ONLY(SYS_open, 1), KILL(SYS_creat), KILL(SYS_fork), KILL(SYS_vfork), ALLOW(SYS_stat),
        ALLOW(SYS_lstat), ALLOW(SYS_access), ALLOW(SYS_readlink), ALLOW(SYS_time),
        ALLOW(SYS_getdents), ALLOW(SYS_arch_prctl), KILL(SYS_unlink), KILL(SYS_rename),
#endif
        READ_ONLY(SYS_openat, 2), KILL(SYS_execve), KILL(SYS_execveat),
        /* Threads may begin, processes may not; what clone3 is asked for cannot be seen. */
        ON(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS), IF(SYS_clone, 0, 4), LOAD(args[0]),
        IF_ANY(CLONE_THREAD, 0, 1), RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS),
        KILL(SYS_socket), KILL(SYS_socketpair), KILL(SYS_connect), KILL(SYS_bind),
        KILL(SYS_sendto), KILL(SYS_ptrace), KILL(SYS_kill), KILL(SYS_tkill), KILL(SYS_unlinkat),
        KILL(SYS_renameat2), KILL(SYS_mount), KILL(SYS_process_vm_writev), ALLOW(SYS_read),
        ALLOW(SYS_readv), ALLOW(SYS_pread64), ALLOW(SYS_write), ALLOW(SYS_writev),
        ALLOW(SYS_close), ALLOW(SYS_fstat), ALLOW(SYS_newfstatat), ALLOW(SYS_statx),
        ALLOW(SYS_lseek), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap),
        ALLOW(SYS_mprotect), ALLOW(SYS_madvise), ALLOW(SYS_brk), ALLOW(SYS_futex),
        ALLOW(SYS_set_robust_list), ALLOW(SYS_rseq), ALLOW(SYS_set_tid_address),
        ALLOW(SYS_sched_yield), ALLOW(SYS_sched_getaffinity), ALLOW(SYS_getrandom),
        ALLOW(SYS_clock_gettime), ALLOW(SYS_clock_getres), ALLOW(SYS_clock_nanosleep),
        ALLOW(SYS_nanosleep), ALLOW(SYS_gettimeofday), ALLOW(SYS_times), ALLOW(SYS_getrusage),
        ALLOW(SYS_sysinfo), ALLOW(SYS_uname), ALLOW(SYS_getpid), ALLOW(SYS_gettid),
        ALLOW(SYS_getuid), ALLOW(SYS_geteuid), ALLOW(SYS_getgid), ALLOW(SYS_getegid),
        ALLOW(SYS_getcwd), ALLOW(SYS_faccessat), ALLOW(SYS_readlinkat), ALLOW(SYS_getdents64),
        ALLOW(SYS_fcntl), ALLOW(SYS_dup), ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigreturn), ALLOW(SYS_sigaltstack),
        IF(SYS_tgkill, 0, 4), LOAD(args[0]), IF((uint32_t)getpid(), 0, 1), /* to itself alone */
        RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS), ALLOW(SYS_exit),
        ALLOW(SYS_exit_group), ALLOW(SYS_restart_syscall), RETURN(SECCOMP_RET_ERRNO | EPERM)};
    /* clang-format on */
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ? errno : 0;
}

#else
static int set_filter(void) { return ENOSYS; }
#endif

int import_sandbox_enter(int64_t memory, double cpu_seconds)
{
    set_limits(memory, cpu_seconds);
    return set_filter();
}
