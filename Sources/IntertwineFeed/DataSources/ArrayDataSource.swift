import Synchronization

/// A data source with the items of an array, which may change at any time.
///
/// ```swift
/// let cards = ArrayDataSource(items)
/// extensions.dataSources["main"] = cards
/// extensions.dataSources["home"] = SectionedDataSource([FeedSection("cards", title: "Cards", source: cards)])
/// cards.append(item)
/// ```
///
/// The order of the array determines the positions of the items; those of the items themselves are ignored. An item keeps its position as long
/// as its order among the others does not change, so that cursors stay valid. If there is no room between two items, all items get new positions,
/// and cursors of the last eight numberings are translated.
public final class ArrayDataSource: DataSource {
    private struct Name: Hashable {
        var kind: String
        var id: ByteString

        init(_ item: FeedItem) { (kind, id) = (item.kind, ByteString(item.id)) }
    }

    private struct State {
        var items: [FeedItem] = []
        var names: Set<Name> = []
        var version: UInt64 = 1
        var numbering: Int64 = 0
        var translations: [(numbering: Int64, positions: [(old: Int64, new: Int64)])] = []

        func current(_ position: Int64, of numbering: Int64) -> Int64 {
            guard let first = translations.firstIndex(where: { $0.numbering == numbering }) else { return position }
            return translations[first...].reduce(position) { position, translation in
                translation.positions.last { $0.old <= position }?.new ?? .min
            }
        }
    }

    private static let numberings: Int64 = 16
    private static let translationLimit = 8
    /// The distance between two positions, so that items can be inserted between others.
    private static let distance: Int64 = numberings << 32

    private let state = Mutex(State())
    private let iteration = Mutex<Task<Void, any Error>?>(nil)

    /// Creates a source of the items of an array.
    ///
    /// ```swift
    /// let first = FeedItem(kind: "card", id: "1", variant: "", position: 0, body: Array("{}".utf8))
    /// let cards = ArrayDataSource([first])
    /// ```
    ///
    /// - Parameter items: The items. Of two items with one kind and id, the first one is used.
    public init(_ items: [FeedItem] = []) {
        self.items = items
    }

    /// Creates a source of the elements of a sequence, in the order in which they arrive. An element replaces an earlier one with its kind and id.
    ///
    /// The sequence is iterated until it ends or fails, or until the source is released.
    ///
    /// ```swift
    /// let (news, continuation) = AsyncStream.makeStream(of: FeedItem.self)
    /// let source = ArrayDataSource(news, keeping: 500)
    /// continuation.yield(item)
    /// ```
    ///
    /// - Parameter limit: The maximum number of items. The first ones are removed beyond it.
    public convenience init<Items: AsyncSequence & Sendable>(_ sequence: Items, keeping limit: Int = 10_000)
    where Items.Element == FeedItem {
        self.init()
        let task = Task { [weak self] in
            for try await item in sequence {
                guard let self else { return }
                append(item, keeping: limit)
            }
        }
        iteration.withLock { $0 = task }
    }

    deinit {
        iteration.withLock { $0?.cancel() }
    }

    /// False: the positions ascend in the order of the array.
    public let isNewestFirst = false

    /// The number of changes of the array, counted from 1.
    public var version: UInt64 { state.withLock { $0.version } }

    /// The items in their order.
    ///
    /// ```swift
    /// cards.items.removeAll { $0.id == "1" }
    /// cards.items.sort { $0.id < $1.id }
    /// ```
    public var items: [FeedItem] {
        get { state.withLock { $0.items } }
        set {
            state.withLock { state in
                var names: Set<Name> = []
                let items = newValue.filter { names.insert(Name($0)).inserted }
                if let positioned = Self.positioned(items, as: state.items, in: state.numbering) {
                    state.items = positioned
                } else {
                    Self.renumber(items, &state)
                }
                state.names = names
                state.version &+= 1
            }
        }
    }

    /// Adds an item at the end. An item with its kind and id is replaced at its place.
    ///
    /// ```swift
    /// cards.append(item)
    /// cards.items.last?.id == item.id  // true
    /// ```
    public func append(_ item: FeedItem) { append(item, keeping: .max) }

    private func append(_ item: FeedItem, keeping limit: Int) {
        state.withLock { state in
            var item = item
            if !state.names.insert(Name(item)).inserted, let index = state.items.firstIndex(where: { Name($0) == Name(item) }) {
                item.position = state.items[index].position
                state.items[index] = item
            } else {
                item.position = (state.items.last?.position ?? state.numbering) + Self.distance
                state.items.append(item)
                let excess = max(0, state.items.count - limit)
                for item in state.items.prefix(excess) { state.names.remove(Name(item)) }
                state.items.removeFirst(excess)
            }
            state.version &+= 1
        }
    }

    /// Returns the first items after a position, at most `limit`. A position that no item has any more is valid.
    public func items(after position: Int64?, limit: Int, for context: FeedContext = FeedContext()) async -> [FeedItem] {
        state.withLock { state in
            let start = position.map { Self.index(after: state.current($0, of: Self.numbering(of: $0)), in: state.items) } ?? 0
            return Array(state.items[start...].prefix(limit))
        }
    }

    /// Returns the last items before a position, at most `limit`, in ascending order.
    public func items(before position: Int64?, limit: Int, for context: FeedContext = FeedContext()) async -> [FeedItem] {
        state.withLock { state in
            let end = position.map { state.current($0.subtractingReportingOverflow(1).partialValue, of: Self.numbering(of: $0)) } ?? .max
            return Array(state.items[..<Self.index(after: end, in: state.items)].suffix(limit))
        }
    }

    /// Returns the first item with an id, or nil. Ids are compared byte by byte.
    public func item(id: String, for context: FeedContext = FeedContext()) async -> FeedItem? {
        state.withLock { state in state.items.first { ByteString($0.id) == ByteString(id) } }
    }

    private static func index(after position: Int64, in items: [FeedItem]) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func numbering(of position: Int64) -> Int64 { position & (numberings - 1) }

    private static func positioned(_ items: [FeedItem], as earlier: [FeedItem], in numbering: Int64) -> [FeedItem]? {
        let indices = Dictionary(earlier.enumerated().map { (Name($1), $0) }) { first, _ in first }
        let known = items.map { indices[Name($0)] }
        let kept = ListDiff.longestIncreasing(known.compactMap(\.self))
        var keeps = kept.makeIterator()
        let positions = known.map { index -> Int64? in
            guard let index, keeps.next() == true else { return nil }
            return earlier[index].position
        }
        var result = items
        var start = 0
        while start < items.count {
            let end = positions[start...].firstIndex { $0 != nil } ?? items.count
            let low = start == 0 ? nil : result[start - 1].position
            let high = end == items.count ? nil : positions[end]
            let count = Int64(end - start)
            // A multiple of the number of numberings, so that the low bits of all positions stay equal.
            let step = low.flatMap { low in high.map { ($0 - low) / (count + 1) & -numberings } } ?? distance
            guard step > 0 else { return nil }
            let first = low.map { $0 + step } ?? high.map { $0 - step * count } ?? distance + numbering
            for index in start..<end { result[index].position = first + Int64(index - start) * step }
            if let high { result[end].position = high }
            start = end + 1
        }
        return result
    }

    private static func renumber(_ items: [FeedItem], _ state: inout State) {
        let (earlier, numbering) = (state.items, state.numbering)
        state.numbering = (numbering + 1) % numberings
        state.items = items.enumerated().map { index, item in
            var item = item
            item.position = Int64(index + 1) * distance + state.numbering
            return item
        }
        let positions = Dictionary(state.items.map { (Name($0), $0.position) }) { first, _ in first }
        let translation = earlier.compactMap { item in positions[Name(item)].map { (old: item.position, new: $0) } }
        // Items that were moved have no place in the earlier order.
        let isKept = ListDiff.longestIncreasing(translation.map { Int($0.new) })
        state.translations =
            state.translations.suffix(translationLimit - 1) + [
                (numbering, zip(translation, isKept).filter(\.1).map(\.0))
            ]
    }
}
