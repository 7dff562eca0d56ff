public import IntertwineStorage

/// What a synchronisation did.
public struct SourceOutcome: Sendable, Hashable {
    /// Nil where the source said, or its pages showed, that nothing is new.
    public var changes: SourceChanges?
    public var pages: Int
    /// Good items of the snapshot.
    public var items: Int
    public var skipped: Int
    public var bytes: Int

    public init(changes: SourceChanges? = nil, pages: Int = 0, items: Int = 0, skipped: Int = 0, bytes: Int = 0) {
        self.changes = changes
        self.pages = pages
        self.items = items
        self.skipped = skipped
        self.bytes = bytes
    }
}
