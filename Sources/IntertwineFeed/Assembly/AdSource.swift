protocol AdSource: Sendable {
    func prefetch(for session: inout PageSession) throws

    func fill(_ slots: inout AdSlots, for session: PageSession) throws
}

/// The advertisements that an import listed among the content, once for each listing.
struct PinnedAds: AdSource {
    private static let limit = 1_000

    let sections: FeedSections
    private let members: [Int]

    init(in sections: FeedSections) {
        self.sections = sections
        members = sections.members { $0 == .pinned }
    }

    func prefetch(for session: inout PageSession) {}

    func fill(_ slots: inout AdSlots, for session: PageSession) throws {
        // The positions of pinned ads are those of the import, not those of a ranking.
        guard !members.isEmpty, session.ranked == nil else { return }
        let (low, high) = edges(of: slots.content, cursor: session.cursor)
        slots.pinnedRange = (low, high)
        var renderer = session.houseAdRenderer(in: slots.context)
        var left = Self.limit
        for section in members where section >= low.section && section <= high.section && left > 0 {
            let from = section == low.section ? low : sections.start(of: section)
            let to = section == high.section ? high : sections.end(of: section)
            let (lower, upper) = (from.item.position, to.item.position)
            guard lower != upper, let stream = sections.pinnedStream(of: section) else { continue }
            let found = try session.snapshot.listings(in: stream, between: min(lower, upper)..<max(lower, upper), limit: left)
            left -= found.count
            for listing in sections.isDescending(section) ? found.reversed() : found {
                guard let cell = try renderer.cell(of: listing.item) else { continue }
                let position = FeedPosition(section: section, item: SortPosition(position: listing.position))
                slots.insert(cell, after: position, isFirstPage: session.cursor == nil)
            }
        }
        slots.omissions += renderer.omissions
    }

    private func edges(of content: PageContent, cursor: PageCursor?) -> (low: FeedPosition, high: FeedPosition) {
        func edge(_ last: FeedPosition, _ next: FeedPosition) -> FeedPosition {
            last.section == next.section ? last : sections.end(of: last.section)
        }
        let (start, end) = (sections.start(of: 0), sections.end(of: max(0, sections.indices.count - 1)))
        switch cursor?.direction ?? .forward {
        case .forward:
            let high = content.stop ?? content.after.flatMap { after in content.cells.last.map { edge($0.position, after) } } ?? end
            return (cursor.map { $0.pinned ?? $0.position } ?? start, high)
        case .backward:
            let low = content.stop ?? content.before.flatMap { before in content.cells.first.map { edge(before, $0.position) } } ?? start
            return (low, cursor.map { $0.pinned ?? $0.position } ?? end)
        }
    }
}
