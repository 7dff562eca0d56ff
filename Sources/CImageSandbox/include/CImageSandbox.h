#pragma once

// Restrictions of a process that reads untrusted bytes. Linux only. A restriction that the kernel lacks is skipped and reported.

#include <stdbool.h>
#include <stdint.h>

/// Asks the kernel to kill this process when the thread that started it ends. Returns 0 or -errno.
int sandbox_die_with_parent(void);

/// Limits address space (bytes) and CPU time (seconds), and forbids files, new descriptors and core dumps. Returns 0 or -errno.
int sandbox_limit(uint64_t memory, uint64_t seconds);

/// Applies Landlock without a rule: no file can be opened, and from versions 4 and 6 on no TCP port and no other process can be reached.
/// Returns the kernel's Landlock version, or -errno.
int sandbox_landlock(void);

/// Applies a seccomp filter that allows system calls for memory, threads, clocks and open descriptors (others: EPERM). Returns 0 or -errno.
int sandbox_seccomp(void);

/// fork, which is unavailable in Swift, for tests of the sandbox. Returns the result of fork.
int sandbox_fork(void);
