extension MediaKind {
    enum Sniffed: Hashable {
        case kind(MediaKind)
        /// The bytes so far fit a format, and do not suffice.
        case unclear
        case unknown
    }

    /// The longest `ftyp` box that is looked through for the AVIF brand.
    private static let longestBrands = 256
    /// Within how many of the last bytes the end of a picture is looked for.
    private static let longestTail = 1_024
    /// How far into a JPEG its frame is looked for: behind its profiles and previews.
    private static let longestJPEGHeader = 512 * 1_024

    /// What a body is by its first bytes.
    static func sniff(_ bytes: [UInt8]) -> Sniffed {
        let fixed: [(MediaKind, [UInt8?])] = [
            (.jpeg, [0xff, 0xd8, 0xff]),
            (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
            (.gif, [0x47, 0x49, 0x46, 0x38, 0x37, 0x61]),
            (.gif, [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]),
            (.webp, [0x52, 0x49, 0x46, 0x46, nil, nil, nil, nil, 0x57, 0x45, 0x42, 0x50]),
        ]
        var fits = false
        for (kind, magic) in fixed where zip(magic, bytes).allSatisfy({ $0 == nil || $0 == $1 }) {
            if bytes.count >= magic.count { return .kind(kind) }
            fits = true
        }
        switch sniffBrands(bytes) {
        case .unknown: return fits ? .unclear : .unknown
        case let other: return other
        }
    }

    /// ISO 14496-12: size, `ftyp`, major brand, version, compatible brands.
    private static func sniffBrands(_ bytes: [UInt8]) -> Sniffed {
        guard zip(bytes.dropFirst(4), "ftyp".utf8).allSatisfy(==) else { return .unknown }
        guard bytes.count >= 12 else { return .unclear }
        let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard size >= 16, size <= longestBrands, size % 4 == 0 else { return .unknown }
        for place in stride(from: 8, to: min(size, bytes.count - 3), by: 4) where place != 12 {
            let brand = bytes[place..<(place + 4)]
            if brand.elementsEqual("avif".utf8) || brand.elementsEqual("avis".utf8) { return .kind(.avif) }
        }
        return bytes.count < size ? .unclear : .unknown
    }

    /// Whether a body has its tail. One that came with a length may still have lost it before it got to the origin: a JPEG, which shows an
    /// upper part then as if nothing were missing, has to have its end marker somewhere.
    func isWhole(_ bytes: [UInt8], isDelimited: Bool) -> Bool {
        guard isDelimited else { return isWhole(bytes) }
        guard self == .jpeg else { return true }
        var reader = FrameReader(.jpeg)
        reader.take(bytes.prefix(Self.longestJPEGHeader))
        // What is a JPEG in name only has no end either.
        guard case .size = reader.finding else { return true }
        return isWhole(bytes) || zip(bytes, bytes.dropFirst()).contains { $0 == 0xff && $1 == 0xd9 }
    }

    /// Whether a body ends where its format says that it ends. A body that is delimited by the connection's end alone
    /// may have lost its tail on the way without anybody noticing.
    func isWhole(_ bytes: [UInt8]) -> Bool {
        func number(at place: Int, bytes count: Int, bigEndian: Bool) -> Int? {
            guard place >= 0, place + count <= bytes.count else { return nil }
            let slice = bytes[place..<(place + count)]
            return bigEndian ? slice.reduce(0) { $0 << 8 | Int($1) } : slice.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        switch self {
        case .jpeg:
            // Cameras like to add something behind the end marker.
            let tail = bytes.suffix(Self.longestTail)
            return zip(tail, tail.dropFirst()).contains { $0 == 0xff && $1 == 0xd9 }
        case .png:
            return bytes.suffix(Self.longestTail).contains([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82])
        case .gif:
            return bytes.last == 0x3b
        case .webp:
            return number(at: 4, bytes: 4, bigEndian: false).map { bytes.count >= $0 + 8 } ?? false
        case .avif:
            var place = 0
            while place < bytes.count {
                guard let size = number(at: place, bytes: 4, bigEndian: true) else { return false }
                if size == 0 { return true }
                guard size >= 8, size <= bytes.count - place else { return false }
                place += size
            }
            return true
        }
    }
}
