#pragma once

// What a process gives up before it reads the bytes of strangers. Linux only; what a kernel does not have is left out, and told.

#include <stdbool.h>
#include <stdint.h>

/// Asks the kernel to kill this process when the thread that started it ends. Returns 0 or -errno.
int sandbox_die_with_parent(void);

/// Bytes of address space and seconds of processor time from here on, no files, no new descriptors, no core. Returns 0 or -errno.
int sandbox_limit(uint64_t memory, uint64_t seconds);

/// Landlock without a single rule: no file can be opened, and from its versions 4 and 6 on no TCP port and no other process reached.
/// Returns the version that the kernel has, or -errno.
int sandbox_landlock(void);

/// seccomp: system calls for memory, threads, clocks and the descriptors that are open, and no others (EPERM). Returns 0 or -errno.
int sandbox_seccomp(void);

/// fork, which Swift does not have: for the check, from without and from within. Returns what fork does.
int sandbox_fork(void);
