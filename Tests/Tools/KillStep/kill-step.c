// Kills a program with SIGKILL at one step. Preloaded into the program, it counts the calls that change a file of one folder
// or send bytes to a server, and kills the program before the call of a given number.
//
//   KILL_STEP         the number of the call, from 1; a program with fewer calls is not killed
//   KILL_STEP_FOLDER  the folder, with its subfolders; if unset, only sends on sockets are counted
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_long left;
static char folder[PATH_MAX];

__attribute__((constructor)) static void start(void) {
    atomic_store(&left, atol(getenv("KILL_STEP") ?: "0"));
    if (!realpath(getenv("KILL_STEP_FOLDER") ?: "", folder)) folder[0] = 0;
}

static void step(void) {
    if (atomic_fetch_sub(&left, 1) == 1) kill(getpid(), SIGKILL);
}

static void step_at(const char *path) {
    if (folder[0] && strncmp(path, folder, strlen(folder)) == 0) step();
}

static void step_of(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    step_at(path);
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
    step_of(descriptor);
    return NEXT(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t at) {
    step_of(descriptor);
    return NEXT(pwrite)(descriptor, bytes, count, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t at) {
    step_of(descriptor);
    return NEXT(pwrite64)(descriptor, bytes, count, at);
}

int ftruncate(int descriptor, off_t length) {
    step_of(descriptor);
    return NEXT(ftruncate)(descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) {
    step_of(descriptor);
    return NEXT(ftruncate64)(descriptor, length);
}

// The kernel keeps written data when the process ends.
int fsync(int descriptor) {
    step_of(descriptor);
    return 0;
}

int fdatasync(int descriptor) {
    step_of(descriptor);
    return 0;
}

int unlink(const char *path) {
    step_at(path);
    return NEXT(unlink)(path);
}

int rename(const char *from, const char *to) {
    step_at(to);
    return NEXT(rename)(from, to);
}

int link(const char *from, const char *to) {
    step_at(to);
    return NEXT(link)(from, to);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    if (!folder[0]) step();
    return NEXT(send)(descriptor, bytes, count, flags);
}
