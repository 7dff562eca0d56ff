internal import IntertwineFeed
internal import IntertwineRouting

/// An item as the admin API shows it: in the form of the import, with a tag that every change changes.
struct StoredItem: Sendable, Hashable {
    let json: [UInt8]

    init(_ item: FeedItem) {
        json = Self.json(kind: item.kind, id: item.id, variant: item.variant, body: item.body)
    }

    init(_ item: ValidItem) {
        json = Self.json(kind: item.kind, id: item.id, variant: item.variant, body: item.body)
    }

    var entityTag: String { EntityTag.of(json) }

    /// - Parameter body: a JSON object.
    private static func json(kind: String, id: String, variant: String, body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let members = [("{\"klass\":", kind), (",\"id\":", id)] + (variant.isEmpty ? [] : [(",\"type\":", variant)])
        for (name, value) in members {
            bytes += name.utf8
            JSONText.append(value.utf8, to: &bytes)
        }
        let fields = body.dropFirst()
        if fields.count > 1 { bytes.append(UInt8(ascii: ",")) }
        return bytes + fields
    }
}
