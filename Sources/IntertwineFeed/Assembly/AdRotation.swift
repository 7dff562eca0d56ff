/// Whose turn it is among the advertisements when a walk through a feed begins.
///
/// Each viewer begins with another one, and with the next one an hour later; whoever has no name begins where everybody of the hour does. So
/// all are shown alike often over viewers and over time, and a page that is asked for twice within the hour is the same page.
package struct RotationStart: Sendable, Hashable {
    private let viewer: UInt64
    /// Hours since 1970-01-01 UTC.
    var hour: UInt32

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    package init(viewer: String?, now: Int64) {
        // Names that count up come one after the other, which spreads them more evenly than chance would; others are as good as random.
        self.viewer = viewer?.utf8.reduce(0) { $0 &* 1_000_003 &+ UInt64($1) } ?? 0
        hour = CellTokens.bucket(of: now)
    }

    /// The index of the first one.
    func index(among count: Int) -> Int {
        count > 0 ? Int((viewer &+ UInt64(hour)) % UInt64(count)) : 0
    }
}

/// Knows the advertisements' positions, to find the one that a walk begins with.
final class AdRotation: Sendable {
    /// Walks begin with one of so many; they go on with all of them.
    private static let limit = 4_096

    private let forms: [ItemForm]
    private let positions = StoreMemory<[Int64]>(patience: .milliseconds(5))

    /// - Parameter forms: those that can be shown.
    init(forms: [ItemForm]) {
        self.forms = forms
    }

    /// The position in the rotation behind which a walk begins; nil where there is nothing to choose.
    func mark(_ start: RotationStart, at version: StoreVersion, in snapshot: any FeedSnapshot, of store: any FeedStore) throws -> Int64? {
        let positions = try positions.value(at: version, in: snapshot, of: store) { [forms] snapshot in
            try AdvertisementReader.positions(of: forms, in: snapshot, limit: Self.limit)
        }
        guard positions.count > 1 else { return nil }
        return positions[(start.index(among: positions.count) + positions.count - 1) % positions.count]
    }
}
