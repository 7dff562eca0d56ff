/// Verifies that the frames of a GIF have all their pixels. Why: libvips shows the available pixels, and the background for missing ones.
struct GIFFrames {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Returns true if all frames are complete.
    ///
    /// - Parameter isCancelled: Called between frames.
    static func areComplete(_ bytes: UnsafeRawBufferPointer, isCancelled: () -> Bool) -> Bool {
        var frames = GIFFrames(bytes: bytes)
        while let isComplete = frames.next() {
            guard isComplete, !isCancelled() else { return false }
        }
        return true
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func byte() -> Int? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return Int(bytes[offset])
    }

    /// Returns the size in bytes of the color table that the flags declare.
    private static func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    /// Returns true if the next frame is complete; nil at the end, or if the structure cannot be parsed (GIF89a, sections 18 to 23).
    private mutating func next() -> Bool? {
        if offset == 0 {
            guard bytes.count >= 13 else { return nil }
            offset = 13 + Self.table(bytes[10])
        }
        while let block = byte() {
            switch block {
            case 0x21:
                offset += 1
                skipData()
            case 0x2c:
                guard offset + 9 <= bytes.count else { return nil }
                func number(_ index: Int) -> Int { Int(bytes[offset + index]) | Int(bytes[offset + index + 1]) << 8 }
                let pixels = number(4) * number(6)
                offset += 9 + Self.table(bytes[offset + 8])
                guard let width = byte() else { return nil }
                let isComplete = hasPixels(pixels, width)
                skipData()
                return isComplete
            default: return nil
            }
        }
        return nil
    }

    /// Skips data sub-blocks of up to 255 bytes, up to and including the empty one.
    private mutating func skipData() {
        while let length = byte(), length > 0 { offset += length }
    }

    /// Decodes the LZW codes of a frame without advancing the offset. Only the number of pixels of each code is tracked (appendix F).
    private func hasPixels(_ expected: Int, _ width: Int) -> Bool {
        // Decoders report other code sizes themselves.
        guard (1...11).contains(width) else { return true }
        var pieces = Pieces(bytes: bytes, offset: offset)
        let clear = 1 << width
        var lengths = [Int32](repeating: 1, count: 4_096)
        var (next, bits, last, found) = (clear + 2, width + 1, -1, 0)
        while found < expected {
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
                // The length cannot overflow in practice, because the frame is complete long before.
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

    /// A reader of variable-length codes in data sub-blocks, least significant bit first.
    private struct Pieces {
        private let bytes: UnsafeRawBufferPointer
        private var offset: Int
        private var left = 0
        private var retained = 0
        private var retainedBits = 0

        init(bytes: UnsafeRawBufferPointer, offset: Int) { (self.bytes, self.offset) = (bytes, offset) }

        mutating func code(_ bits: Int) -> Int? {
            while retainedBits < bits {
                if left == 0 {
                    guard offset < bytes.count, bytes[offset] > 0 else { return nil }
                    left = Int(bytes[offset])
                    offset += 1
                }
                guard offset < bytes.count else { return nil }
                retained |= Int(bytes[offset]) << retainedBits
                retainedBits += 8
                offset += 1
                left -= 1
            }
            defer {
                retained >>= bits
                retainedBits -= bits
            }
            return retained & ((1 << bits) - 1)
        }
    }
}
