internal import Crypto
internal import IntertwinePrimitives

/// A cell as a client holds it: which one it is, and what tells it from the same cell with anything changed.
public struct HeldCell: Sendable, Hashable {
    /// Bytes of a digest. A change that leaves it as it was comes once in 2^48.
    static let digestLength = 6

    public var id: String
    /// The first six bytes of a SHA-256.
    public var digest: UInt64

    public init(id: String, digest: UInt64) {
        self.id = id
        self.digest = digest
    }

    init(_ entry: FeedPage.Entry) {
        id = entry.cell.id
        digest = UInt64(bigEndianBytes: SHA256.hash(data: entry.json).prefix(Self.digestLength))
    }
}
