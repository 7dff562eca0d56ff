/// Walks the lane: right for every store, and slower than one that can count.
extension FeedSnapshot {
    public func count(in lane: Lane) throws -> Int {
        var count = 0
        try walk(lane, by: nil) { _ in
            count += 1
            return true
        }
        return count
    }

    public func place(at index: Int, in lane: Lane, by field: SortField?) throws -> ItemPlace? {
        var rest = index
        var found: ItemPlace?
        try walk(lane, by: field) { item in
            if rest == 0 { found = item.place }
            rest -= 1
            return rest >= 0
        }
        return found
    }

    private func walk(_ lane: Lane, by field: SortField?, _ visit: (FeedItem) -> Bool) throws {
        let batch = 500
        let reading = LaneReading(lane: lane, order: SectionOrder(by: field))
        var place: ItemPlace?
        while true {
            let items = try reading.items(.forward, of: place, limit: batch, from: self)
            for item in items where !visit(item) { return }
            guard items.count == batch, let last = items.last else { return }
            place = last.place
        }
    }
}
