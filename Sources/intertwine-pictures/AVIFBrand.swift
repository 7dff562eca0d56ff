internal import CVips
internal import IntertwinePictureWire

/// The brands of an AVIF (ISO 14496-12, section 4.3).
///
/// libvips 8.14 opens only files whose first brand is `avif`. An animation has `avis`, and may come with a still image that libheif reads.
enum AVIFBrand {
    private static let first = 8..<12

    /// Replaces the first brand by `avif`.
    ///
    /// - Parameter picture: The bytes of any image; those of other formats are unchanged.
    static func normalize(_ picture: UnsafeMutableRawBufferPointer) {
        guard isAVIF(UnsafeRawBufferPointer(picture)) else { return }
        UnsafeMutableRawBufferPointer(rebasing: picture[first]).copyBytes(from: "avif".utf8)
    }

    static func isAVIF(_ picture: UnsafeRawBufferPointer) -> Bool {
        picture.count >= first.upperBound && picture[4..<8].elementsEqual("ftyp".utf8)
    }

    /// Returns true if the file declares an animation (a `moov` box).
    static func isAnimated(_ picture: UnsafeRawBufferPointer) -> Bool {
        guard isAVIF(picture) else { return false }
        var place = 0
        while place + 8 <= picture.count {
            let size = picture[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            if picture[(place + 4)..<(place + 8)].elementsEqual("moov".utf8) { return true }
            guard size >= 8 else { return false }
            place += size
        }
        return false
    }
}

/// Classifies a failure to decode an image by the error messages of libvips.
enum DecoderMessage {
    /// Messages of libheif and libjpeg about images that other decoders may read.
    private static let unsupported = [
        "Unsupported file-type", "Unsupported feature", "Unsupported codec", "Unsupported JPEG process", "Unsupported JPEG data precision",
        "arithmetic coding is not implemented",
    ]

    static func refusal(_ picture: UnsafeRawBufferPointer) -> TransformRejection {
        let said = String(cString: vips_error_buffer())
        if unsupported.contains(where: said.contains) || AVIFBrand.isAnimated(picture) { return .unsupported }
        // Unknown variants of other formats are distinguished from damaged files by their first bytes.
        return AVIFBrand.isAVIF(picture) && said.contains("not in a known format") ? .unsupported : .undecodable
    }
}
