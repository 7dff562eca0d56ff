#pragma once
#include <zlib.h>

/// Starts a deflate stream with the gzip wrapper, a 32 KiB window and memory level 8. deflateInit2 is a macro.
static inline int czlib_gzip_init(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// inflateInit2 is a macro.
static inline int czlib_inflate_init(z_streamp stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}
