internal import IntertwinePrimitives

/// The advertisements that an import listed among the content, once for each listing. Their state is the edge up to which they are shown.
struct PinnedAds: AdSource {
    private static let limit = 1_000

    let name = "p"
    let sections: FeedSections
    private let members: [Int]

    init(in sections: FeedSections) {
        self.sections = sections
        members = sections.members { $0 == .pinned }
    }

    func fill(_ slots: inout AdSlots) throws {
        let session = slots.session
        // The positions of pinned ads are those of the import, not those of a ranking.
        if members.isEmpty || session.ranked != nil { return }
        let edge = FeedPosition(state: slots.state) ?? session.cursor?.position
        let (low, high) = edges(of: slots.content, session.direction, from: edge)
        slots.leave(low.state, towards: .backward)
        if high != slots.anchor(.forward) { slots.leave(high.state, towards: .forward) }
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

    private func edges(
        of content: PageContent, _ direction: PageDirection, from own: FeedPosition?
    ) -> (low: FeedPosition, high: FeedPosition) {
        func edge(_ last: FeedPosition, _ next: FeedPosition) -> FeedPosition {
            last.section == next.section ? last : sections.end(of: last.section)
        }
        let (start, end) = (sections.start(of: 0), sections.end(of: max(0, sections.indices.count - 1)))
        switch direction {
        case .forward:
            let high = content.stop ?? content.after.flatMap { after in content.cells.last.map { edge($0.position, after) } } ?? end
            return (own ?? start, high)
        case .backward:
            let low = content.stop ?? content.before.flatMap { before in content.cells.first.map { edge(before, $0.position) } } ?? start
            return (low, own ?? end)
        }
    }
}

extension FeedPosition {
    fileprivate var state: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        write(to: &writer, isLong: true)
        return writer.bytes
    }

    fileprivate init?(state: [UInt8]) {
        var reader = ByteReader(state)
        self.init(&reader, isLong: true)
    }
}
