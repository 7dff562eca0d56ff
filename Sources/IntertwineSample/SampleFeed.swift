/// The items that `intertwine serve --sample` imports, and the declaration of their kinds, in the binary.
public enum SampleFeed {
    /// The declaration of the kind `event`, for `kinds.file`.
    public static let kinds = SampleFiles.all["kinds.yaml", default: []]

    /// The ids of the items that only the sample has, by which a store with the sample is recognized.
    public static let events = [
        "open-air-cinema", "night-market", "rooftop-jazz", "river-swim", "book-swap", "lantern-walk",
    ]

    /// A JSON array of users, ads, events and a campaign in the order of the feed: an event after every five other items.
    public static var items: [UInt8] {
        let newline = UInt8(ascii: "\n")
        var events = SampleFiles.all["events.ndjson", default: []].split(separator: newline).makeIterator()
        var items: [UInt8] = []
        // The first line is the bracket of the array, and each further line is an item with its comma.
        for (number, line) in SampleFiles.all["feed.json", default: []].split(separator: newline).enumerated() {
            items += line + [newline]
            guard number > 0, number.isMultiple(of: 5), let event = events.next() else { continue }
            items += event + [UInt8(ascii: ","), newline]
        }
        return items
    }
}
