#pragma once
#include <libdeflate.h>

/// The number of the processor that runs the calling thread, or -1. Declared here, because the system's declaration needs _GNU_SOURCE.
static inline int cdeflate_processor(void) {
    extern int sched_getcpu(void);
    return sched_getcpu();
}
