package import IntertwineFeed

/// The lane of each section, and which kinds stand in which: what a database knows of sections, and what a plan makes of that.
///
/// The database decides where an item goes, not whoever puts it: import, admin API and sources name no section, and cannot disagree.
package struct SectionLayout: Sendable, Equatable {
    /// Lanes below it are the content's and the advertisements'.
    private static let firstNumber: Int64 = 2

    /// By name. A name keeps its number for good.
    package private(set) var streams: [String: StreamID]
    /// By kind. A kind that is not here stands in the lane of its own.
    package private(set) var kinds: [String: StreamID]

    package init(streams: [String: StreamID], kinds: [String: StreamID] = [:]) {
        (self.streams, self.kinds) = (streams, kinds)
        self.streams[SectionConfiguration.mainName] = .content
    }

    /// What becomes of it. Names that are new get the next numbers.
    package func arranged(by sections: [SectionConfiguration]) -> SectionLayout {
        var layout = SectionLayout(streams: streams)
        for section in sections {
            let lane = layout.streams[section.name] ?? layout.nextStream
            layout.streams[section.name] = lane
            if lane != .content { for kind in section.kinds { layout.kinds[kind] = lane } }
        }
        return layout
    }

    private var nextStream: StreamID {
        StreamID(rawValue: max(Self.firstNumber, (streams.values.map(\.rawValue).max() ?? 0) + 1))
    }

    /// Names that it has and another one lacks, by their lanes.
    package func names(besides other: SectionLayout) -> [(name: String, lane: StreamID)] {
        streams.filter { other.streams[$0.key] == nil }.map { (name: $0.key, lane: $0.value) }.sorted {
            $0.lane.rawValue < $1.lane.rawValue
        }
    }

    /// Kinds whose items stand elsewhere in another one, in their order. The new lane is nil where no section takes them any more.
    package func moves(to other: SectionLayout) -> [(kind: String, old: StreamID, new: StreamID?)] {
        Set(kinds.keys).union(other.kinds.keys).sorted().filter { kinds[$0] != other.kinds[$0] }.map {
            ($0, kinds[$0] ?? .content, other.kinds[$0])
        }
    }

    /// The fields that lanes are ordered by.
    package func fields(of sections: [SectionConfiguration]) -> [(lane: StreamID, field: SortField)] {
        sections.flatMap { section -> [(lane: StreamID, field: SortField)] in
            guard let lane = streams[section.name] else { return [] }
            return section.fields.map { (lane, $0) }
        }
    }

    /// How far the items of a kind move, so that they stand behind those of another lane, in their order.
    ///
    /// - Parameters:
    ///   - ends: the positions of the first and the last item of the lane that they stand in; nil where there is none.
    ///   - last: of the last item of the other lane.
    /// - Throws: `StoreError.unavailable` where no positions are left.
    package static func step(of kind: String, _ ends: (first: Int64?, last: Int64?), after last: Int64?) throws(StoreError) -> Int64 {
        guard let last, let first = ends.first, let end = ends.last else { return 0 }
        let (distance, isTooFar) = last.subtractingReportingOverflow(first)
        let (wanted, isFull) = distance.addingReportingOverflow(ItemSchema.step)
        guard !isTooFar, !isFull, !end.addingReportingOverflow(wanted).overflow else {
            throw .unavailable("no positions are left for the items of \(kind) in their section")
        }
        return wanted
    }
}
