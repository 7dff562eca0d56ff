internal import CVips
internal import IntertwineImageWire

/// The brands of an AVIF (ISO 14496-12, section 4.3).
/// libvips 8.14 opens only files whose first brand is `avif`.
enum AVIFBrand {
    private static let first = 8..<12

    static func normalize(_ image: UnsafeMutableRawBufferPointer) {
        guard isAVIF(UnsafeRawBufferPointer(image)) else { return }
        UnsafeMutableRawBufferPointer(rebasing: image[first]).copyBytes(from: "avif".utf8)
    }

    static func isAVIF(_ image: UnsafeRawBufferPointer) -> Bool {
        image.count >= first.upperBound && image[4..<8].elementsEqual("ftyp".utf8)
    }

    static func isAnimated(_ image: UnsafeRawBufferPointer) -> Bool {
        guard isAVIF(image) else { return false }
        var offset = 0
        while offset + 8 <= image.count {
            let size = image[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            if image[(offset + 4)..<(offset + 8)].elementsEqual("moov".utf8) { return true }
            guard size >= 8 else { return false }
            offset += size
        }
        return false
    }
}

enum DecoderMessage {
    private static let unsupported = [
        "Unsupported file-type", "Unsupported feature", "Unsupported codec", "Unsupported JPEG process", "Unsupported JPEG data precision",
        "arithmetic coding is not implemented",
    ]

    static func refusal(_ image: UnsafeRawBufferPointer) -> TransformRejection {
        let said = String(cString: vips_error_buffer())
        if said.contains("Insufficient memory") || said.contains("out of memory") { return .tooManyPixels }
        if unsupported.contains(where: said.contains) || AVIFBrand.isAnimated(image) { return .unsupported }
        // Unknown variants of other formats are distinguished from damaged files by their first bytes.
        return AVIFBrand.isAVIF(image) && said.contains("not in a known format") ? .unsupported : .undecodable
    }
}
