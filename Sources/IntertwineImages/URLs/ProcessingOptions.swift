internal import IntertwinePrimitives

/// A size in points at which an image is offered, with the crop mode.
package struct ProcessingOptions: Sendable, Hashable {
    static let largestSide = 4_096
    package static let scales = 1...3
    static let longest = 128

    /// The width in points.
    package let width: Int
    /// The height in points.
    package let height: Int
    package let cut: TransformJob.Cut
    package let fallback: ImageFallback?

    package init?(width: Int, height: Int, cut: TransformJob.Cut = .centre, fallback: ImageFallback? = nil) {
        guard (1...Self.largestSide).contains(width), (1...Self.largestSide).contains(height) else { return nil }
        (self.width, self.height, self.cut, self.fallback) = (width, height, cut, fallback)
    }

    fileprivate static let original = ProcessingOptions()

    private init() { (width, height, cut, fallback) = (0, 0, .fit, nil) }

    package var scales: [Int] {
        let side = max(width, height)
        return side * Self.scales.upperBound <= Self.largestSide ? Self.all : Self.all.filter { side * $0 <= Self.largestSide }
    }

    private static let all = [1, 2, 3]

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(48)
        appendShape(to: &bytes)
        if let fallback {
            bytes.append(UInt8(ascii: "~"))
            bytes += fallback.part.utf8
        }
        return bytes
    }

    var shape: String {
        var bytes: [UInt8] = []
        appendShape(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func appendShape(to bytes: inout [UInt8]) {
        bytes.append(decimal: Int64(width))
        bytes.append(UInt8(ascii: "x"))
        bytes.append(decimal: Int64(height))
        switch cut {
        case .fit: bytes += "-fit".utf8
        case .centre: break
        case .attention: bytes += "-attention".utf8
        case .point(let x, let y): bytes += "-\(x)-\(y)".utf8
        }
    }

    init?(text: some StringProtocol) {
        let halves = text.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        let fallback = halves.count == 2 ? ImageFallback(part: String(halves[1])) : nil
        guard halves.count == 1 || fallback != nil else { return nil }
        let parts = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        let cut: TransformJob.Cut
        switch parts.dropFirst() {
        case []: cut = .centre
        case ["fit"]: cut = .fit
        case ["attention"]: cut = .attention
        case let rest where rest.count == 2:
            guard let x = Int(parts[1]), let y = Int(parts[2]), (0...1_000).contains(x), (0...1_000).contains(y) else { return nil }
            cut = .point(x: x, y: y)
        default: return nil
        }
        self.init(width: width, height: height, cut: cut, fallback: fallback)
        guard self.text == text else { return nil }
    }
}

package struct ImageFallback: Sendable, Hashable {
    package let part: String

    package init?(part: String) {
        let bytes = part.utf8
        let isPlain = bytes.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 <= 9 || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
        guard isPlain, (1...64).contains(bytes.count) else { return nil }
        self.part = part
    }
}

/// A size at one scale, such as `150x150` or `150x150@2x`.
package struct ResizeMode: Sendable, Hashable {
    /// The size in points and the crop mode.
    package let variant: ProcessingOptions
    package let scale: Int

    static let original = ResizeMode(original: .original)

    private init(original variant: ProcessingOptions) { (self.variant, scale) = (variant, 1) }

    package init?(_ variant: ProcessingOptions, scale: Int = 1) {
        guard scale == 1 || variant.scales.contains(scale) else { return nil }
        (self.variant, self.scale) = (variant, scale)
    }

    package var text: String { variant.text + Self.suffix(scale) }

    package static func suffix(_ scale: Int) -> String { scale == 1 ? "" : "@\(scale)x" }

    init?(_ text: String) {
        guard text.utf8.count <= ProcessingOptions.longest else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, let variant = ProcessingOptions(text: parts[0]) else { return nil }
        let scale = parts.count == 1 ? 1 : ProcessingOptions.scales.first { parts[1] == "\($0)x" }
        guard let scale, parts.count == 1 || scale > 1 else { return nil }
        self.init(variant, scale: scale)
    }

    func job(_ format: ImageFormat, quality: Int?, keepsAnimation: Bool) -> TransformJob {
        TransformJob(
            width: variant.width * scale, height: variant.height * scale, cut: variant.cut, format: format, quality: quality ?? 0,
            keepsAnimation: keepsAnimation)
    }
}
