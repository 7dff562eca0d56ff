@testable import IntertwineImages

/// The beginnings of images of a given size, as their formats write them.
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

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count, 4) + Array(name.utf8) + content + [1, 2, 3, 4]
    }

    /// An animated PNG of so many frames.
    static func apng(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        png(width, height) + [9, 9, 9, 9] + chunk("gAMA", [0, 0, 0, 1]) + chunk("acTL", big(frames, 4) + [0, 0, 0, 0]) + chunk("IDAT", [1])
            + chunk("IEND", [])
    }

    /// With a comment, and data of several pieces in each frame.
    static func gif(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        let screen = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x80, 0, 0] + [1, 2, 3, 4, 5, 6]
        let one: [UInt8] =
            [0x21, 0xf9, 4, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0] + little(1, 2) + little(1, 2) + [0x81] + [UInt8](repeating: 0x3b, count: 12)
            + [2, 3, 0x2c, 0x2c, 0x3b, 1, 7, 0]
        return screen + [0x21, 0xfe, 2, 0x2c, 0x3b, 1, 7, 0] + (0..<frames).flatMap { _ in one } + [0x3b]
    }

    static func webpAnimated(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + little(content.count, 4) + content + [UInt8](repeating: 0, count: content.count % 2)
        }
        let head = chunk("VP8X", [2, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
        let body = head + (0..<frames).flatMap { _ in chunk("ANMF", [UInt8](repeating: 1, count: 25)) }
        return Array("RIFF".utf8) + little(body.count + 4, 4) + Array("WEBP".utf8) + body
    }

    static func avifSequence(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        let entry = box("av01", [UInt8](repeating: 0, count: 24) + big(width, 2) + big(height, 2) + [0, 0])
        let movie = box("stsd", [0, 0, 0, 0, 0, 0, 0, 1] + entry) + box("stsz", [0, 0, 0, 0, 0, 0, 0, 0] + big(frames, 4))
        return box("ftyp", Array("avis".utf8) + [0, 0, 0, 0] + Array("msf1avif".utf8)) + box("moov", movie) + box("mdat", [1, 2, 3])
    }

    private static let preview: [UInt8] = [0xff, 0xe1, 0, 8, 0xff, 0xd8, 0xff, 0xd9, 7, 7]
    private static let scan: [UInt8] = [
        0xff, 0xda, 0, 4, 1, 2, 9, 0xff, 0, 8, 0xff, 0xd0, 7, 0xff, 0xff, 0xc4, 0, 3, 1, 0xff, 0xda, 0, 3, 1,
    ]

    /// With a preview in its head that has an end of its own.
    static let wholeJPEG: [UInt8] = jpeg(80, 60, before: preview) + scan + [UInt8](repeating: 5, count: 20) + [0xff, 0xd9]

    private static let wholePNG: [UInt8] =
        png(64, 48) + [9, 9, 9, 9] + chunk("IDAT", [UInt8](repeating: 7, count: 40)) + chunk("IEND", [])

    /// One of each kind, from its first to its last byte.
    static let real: [(ImageFormat, [UInt8])] = [
        (.jpeg, wholeJPEG), (.png, wholePNG), (.gif, gif(20, 10, frames: 2)), (.webp, webpAnimated(20, 10, frames: 2)),
        (.avif, avif((64, 48)) + box("mdat", [1, 2, 3, 4, 5, 6, 7, 8])),
    ]
}
