/// Which format a sized picture is made in. Pure.
struct ResizedFormat: Sendable, Hashable {
    let kind: ImageFormat
    let keepsAnimation: Bool

    /// Nil where the client takes none.
    /// - Parameters:
    ///   - taken: by the client, as ``AcceptedFormats/made(_:)`` gives it.
    ///   - newer: the newer formats in the order in which they are preferred.
    init?(_ traits: ImageTraits, accepted: AcceptedFormats.Set, newer: [ImageFormat]) {
        if traits.isAnimated, let kind = [ImageFormat.webp, .gif].first(where: { accepted.contains($0) }) {
            (self.kind, keepsAnimation) = (kind, true)
            return
        }
        // Drawings and what is seen through stay as exact as they are; all else is a photograph.
        let older: [ImageFormat] = traits.mayHaveAlpha || traits.isDrawing ? [.png, .jpeg, .gif] : [.jpeg, .png, .gif]
        guard let kind = (newer + older + [.webp, .avif]).first(where: { accepted.contains($0) }) else { return nil }
        (self.kind, keepsAnimation) = (kind, false)
    }
}

/// What of a picture decides about the format that it is made into, read off its bytes without decoding them.
struct ImageTraits: Sendable, Hashable {
    var isAnimated: Bool
    /// Whether it may be seen through somewhere.
    let mayHaveAlpha: Bool
    /// Whether its format is one that is chosen for drawings.
    let isDrawing: Bool

    init(isAnimated: Bool, mayHaveAlpha: Bool, isDrawing: Bool) {
        (self.isAnimated, self.mayHaveAlpha, self.isDrawing) = (isAnimated, mayHaveAlpha, isDrawing)
    }

    init(_ bytes: [UInt8], _ kind: ImageFormat) {
        var reader = ImageHeaderParser(kind)
        reader.consume(bytes)
        isAnimated = reader.frames > 1 && (kind == .gif || kind == .webp)
        isDrawing = kind == .png || kind == .gif
        mayHaveAlpha =
            switch kind {
            case .jpeg: false
            case .gif, .avif: true
            case .png: Self.pngHasAlpha(bytes)
            case .webp: Self.webPHasAlpha(bytes)
            }
    }

    /// PNG section 11.2.1: colour types 4 and 6 have it; others by a `tRNS` chunk before the data.
    private static func pngHasAlpha(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 33 else { return false }
        if bytes[25] & 4 != 0 { return true }
        var place = 8
        while place + 12 <= bytes.count {
            let name = bytes[(place + 4)..<(place + 8)]
            if name.elementsEqual("tRNS".utf8) { return true }
            if name.elementsEqual("IDAT".utf8) { return false }
            let length = bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            place += 12 + length
        }
        return false
    }

    /// RFC 9649 sections 2.7.1 and 3.4.
    private static func webPHasAlpha(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 24 else { return false }
        let name = bytes[12..<16]
        if name.elementsEqual("VP8X".utf8) { return bytes[20] & 0x10 != 0 }
        return name.elementsEqual("VP8L".utf8) && bytes[24] & 0x10 != 0
    }
}

/// How hard pictures are compressed, by format and scale. Pure.
public struct EncodingQualities: Sendable, Hashable {
    private struct Key: Sendable, Hashable {
        let kind: ImageFormat
        /// Nil for all scales that have none of their own.
        let scale: Int?
    }

    private var values: [Key: Int] = [:]

    /// What suits each format.
    public init() {}

    /// - Parameter scale: nil for all that are not named.
    public mutating func set(_ quality: Int, of kind: ImageFormat, scale: Int? = nil) {
        values[Key(kind: kind, scale: scale)] = min(max(quality, 1), 100)
    }

    subscript(kind: ImageFormat, scale: Int) -> Int? {
        values[Key(kind: kind, scale: scale)] ?? values[Key(kind: kind, scale: nil)]
    }
}
