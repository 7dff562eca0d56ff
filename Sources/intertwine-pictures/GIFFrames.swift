/// Whether the frames of a GIF have as many pixels as they should. libvips shows what there is, and the screen where there is none.
struct GIFFrames {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    /// - Parameter isCalledOff: asked between frames.
    static func areWhole(_ bytes: UnsafeRawBufferPointer, isCalledOff: () -> Bool) -> Bool {
        var frames = GIFFrames(bytes: bytes)
        while let isWhole = frames.next() {
            guard isWhole, !isCalledOff() else { return false }
        }
        return true
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func byte() -> Int? {
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return Int(bytes[place])
    }

    /// Bytes of the colours that flags announce.
    private static func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    /// Whether the next frame is whole; nil where there is none, or nothing that can be followed (GIF89a, sections 18 to 23).
    private mutating func next() -> Bool? {
        if place == 0 {
            guard bytes.count >= 13 else { return nil }
            place = 13 + Self.table(bytes[10])
        }
        while let block = byte() {
            switch block {
            case 0x21:
                place += 1
                skipData()
            case 0x2c:
                guard place + 9 <= bytes.count else { return nil }
                func number(_ offset: Int) -> Int { Int(bytes[place + offset]) | Int(bytes[place + offset + 1]) << 8 }
                let pixels = number(4) * number(6)
                place += 9 + Self.table(bytes[place + 8])
                guard let width = byte() else { return nil }
                let isWhole = hasPixels(pixels, width)
                skipData()
                return isWhole
            default: return nil
            }
        }
        return nil
    }

    /// To behind the empty one of pieces of up to 255 bytes.
    private mutating func skipData() {
        while let length = byte(), length > 0 { place += length }
    }

    /// Goes through the codes of a frame, and leaves its place as it is: of each code it is noted for how many pixels it stands, not for which
    /// (appendix F).
    private func hasPixels(_ wanted: Int, _ width: Int) -> Bool {
        // Decoders say what they think of others.
        guard (1...11).contains(width) else { return true }
        var pieces = Pieces(bytes: bytes, place: place)
        let clear = 1 << width
        var lengths = [Int32](repeating: 1, count: 4_096)
        var (next, bits, last, found) = (clear + 2, width + 1, -1, 0)
        while found < wanted {
            guard let code = pieces.code(bits) else { return false }
            if code == clear {
                (next, bits, last) = (clear + 2, width + 1, -1)
                continue
            }
            guard code != clear + 1 else { return false }
            if last < 0 {
                guard code < clear else { return false }
                found += 1
            } else {
                guard code <= next, code < 4_096 else { return false }
                // Before there are so many, the frame has all of its pixels.
                let longer = lengths[last] &+ 1
                found += Int(code < next ? lengths[code] : longer)
                if next < 4_096 {
                    lengths[next] = longer
                    next += 1
                    if next == 1 << bits, bits < 12 { bits += 1 }
                }
            }
            last = code
        }
        return true
    }

    /// The codes that lie in pieces of data, the lowest bit first.
    private struct Pieces {
        private let bytes: UnsafeRawBufferPointer
        private var place: Int
        private var left = 0
        private var kept = 0
        private var keptBits = 0

        init(bytes: UnsafeRawBufferPointer, place: Int) { (self.bytes, self.place) = (bytes, place) }

        mutating func code(_ bits: Int) -> Int? {
            while keptBits < bits {
                if left == 0 {
                    guard place < bytes.count, bytes[place] > 0 else { return nil }
                    left = Int(bytes[place])
                    place += 1
                }
                guard place < bytes.count else { return nil }
                kept |= Int(bytes[place]) << keptBits
                keptBits += 8
                place += 1
                left -= 1
            }
            defer {
                kept >>= bits
                keptBits -= bits
            }
            return kept & ((1 << bits) - 1)
        }
    }
}
