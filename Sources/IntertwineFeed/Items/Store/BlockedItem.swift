package struct BlockedItem: Sendable, Hashable {
    package static let creative = "creative:"

    package var id: String
    package var targets: [String]

    package init(id: String, targets: [String] = []) {
        (self.id, self.targets) = (id, targets)
    }

    package var creatives: [String] {
        targets.compactMap { $0.hasPrefix(Self.creative) ? String($0.dropFirst(Self.creative.count)) : nil }
    }

    package static func isURL(_ entry: String) -> Bool { !entry.hasPrefix(creative) }
}
