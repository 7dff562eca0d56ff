#pragma once
#include <zlib.h>

/// deflateInit2 is a macro: a deflate stream with the gzip wrapper, 32 KiB window, memory level 8.
static inline int czlib_gzip_init(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
