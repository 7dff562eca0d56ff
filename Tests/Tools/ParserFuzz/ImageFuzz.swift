import IntertwineImages

/// What is looked at of an image's bytes, by format.
struct ImageFuzz: FuzzTarget {
    static var all: [any FuzzTarget] { ImageFormat.allCases.map { ImageFuzz(kind: $0) } }

    let kind: ImageFormat
    var name: String { "\(kind) images" }
    let telling: [UInt8] = [0, 1, 2, 3, 7, 8, 0x2C, 0x21, 0x3B, 0x7F, 0x80, 0xC0, 0xC2, 0xD8, 0xD9, 0xDA, 0xFE, 0xFF]

    /// The beginnings of images of all formats: another one's are junk, and must be taken for that.
    var corpus: [[UInt8]] {
        let jpeg: [UInt8] = [
            0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 11, 8, 1, 0, 2, 0, 1, 1, 0x11, 0, 0xFF, 0xDA, 0, 2, 9, 9, 0xFF, 0, 0xFF,
            0xD9,
        ]
        let png =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 2, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0]
            + [1, 2, 3, 4, 0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 3, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0] + Array("IEND".utf8)
            + [0xAE, 0x42, 0x60, 0x82]
        let gif =
            Array("GIF89a".utf8) + [10, 0, 10, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6, 0x21, 0xF9, 4, 0, 0, 0, 0, 0]
            + [0x2C, 0, 0, 0, 0, 10, 0, 10, 0, 0, 2, 2, 0x4C, 1, 0, 0x3B]
        let webp =
            Array("RIFF".utf8) + [40, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 2, 0, 0, 0, 99, 0, 0, 49, 0, 0]
            + Array("ANMF".utf8) + [4, 0, 0, 0, 1, 2, 3, 4]
        let avif =
            [0, 0, 0, 20] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("mif1".utf8) + [0, 0, 0, 48] + Array("meta".utf8) + [0, 0, 0, 0]
            + [0, 0, 0, 36] + Array("iprp".utf8) + [0, 0, 0, 28] + Array("ipco".utf8) + [0, 0, 0, 20] + Array("ispe".utf8)
            + [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0] + [0, 0, 0, 8] + Array("mdat".utf8)
        return [jpeg, png, gif, webp, avif]
    }

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        var reader = ImageHeaderParser(kind)
        var fed = 0
        while fed < input.count {
            let end = min(input.count, cut(fed))
            reader.consume(input[fed..<end])
            fed = end
        }
        let ends = [false, true].map { kind.isComplete(input, isDelimited: $0) }
        return "\(reader.finding) \(reader.frames) \(ends) \(ImageFormat.sniff(input))"
    }
}
