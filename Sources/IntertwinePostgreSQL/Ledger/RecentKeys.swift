internal import IntertwineStorage

/// The keys of allowances that this process has met, and how they stood then.
///
/// The others are taken for new: nearly every click has two that nobody ever used, and looking those up costs the server as much as writing
/// them. Where all that has to be known is known, a group takes one round trip instead of two.
///
/// Both are guesses, which the table's own key and ``AllowanceBook`` hold to: a row that is there after all, or another one than was foreseen,
/// lets the group fail, and it is done anew with all looked up. Where that happens often, because viewers come back through other replicas,
/// guessing pauses.
struct RecentKeys {
    /// Two generations of a Bloom filter: when the younger is full, it takes the place of the older. Half a MiB each at the most.
    private var young = Generation()
    private var old = Generation()
    /// Of fewer keys, their rows; nil for those that had none. When there are more, all are forgotten.
    private var rows: [AllowanceKey: AllowanceBook.Row?] = [:]
    private static let mostRows = 1 << 16

    /// In taking keys for new.
    var novelty = Confidence()
    /// In knowing how the others stand.
    var foresight = Confidence()

    /// Whether a key is to be taken for new.
    func isNew(_ key: AllowanceKey) -> Bool { novelty.isThere && !young.contains(key) && !old.contains(key) }

    /// How keys stand; nil where that is not known of all. Rows that are over may be swept by now.
    func foreseen(_ keys: Set<AllowanceKey>, at now: Int64) -> [AllowanceKey: AllowanceBook.Row?]? {
        guard foresight.isThere else { return nil }
        var foreseen: [AllowanceKey: AllowanceBook.Row?] = [:]
        for key in keys {
            guard let row = rows[key], row.map({ $0.until > now }) ?? true else { return nil }
            foreseen.updateValue(row, forKey: key)
        }
        return foreseen
    }

    /// - Parameter row: as a group that is committed has left it; nil where there is none.
    mutating func note(_ key: AllowanceKey, _ row: AllowanceBook.Row?) {
        if rows.count >= Self.mostRows { rows.removeAll(keepingCapacity: true) }
        rows.updateValue(row, forKey: key)
        guard row != nil, !young.contains(key) else { return }
        if young.isFull {
            old = young
            young = Generation()
        }
        young.insert(key)
    }

    /// Whether groups may guess. One in five may be wrong: a mistake costs a group, which looking up makes a fifth dearer.
    struct Confidence {
        /// What a group did: it looked everything up, or what it guessed was so, or was not.
        enum Guess {
            case none, right, wrong
        }

        private static let longestPause = 1_024

        /// How many groups look everything up now, and how many do after the next mistake.
        private var (rest, pause): (Int, Int) = (0, 1)

        var isThere: Bool { rest == 0 }

        mutating func hasEnded(_ guess: Guess) {
            switch guess {
            case .none: rest = max(0, rest - 1)
            case .right: pause = max(1, pause / 2)
            case .wrong:
                pause = min(Self.longestPause, pause * 16)
                rest = pause
            }
        }
    }

    /// Of keys that are digests, so their own bits say where they are noted.
    private struct Generation {
        private static let size = 1 << 22
        /// With ten bits for each, about one of a hundred others seems to be known.
        private static let capacity = size / 10

        private var words: [UInt64] = []
        private var count = 0

        var isFull: Bool { count >= Self.capacity }

        func contains(_ key: AllowanceKey) -> Bool {
            guard !words.isEmpty else { return false }
            let marks = key.marks
            return marks.indices.allSatisfy { words[marks[$0] % Self.size / 64] & 1 << (marks[$0] % 64) != 0 }
        }

        mutating func insert(_ key: AllowanceKey) {
            if words.isEmpty { words = [UInt64](repeating: 0, count: Self.size / 64) }
            let marks = key.marks
            for number in marks.indices { words[marks[number] % Self.size / 64] |= 1 << (marks[number] % 64) }
            count += 1
        }
    }
}
