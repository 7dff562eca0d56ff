extension DataSource {
    /// Returns the position of the middle item of some sections, or nil if they are empty.
    ///
    /// - Parameter hidden: The types that do not count. If there are any, all items of the sections are read, because counts by type are not
    ///   available.
    func midpoint(of sections: [Int], without hidden: Set<ItemType>, in snapshot: any FeedSnapshot) throws -> FeedPosition? {
        guard hidden.isEmpty else { return try findMidpoint(of: sections, without: hidden, in: snapshot) }
        let counts = try sections.map { try itemCount(in: $0, of: snapshot) }
        var index = counts.reduce(0, +) / 2
        for (section, count) in zip(sections, counts) {
            if index < count {
                return try sortPosition(at: index, in: section, of: snapshot).map { FeedPosition(section: section, item: $0) }
            }
            index -= count
        }
        return nil
    }

    private func findMidpoint(of sections: [Int], without hidden: Set<ItemType>, in snapshot: any FeedSnapshot) throws -> FeedPosition? {
        var count = 0
        try forEachItem(sections, in: snapshot) { item, _ in
            if !hidden.contains(ItemType(kind: item.kind, variant: item.variant)) { count += 1 }
            return true
        }
        var rest = count / 2
        var middle: FeedPosition?
        try forEachItem(sections, in: snapshot) { item, section in
            guard !hidden.contains(ItemType(kind: item.kind, variant: item.variant)) else { return true }
            if rest == 0 { middle = FeedPosition(section: section, item: item.sortPosition) }
            rest -= 1
            return middle == nil
        }
        return middle
    }

    /// - Parameter visit: Returns false to stop.
    private func forEachItem(_ sections: [Int], in snapshot: any FeedSnapshot, _ visit: (FeedItem, Int) -> Bool) throws {
        let batch = 500
        for section in sections {
            var position: SortPosition?
            while true {
                let items = try items(in: section, .forward, of: position, limit: batch, from: snapshot)
                for item in items where !visit(item, section) { return }
                guard items.count == batch, let last = items.last else { break }
                position = last.sortPosition
            }
        }
    }
}
