/// A fallback image with one or two letters on a colored background, encoded as PNG.
enum InitialsImage {
    /// The glyphs of letters and digits: five columns, seven rows, one byte for each row from the top.
    private static let glyphs: [Character: [UInt8]] = [
        "A": [0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11], "B": [0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e],
        "C": [0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e], "D": [0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e],
        "E": [0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f], "F": [0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10],
        "G": [0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0f], "H": [0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11],
        "I": [0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e], "J": [0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c],
        "K": [0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11], "L": [0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f],
        "M": [0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11], "N": [0x11, 0x19, 0x19, 0x15, 0x13, 0x13, 0x11],
        "O": [0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e], "P": [0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10],
        "Q": [0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d], "R": [0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11],
        "S": [0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e], "T": [0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04],
        "U": [0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e], "V": [0x11, 0x11, 0x11, 0x11, 0x11, 0x0a, 0x04],
        "W": [0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11], "X": [0x11, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x11],
        "Y": [0x11, 0x11, 0x0a, 0x04, 0x04, 0x04, 0x04], "Z": [0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f],
        "0": [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e], "1": [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        "2": [0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f], "3": [0x1f, 0x02, 0x04, 0x06, 0x01, 0x11, 0x0e],
        "4": [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02], "5": [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        "6": [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e], "7": [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        "8": [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e], "9": [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
    ]
    /// The background colors (red, green, blue), on which white letters are legible.
    private static let grounds: [[UInt8]] = [
        [0x5b, 0x6c, 0x8f], [0x7a, 0x5c, 0x86], [0x4f, 0x7d, 0x78], [0x8a, 0x62, 0x52], [0x5d, 0x7a, 0x4e], [0x86, 0x56, 0x6a],
        [0x4c, 0x70, 0x96], [0x70, 0x6a, 0x4a],
    ]

    /// Returns a PNG with the given size in pixels. Characters without a glyph are omitted.
    static func png(_ letters: String, width: Int, height: Int) -> [UInt8] {
        let known = letters.prefix(2).compactMap { glyphs[$0] }
        let hash = letters.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff }
        let ground = grounds[hash % grounds.count]
        // The size of a dot: the letters fill a third of the height, and at most two thirds of the width.
        let columns = Double(known.count * 6 - 1)
        let dot = known.isEmpty ? 1 : min(Double(height) / 3 / 7, Double(width) * 2 / 3 / columns)
        let (left, top) = ((Double(width) - columns * dot) / 2, (Double(height) - 7 * dot) / 2)
        var rows: [UInt8] = []
        rows.reserveCapacity((width + 1) * height)
        for y in 0..<height {
            // The filter type of the row: none.
            rows.append(0)
            for x in 0..<width {
                let ink = ink(known, (Double(x) + 0.5 - left) / dot, (Double(y) + 0.5 - top) / dot)
                rows.append(UInt8(ink * 255))
            }
        }
        return PNGWriter.image(width: width, height: height, palette: palette(ground), rows: rows)
    }

    /// Returns the share of the letter color at a point, from 0 to 1. Adjacent dots merge, and their ends are round.
    private static func ink(_ glyphs: [[UInt8]], _ x: Double, _ y: Double) -> Double {
        guard x > -1, y > -1, y < 8, x < Double(glyphs.count * 6) else { return 0 }
        func dot(_ column: Int, _ row: Int) -> Double {
            guard column >= 0, row >= 0, row < 7, column % 6 < 5, column / 6 < glyphs.count else { return 0 }
            return glyphs[column / 6][row] >> (4 - UInt8(column % 6)) & 1 == 1 ? 1 : 0
        }
        let (u, v) = (x - 0.5, y - 0.5)
        let (column, row) = (Int(u.rounded(.down)), Int(v.rounded(.down)))
        let (right, below) = (u - Double(column), v - Double(row))
        let above = dot(column, row) * (1 - right) + dot(column + 1, row) * right
        let under = dot(column, row + 1) * (1 - right) + dot(column + 1, row + 1) * right
        return min(max(((above * (1 - below) + under * below) - 0.35) / 0.3, 0), 1)
    }

    /// Returns a palette of 256 steps from the background color to white.
    private static func palette(_ ground: [UInt8]) -> [UInt8] {
        var colours: [UInt8] = []
        for step in 0..<256 {
            for part in ground { colours.append(UInt8((Int(part) * (255 - step) + 255 * step) / 255)) }
        }
        return colours
    }
}

/// Writes uncompressed PNGs with 256 colors (PNG sections 5 and 11). The transformer compresses the result.
private enum PNGWriter {
    /// Returns a PNG.
    ///
    /// - Parameters:
    ///   - palette: 256 colors with red, green and blue.
    ///   - rows: The rows, each with a filter byte and one byte for each pixel.
    static func image(width: Int, height: Int, palette: [UInt8], rows: [UInt8]) -> [UInt8] {
        var png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        append("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 3, 0, 0, 0], to: &png)
        append("PLTE", palette, to: &png)
        append("IDAT", stored(rows), to: &png)
        append("IEND", [], to: &png)
        return png
    }

    /// Returns a zlib stream (RFC 1950) of stored blocks (RFC 1951 section 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var offset = 0
        repeat {
            let count = min(bytes.count - offset, 65_535)
            let isLast: UInt8 = offset + count == bytes.count ? 1 : 0
            let (low, high) = (UInt8(count & 0xff), UInt8(count >> 8))
            stream += [isLast, low, high, ~low, ~high]
            stream += bytes[offset..<(offset + count)]
            offset += count
        } while offset < bytes.count
        var (first, second) = (UInt32(1), UInt32(0))
        for byte in bytes {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        return stream + bigEndian(second << 16 | first)
    }

    private static func append(_ name: String, _ content: [UInt8], to png: inout [UInt8]) {
        let named = Array(name.utf8) + content
        png += bigEndian(UInt32(content.count)) + named + bigEndian(checksum(named))
    }

    private static let table: [UInt32] = (0..<256).map { start in
        var value = UInt32(start)
        for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
        return value
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xff)] ^ (value >> 8) }
        return ~value
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 0xff), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
    }
}
