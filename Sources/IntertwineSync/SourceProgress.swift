/// How far a synchronisation has come.
public struct SourceProgress: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        /// Pages are fetched and read.
        case reading
        /// Pages are asked for once more.
        case verifying
        /// The store is changed: so many items are done.
        case applying(Int)
    }

    public var phase = Phase.reading
    /// Pages fetched, the one under way included.
    public var pages = 0
    /// Good items read.
    public var items = 0
    public var skipped = 0
    /// Decompressed.
    public var bytes = 0

    public init() {}
}
