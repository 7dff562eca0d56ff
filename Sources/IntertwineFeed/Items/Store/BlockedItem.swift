/// An item that was taken down.
package struct BlockedItem: Sendable, Hashable {
    /// The prefix of the entries for a campaign's creatives.
    package static let creative = "creative:"

    /// The id of the item.
    package var id: String
    /// The targets of the item's fields: URLs and, with a prefix, the creatives of a campaign. Empty if the item did not exist.
    package var targets: [String]

    /// Creates a takedown, by default of an item that does not exist.
    package init(id: String, targets: [String] = []) {
        (self.id, self.targets) = (id, targets)
    }

    /// The prefix of the entries for ads that are released from the campaign: the kind, a colon and the id.
    private static let releasedPrefix = "released:"

    /// The ids of a campaign's creatives.
    package var creatives: [String] { entries(after: Self.creative) }

    private func entries(after prefix: String) -> [String] {
        targets.compactMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    }

    private static func entry(of creative: CreativeID) -> ByteString { ByteString("\(creative.kind):\(creative.id)") }

    /// The ads that were released while the campaign was taken down.
    package var released: Set<ByteString> { Set(entries(after: Self.releasedPrefix).map { ByteString($0) }) }

    static func isReleased(_ creative: CreativeID, by released: Set<ByteString>) -> Bool { released.contains(entry(of: creative)) }

    /// True if an entry is a URL, and not a creative or a released ad.
    package static func isURL(_ entry: String) -> Bool { !entry.hasPrefix(creative) && !entry.hasPrefix(releasedPrefix) }

    /// Returns the entries after the release of an ad; nil if the campaign does not name the ad, or the ad is released already.
    ///
    /// A creative without a colon is the id of an advertisement. Others are the ids of cells: a prefix, a colon, the id of the item, and for
    /// some cells a number sign with a suffix.
    package func releasing(_ creative: CreativeID) -> [String]? {
        guard !Self.isReleased(creative, by: released) else { return nil }
        let isNamed = creatives.contains { name in
            if ByteString(name) == ByteString(creative.id) { return creative.kind == Advertisement.kind }
            guard let colon = name.firstIndex(of: ":") else { return false }
            guard (name[..<colon] == Advertisement.kind) == (creative.kind == Advertisement.kind) else { return false }
            let id = name[name.index(after: colon)...].utf8
            return id.elementsEqual(creative.id.utf8) || id.starts(with: (creative.id + "#").utf8)
        }
        return isNamed ? targets + [Self.releasedPrefix + Self.entry(of: creative).text] : nil
    }
}
