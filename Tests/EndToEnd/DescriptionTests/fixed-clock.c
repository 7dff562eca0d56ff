// Preloaded into the service while fixtures are written: a constant wall clock makes tokens, cursors and image URLs
// reproducible. The monotonic clock is unchanged.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, time);
    // 2026-01-02T03:04:05Z
    time->tv_sec = 1767323045;
    time->tv_nsec = 0;
    return 0;
}
