// Preloaded into a program, delays each fdatasync by SYNC_DELAY_US microseconds, like a slower disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int fdatasync(int descriptor) {
    static int (*sync)(int);
    static long delay;
    if (!sync) {
        const char *text = getenv("SYNC_DELAY_US");
        delay = text ? atol(text) : 0;
        sync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    }
    struct timespec time = {delay / 1000000, delay % 1000000 * 1000};
    nanosleep(&time, NULL);
    return sync(descriptor);
}
