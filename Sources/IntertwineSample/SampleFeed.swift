package enum SampleFeed {
    package static let kinds = SampleFiles.all["kinds.yaml", default: []]

    package static let events = [
        "open-air-cinema", "night-market", "rooftop-jazz", "river-swim", "book-swap", "lantern-walk",
    ]

    package static var items: [UInt8] {
        let newline = UInt8(ascii: "\n")
        var others = SampleFiles.all["events.ndjson", default: []].split(separator: newline).makeIterator()
        var items: [UInt8] = []
        // The first line is the bracket of the array, and each further line is an item with its comma.
        for (number, line) in SampleFiles.all["feed.json", default: []].split(separator: newline).enumerated() {
            items += line + [newline]
            guard number > 0, number.isMultiple(of: 2) else { continue }
            for _ in 0..<2 { items += others.next().map { $0 + [UInt8(ascii: ","), newline] } ?? [] }
        }
        return items
    }
}
