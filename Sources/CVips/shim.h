#pragma once
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <vips/vips.h>
#include <vips/vector.h>

// libvips' operations are variadic, which Swift cannot call. Here is each that is used, with the options that are always the same:
// an operation is either right in all calls or in none. They return NULL, or another number than 0, where it failed.

static inline void cvips_say_nothing(const char *domain, GLogLevelFlags level, const char *message, void *context) {
    (void)domain, (void)level, (void)message, (void)context;
}

/// Starts libvips for work on what strangers sent: a thread of its own at most, nothing kept, and no loaders but these five.
static inline int cvips_start(void) {
    mallopt(M_ARENA_MAX, 2);
    g_log_set_default_handler(cvips_say_nothing, NULL);
    // What needs more than 100 MB goes into a file otherwise, and a worker has none: memory has a limit of its own.
    g_setenv("VIPS_DISC_THRESHOLD", "64g", TRUE);
    if (vips_init("intertwine-image-worker") != 0) return -1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    // Resizing takes a fifth less time with code that is made for it, once, before the first job. Where a system keeps processes from
    // having memory that is written and run, it is done without.
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        vips_vector_set_enabled(FALSE);
    else
        munmap(page, 4096);
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoad", TRUE);
    vips_operation_block_set("VipsForeignLoadJpeg", FALSE);
    vips_operation_block_set("VipsForeignLoadPng", FALSE);
    vips_operation_block_set("VipsForeignLoadNsgif", FALSE);
    vips_operation_block_set("VipsForeignLoadWebp", FALSE);
    vips_operation_block_set("VipsForeignLoadHeif", FALSE);
    return 0;
}

/// Returns freed memory to the system.
static inline void cvips_trim(void) { malloc_trim(0); }

/// Reads an image's header. The bytes have to stay where they are for as long as the image does.
static inline VipsImage *cvips_open(const void *bytes, size_t length) {
    return vips_image_new_from_buffer(bytes, length, "", "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL);
}

/// An image that fits into so many pixels, upright, in sRGB (`has_profile`: by way of its profile, which takes a while); decoded no larger than that takes. Pixels come as they are asked for.
static inline VipsImage *cvips_thumbnail(const void *bytes, size_t length, int width, int height, bool has_profile, bool all_frames) {
    VipsImage *image = NULL;
    // What is said to the thumbnailer itself about failing does not reach the loader of a buffer, in libvips 8.14.
    const char *options = all_frames ? "n=-1,fail-on=error" : "fail-on=error";
    if (has_profile)
        vips_thumbnail_buffer((void *)bytes, length, &image, width, "height", height, "size", VIPS_SIZE_DOWN, "export_profile", "srgb",
            "option_string", options, NULL);
    else
        vips_thumbnail_buffer(
            (void *)bytes, length, &image, width, "height", height, "size", VIPS_SIZE_DOWN, "option_string", options, NULL);
    return image;
}

/// Whether the data of the image that was decoded last ended before the image did: of a JPEG that is a warning to libvips, among others that
/// say nothing.
static inline bool cvips_ended_early(void) {
    const char *said = vips_error_buffer();
    return strstr(said, "premature end") || strstr(said, "Premature end");
}

/// Calls `is_over` every now and then while pixels of the image are made. Where it says so they are made no further.
static inline void cvips_watch_progress(VipsImage *image, VipsProgress *progress, bool (*is_over)(void)) {
    (void)progress;
    if (is_over()) vips_image_set_kill(image, TRUE);
}

static inline void cvips_watch(VipsImage *image, bool (*is_over)(void)) {
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(cvips_watch_progress), (void *)is_over);
}

/// Eight bits of sRGB, with transparency where it had some.
static inline VipsImage *cvips_srgb(VipsImage *image) {
    VipsImage *coloured = NULL;
    if (vips_colourspace(image, &coloured, VIPS_INTERPRETATION_sRGB, NULL) != 0) return NULL;
    VipsImage *bytes = NULL;
    vips_cast_uchar(coloured, &bytes, NULL);
    g_object_unref(coloured);
    return bytes;
}

static inline VipsImage *cvips_crop(VipsImage *image, int left, int top, int width, int height) {
    VipsImage *part = NULL;
    vips_extract_area(image, &part, left, top, width, height, NULL);
    return part;
}

/// The part where there is most to be seen, of an image in memory. -1 where that cannot be said.
static inline int cvips_attention(VipsImage *image, int width, int height, int *left, int *top) {
    VipsImage *part = NULL;
    if (vips_smartcrop(image, &part, width, height, "interesting", VIPS_INTERESTING_ATTENTION, NULL) != 0) return -1;
    *left = -part->Xoffset;
    *top = -part->Yoffset;
    g_object_unref(part);
    return 0;
}

/// One below the other.
static inline VipsImage *cvips_stack(VipsImage **images, int count) {
    VipsImage *stack = NULL;
    vips_arrayjoin(images, &stack, count, "across", 1, NULL);
    return stack;
}

/// On white, without transparency.
static inline VipsImage *cvips_flatten(VipsImage *image) {
    VipsImage *flat = NULL;
    VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
    vips_flatten(image, &flat, "background", white, NULL);
    vips_area_unref(VIPS_AREA(white));
    return flat;
}

static inline VipsImage *cvips_black(int width, int height) {
    VipsImage *image = NULL;
    if (vips_black(&image, width, height, "bands", 4, NULL) != 0) return NULL;
    image->Type = VIPS_INTERPRETATION_sRGB;
    return image;
}

/// Converts an image to CMYK and back, by the profiles within libvips.
static inline void cvips_warm_profiles(VipsImage *image) {
    VipsImage *plain = NULL, *printed = NULL, *seen = NULL;
    if (vips_flatten(image, &plain, NULL) == 0 && vips_icc_export(plain, &printed, "output_profile", "cmyk", NULL) == 0 &&
        vips_icc_transform(printed, &seen, "srgb", NULL) == 0)
        vips_image_wio_input(seen);
    if (seen) g_object_unref(seen);
    if (printed) g_object_unref(printed);
    if (plain) g_object_unref(plain);
}

// Encoders. What they give is freed with g_free.

static inline int cvips_jpeg(VipsImage *image, int quality, void **bytes, size_t *length) {
    return vips_jpegsave_buffer(image, bytes, length, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, NULL);
}

static inline int cvips_png(VipsImage *image, void **bytes, size_t *length) {
    return vips_pngsave_buffer(image, bytes, length, "strip", TRUE, NULL);
}

static inline int cvips_gif(VipsImage *image, void **bytes, size_t *length) {
    return vips_gifsave_buffer(image, bytes, length, "strip", TRUE, "effort", 4, NULL);
}

static inline int cvips_webp(VipsImage *image, int quality, void **bytes, size_t *length) {
    return vips_webpsave_buffer(image, bytes, length, "Q", quality, "strip", TRUE, "effort", 4, NULL);
}

/// A higher effort saves a few percent of the bytes and takes several times as long: somebody waits.
static inline int cvips_avif(VipsImage *image, int quality, void **bytes, size_t *length) {
    return vips_heifsave_buffer(
        image, bytes, length, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "strip", TRUE, "effort", 1, NULL);
}
