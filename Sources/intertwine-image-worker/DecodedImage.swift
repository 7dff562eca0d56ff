internal import CVips
internal import IntertwineImageWire

final class DecodedImage {
    let pointer: UnsafeMutablePointer<VipsImage>

    /// Takes ownership of an image; nil if libvips returned none.
    init?(_ pointer: UnsafeMutablePointer<VipsImage>?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit {
        g_object_unref(pointer)
    }

    var width: Int { Int(vips_image_get_width(pointer)) }
    var height: Int { Int(vips_image_get_height(pointer)) }
    var frameHeight: Int { max(1, Int(vips_image_get_page_height(pointer))) }
    var frames: Int { isAnimation ? max(1, Int(vips_image_get_n_pages(pointer))) : 1 }
    var bands: Int { Int(vips_image_get_bands(pointer)) }
    var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    var isOnItsSide: Bool { vips_image_get_orientation(pointer) >= 5 }

    var hasProfile: Bool {
        vips_image_get_typeof(pointer, "icc-profile-data") != 0 || vips_image_get_interpretation(pointer) == VIPS_INTERPRETATION_CMYK
    }

    var isPlain: Bool {
        let kind = vips_image_get_interpretation(pointer)
        return vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR
            && (kind == VIPS_INTERPRETATION_sRGB || (kind == VIPS_INTERPRETATION_B_W && bands <= 2))
    }

    var decoding: ImageLimits.Decoding {
        guard loader.hasPrefix("jpeg") else { return .pixels }
        return vips_image_get_typeof(pointer, "interlaced") == 0 ? .rows : .coefficients
    }

    private var isAnimation: Bool { loader.hasPrefix("gif") || loader.hasPrefix("webp") }

    private var loader: String {
        var name: UnsafePointer<CChar>?
        guard vips_image_get_typeof(pointer, "vips-loader") != 0, vips_image_get_string(pointer, "vips-loader", &name) == 0 else {
            return ""
        }
        return name.map { String(cString: $0) } ?? ""
    }

    func withPixels<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result? {
        guard vips_image_wio_input(pointer) == 0, let data = vips_image_get_data(pointer) else { return nil }
        return body(data.assumingMemoryBound(to: UInt8.self))
    }

    private var fields: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        return sequence(first: names) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != nil }.compactMap { $0.map { String(cString: $0) } }
    }

    func describe(frameHeight: Int?) {
        // Not all encoders of libvips omit metadata on request, and some rebuild it from individual values.
        let retained = frameHeight == nil ? [] : ["n-pages", "delay", "loop"]
        for name in fields where !retained.contains(name) { vips_image_remove(pointer, name) }
        if let frameHeight { vips_image_set_int(pointer, "page-height", Int32(clamping: frameHeight)) }
    }
}

final class EncodedImage {
    let bytes: UnsafeRawBufferPointer

    init?(_ image: DecodedImage, _ format: ImageFormat, quality: Int) {
        var bytes: UnsafeMutableRawPointer?
        var length = 0
        let pointer = image.pointer
        func chosen(_ usual: Int32) -> Int32 { quality > 0 ? Int32(clamping: quality) : usual }
        let result =
            switch format {
            case .jpeg: cvips_jpeg(pointer, chosen(80), &bytes, &length)
            case .png: cvips_png(pointer, &bytes, &length)
            case .gif: cvips_gif(pointer, &bytes, &length)
            case .webp: cvips_webp(pointer, chosen(78), &bytes, &length)
            case .avif: cvips_avif(pointer, chosen(63), &bytes, &length)
            }
        guard result == 0, let bytes else { return nil }
        if format == .webp { length = WebPMetadata.remove(from: UnsafeMutableRawBufferPointer(start: bytes, count: length)) }
        self.bytes = UnsafeRawBufferPointer(start: bytes, count: length)
    }

    deinit {
        g_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

/// Removes the metadata of a WebP (RFC 9649, sections 2.7 and 2.7.1.5). Why: libvips 8.14 writes some 200 bytes of it, regardless of its options.
private enum WebPMetadata {
    private static let flagsOffset = 20
    private static let flags: UInt8 = 0x08 | 0x04

    static func remove(from file: UnsafeMutableRawBufferPointer) -> Int {
        func has(_ name: StaticString, at offset: Int) -> Bool {
            name.withUTF8Buffer { name in name.count <= file.count - offset && zip(name, file[offset...]).allSatisfy { $0 == $1 } }
        }
        guard has("RIFF", at: 0), has("WEBPVP8X", at: 8), file.count > flagsOffset else { return file.count }
        var (source, end) = (12, 12)
        while file.count - source >= 8 {
            let body = Int(UInt32(littleEndian: file.loadUnaligned(fromByteOffset: source + 4, as: UInt32.self)))
            // Chunks have an even length.
            let length = min(8 + body + body % 2, file.count - source)
            if !has("EXIF", at: source), !has("XMP ", at: source) {
                UnsafeMutableRawBufferPointer(rebasing: file[end..<(end + length)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: file[source..<(source + length)]))
                end += length
            }
            source += length
        }
        file[flagsOffset] &= ~flags
        file.storeBytes(of: UInt32(truncatingIfNeeded: end - 8).littleEndian, toByteOffset: 4, as: UInt32.self)
        return end
    }
}
