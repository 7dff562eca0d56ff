package import IntertwineFeed

/// Why: the database determines the stream of an item. Imports, the admin API and sources name no section, and so cannot disagree.
package struct SectionLayout: Sendable, Equatable {
    private static let firstNumber: Int64 = 2

    package private(set) var streams: [String: StreamID]
    package private(set) var kinds: [String: StreamID]

    package init(streams: [String: StreamID], kinds: [String: StreamID] = [:]) {
        (self.streams, self.kinds) = (streams, kinds)
        self.streams[SectionConfiguration.mainName] = .content
    }

    package func arranged(by sections: [SectionConfiguration]) -> SectionLayout {
        var layout = SectionLayout(streams: streams)
        for section in sections {
            let stream = layout.streams[section.name] ?? layout.nextStream
            layout.streams[section.name] = stream
            if stream != .content { for kind in section.kinds { layout.kinds[kind] = stream } }
        }
        return layout
    }

    private var nextStream: StreamID {
        StreamID(rawValue: max(Self.firstNumber, (streams.values.map(\.rawValue).max() ?? 0) + 1))
    }

    package func names(besides other: SectionLayout) -> [(name: String, stream: StreamID)] {
        streams.filter { other.streams[$0.key] == nil }.map { (name: $0.key, stream: $0.value) }.sorted {
            $0.stream.rawValue < $1.stream.rawValue
        }
    }

    package func moves(to other: SectionLayout) -> [(kind: String, old: StreamID, new: StreamID?)] {
        Set(kinds.keys).union(other.kinds.keys).sorted().filter { kinds[$0] != other.kinds[$0] }.map {
            ($0, kinds[$0] ?? .content, other.kinds[$0])
        }
    }

    package func fields(of sections: [SectionConfiguration]) -> [(stream: StreamID, field: SortField)] {
        sections.flatMap { section -> [(stream: StreamID, field: SortField)] in
            guard let stream = streams[section.name] else { return [] }
            return section.fields.map { (stream, $0) }
        }
    }

    /// Returns the step by which the positions of a kind's items move, so that they follow those of another stream in their order.
    package static func step(of kind: String, _ ends: (first: Int64?, last: Int64?), after last: Int64?) throws(StoreError) -> Int64 {
        guard let last, let first = ends.first, let end = ends.last else { return 0 }
        let (distance, isTooFar) = last.subtractingReportingOverflow(first)
        let (wanted, isFull) = distance.addingReportingOverflow(ItemPosition.step)
        guard !isTooFar, !isFull, !end.addingReportingOverflow(wanted).overflow else {
            throw .unavailable("no positions are left for the items of \(kind) in their section")
        }
        return wanted
    }
}

extension SortField {
    package var leastKey: SortKey {
        switch comparison {
        case .text: .text([])
        case .number: .number(0)
        case .date: .text(Array("000000000000.000000000".utf8))
        }
    }
}
