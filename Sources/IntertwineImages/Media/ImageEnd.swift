internal import Glibc

/// Detection of truncated images. Why: clients show a truncated image as if it were complete, or not at all.
extension ImageFormat {
    private enum End {
        case complete
        case cut
        case unreadable
    }

    package static func isImage(_ bytes: [UInt8]) -> Bool {
        if case .kind(let kind) = sniff(bytes) { kind.isComplete(bytes, isDelimited: false) } else { false }
    }

    static let jpegEndMarker: [UInt8] = [0xff, 0xd9]
    private static let pngEndChunk: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]
    private static let gifTrailer: UInt8 = 0x3b

    private static let longestTail = 1_024

    /// Without a length, it may have been truncated in transit, so the end must be present. With one, it may have been truncated at the
    /// origin, so the structure must not be cut.
    package func isComplete(_ bytes: [UInt8], isDelimited: Bool) -> Bool {
        switch bytes.withUnsafeBytes({ end($0) }) {
        case .complete: true
        case .cut: false
        case .unreadable: isDelimited || hasTail(bytes)
        }
    }

    private func hasTail(_ bytes: [UInt8]) -> Bool {
        let tail = bytes.suffix(Self.longestTail)
        return switch self {
        case .jpeg: tail.contains(Self.jpegEndMarker)
        case .png: tail.contains(Self.pngEndChunk)
        case .gif: bytes.last == Self.gifTrailer
        case .webp, .avif: false
        }
    }

    private func end(_ bytes: UnsafeRawBufferPointer) -> End {
        switch self {
        case .jpeg: Self.jpegEnd(bytes)
        case .png: Self.pngEnd(bytes)
        case .gif: Self.gifEnd(bytes)
        case .webp: bytes.count >= 12 && Self.little(bytes, 4) + 8 <= bytes.count ? .complete : .cut
        case .avif: Self.avifEnd(bytes)
        }
    }

    private static func jpegEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var offset = 2
        var hasFrame = false
        var isInScan = false
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xff else {
                guard hasFrame || isInScan else { return .unreadable }
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                guard let base = rest.baseAddress, let next = memchr(base, 0xff, rest.count) else {
                    return .cut
                }
                offset += UnsafeRawPointer(next) - base
                continue
            }
            let marker = bytes[offset + 1]
            switch marker {
            case 0xff: offset += 1
            case 0x00, 0x01, 0xd0...0xd8: offset += 2
            case 0xd9: return hasFrame ? .complete : .unreadable
            default:
                guard offset + 3 < bytes.count else { return hasFrame ? .cut : .unreadable }
                let isFrame = (0xc0...0xcf).contains(marker) && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
                hasFrame = hasFrame || isFrame
                isInScan = marker == 0xda
                offset += 2 + max(2, Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
            }
        }
        return hasFrame ? .cut : .unreadable
    }

    private static func pngEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        guard bytes.count >= 16, big(bytes, 12) == 0x4948_4452 else { return .unreadable }
        var offset = 8
        while offset + 12 <= bytes.count {
            let name = bytes[(offset + 4)..<(offset + 8)]
            guard name.allSatisfy({ (65...90).contains($0 & 0xdf) }) else { return .unreadable }
            if name.elementsEqual("IEND".utf8) { return .complete }
            offset += 12 + big(bytes, offset)
        }
        return .cut
    }

    private static func gifEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var blocks = GIFBlocks()
        var offset = 0
        while offset <= bytes.count {
            // The head of a block fits into 16 bytes; copying more has no use.
            switch blocks.read(Array(bytes[offset..<min(offset + 16, bytes.count)])[...]) {
            case .pass(let length): offset += length
            case .end: return blocks.frames > 0 ? .complete : .unreadable
            case .nonsense: return .unreadable
            // Bytes shorter than a screen descriptor are not a usable GIF.
            case .more: return bytes.count >= 13 ? .cut : .unreadable
            }
        }
        return .cut
    }

    /// Finds the end of an AVIF (ISO 14496-12 section 4.2).
    private static func avifEnd(_ bytes: UnsafeRawBufferPointer) -> End {
        var offset = 0
        var hasData = false
        while offset + 8 <= bytes.count {
            var size = big(bytes, offset)
            if size == 0 { return .complete }
            let isData = bytes[(offset + 4)..<(offset + 8)].elementsEqual("mdat".utf8)
            if size == 1 {
                guard offset + 16 <= bytes.count, big(bytes, offset + 8) == 0 else { return .cut }
                size = big(bytes, offset + 12)
            }
            guard size >= 8 else { break }
            offset += size
            hasData = hasData || (isData && offset <= bytes.count)
        }
        return hasData ? .complete : offset > bytes.count || bytes.count > 16 ? .cut : .unreadable
    }

    private static func big(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    private static func little(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}

extension StringProtocol {
    var trimmingBlanks: SubSequence {
        var rest = self[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return rest
    }
}
