#define _GNU_SOURCE
#include "CIntertwineLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// Since Linux 6.1; some headers lack it.
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

int clinux_epoll_create(void) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event) < 0 ? -errno : 0;
}

int clinux_epoll_wait(int epoll, struct epoll_event *events, int capacity, int timeout_milliseconds) {
    int count;
    do {
        count = epoll_wait(epoll, events, capacity, timeout_milliseconds);
    } while (count < 0 && errno == EINTR && timeout_milliseconds == 0);
    return count < 0 ? -errno : count;
}

int clinux_eventfd_create(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_timerfd_create(void) {
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_timerfd_arm(int timer, int64_t nanoseconds) {
    struct itimerspec value = {0};
    value.it_value.tv_sec = nanoseconds / 1000000000;
    value.it_value.tv_nsec = nanoseconds % 1000000000;
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &value, NULL) < 0 ? -errno : 0;
}

int64_t clinux_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool clinux_semaphore_wait(sem_t *semaphore, int64_t nanoseconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t fraction = end.tv_nsec + nanoseconds % 1000000000;
    end.tv_sec += nanoseconds / 1000000000 + fraction / 1000000000;
    end.tv_nsec = fraction % 1000000000;
    int result;
    do result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
    while (result < 0 && errno == EINTR);
    return result == 0;
}

int clinux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
}

int clinux_unsent(int descriptor) {
    int bytes = 0;
    return ioctl(descriptor, SIOCOUTQ, &bytes) < 0 ? 0 : bytes;
}

void clinux_trim(void) {
    malloc_trim(0);
}

int clinux_socket(int family, int type, int protocol) {
    int descriptor = socket(family, type | SOCK_CLOEXEC, protocol);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_accept(int listener, struct sockaddr *address, socklen_t *length) {
    int descriptor;
    do {
        descriptor = accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : descriptor;
}

// Opens the path component by component, if the kernel or a seccomp filter lacks openat2.
static int open_stepwise(int folder, const char *path) {
    const int file_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
    int current = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (current < 0) return -errno;
    for (;;) {
        size_t length = strcspn(path, "/");
        char name[NAME_MAX + 1];
        int error = 0;
        if (length == 0 || length > NAME_MAX) error = ENOENT;
        if (length == 2 && path[0] == '.' && path[1] == '.') error = EXDEV;
        if (error == 0) {
            memcpy(name, path, length);
            name[length] = 0;
        }
        bool is_last = path[length] == 0;
        int flags = is_last ? file_flags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int next = error == 0 ? openat(current, name, flags) : -1;
        if (error == 0 && next < 0) error = errno;
        close(current);
        if (next < 0) return -error;
        if (is_last) return next;
        current = next;
        path += length + 1;
    }
}

int clinux_open_beneath(int folder, const char *path) {
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    // EAGAIN: another process renamed a component during the call.
    for (int attempt = 0; attempt < 8; attempt++) {
        long descriptor = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (descriptor >= 0) return (int)descriptor;
        if (errno != EAGAIN && errno != EINTR) break;
    }
    return errno == ENOSYS || errno == EPERM ? open_stepwise(folder, path) : -errno;
}

struct thread_start {
    void (*run)(void *context);
    void *context;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    start.run(start.context);
    return NULL;
}

int clinux_start_thread(size_t stack_bytes, void (*run)(void *context), void *context) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return -error;
    struct thread_start *start = malloc(sizeof *start);
    if (start == NULL) error = ENOMEM;
    if (error == 0) error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (error == 0 && stack_bytes > 0) error = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (error == 0) {
        *start = (struct thread_start){run, context};
        pthread_t thread;
        error = pthread_create(&thread, &attributes, run_thread, start);
    }
    if (error != 0) free(start);
    pthread_attr_destroy(&attributes);
    return -error;
}

int clinux_start_process(const char *path, const char *argument, int *socket) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    pid_t process = -1;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) goto no_actions;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) goto no_attributes;
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0) error = posix_spawnattr_setpgroup(&attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    char *const arguments[] = {(char *)path, (char *)argument, NULL};
    char *const environment[] = {NULL};
    if (error == 0) error = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
no_attributes:
    posix_spawn_file_actions_destroy(&actions);
no_actions:
    close(ends[1]);
    if (error == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        error = errno;
        kill(process, SIGKILL);
    }
    if (error != 0) {
        close(ends[0]);
        return -error;
    }
    *socket = ends[0];
    return process;
}

int clinux_memory_file(const void *bytes, size_t count) {
    int descriptor = memfd_create("intertwine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    int error = 0;
    for (size_t done = 0; done < count && error == 0;) {
        ssize_t more = write(descriptor, (const char *)bytes + done, count - done);
        if (more > 0) {
            done += (size_t)more;
        } else if (more == 0 || errno != EINTR) {
            error = more == 0 ? ENOSPC : errno;
        }
    }
    if (error == 0 && fcntl(descriptor, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) error = errno;
    if (error == 0) return descriptor;
    close(descriptor);
    return -error;
}

int clinux_gather_pages(int file, size_t count) {
    const size_t page = 2 << 20;
    size_t whole = count / page * page;
    if (whole == 0) return 0;
    // A huge page must be aligned to its size.
    char *room = mmap(NULL, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return -errno;
    char *start = (char *)(((uintptr_t)room + page - 1) / page * page);
    int error = 0;
    if (mmap(start, whole, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) error = errno;
    if (error == 0 && madvise(start, whole, MADV_COLLAPSE) < 0) error = errno;
    munmap(room, whole + page);
    return -error;
}

ssize_t clinux_send_file(int socket, int file, int64_t offset, size_t count) {
    ssize_t sent;
    do {
        off_t place = offset;
        sent = sendfile(socket, file, &place, count);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}
