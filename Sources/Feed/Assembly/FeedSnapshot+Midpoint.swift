extension FeedSnapshot {
    /// Walks the lane: right for every store, and slower than one that can count.
    public func midpoint(of lane: Lane) throws -> Int64? {
        var count = 0
        try walk(lane) { _ in
            count += 1
            return true
        }
        var index = 0
        var midpoint: Int64?
        try walk(lane) { item in
            if index == count / 2 { midpoint = item.position }
            index += 1
            return midpoint == nil
        }
        return midpoint
    }

    private func walk(_ lane: Lane, _ visit: (FeedItem) -> Bool) throws {
        let batch = 500
        var position: Int64?
        while true {
            let items = try items(in: lane, .forward, of: position, limit: batch)
            for item in items where !visit(item) { return }
            guard items.count == batch, let last = items.last else { return }
            position = last.position
        }
    }
}
