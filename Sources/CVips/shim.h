#pragma once
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <vips/vips.h>
#include <vips/vector.h>

// libvips' operations are variadic, and Swift cannot call them. Each function here fixes the options of one operation.
// They return NULL, or a number other than 0, on failure.

static inline void cvips_say_nothing(const char *domain, GLogLevelFlags level, const char *message, void *context) {
    (void)domain, (void)level, (void)message, (void)context;
}

/// Starts libvips for untrusted input: one thread, no cache, and only these five loaders.
static inline int cvips_start(void) {
    mallopt(M_ARENA_MAX, 2);
    g_log_set_default_handler(cvips_say_nothing, NULL);
    // libvips writes images above 100 MB to a file by default. A worker cannot write files, and its memory is limited.
    g_setenv("VIPS_DISC_THRESHOLD", "64g", TRUE);
    if (vips_init("intertwine-image-worker") != 0) return -1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    // Generated code resizes a fifth faster. It is created once, before the first job.
    // If the system forbids memory that is writable and executable, libvips uses its built-in code.
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

/// Reads an image's header. The bytes must stay valid for the lifetime of the image.
static inline VipsImage *cvips_open(const void *bytes, size_t length, bool takes_part) {
    VipsFailOn fail_on = takes_part ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR;
    return vips_image_new_from_buffer(bytes, length, "", "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}

/// Returns an image that fits into these pixels, upright, in sRGB, decoded at the smallest sufficient size.
/// `has_profile`: converts by the image's profile, which is slow. `takes_part`: decodes what is there of an image.
/// Pixels are computed on demand.
static inline VipsImage *cvips_thumbnail(
    const void *bytes, size_t length, int width, int height, bool has_profile, bool all_frames, bool takes_part) {
    VipsImage *image = NULL;
    // libvips 8.14 does not pass the thumbnailer's `fail_on` to the loader of a buffer.
    const char *options = all_frames ? "n=-1,fail-on=error" : "fail-on=error";
    if (takes_part) options = all_frames ? "n=-1" : "";
    if (has_profile)
        vips_thumbnail_buffer((void *)bytes, length, &image, width, "height", height, "size", VIPS_SIZE_DOWN, "export_profile", "srgb",
            "option_string", options, NULL);
    else
        vips_thumbnail_buffer(
            (void *)bytes, length, &image, width, "height", height, "size", VIPS_SIZE_DOWN, "option_string", options, NULL);
    return image;
}

/// Returns true if the data of the most recently decoded image was truncated. libvips reports a truncated JPEG only as a warning,
/// among other warnings without effect.
static inline bool cvips_ended_early(void) {
    const char *said = vips_error_buffer();
    return strstr(said, "premature end") || strstr(said, "Premature end");
}

/// Calls `is_over` periodically while pixels are computed. Stops if it returns true.
static inline void cvips_watch_progress(VipsImage *image, VipsProgress *progress, bool (*is_over)(void)) {
    (void)progress;
    if (is_over()) vips_image_set_kill(image, TRUE);
}

static inline void cvips_watch(VipsImage *image, bool (*is_over)(void)) {
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(cvips_watch_progress), (void *)is_over);
}

/// Converts to 8-bit sRGB; keeps transparency.
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

/// Crops to the most salient part of an image in memory. Returns -1 if there is none.
static inline int cvips_attention(VipsImage *image, int width, int height, int *left, int *top) {
    VipsImage *part = NULL;
    if (vips_smartcrop(image, &part, width, height, "interesting", VIPS_INTERESTING_ATTENTION, NULL) != 0) return -1;
    *left = -part->Xoffset;
    *top = -part->Yoffset;
    g_object_unref(part);
    return 0;
}

/// Joins two images vertically.
static inline VipsImage *cvips_stack(VipsImage **images, int count) {
    VipsImage *stack = NULL;
    vips_arrayjoin(images, &stack, count, "across", 1, NULL);
    return stack;
}

/// Flattens transparency onto white.
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

/// Converts an image to CMYK and back, by the profiles in libvips.
static inline void cvips_warm_profiles(VipsImage *image) {
    VipsImage *plain = NULL, *printed = NULL, *seen = NULL;
    if (vips_flatten(image, &plain, NULL) == 0 && vips_icc_export(plain, &printed, "output_profile", "cmyk", NULL) == 0 &&
        vips_icc_transform(printed, &seen, "srgb", NULL) == 0)
        vips_image_wio_input(seen);
    if (seen) g_object_unref(seen);
    if (printed) g_object_unref(printed);
    if (plain) g_object_unref(plain);
}

// Encoders. Their results are freed with g_free.

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

/// A higher effort saves a few percent of the bytes and takes several times as long, while a client waits.
static inline int cvips_avif(VipsImage *image, int quality, void **bytes, size_t *length) {
    return vips_heifsave_buffer(
        image, bytes, length, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "strip", TRUE, "effort", 1, NULL);
}
