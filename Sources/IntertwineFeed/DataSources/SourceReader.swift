internal import IntertwinePrimitives
import Synchronization

/// A reader of a source's own items, with its time limit, its bound and a cache of its current version.
final class SourceReader: Sendable {
    private enum Call: Hashable {
        case after(Int64?, limit: Int)
        case before(Int64?, limit: Int)
        case item(ByteString)

        var isItem: Bool { if case .item = self { true } else { false } }
    }

    private typealias Waiter = CheckedContinuation<[FeedItem], any Error>

    private struct Flight {
        let number: UInt64
        var waiters: [UInt64: Waiter] = [:]
        var task: Task<Void, Never>?
    }

    /// The context is part of each key. Why: viewers share neither calls nor results if the items depend on them.
    private struct CallKey: Hashable {
        var call: Call
        var context: FeedContext
    }

    private struct FlightKey: Hashable {
        var key: CallKey
        var version: UInt64
    }

    private struct ItemName: Hashable {
        var kind: String
        var id: ByteString
        var context: FeedContext
    }

    private struct State {
        var version: UInt64?
        var results = SourceReader.cache(of: 8 << 20) as BoundedCache<CallKey, [FeedItem]>
        /// They are separate, so that requests for unknown items remove no pages.
        var lookups = SourceReader.cache(of: 2 << 20) as BoundedCache<CallKey, [FeedItem]>
        var items = BoundedCache<ItemName, FeedItem>(limit: 8 << 20) { SourceReader.cost(of: [$1]) }
        var flights: [FlightKey: Flight] = [:]
        var (running, waiting) = (0, 0)
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last &+= 1
            return last
        }

        mutating func renew(_ version: UInt64) {
            guard self.version != version else { return }
            self.version = version
            results.removeAll()
            lookups.removeAll()
            items.removeAll()
        }

        mutating func remove(_ key: FlightKey, _ number: UInt64) -> (waiters: [Waiter], task: Task<Void, Never>?) {
            guard let flight = flights[key], flight.number == number else { return ([], nil) }
            flights[key] = nil
            waiting -= flight.waiters.count
            return (Array(flight.waiters.values), flight.task)
        }
    }

    /// A cache with a bound of memory. The source has its own, so that its viewers evict no items of others.
    private static func cache(of limit: Int) -> BoundedCache<CallKey, [FeedItem]> { BoundedCache(limit: limit) { cost(of: $1) } }

    private static func cost(of items: [FeedItem]) -> Int { items.reduce(512) { $0 + 256 + $1.body.count + ($1.reason?.utf8.count ?? 0) } }

    let source: any DataSource
    private let state = Mutex(State())

    init(_ source: any DataSource) { self.source = source }

    func items(_ query: SectionQuery, for context: FeedContext) async throws -> [FeedItem] {
        let anchor = query.anchor?.position
        switch query.direction {
        case .forward: return try await result(of: .after(anchor, limit: query.limit), for: context)
        case .backward: return try await result(of: .before(anchor, limit: query.limit), for: context).reversed()
        }
    }

    func item(kind: String, id: String, for context: FeedContext) async throws -> FeedItem? {
        if let cached = cachedItem(kind: kind, id: id, for: context) { return cached }
        return try await result(of: .item(ByteString(id)), for: context).first { $0.kind == kind && ByteString($0.id) == ByteString(id) }
    }

    func cachedItem(kind: String, id: String, for context: FeedContext) -> FeedItem? {
        let (version, name) = (source.version, ItemName(kind: kind, id: ByteString(id), context: context.scoped(to: source)))
        return state.withLock { state in
            state.renew(version)
            return state.items[name]
        }
    }

    private func result(of call: Call, for context: FeedContext) async throws -> [FeedItem] {
        let key = FlightKey(key: CallKey(call: call, context: context.scoped(to: source)), version: source.version)
        let id = state.withLock { $0.number() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(key, as: id, $0) }
        } onCancel: {
            cancel(key, as: id)
        }
    }

    // MARK: Waiters

    private func join(_ key: FlightKey, as id: UInt64, _ waiter: Waiter) {
        // Lookups leave at least half of the bound to pages.
        let limit = key.key.call.isItem ? max(1, source.waitingLimit / 2) : source.waitingLimit
        let (known, begun) = state.withLock { state -> (Result<[FeedItem], any Error>?, UInt64?) in
            if Task.isCancelled { return (.failure(CancellationError()), nil) }
            state.renew(key.version)
            if let items = state.results[key.key] ?? state.lookups[key.key] { return (.success(items), nil) }
            let isInProgress = state.flights[key] != nil
            guard state.waiting < limit, isInProgress || state.running < limit else {
                return (.failure(StoreError.unavailable("too many requests wait for the data source \(name)")), nil)
            }
            state.waiting += 1
            let number = state.number()
            state.flights[key, default: Flight(number: number)].waiters[id] = waiter
            if isInProgress { return (nil, nil) }
            state.running += 1
            return (nil, number)
        }
        if let known { waiter.resume(with: known) }
        if let begun { begin(key, begun) }
    }

    private func cancel(_ key: FlightKey, as id: UInt64) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            state.waiting -= 1
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            state.flights[key] = nil
            return (waiter, flight.task)
        }
        waiter?.resume(throwing: CancellationError())
        task?.cancel()
    }

    // MARK: Calls

    private func begin(_ key: FlightKey, _ number: UInt64) {
        let timer = Task { [self, limit = source.timeLimit] in
            do { try await Task.sleep(for: limit) } catch { return }
            let (waiters, task) = state.withLock { $0.remove(key, number) }
            for waiter in waiters { waiter.resume(throwing: StoreError.unavailable("the data source \(name) exceeded its time limit")) }
            task?.cancel()
        }
        let task = Task { [self] in
            let result: Result<[FeedItem], any Error>
            do { result = .success(try await perform(key.key.call, for: key.key.context)) } catch { result = .failure(error) }
            timer.cancel()
            complete(key, number, result)
        }
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key]?.task = task }
        }
    }

    private func complete(_ key: FlightKey, _ number: UInt64, _ result: Result<[FeedItem], any Error>) {
        let isCurrent = source.version == key.version
        let waiters = state.withLock { state in
            state.running -= 1
            let (waiters, _) = state.remove(key, number)
            guard case .success(let items) = result, isCurrent else { return waiters }
            state.renew(key.version)
            if key.key.call.isItem {
                state.lookups[key.key] = items
                return waiters
            }
            state.results[key.key] = items
            for item in items where !item.isStored {
                state.items[ItemName(kind: item.kind, id: ByteString(item.id), context: key.key.context)] = item
            }
            return waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func perform(_ call: Call, for context: FeedContext) async throws -> [FeedItem] {
        let items: [FeedItem]
        let isInOrder: Bool
        do {
            switch call {
            case .after(let position, let limit):
                items = Array(try await source.items(after: position, limit: limit, for: context).prefix(limit))
                isInOrder = self.isInOrder(items, after: position, before: nil)
            case .before(let position, let limit):
                items = Array(try await source.items(before: position, limit: limit, for: context).suffix(limit))
                isInOrder = self.isInOrder(items, after: nil, before: position)
            case .item(let id):
                items = try await source.item(id: id.text, for: context).map { [$0] } ?? []
                isInOrder = true
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError.unavailable("the data source \(name) failed: \(error)")
        }
        guard isInOrder else {
            throw StoreError.unavailable(
                "the data source \(name) returned items whose positions do not \(source.isNewestFirst ? "descend" : "ascend") from the requested one"
            )
        }
        return items.map { item in
            var item = item
            item.sortKey = nil
            return item
        }
    }

    private func isInOrder(_ items: [FeedItem], after first: Int64?, before last: Int64?) -> Bool {
        let positions = (first.map { [$0] } ?? []) + items.map(\.position) + (last.map { [$0] } ?? [])
        return zip(positions, positions.dropFirst()).allSatisfy { source.isOrdered($0, $1) }
    }

    private var name: String { String(describing: type(of: source)) }
}

package struct SourceItems: Sendable {
    private var readers: [SourceReader] = []

    package init() {}

    package init(_ sources: some Sequence<any DataSource>) {
        for reader in sources.flatMap(\.sections).compactMap(\.reader) where !readers.contains(where: { $0 === reader }) {
            readers.append(reader)
        }
    }

    var isEmpty: Bool { readers.isEmpty }

    package var dependOnViewer: Bool { readers.contains { $0.source.dependsOnViewer } }

    var version: UInt64 { readers.version }

    /// All sources are asked at once, so a slow source delays only items that no other source has.
    func item(kind: String, id: String, for context: FeedContext) async throws -> FeedItem? {
        for reader in readers {
            if let item = reader.cachedItem(kind: kind, id: id, for: context) { return item }
        }
        return try await withThrowingTaskGroup(of: FeedItem?.self) { group in
            for reader in readers {
                group.addTask { try await reader.item(kind: kind, id: id, for: context) }
            }
            var failure: (any Error)?
            while let result = await group.nextResult() {
                switch result {
                case .success(let item?):
                    group.cancelAll()
                    return item
                case .success(nil): break
                case .failure(let error): failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return nil
        }
    }

    func items(
        ofCells cells: some Sequence<ByteString> & Sendable, missingIn store: any FeedStore, _ factories: CellFactories,
        for context: FeedContext
    ) async throws -> [ByteString: FeedItem] {
        guard !isEmpty else { return [:] }
        let missing = try await store.read { snapshot in
            try cells.filter { cell in
                guard let name = factories.item(ofCell: cell.text) else { return false }
                return try snapshot.item(kind: name.kind, id: name.id) == nil
            }
        }
        return try await withThrowingTaskGroup(of: (ByteString, FeedItem?).self) { group in
            var items: [ByteString: FeedItem] = [:]
            for (index, cell) in missing.enumerated() {
                guard let name = factories.item(ofCell: cell.text) else { continue }
                if index >= Self.concurrentLookups, let (cell, item) = try await group.next() { items[cell] = item }
                group.addTask { (cell, try await item(kind: name.kind, id: name.id, for: context)) }
            }
            for try await (cell, item) in group { items[cell] = item }
            return items
        }
    }

    private static let concurrentLookups = 16
}

extension [SourceReader] {
    var version: UInt64 { reduce(0) { ($0 ^ $1.source.version &+ 1) &* 0x9E37_79B9_7F4A_7C15 } }
}

/// The own items of data sources that a page needs. They are read before the page is assembled on a thread of the store.
struct SourceRows: Sendable {
    /// An error that ends an assembly: the items of this query have to be read first.
    struct MissingError: Error {
        let query: SectionQuery
    }

    private var items: [SectionQuery: [FeedItem]] = [:]

    func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws {
        var (query, rest) = (query, query.limit)
        while rest > 0 {
            guard let found = items[query] else { throw MissingError(query: query) }
            for item in found where rest > 0 {
                guard let item = try item.isStored ? item.placed(in: snapshot) : item else { continue }
                try item.withRow(body)
                rest -= 1
            }
            guard found.count == query.limit, let last = found.last else { return }
            // Items that are not in the store do not end the section.
            query.anchor = SortPosition(position: last.position)
            query.limit = min(query.limit * 2, 300)
        }
    }

    mutating func add(_ found: [FeedItem], for query: SectionQuery) { items[query] = found }

    /// The reasons of the items, by cell.
    func reasons(_ factories: CellFactories) -> [ByteString: String] {
        let reasons = items.values.joined().lazy.compactMap { item -> (ByteString, String)? in
            guard let reason = item.reason, !reason.isEmpty else { return nil }
            return factories.cellID(kind: item.kind, id: item.id).map { (ByteString($0), reason) }
        }
        return Dictionary(reasons) { first, _ in first }
    }
}

package struct FeedVersion: Sendable, Hashable {
    package var store: StoreVersion
    package var sources: UInt64

    package var combined: StoreVersion {
        sources == 0 ? store : StoreVersion(high: store.high ^ sources, low: store.low &+ (sources &* 0xC2B2_AE3D_27D4_EB4F))
    }
}
