#pragma once

/// The number of heap allocations of this process so far, on all threads. Linking this target replaces the allocator's entry points.
unsigned long callocation_count(void);
