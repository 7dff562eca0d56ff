#pragma once
#include <zlib.h>

/// deflateInit2 is a macro: a deflate stream with the gzip wrapper, 32 KiB window, memory level 8.
static inline int czlib_gzip_init(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// inflateInit2 is a macro: an inflate stream that takes the gzip wrapper alone.
static inline int czlib_gunzip_init(z_streamp stream) {
    return inflateInit2(stream, 15 + 16);
}
