#pragma once

// Linux calls that Swift cannot import: calls behind _GNU_SOURCE, macros and variadic functions.

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

/// epoll_create1 with close-on-exec. Returns the descriptor or -errno.
int clinux_epoll_create(void);

/// epoll_ctl with `operation` (EPOLL_CTL_ADD, _MOD, _DEL). Returns 0 or -errno.
int clinux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token);

/// epoll_wait, retried on EINTR when timeout is 0. Returns the number of events or -errno.
int clinux_epoll_wait(int epoll, struct epoll_event *events, int capacity, int timeout_milliseconds);

/// The token of clinux_epoll_control for this event (the struct is packed on x86-64).
static inline uint64_t clinux_event_token(const struct epoll_event *event) { return event->data.u64; }

/// The readiness bits of this event.
static inline uint32_t clinux_event_bits(const struct epoll_event *event) { return event->events; }

/// Returns a non-blocking close-on-exec eventfd, or -errno.
int clinux_eventfd_create(void);

/// Returns a non-blocking close-on-exec timerfd on CLOCK_MONOTONIC, or -errno.
int clinux_timerfd_create(void);

/// Arms the timer for an absolute instant of CLOCK_MONOTONIC in nanoseconds; 0 disarms it. Returns 0 or -errno.
int clinux_timerfd_arm(int timer, int64_t nanoseconds);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t clinux_monotonic_nanoseconds(void);

/// Waits for a semaphore, at most for a time of CLOCK_MONOTONIC. Returns false if the time ended first.
bool clinux_semaphore_wait(sem_t *semaphore, int64_t nanoseconds);

/// Opens a file below a folder for reading, without symbolic links and without blocking. Returns the
/// descriptor or -errno: -ELOOP for a symbolic link, -EXDEV for a path outside the folder.
int clinux_open_beneath(int folder, const char *path);

/// pipe2 with O_CLOEXEC. Returns 0 or -errno.
int clinux_pipe(int ends[2]);

/// Returns the bytes of a socket that the peer has not acknowledged (SIOCOUTQ); 0 if unknown.
int clinux_unsent(int descriptor);

/// Returns freed memory to the system (malloc_trim).
void clinux_trim(void);

/// socket with SOCK_CLOEXEC. Returns the descriptor or -errno.
int clinux_socket(int family, int type, int protocol);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC. Returns the descriptor or -errno.
int clinux_accept(int listener, struct sockaddr *address, socklen_t *length);

/// Runs a function on a new detached thread (pthread_create) with this stack size in bytes; 0 for the system's default.
/// Returns 0, or -errno if the function is not called.
int clinux_start_thread(size_t stack_bytes, void (*run)(void *context), void *context);

/// Starts a program with one argument, an empty environment, an empty signal mask and a process group of its own. Its standard input is
/// one end of a socket pair; output and error are /dev/null. The other end is returned in `socket`;
/// it is non-blocking and close-on-exec. Returns the process or -errno.
int clinux_start_process(const char *path, const char *argument, int *socket);

/// Creates a sealed memory file (memfd_create) with a copy of the bytes. Returns the descriptor or -errno.
int clinux_memory_file(const void *bytes, size_t count);

/// Collapses the pages of a memory file into huge pages, so that the kernel does one step for 512. May wait for compaction of memory.
/// Returns 0 or -errno; the file is unchanged if the kernel does not support this for sealed files (before Linux 6.12),
/// or has no huge page.
int clinux_gather_pages(int file, size_t count);

/// sendfile from an offset; the descriptor's own offset is unchanged. Returns the number of bytes, 0 at the end of the
/// file, or -errno. Raises SIGPIPE if the peer has closed the connection.
ssize_t clinux_send_file(int socket, int file, int64_t offset, size_t count);
