/// The beginnings of pictures of a given size, as their formats write them.
enum Frames {
    private static func big(_ number: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func little(_ number: Int, _ bytes: Int) -> [UInt8] { big(number, bytes).reversed() }

    static func png(_ width: Int, _ height: Int) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + big(width, 4) + big(height, 4) + [
            8, 2, 0, 0, 0,
        ]
    }

    /// - Parameters:
    ///   - marker: 0xc0 for a baseline one, 0xc2 for a progressive one.
    ///   - before: what stands before it.
    static func jpeg(_ width: Int, _ height: Int, _ marker: UInt8 = 0xc0, before: [UInt8] = []) -> [UInt8] {
        let start: [UInt8] = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xff, 0xdb, 0, 3, 9]
        return start + before + [0xff, marker, 0, 11, 8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0]
    }

    /// - Parameter frame: the first one's size; the screen's by default.
    static func gif(_ width: Int, _ height: Int, frame: (Int, Int)? = nil, between: [UInt8] = []) -> [UInt8] {
        let screen = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x80, 0, 0] + [UInt8](repeating: 0x2c, count: 6)
        return screen + between + [0x2c, 0, 0, 0, 0] + little(frame?.0 ?? width, 2) + little(frame?.1 ?? height, 2) + [0]
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + Array(name.utf8) + content }

    static func avif(_ sizes: (Int, Int)...) -> [UInt8] {
        let properties = sizes.flatMap { box("ispe", [0, 0, 0, 0] + big($0.0, 4) + big($0.1, 4)) }
        let kind = box("ftyp", Array("avif".utf8) + [0, 0, 0, 0] + Array("mif1avif".utf8))
        return kind + box("free", [1, 2, 3]) + box("meta", [0, 0, 0, 0] + box("iprp", box("ipco", properties)))
    }

    private static func webp(_ format: String, _ rest: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(rest.count + 12, 4) + Array("WEBP\(format)".utf8) + little(rest.count, 4) + rest
    }

    static func webpLossy(_ width: Int, _ height: Int) -> [UInt8] {
        webp("VP8 ", [0x10, 0, 0, 0x9d, 0x01, 0x2a] + little(width, 2) + little(height, 2))
    }

    static func webpLossless(_ width: Int, _ height: Int) -> [UInt8] {
        webp("VP8L", [0x2f] + little((width - 1) | (height - 1) << 14, 4) + [0, 0, 0, 0, 0])
    }

    static func webpExtended(_ width: Int, _ height: Int) -> [UInt8] {
        webp("VP8X", [0, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }
}
