internal import Glibc

/// Whether a picture has its end: one that lost its tail is shown by clients as if nothing were missing, or not at all.
extension MediaKind {
    private enum End {
        case whole
        /// The structure goes on where the bytes end.
        case cut
        /// It cannot be followed so far: a picture in little more than its first bytes, and decoders know more.
        case unreadable
    }

    /// Within how many of the last bytes the end of a picture is looked for, where its structure does not lead there.
    private static let longestTail = 1_024

    /// - Parameter isDelimited: whether the body came with a length. If not, it may have lost its tail on the way to us, and has to show
    ///   its end; if so, it may have lost it before it got to the origin, and must not show that it did.
    package func isWhole(_ bytes: [UInt8], isDelimited: Bool) -> Bool {
        switch bytes.withUnsafeBytes({ end($0) }) {
        case .whole: true
        case .cut: false
        case .unreadable: isDelimited || hasTail(bytes)
        }
    }

    private func hasTail(_ bytes: [UInt8]) -> Bool {
        let tail = bytes.suffix(Self.longestTail)
        return switch self {
        case .jpeg: zip(tail, tail.dropFirst()).contains { $0 == 0xff && $1 == 0xd9 }
        case .png: tail.contains([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82])
        case .gif: bytes.last == 0x3b
        case .webp, .avif: false
        }
    }

    private func end(_ bytes: UnsafeRawBufferPointer) -> End {
        switch self {
        case .jpeg: Self.jpegEnd(bytes)
        case .png: Self.pngEnd(bytes)
        case .gif: Self.gifEnd(bytes)
        case .webp: bytes.count < 12 ? .cut : Self.little(bytes, 4) + 8 <= bytes.count ? .whole : .cut
        case .avif: Self.avifEnd(bytes)
        }
    }

    /// ITU-T T.81 annex B: segments with a length, and after each scan's head data in which `FF` stands for itself only before `00`. The
    /// end marker of a preview within a segment is passed over with it.
    private static func jpegEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var place = 2
        var hasFrame = false
        var isInScan = false
        while place + 1 < bytes.count {
            guard bytes[place] == 0xff else {
                guard hasFrame || isInScan else { return .unreadable }
                let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
                guard let base = rest.baseAddress, let next = memchr(base, 0xff, rest.count) else { return .cut }
                place += UnsafeRawPointer(next) - base
                continue
            }
            let marker = bytes[place + 1]
            switch marker {
            case 0xff: place += 1
            case 0x00, 0x01, 0xd0...0xd8: place += 2
            case 0xd9: return hasFrame ? .whole : .unreadable
            default:
                guard place + 3 < bytes.count else { return hasFrame ? .cut : .unreadable }
                let isFrame = (0xc0...0xcf).contains(marker) && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
                hasFrame = hasFrame || isFrame
                isInScan = marker == 0xda
                place += 2 + max(2, Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
            }
        }
        return hasFrame ? .cut : .unreadable
    }

    /// PNG section 5.3: length, name, data, checksum.
    private static func pngEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        guard bytes.count >= 16, big(bytes, 12) == 0x4948_4452 else { return .unreadable }
        var place = 8
        while place + 12 <= bytes.count {
            let name = bytes[(place + 4)..<(place + 8)]
            guard name.allSatisfy({ (65...90).contains($0 & 0xdf) }) else { return .unreadable }
            if name.elementsEqual("IEND".utf8) { return .whole }
            place += 12 + big(bytes, place)
        }
        return .cut
    }

    private static func gifEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var blocks = GIFBlocks()
        var place = 0
        while place <= bytes.count {
            // What a block's head takes; more would be copied for nothing.
            switch blocks.read(Array(bytes[place..<min(place + 16, bytes.count)])[...]) {
            case .pass(let length): place += length
            case .end: return blocks.frames > 0 ? .whole : .unreadable
            case .nonsense: return .unreadable
            // Shorter than a screen, it is a GIF in name only.
            case .more: return bytes.count < 13 ? .unreadable : .cut
            }
        }
        return .cut
    }

    /// ISO 14496-12 section 4.2: a size of 0 reaches to the end, one of 1 stands behind the name in eight bytes. What the pictures are
    /// made of comes last.
    private static func avifEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var place = 0
        var hasData = false
        while place + 8 <= bytes.count {
            var size = big(bytes, place)
            if size == 0 { return .whole }
            let isData = bytes[(place + 4)..<(place + 8)].elementsEqual("mdat".utf8)
            if size == 1 {
                guard place + 16 <= bytes.count, big(bytes, place + 8) == 0 else { return .cut }
                size = big(bytes, place + 12)
            }
            guard size >= 8 else { break }
            place += size
            hasData = hasData || (isData && place <= bytes.count)
        }
        return hasData ? .whole : place > bytes.count || bytes.count > 16 ? .cut : .unreadable
    }

    private static func big(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }

    private static func little(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }
}
