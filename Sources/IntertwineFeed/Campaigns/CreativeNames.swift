/// Which items the creatives of campaigns name, as far as that is declared: an advertisement's own id, or the id of a cell.
package struct CreativeNames: Sendable, Hashable {
    /// A creative of a campaign, and where in it it stands.
    package struct Named: Sendable, Hashable {
        /// Such as `creatives.0`.
        package var field: String
        package var name: String
        package var item: CreativeID

        /// What is said where there is no such item.
        package var reason: String { "there is no advertisement '\(ItemError.shown(name))' in the store" }
    }

    /// Kinds of advertisements and other kinds, by what the ids of their cells begin with.
    private var kinds = ["ad": "advertisement"]
    private var others: Set<String> = ["user"]
    /// Whether there are kinds besides, of which nothing is known here.
    private let hasOthers: Bool

    /// - Parameters:
    ///   - declared: prefixes of cells' ids, with kind and lane.
    ///   - hasOthers: whether there are kinds besides.
    package init(_ declared: [(prefix: String, kind: String, lane: StreamID)] = [], hasOthers: Bool = false) {
        self.hasOthers = hasOthers
        for (prefix, kind, lane) in declared {
            if lane == .advertisements { kinds[prefix] = kind } else { others.insert(prefix) }
        }
    }

    /// Whether it is the id of a cell of another kind than advertisements.
    func isContent(_ name: String) -> Bool { others.contains(String(name.prefix { $0 != ":" })) && name.contains(":") }

    /// Nil where that is not known here.
    func item(_ name: String) -> CreativeID? {
        guard let colon = name.firstIndex(of: ":") else { return CreativeID(kind: "advertisement", id: name) }
        if let kind = kinds[String(name[..<colon])] { return CreativeID(kind: kind, id: String(name[name.index(after: colon)...])) }
        return hasOthers ? nil : CreativeID(kind: "advertisement", id: name)
    }
}

extension ItemKinds {
    /// The advertisements that have to be there for an item: those of a campaign.
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
