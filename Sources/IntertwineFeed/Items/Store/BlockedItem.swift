package struct BlockedItem: Sendable, Hashable {
    package static let creative = "creative:"

    package var id: String
    package var targets: [String]

    package init(id: String, targets: [String] = []) {
        (self.id, self.targets) = (id, targets)
    }

    private static let releasedPrefix = "released:"

    package var creatives: [String] { entries(after: Self.creative) }

    private func entries(after prefix: String) -> [String] {
        targets.compactMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    }

    private static func entry(of creative: CreativeID) -> ByteString { ByteString("\(creative.kind):\(creative.id)") }

    package var released: Set<ByteString> { Set(entries(after: Self.releasedPrefix).map { ByteString($0) }) }

    static func isReleased(_ creative: CreativeID, by released: Set<ByteString>) -> Bool { released.contains(entry(of: creative)) }

    package static func isURL(_ entry: String) -> Bool { !entry.hasPrefix(creative) && !entry.hasPrefix(releasedPrefix) }

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
