import Feed

/// Where the items of an import go. Used by one thread at a time.
protocol ImportDestination {
    /// Writes items that nobody else sees yet.
    ///
    /// - Returns: how many of them were new, as far as can be told now.
    mutating func write(_ batch: [ValidItem]) throws -> Int

    /// Makes everything visible, at once and durably.
    ///
    /// - Returns: how many items that ``write(_:)`` called new turned out to replace another of the same import, or of the store.
    mutating func commit() throws -> Int

    /// Takes everything back. Does nothing after ``commit()``.
    mutating func rollback()
}
