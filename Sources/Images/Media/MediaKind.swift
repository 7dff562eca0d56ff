/// The picture formats that are passed on. Everything else is refused, above all what browsers may take for a document.
public enum MediaKind: UInt8, Sendable, Hashable, CaseIterable {
    case jpeg = 1
    case png = 2
    case gif = 3
    case webp = 4
    case avif = 5

    /// What we say, whatever the origin said.
    public var contentType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .avif: "image/avif"
        }
    }

    /// Reads a `Content-Type` field strictly (RFC 9110 section 8.3): one media type, parameters ignored. A list of types, which
    /// lenient parsers take the first or the last of, is nothing.
    public init?(contentType field: String) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.dropFirst().allSatisfy(Self.isParameter) else { return nil }
        switch first.trimmingBlanks.lowercased() {
        case "image/jpeg", "image/jpg": self = .jpeg
        case "image/png": self = .png
        case "image/gif": self = .gif
        case "image/webp": self = .webp
        case "image/avif": self = .avif
        default: return nil
        }
    }

    private static func isParameter(_ text: Substring) -> Bool {
        let trimmed = text.trimmingBlanks
        guard let equals = trimmed.firstIndex(of: "=") else { return trimmed.isEmpty }
        return equals > trimmed.startIndex && !trimmed.contains(where: { $0 == "," || $0 == "/" })
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
