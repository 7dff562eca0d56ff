/// What a signature is for. A value signed for one purpose is forged for every other.
public struct SigningPurpose: Sendable, Hashable, RawRepresentable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Where a page starts.
    public static let cursor = SigningPurpose(rawValue: "cursor")
    /// A clickthrough link.
    public static let click = SigningPurpose(rawValue: "click")
    /// The permission to report that a cell was seen.
    public static let impression = SigningPurpose(rawValue: "impression")
}
