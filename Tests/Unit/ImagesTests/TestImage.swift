/// Bytes with the first and last ones of a format, and a body that differs from image to image.
enum TestImage {
    static func png(_ number: Int = 0, bytes: Int = 2_000) -> [UInt8] {
        let magic: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]
        let filler = (0..<max(0, bytes - 20)).map { UInt8(truncatingIfNeeded: ($0 &* 7) ^ (number &* 13) ^ ($0 >> 8)) }
        return magic + filler + end
    }

    static let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xe0, 0, 16, 1, 2, 3, 0xff, 0xd9]
    static let gif = Array("GIF89a".utf8) + [1, 2, 3, 0x3b]
    static let webp = Array("RIFF".utf8) + [8, 0, 0, 0] + Array("WEBPVP8 ".utf8)
    static let avif: [UInt8] =
        [0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1avif".utf8) + [0, 0, 0, 8] + Array("mdat".utf8)
}
