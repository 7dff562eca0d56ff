#pragma once

// The few Linux calls that Swift cannot reach by itself: those behind _GNU_SOURCE, macros and variadic functions.

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

/// The token that was given to clinux_epoll_control for this event (the struct is packed on x86-64).
static inline uint64_t clinux_event_token(const struct epoll_event *event) { return event->data.u64; }

/// The readiness bits of this event.
static inline uint32_t clinux_event_bits(const struct epoll_event *event) { return event->events; }

/// A non-blocking close-on-exec eventfd. Returns the descriptor or -errno.
int clinux_eventfd_create(void);

/// A non-blocking close-on-exec timerfd on CLOCK_MONOTONIC. Returns the descriptor or -errno.
int clinux_timerfd_create(void);

/// Arms the timer for an absolute instant of CLOCK_MONOTONIC in nanoseconds; 0 disarms it. Returns 0 or -errno.
int clinux_timerfd_arm(int timer, int64_t nanoseconds);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t clinux_monotonic_nanoseconds(void);

/// Opens a file for reading that lies below a folder, following no symbolic link on the way, and waiting for nobody. Returns the
/// descriptor or -errno: -ELOOP for a link, -EXDEV for a way out.
int clinux_open_beneath(int folder, const char *path);

/// pipe2 with O_CLOEXEC. Returns 0 or -errno.
int clinux_pipe(int ends[2]);

/// Bytes of a socket that the peer has not acknowledged yet (SIOCOUTQ); 0 where that is not known.
int clinux_unsent(int descriptor);

/// Bytes that the program at the other end of a connection has not read yet, though its kernel has; known where it is a program of this machine,
/// else 0.
int clinux_peer_unread(int descriptor);

/// The sides of a connection that the program at its other end has closed, as a sum: 1 receiving, 2 sending; both where the program has closed
/// the socket. -1 where that program is not of this machine.
int clinux_peer_closed_sides(int descriptor);

/// Whether clinux_peer_unread will know it of the connections that a listening socket accepts.
bool clinux_sees_peers(int listener);

/// Gives memory that was freed back to the system (malloc_trim).
void clinux_trim(void);

/// socket with SOCK_CLOEXEC. Returns the descriptor or -errno.
int clinux_socket(int family, int type, int protocol);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC. Returns the descriptor or -errno.
int clinux_accept(int listener, struct sockaddr *address, socklen_t *length);

/// fallocate with FALLOC_FL_KEEP_SIZE: keeps so many bytes of the disk for a file from an offset on, its size as it is. Returns 0 or -errno.
int clinux_reserve(int descriptor, int64_t offset, int64_t length);

/// Runs `run` with `context` on a new, detached thread (pthread_create) that has so many bytes of stack, the system's default where 0.
/// Returns 0 or -errno: then `run` is not called.
int clinux_start_thread(size_t stack_bytes, void (*run)(void *context), void *context);

/// Starts a program with one argument and nothing else of this process: no environment, no signal mask, a process group of its own, and
/// of descriptors one end of a socket pair as standard input, /dev/null as output and error. The other end goes to `socket`; it is
/// non-blocking and close-on-exec. Returns the process or -errno.
int clinux_start_process(const char *path, const char *argument, int *socket);

/// A file that lies in memory (memfd_create), with a copy of these bytes, which nobody can change any more. Returns the descriptor or -errno.
int clinux_memory_file(const void *bytes, size_t count);

/// Has the kernel gather the pages of such a file into large ones, as far as it fills those: it then takes one step where it took 512. Waits
/// for memory to be moved where none lies free. Returns 0 or -errno: nothing has changed where the kernel cannot (before Linux 6.12, as nobody may
/// write the file), or has none to spare.
int clinux_gather_pages(int file, size_t count);

/// sendfile from a place in a file, which the descriptor's own place has nothing to do with. Returns the number of bytes, 0 at the end of the
/// file, or -errno. Raises SIGPIPE where the peer is gone.
ssize_t clinux_send_file(int socket, int file, int64_t offset, size_t count);
