/// All other types are rejected, in particular those that browsers may interpret as documents.
package enum ImageFormat: UInt8, Sendable, Hashable, CaseIterable {
    case jpeg = 1
    case png = 2
    case gif = 3
    /// WebP (RFC 9649), also animated.
    case webp = 4
    case avif = 5

    package var contentType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .avif: "image/avif"
        }
    }

    package enum Sniffed: Hashable {
        case kind(ImageFormat)
        case unclear
        case unknown
    }

    private static let longestBrands = 256

    package static func sniff(_ bytes: [UInt8]) -> Sniffed {
        let fixed: [(ImageFormat, [UInt8?])] = [
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

    /// Searches the `ftyp` box (ISO 14496-12): size, `ftyp`, major brand, version, compatible brands.
    private static func sniffBrands(_ bytes: [UInt8]) -> Sniffed {
        guard zip(bytes.dropFirst(4), "ftyp".utf8).allSatisfy(==) else { return .unknown }
        guard bytes.count >= 12 else { return .unclear }
        let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard size >= 16, size <= longestBrands, size % 4 == 0 else { return .unknown }
        for index in stride(from: 8, to: min(size, bytes.count - 3), by: 4) where index != 12 {
            let brand = bytes[index..<(index + 4)]
            if brand.elementsEqual("avif".utf8) || brand.elementsEqual("avis".utf8) { return .kind(.avif) }
        }
        return bytes.count < size ? .unclear : .unknown
    }
}
