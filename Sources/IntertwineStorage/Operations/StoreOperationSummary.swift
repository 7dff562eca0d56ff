/// What a list of operations did.
public struct StoreOperationSummary: Sendable, Hashable {
    /// Items appended and inserted.
    public var inserted = 0
    public var moved = 0
    public var updated = 0
    /// Items removed, one by one and by clearing.
    public var removed = 0
    /// The first items that clearing removed, up to ``clearedLimit`` of them.
    public var cleared: [ItemKey] = []

    public static let clearedLimit = 100

    public init(inserted: Int = 0, moved: Int = 0, updated: Int = 0, removed: Int = 0) {
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        self.removed = removed
    }
}
