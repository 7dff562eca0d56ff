struct ResizedFormat: Sendable, Hashable {
    let kind: ImageFormat
    let keepsAnimation: Bool

    init?(_ traits: ImageTraits, accepted: AcceptedFormats.Set, newer: [ImageFormat]) {
        if traits.isAnimated, let kind = [ImageFormat.webp, .gif].first(where: { accepted.contains($0) }) {
            (self.kind, keepsAnimation) = (kind, true)
            return
        }
        // Drawings and transparent images need a lossless format; other images count as photographs.
        let older: [ImageFormat] = traits.mayHaveAlpha || traits.isDrawing ? [.png, .jpeg, .gif] : [.jpeg, .png, .gif]
        guard let kind = (newer + older + [.webp, .avif]).first(where: { accepted.contains($0) }) else { return nil }
        (self.kind, keepsAnimation) = (kind, false)
    }
}

struct ImageTraits: Sendable, Hashable {
    var isAnimated: Bool
    let mayHaveAlpha: Bool
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

    /// Returns true if the image has an alpha channel (RFC 9649 sections 2.7.1 and 3.4).
    private static func webPHasAlpha(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 24 else { return false }
        let name = bytes[12..<16]
        if name.elementsEqual("VP8X".utf8) { return bytes[20] & 0x10 != 0 }
        return name.elementsEqual("VP8L".utf8) && bytes[24] & 0x10 != 0
    }
}

package struct EncodingQualities: Sendable, Hashable {
    private struct Key: Sendable, Hashable {
        let kind: ImageFormat
        let scale: Int?
    }

    private var values: [Key: Int] = [:]

    package init() {}

    package mutating func set(_ quality: Int, of kind: ImageFormat, scale: Int? = nil) {
        values[Key(kind: kind, scale: scale)] = min(max(quality, 1), 100)
    }

    subscript(kind: ImageFormat, scale: Int) -> Int? {
        values[Key(kind: kind, scale: scale)] ?? values[Key(kind: kind, scale: nil)]
    }
}
