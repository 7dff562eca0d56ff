#define _GNU_SOURCE
#include "CImageSandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int sandbox_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

static int limit(int resource, uint64_t most) {
    struct rlimit value = {.rlim_cur = most, .rlim_max = most};
    return setrlimit(resource, &value) < 0 ? -errno : 0;
}

int sandbox_limit(uint64_t memory, uint64_t seconds) {
    int first = 0;
    int results[] = {
        limit(RLIMIT_AS, memory), limit(RLIMIT_CPU, seconds), limit(RLIMIT_FSIZE, 0), limit(RLIMIT_CORE, 0), limit(RLIMIT_NOFILE, 0),
    };
    for (size_t at = 0; at < sizeof results / sizeof *results; at++)
        if (first == 0) first = results[at];
    return first;
}

// The numbers are part of the kernel's interface. Headers of the build machine may be older than the running kernel.
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif

int sandbox_landlock(void) {
    struct {
        uint64_t files, ports, scopes;
    } handled = {0};
    long version = syscall(__NR_landlock_create_ruleset, NULL, 0, 1u << 0);
    if (version < 0) return -errno;
    // Bits by version: 13 file rights, then refer, truncate, TCP bind and connect, ioctl of devices, sockets and signals.
    int rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    handled.files = (1ull << rights) - 1;
    handled.ports = version >= 4 ? 3 : 0;
    handled.scopes = version >= 6 ? 3 : 0;
    size_t size = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
    long rules = syscall(__NR_landlock_create_ruleset, &handled, size, 0);
    if (rules < 0) return -errno;
    int result = syscall(__NR_landlock_restrict_self, (int)rules, 0) < 0 ? -errno : (int)version;
    close((int)rules);
    return result;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// The lower half of an argument, which holds the flags (both architectures are little-endian).
#define ARGUMENT(number) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (number)))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define DENIED (SECCOMP_RET_ERRNO | EPERM)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
#define REFUSE(call, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), ANSWER(SECCOMP_RET_ERRNO | (error))
// True if no bit of the mask is set in the argument.
#define ALLOW_WITHOUT(call, number, bits) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), LOAD(ARGUMENT(number)), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), ANSWER(DENIED), ANSWER(SECCOMP_RET_ALLOW)
// True if the argument equals the value.
#define ALLOW_WITH(call, number, value) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), LOAD(ARGUMENT(number)), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), ANSWER(DENIED), ANSWER(SECCOMP_RET_ALLOW)

int sandbox_seccomp(void) {
#ifdef ARCHITECTURE
    uint32_t self = (uint32_t)getpid();
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(offsetof(struct seccomp_data, nr)),
        // The open descriptors, among them the one to the service.
        ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(recvfrom), ALLOW(close), ALLOW(lseek),
        // Memory that is not executable.
        ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(brk),
        ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
        ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
        // Threads of this process, but no process. The filter cannot see the flags of clone3, so it fails and the C library uses clone.
        REFUSE(clone3, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4), LOAD(ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0), ANSWER(DENIED), ANSWER(SECCOMP_RET_ALLOW),
        ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(gettid), ALLOW(getpid), ALLOW(sched_yield), ALLOW(sched_getaffinity),
        ALLOW(exit), ALLOW(exit_group),
        // Clocks and random numbers.
        ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday), ALLOW(getrandom), ALLOW(getrusage),
        // Handlers of faults and aborts.
        ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(restart_syscall),
        ALLOW_WITH(tgkill, 0, self),
        ANSWER(DENIED),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) return -errno;
    return 0;
#else
    return -ENOSYS;
#endif
}

int sandbox_fork(void) {
    return fork();
}
