internal import IntertwinePrimitives

package struct CreativeNames: Sendable, Hashable {
    package struct Named: Sendable, Hashable {
        package var field: String
        package var name: String
        package var item: CreativeID

        package var reason: String { "the store has no ad '\(ItemError.shown(name))'" }
    }

    package static func houseAd(_ name: String) -> String {
        "'\(ItemError.shown(name))' is a house ad: a campaign shows only ads with \"house\": false"
    }

    private var kinds = ["ad": Advertisement.kind]
    private var others: Set<String> = ["user"]
    private let hasOthers: Bool

    package init(_ declared: [(prefix: String, kind: String, stream: StreamID)] = [], hasOthers: Bool = false) {
        self.hasOthers = hasOthers
        for (prefix, kind, stream) in declared {
            if stream == .advertisements { kinds[prefix] = kind } else { others.insert(prefix) }
        }
    }

    func isContent(_ name: String) -> Bool {
        name.utf8.firstIndex(of: UInt8(ascii: ":")).map { others.contains(String(name[..<$0])) } ?? false
    }

    func item(_ name: String) -> CreativeID? {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return CreativeID(kind: Advertisement.kind, id: name) }
        if let kind = kinds[String(name[..<colon])] { return CreativeID(kind: kind, id: String(name[name.utf8.index(after: colon)...])) }
        return hasOthers ? nil : CreativeID(kind: Advertisement.kind, id: name)
    }
}

extension ItemKinds {
    /// Returns the ads that must exist for an item: the creatives of a campaign, or none for other kinds.
    package func creatives(of item: ValidatedItem) -> [CreativeNames.Named] {
        guard let kind = self[item.kind] as? CampaignKind, case .object(let members)? = try? JSONValue(json: item.body),
            let value = members.first(where: { $0.name == "creatives" })?.value
        else { return [] }
        let values: [JSONValue] = if case .list(let values) = value { values } else { [value] }
        return values.enumerated().compactMap { number, value in
            guard let name = CampaignReader.printed(value), let item = kind.creatives.item(name) else { return nil }
            return CreativeNames.Named(field: "creatives.\(number)", name: name, item: item)
        }
    }
}
